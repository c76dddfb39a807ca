"""What a fresh interpreter sees: light imports, and the commands."""

import subprocess
import sys

import pytest

import stability

pytestmark = pytest.mark.integration
HEAVY = (
    "scipy.stats",
    "scipy.optimize",
    "scipy.special",
    "pandas",
    "pyarrow",
    "xarray",
    "statsmodels",
    "arviz",
    "matplotlib",
    "rich",
    "loky",
    "hypothesis",
    "networkx",
    "sympy",
)


@pytest.fixture
def python(root, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(root))

    def run(*words):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_import_stability_is_light(python):
    code = (
        "import sys, stability\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "print('numba' in sys.modules, [n for n in ('theory', 'sims') if n in sys.modules])"
    )
    assert python("-c", code) == (0, "[]\nTrue []\n", "")


def test_import_theory_and_sims_loads_no_sibling(python):
    absent = ("stability", *HEAVY)
    code = f"import sys, sims; print([name for name in {absent!r} if name in sys.modules])"
    assert python("-c", code) == (0, "[]\n", "")
    code = (
        "import sys, theory\n"
        f"absent = ('stability', 'sims', 'numba', *{HEAVY!r})\n"
        "print([name for name in absent if name in sys.modules])"
    )
    assert python("-c", code) == (0, "[]\n", "")


def test_stability_tells_its_version(python):
    assert python("-m", "stability", "--version") == (0, f"stability {stability.__version__}\n", "")


@pytest.mark.parametrize("name", ["stability", "theory", "sims"])
def test_commands_tell_how_they_are_used(python, name):
    code, out, err = python("-m", name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: {name}")
