"""The Kolmogorov-Smirnov distance of two laws on the same steps: max_j |sum_{i <= j} (f_i - g_i)|.

Both distribution functions end at exactly 1, so that the last step is left out.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel


@kernel
def law_distance(f: npt.NDArray[np.float64], g: npt.NDArray[np.float64]) -> float:
    """Largest difference of the distribution functions of the probabilities f and g (n + 1,)."""
    below_f = 0.0
    below_g = 0.0
    worst = 0.0
    for i in range(f.size - 1):
        below_f += f[i]
        below_g += g[i]
        worst = max(worst, abs(below_f - below_g))
    # sums of probabilities may exceed 1 by a rounding
    return min(worst, 1.0)
