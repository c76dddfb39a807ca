"""The session's kernel cache, and where the recorded debates lie.

numba reuses a compiled kernel as long as the file of that kernel is unchanged; it does not see an
edit in another file whose kernel it calls. So the tests keep their cache in a folder named after
a hash of all kernel files: any edit starts an empty one.
"""

import hashlib
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _kernel_cache() -> Path:
    """Return the cache folder of the kernels as they stand."""
    digest = hashlib.sha256()
    for file in sorted(ROOT.glob("*/_kernels/*.py")):
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    key = digest.hexdigest()[:16]
    base = Path(os.environ.get("NUMBA_CACHE_DIR", ROOT / ".numba_cache"))
    # A worker process of a parallel run inherits the folder with its key.
    return base if base.name == key else base / key


if "numba" in sys.modules:
    raise RuntimeError("numba was imported before tests/conftest.py could name its cache folder")
os.environ["NUMBA_CACHE_DIR"] = str(_kernel_cache())
# The matrices of EM are tiny: threads of BLAS only wait for each other on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


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
