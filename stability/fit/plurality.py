"""Laws of the count of the leading answer, which cannot be small.

When L answers are possible, the leading one has at least ceil(n / L) of n votes. A mixture of
Beta-Binomials on 0..n knows nothing of that.

Two answers. The count of the leader is max(X, n - X) of the count X of either answer, so the law of
X is known up to its mirror image only, and that of the leader is the folded one, P(k) + P(n - k)
for k > n/2 and P(n/2) for k = n/2. The mixture is fitted to each item taken both ways, k and n - k,
and folded. A law and its mirror image, .77 and .23 right, have folded distance 0.

More answers. The fitted law is cut at the least count there can be and what remains is made to sum
to 1.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels.distance import law_distance
from stability.fit.distance import half_distance, latent_below
from stability.fit.result import Float, MixtureFit
from stability.fit.table import CountTable, count_table

Int64 = npt.NDArray[np.int64]


def folded_table(k: Int64, n: Int64) -> CountTable:
    """Return the table of counts k (M,) and n - k: every item both ways.

    Examples
    --------
    >>> table = folded_table(np.array([3, 2]), np.array([4, 4]))
    >>> table.k.tolist(), table.freq.tolist()
    ([1, 2, 3], [1, 2, 1])
    """
    return count_table(np.concatenate([k, n - k]), np.concatenate([n, n]))


def folded_law(fit: MixtureFit, n: int) -> Float:
    """Return the law of max(X, n - X), of shape (n // 2 + 1,), from the law of X.

    Examples
    --------
    >>> from stability.fit.mixture import fit_mixture
    >>> law = folded_law(fit_mixture([0, 4], 4), 4)
    >>> law.round(6).tolist()
    [0.0, 0.0, 1.0]
    """
    law = fit.law(n)
    folded: Float = (law + law[::-1])[(n + 1) // 2 :].copy()
    if n % 2 == 0:
        folded[0] /= 2.0
    return folded


def folded_distance(
    a: MixtureFit, b: MixtureFit, *, space: str, n: int, grid: int | None = None
) -> float:
    """Return D of two folded laws, predictive at n or latent; see `ks_distance`."""
    if space == "predictive":
        return float(law_distance(folded_law(a, n), folded_law(b, n)))

    def gap(ends: Float) -> Float:
        # the mass within ``ends`` of either end of [0, 1]: the leader has more than 1 - ends
        outer = [latent_below(fit, ends) + latent_below(fit, ends, mirror=True) for fit in (a, b)]
        # two shares of one law may add up to more than 1 by a rounding
        return np.minimum(np.abs(outer[0] - outer[1]), 1.0)

    if grid is not None:
        return float(gap(np.linspace(0.0, 0.5, (grid + 1) // 2)[:-1]).max())
    steps = [
        min(mean, 1.0 - mean)
        for fit in (a, b)
        for mean, rho in zip(fit.mean.tolist(), fit.rho.tolist(), strict=True)
        if rho < 1e-30
    ]
    # just beside a step, where the mirrored half of a law takes its step
    near = [x for step in steps for x in (np.nextafter(step, 0.0), np.nextafter(step, 1.0))]
    return half_distance(gap, np.array([x for x in (*steps, *near) if 0.0 <= x < 0.5]))


def cut_distance(a: MixtureFit, b: MixtureFit, *, n: int, lowest: int) -> float:
    """Return the predictive D at n of two laws cut below ``lowest``, 0 <= lowest <= n.

    No count that was fitted lies below ``lowest``, so that neither law is cut to nothing.
    """
    laws = [fit.law(n)[lowest:] for fit in (a, b)]
    return float(law_distance(*(law / law.sum() for law in laws)))
