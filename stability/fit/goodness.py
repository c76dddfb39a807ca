"""Does the mixture fit, and do items differ at all?

Goodness of fit: Pearson's X^2 = sum (f - e)^2 / e over the cells of all n, and the discrete
Kolmogorov-Smirnov distance, the largest difference of the joint distribution functions
P(N = n, S <= k), N as observed. Neither has its textbook law, since parameters were fitted and
counts are few: p-values are those of the parametric bootstrap with a refit in each replicate,
(1 + hits) / (1 + B).

Overdispersion, H0: all items have one probability p (rho = 0). Tarone's

    Z = (sum (k - n p)^2 / (p (1 - p)) - sum n) / sqrt(2 sum n (n - 1)),   p = sum k / sum n,

is the score test of rho = 0, standard normal under H0; it is one-sided. The intraclass correlation
is rho of one Beta-Binomial, with its profile interval.

Source: Tarone, Biometrika 66 (1979); Stute, Gonzalez Manteiga and Presedo Quindimil, Metrika 40
(1993), the bootstrap of fitted distances.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stability._check import check_int
from stability.fit.bootstrap import refit, resample
from stability.fit.mixture import fit_mixture
from stability.fit.result import MixtureFit

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Goodness:
    """How far a fit lies from its counts.

    Attributes
    ----------
    pearson, distance : float
        X^2 and the Kolmogorov-Smirnov distance.
    pearson_p, distance_p : float
        By the parametric bootstrap.
    replicates : int
        B.
    """

    pearson: float
    pearson_p: float
    distance: float
    distance_p: float
    replicates: int


@dataclass(frozen=True)
class Overdispersion:
    """Whether items differ.

    Attributes
    ----------
    z : float or None
        Tarone's Z; None where all answers are equal or every n is at most 1: there is nothing to
        test.
    p : float or None
        P(Z >= z), one-sided.
    icc : float
        The intraclass correlation, rho of one Beta-Binomial.
    low, high : float
        Its profile interval at 95 %.
    """

    z: float | None
    p: float | None
    icc: float
    low: float
    high: float


def goodness_of_fit(fit: MixtureFit, *, replicates: int = 499, seed: int = 0) -> Goodness:
    """Compare a fit with the counts it was fitted to.

    Parameters
    ----------
    fit : MixtureFit
    replicates : int
        B >= 19.
    seed : int
        >= 0.

    Returns
    -------
    Goodness

    Raises
    ------
    ValueError
        When an argument is out of range.

    Examples
    --------
    >>> counts = [0, 30, 0, 30, 0, 30, 0, 30]  # odd counts only: no mixture gives that
    >>> found = goodness_of_fit(fit_mixture(range(8), 7, freq=counts), replicates=99)
    >>> found.pearson_p
    0.01
    """
    check_int("replicates", replicates, minimum=19)
    check_int("seed", seed, minimum=0)
    k, n, tables = resample(fit, "parametric", replicates, np.random.default_rng(seed))
    own = np.zeros(k.size)
    for k_, n_, freq in zip(*(column.tolist() for column in fit.counts), strict=True):
        own[(k == k_) & (n == n_)] = freq
    parts, _, _ = refit(k, n, tables, fit.n_components)
    fitted = np.stack([fit.weights, fit.mean, fit.rho])[:, None, :]
    observed = _distances(n, own[None, :], np.ascontiguousarray(fitted))
    drawn = _distances(n, tables, parts)
    slack = 1e-9
    p = [
        (1 + int((values >= seen[0] * (1.0 - slack)).sum())) / (1 + replicates)
        for seen, values in zip(observed, drawn, strict=True)
    ]
    return Goodness(float(observed[0][0]), p[0], float(observed[1][0]), p[1], replicates)


def _distances(n: Int64, tables: Float, parts: Float) -> tuple[Float, Float]:
    """X^2 and D of tables (B, R) from the laws of parts (3, B, K); cells sorted by n, then k."""
    from stability.fit.bootstrap import laws

    pearson, distance = np.zeros(len(tables)), np.zeros(len(tables))
    for size in np.unique(n).tolist():
        here = tables[:, n == size]
        total = here.sum(axis=1, keepdims=True)
        expected = laws(parts, size) * total
        gap = here - expected
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(expected > 0.0, gap**2 / expected, np.where(here > 0.0, np.inf, 0.0))
        pearson += terms.sum(axis=1)
        distance = np.maximum(distance, np.abs(np.cumsum(gap, axis=1)).max(axis=1))
    return pearson, distance / tables.sum(axis=1)


def overdispersion(
    k: npt.ArrayLike, n: npt.ArrayLike, *, freq: npt.ArrayLike | None = None
) -> Overdispersion:
    """Test whether items differ more than a binomial allows, and by how much.

    Parameters
    ----------
    k, n, freq
        As for `fit_mixture`.

    Returns
    -------
    Overdispersion

    Examples
    --------
    >>> found = overdispersion([0, 1, 6, 7], 7, freq=[40, 20, 30, 110])
    >>> found.p < 1e-6, round(found.icc, 2)
    (True, 0.77)
    """
    from scipy.special import ndtr

    fit = fit_mixture(k, n, freq=freq, n_components=1)
    cells, sizes, copies = (np.asarray(column, np.float64) for column in fit.counts)
    interval = fit.profile_interval("rho")
    asked = float(copies @ sizes)
    p = float(copies @ cells) / max(asked, 1.0)
    pairs = float(copies @ (sizes * (sizes - 1.0)))
    z = tail = None
    if 0.0 < p < 1.0 and pairs > 0.0:
        spread = float(copies @ (cells - sizes * p) ** 2) / (p * (1.0 - p))
        z = float((spread - asked) / np.sqrt(2.0 * pairs))
        tail = float(ndtr(-z))
    return Overdispersion(z, tail, float(fit.rho[0]), interval.low, interval.high)
