"""Where the recorded debates lie, and in which order two workers run the tests."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
# The matrices of EM are tiny: threads of BLAS only wait for each other on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests that do without the mixture search.
WITHOUT_SEARCH = tuple(
    str(ROOT / "tests" / name)
    for name in (
        "integration",
        "sims",
        "theory",
        "stability/datasets",
        "stability/fit/test_betabinom.py",
        "stability/fit/test_table.py",
        "stability/log",
        "stability/rules/test_consensus.py",
        "stability/rules/test_contract.py",
        "stability/rules/test_sequential.py",
        "stability/test_monitor.py",
        "stability/test_public_names.py",
    )
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one of two workers compile the search while the other runs what does without.

    ``--dist worksteal`` hands each of them half of the list.
    """
    search: list[pytest.Item] = []
    without: list[pytest.Item] = []
    for item in items:
        (without if str(item.path).startswith(WITHOUT_SEARCH) else search).append(item)
    half = len(items) // 2
    items[:] = search[:half] + without + search[half:]


@pytest.fixture
def seeded() -> Callable[[int], np.random.Generator]:
    """Return generators of the tests by number, other ones for each ``STATISTICAL_SEED`` (0)."""
    offset = int(os.environ.get("STATISTICAL_SEED", "0"))
    return lambda number: np.random.default_rng([number, offset])


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def recorded() -> Path:
    """Return the folder of the recorded debates that are not packaged; skip where it is absent."""
    folder = Path(os.environ.get("DEBATE_DATA", ROOT.parent / "shared")) / "debates"
    if not folder.is_dir():
        pytest.skip(f"no recorded debates in {folder}; set DEBATE_DATA to the folder above it")
    return folder
