"""The multistart search for the global maximum, on tables that are already valid.

The likelihood of a mixture has several local maxima. The search starts from a deterministic list
of points, and from the atoms of the grid in ``starts.py``; what it passes on its way can be
counted, at the price of not leaving a run before it has reached its own maximum.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels import mixture as kernels
from stability.fit.starts import GRID_MEAN, GRID_RHO
from stability.fit.table import CountTable

# Distinct local maxima kept in one search; more than this many starts are never made.
_MODES = 32


def search(
    k: npt.NDArray[np.int64],
    n: npt.NDArray[np.int64],
    freq: npt.NDArray[np.float64],
    size: int,
    modes: int = 0,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Run the search on every row of freq (B, R): points (B, 3K - 1), infos (B, 5)."""
    x = np.zeros((freq.shape[0], 3 * size - 1))
    info = np.zeros((freq.shape[0], 5))
    kernels.fit_tables(k, n, freq, size, modes, GRID_MEAN, GRID_RHO, x, info)
    return x, info


def count_modes(table: CountTable, size: int) -> int:
    """Count the distinct local maxima with all weights inside (0, 1), at least 1."""
    # copies: numba compiles the kernel once more for arrays that are read-only
    freq = table.freq[None, :].astype(np.float64)
    _, info = search(table.k.copy(), table.n.copy(), freq, size, _MODES)
    return int(info[0, 3])
