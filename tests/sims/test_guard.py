"""A sibling that is shadowed is named at once, with its path."""

import importlib.util
import subprocess
import sys

import pytest

import sims


def spec_at(monkeypatch, name, spec):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "sims._guard.find_spec", lambda wanted: spec if wanted == name else found(wanted)
    )


def test_the_siblings_of_this_project_pass():
    sims._guard.check_siblings()


@pytest.mark.parametrize("name", ["stability", "theory"])
def test_another_module_of_that_name_is_refused(name, tmp_path, monkeypatch):
    stray = tmp_path / f"{name}.py"
    stray.write_text("")
    spec_at(monkeypatch, name, importlib.util.spec_from_file_location(name, stray))
    with pytest.raises(ImportError) as refused:
        sims._guard.check_siblings()
    assert str(stray.resolve()) in str(refused.value)
    assert f"needs the package {name!r} of debate-stability" in str(refused.value)


def test_a_missing_sibling_is_told(monkeypatch):
    spec_at(monkeypatch, "theory", None)
    with pytest.raises(ImportError, match="Python finds no module of that name"):
        sims._guard.check_siblings()


@pytest.mark.integration
def test_a_stray_theory_in_the_working_folder(root, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(root))
    stray = tmp_path / "theory.py"
    stray.write_text("raise SystemExit('the stray module ran')\n")
    command = [sys.executable, "-c", "import sims"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: sims needs the package 'theory'")
    assert str(stray.resolve()) in last
