"""The kernel cache of a session of tests or benchmarks.

numba reuses a compiled kernel as long as the file of that kernel is unchanged; it does not see an
edit in another file whose kernel it calls. So a session keeps its cache in a folder named after a
hash of all kernel files: any edit starts an empty one.
"""

import hashlib
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent


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
    raise RuntimeError("numba was imported before conftest.py could name its cache folder")
os.environ["NUMBA_CACHE_DIR"] = str(_kernel_cache())
