"""Sums of the changes of shares between two rounds, item by item."""

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@kernel
def paired_sums(
    k: Int64, n: Int64, used: Bool, k_old: Int64, n_old: Int64, used_old: Bool
) -> tuple[int, int, float, float, float]:
    """Return M, the items that changed, and the sums of d, d^2 and d^3.

    d = k/n - k_old/n_old, over the M items used in both rounds in which somebody spoke.
    """
    items = 0
    discordant = 0
    total = 0.0
    squares = 0.0
    cubes = 0.0
    for i in range(k.size):
        if used[i] and used_old[i] and n[i] > 0 and n_old[i] > 0:
            items += 1
            if k[i] * n_old[i] != k_old[i] * n[i]:
                d = k[i] / n[i] - k_old[i] / n_old[i]
                discordant += 1
                total += d
                squares += d * d
                cubes += d * d * d
    return items, discordant, total, squares, cubes
