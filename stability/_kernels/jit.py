"""The one decorator of all kernels: cache, error model and GIL are decided here.

``error_model="numpy"`` turns a division by zero into inf or nan, as NumPy does, instead of a
check and a Python exception; ``nogil`` lets Python threads run kernels side by side, which is
how batches use all cores (no numba threading layer, so forks and nested threads are safe).
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# An int64 where a literal would make numba compile a version of its own.
whole: Any = np.int64


def kernel(function: F) -> F:
    """Compile ``function`` in nopython mode, cached on disk, without the GIL."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
