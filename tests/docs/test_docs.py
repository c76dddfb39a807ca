"""What the pages say is executed: code blocks with their output, examples, docstrings."""

import contextlib
import doctest
import importlib
import io
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

import sims
import stability
import theory

HOME = Path(stability.__file__).parents[1]
PAGES = ["README.md", "docs/index.md", "docs/recorded.md", "docs/live.md", "docs/rules.md"]
PAGES += ["docs/which.md", "docs/certified.md", "docs/single.md", "docs/estimator.md"]
PAGES += ["docs/distance.md", "docs/api.md", "docs/simulate.md", "docs/checked.md"]
PAGES += ["docs/measured.md", "docs/gallery.md", "docs/sure.md", "docs/testing.md"]
PAGES += [path.relative_to(HOME).as_posix() for path in sorted(HOME.glob("docs/theory/*.md"))]
MODULES = sorted(
    ".".join(path.relative_to(HOME).with_suffix("").parts)
    for package in ("stability", "theory", "sims")
    for path in (HOME / package).rglob("*.py")
    if ">>>" in path.read_text("utf-8")
)
# A code block, and the text block under it: what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch, root):
    """A working folder with a recording in it, as a reader of the pages has one."""
    packaged = root / "stability" / "datasets" / "data" / "smollm2-local.csv.gz"
    shutil.copy(packaged, tmp_path / "debates.csv.gz")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def printed(call):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call()
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def test_every_page_is_listed(root):
    pages = {path.relative_to(root).as_posix() for path in root.glob("docs/**/*.md")}
    assert pages | {"README.md"} == set(PAGES)
    navigation = (root / "mkdocs.yml").read_text("utf-8")
    assert all(page.removeprefix("docs/") in navigation for page in pages)


@pytest.mark.parametrize("page", PAGES)
def test_page(page, root, folder):
    text = (root / page).read_text("utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```python")
    space = {"__name__": "page"}
    for code, expected in blocks:
        compiled = compile(code, page, "exec")
        assert printed(lambda compiled=compiled: exec(compiled, space)) == expected
    shown = re.findall(r"\]\((?:\.\./)?pictures/(\S+)\)", text)
    for name in [*shown, "debates.png"] if page == "docs/recorded.md" else shown:
        assert (folder / name).stat().st_size > 10_000


def test_links_lead_somewhere(root):
    for page in [*PAGES, "CONTRIBUTING.md"]:
        path = root / page
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
            assert (path.parent / target).is_file(), f"{page}: {target}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("live_debate", "Is 221 a prime number? 'no' after 2 rounds (consensus)"),
        ("async_debate", "{'2 + 2': '4', '3 * 3': '9', '7 - 5': '2'} rounds: 2"),
        ("recorded_batch", "Unanimity(hold=0) asks 228 times instead of 288"),
    ],
)
def test_example(name, expected, root, folder, monkeypatch):
    path = root / "examples" / f"{name}.py"
    monkeypatch.setattr("sys.argv", [str(path)])
    assert len(path.read_text("utf-8").splitlines()) < 40
    out = printed(lambda: runpy.run_path(str(path), run_name="__main__"))
    assert expected in out.splitlines()
    if name == "recorded_batch":
        assert (folder / "recorded_batch.png").stat().st_size > 10_000


def test_every_example_is_executed(root):
    names = {path.stem for path in root.glob("examples/*.py")}
    assert names == {"live_debate", "async_debate", "recorded_batch"}


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_public_names_have_an_example_or_are_plain_data():
    """Functions and rules show a call; results and errors are shown where they are made."""
    for package in (stability, theory, sims):
        for name in package.__all__:
            value = getattr(package, name)
            assert name in ("SILENT", "THEOREMS", "SCENARIOS") or (value.__doc__ or "").strip(), (
                name
            )
            if callable(value) and not isinstance(value, type):
                assert ">>>" in value.__doc__, f"{name} has no example"
