"""The Kolmogorov-Smirnov distance between two rounds, in three spaces.

D = sup |F - G|, where F and G are the distribution functions of

- ``predictive``: the fitted number of correct agents, k = 0..n, at one reference n;
- ``latent``: the fitted probability of a right answer of an item, on [0, 1] (what arXiv
  2510.12697 computes, on a grid of 1000 points);
- ``empirical``: the observed counts, on the items with equal n in both rounds. It is a multiple
  of 1/M and hits decimal thresholds such as .05 exactly, so that it is compared as a fraction.

D of identical inputs is exactly 0. |change of the share of right answers| <= D holds for the
empirical D at equal n, not for the fitted ones. Near saturation the latent D can be .5 while the
counts barely moved: the law of a probability close to 1 is hardly seen in n answers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int
from stability._kernels.distance import law_distance
from stability.fit.counts import check_agents, check_integers
from stability.fit.result import Float, MixtureFit

SPACES = ("predictive", "latent", "empirical")
# Points a half of [0, 1] on which the latent sup is first looked for; it is then refined.
_SCAN = 160
# Below this correlation a Beta law is a step in double precision, and betainc gives NaN.
_STEP = 1e-30
_TAIL = np.logspace(-300, -5, 60)
_REFINED = 4  # of the highest peaks, each by this many rounds of 9 points
_ROUNDS = 6


@dataclass(frozen=True)
class EmpiricalDistance:
    """D of observed counts as the exact fraction numerator / n_items.

    Attributes
    ----------
    numerator, n_items : int
        D = numerator / n_items, over the items with equal n in both rounds.
    excluded : int
        Items left out because their n differs between the rounds.
    """

    numerator: int
    n_items: int
    excluded: int

    @property
    def value(self) -> float:
        """D as a float."""
        return self.numerator / self.n_items

    def below(self, threshold: float) -> bool:
        """Whether D < threshold, exactly, reading .05 as 1/20 and not as its binary neighbour."""
        return Fraction(self.numerator, self.n_items) < Fraction(str(threshold))


def ks_distance(
    a: MixtureFit | npt.ArrayLike,
    b: MixtureFit | npt.ArrayLike,
    *,
    space: str = "predictive",
    n: npt.ArrayLike | None = None,
    grid: int | None = None,
) -> float:
    """Return the Kolmogorov-Smirnov distance D between two rounds, in [0, 1].

    Parameters
    ----------
    a, b : MixtureFit, or array_like of int, shape (M,), when ``space="empirical"``
        The fits of the two rounds, or their counts of correct agents, items aligned.
    space : {"predictive", "latent", "empirical"}
        Which distribution functions are compared, see the module.
    n : int, or array_like of int (M,) when ``space="empirical"``
        ``predictive``: the reference number of agents (the modal n of the two fits by default).
        ``empirical``: agents of each item, equal in both rounds; None when all items have one n.
    grid : int, optional
        ``latent`` only: take the maximum over this many equally spaced points of [0, 1] (1000 in
        arXiv 2510.12697) instead of the supremum.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        When the arguments do not fit the space, or the arrays each other.

    Examples
    --------
    >>> from stability import fit_mixture, ks_distance
    >>> early = fit_mixture([1, 4, 6], 7, freq=[30, 40, 30])
    >>> late = fit_mixture([1, 5, 7], 7, freq=[25, 20, 55])
    >>> round(ks_distance(early, late), 3), ks_distance(early, early)
    (0.486, 0.0)
    >>> ks_distance([0, 1, 2, 2], [1, 1, 2, 2], space="empirical")
    0.25
    """
    chosen = check_choice("space", space, SPACES)
    if grid is not None and chosen != "latent":
        raise ValueError(f"`grid` belongs to space='latent', got grid={grid!r}, space={space!r}")
    if chosen == "empirical":
        if isinstance(a, MixtureFit) or isinstance(b, MixtureFit):
            raise ValueError("`a` and `b` must be arrays of counts when space='empirical'")
        # without n all items have one n, and any one that holds the counts will do
        agents = max(np.max(a, initial=1), np.max(b, initial=1)) if n is None else n
        return empirical_distance(a, agents, b, agents).value
    if not isinstance(a, MixtureFit) or not isinstance(b, MixtureFit):
        raise ValueError(f"`a` and `b` must be MixtureFit when space={chosen!r}")
    if chosen == "latent":
        if n is not None:
            raise ValueError(f"`n` does not enter space='latent', got n={n!r}")
        return _latent_distance(a, b, grid)
    reference = modal_n(a, b) if n is None else check_int("n", n, minimum=1)
    return float(law_distance(a.law(reference), b.law(reference)))


def empirical_distance(
    k_a: npt.ArrayLike, n_a: npt.ArrayLike, k_b: npt.ArrayLike, n_b: npt.ArrayLike
) -> EmpiricalDistance:
    """Return D of the observed counts of two rounds as an exact fraction.

    Parameters
    ----------
    k_a, k_b : array_like of int, shape (M,)
        Correct agents of each item, items aligned between the rounds.
    n_a, n_b : int or array_like of int, shape (M,)
        Agents that spoke; items whose n differs between the rounds are left out and counted.

    Returns
    -------
    EmpiricalDistance

    Raises
    ------
    ValueError
        When k > n somewhere, the lengths differ, or no item has equal n in both rounds.

    Examples
    --------
    >>> d = empirical_distance([3, 3, 7], [7, 7, 7], [3, 4, 6], [7, 7, 6])
    >>> d.numerator, d.n_items, d.excluded, d.below(0.5)
    (1, 2, 1, False)
    """
    first, agents_a = _items("k_a", k_a, "n_a", n_a)
    second, agents_b = _items("k_b", k_b, "n_b", n_b)
    if first.size != second.size:
        raise ValueError(
            f"`k_a` and `k_b` must hold the same items: lengths {first.size} and {second.size}"
        )
    same = agents_a == agents_b
    items = int(same.sum())
    if items == 0:
        raise ValueError(
            f"`n_a` and `n_b` must be equal on at least one item, got none of {first.size}"
        )
    top = int(agents_a[same].max())
    change = np.bincount(first[same], minlength=top + 1) - np.bincount(
        second[same], minlength=top + 1
    )
    numerator = int(np.abs(np.cumsum(change)).max())
    return EmpiricalDistance(numerator, items, first.size - items)


def _items(
    count_name: str, k: npt.ArrayLike, agents_name: str, n: npt.ArrayLike
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    counts = check_integers(count_name, k)
    agents = check_agents(n)
    if counts.ndim != 1 or agents.ndim > 1 or (agents.ndim == 1 and agents.size != counts.size):
        raise ValueError(
            f"`{count_name}` must be (M,) and `{agents_name}` a number or (M,): shapes "
            f"{counts.shape} and {agents.shape}"
        )
    agents = np.broadcast_to(agents, counts.shape)
    bad = (counts < 0) | (counts > agents)
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"`{count_name}` must lie in 0..`{agents_name}`: {count_name}[{at}]={counts[at]}, "
            f"{agents_name}[{at}]={agents[at]}"
        )
    return counts, agents


def modal_n(*fits: MixtureFit) -> int:
    """Return the most frequent number of agents among the items of the fits; ties to the larger."""
    sizes = np.concatenate([fit.counts.n for fit in fits])
    weight = np.bincount(sizes, weights=np.concatenate([fit.counts.freq for fit in fits]))
    weight[0] = 0.0  # an item that nobody answered is no reference
    return max(1, int(weight.size - 1 - np.argmax(weight[::-1])))


def latent_below(
    fit: MixtureFit, x: Float, *, strictly: bool = False, mirror: bool = False
) -> Float:
    """Return P(theta <= x), or P(theta < x), for points x (P,) of [0, 1].

    With ``mirror`` theta is the probability of a wrong answer, so that points next to 1 keep
    their digits. Components at rho = 0 are steps at their mean, those at rho = 1 masses at 0 and
    1.
    """
    from scipy.special import betainc

    total = np.zeros(x.shape)
    parts = zip(fit.weights, fit.mean, fit.rho, fit.alpha, fit.beta, strict=True)
    for weight, mean, rho, alpha, beta in parts:
        if mirror:
            mean, alpha, beta = 1.0 - mean, beta, alpha
        if mean <= 0.0 or mean >= 1.0 or rho < _STEP:
            part = (mean < x) if strictly else (mean <= x)
        elif rho >= 1.0:
            at_zero = np.where(x > 0.0, 1.0 - mean, 0.0 if strictly else 1.0 - mean)
            part = at_zero if strictly else np.where(x >= 1.0, 1.0, at_zero)
        else:
            part = betainc(alpha, beta, x)
        total += weight * part
    return np.minimum(total, 1.0)


def _latent_distance(a: MixtureFit, b: MixtureFit, grid: int | None) -> float:
    if grid is not None:
        points = np.linspace(0.0, 1.0, check_int("grid", grid, minimum=2))
        return float(np.abs(latent_below(a, points) - latent_below(b, points)).max())
    return max(_one_half(a, b, mirror=False), _one_half(a, b, mirror=True))


def _one_half(a: MixtureFit, b: MixtureFit, *, mirror: bool) -> float:
    """Return the sup over one half of [0, 1], seen from its end."""

    def gap(x: Float, strictly: bool = False) -> Float:
        laws = [latent_below(fit, x, strictly=strictly, mirror=mirror) for fit in (a, b)]
        return np.abs(laws[0] - laws[1])

    steps = [
        1.0 - m if mirror else m
        for fit in (a, b)
        for m, rho in zip(fit.mean.tolist(), fit.rho.tolist(), strict=True)
        if rho < _STEP
    ]
    edges = np.array([s for s in steps if 0.0 <= s <= 0.5])
    best = half_distance(gap, edges)
    return max(best, float(gap(edges, strictly=True).max())) if edges.size else best


def half_distance(gap: Callable[[Float], Float], edges: Float) -> float:
    """Return the sup of a gap between two laws over [0, .5], seen from its end at 0.

    The law next to an end can be as steep as x ** alpha with a tiny alpha, hence points down to
    1e-300; between points the difference is smooth but at the steps ``edges``, which are points
    themselves. The best cells are then refined by bisecting grids.
    """
    x = np.concatenate(
        [
            [0.0],
            _TAIL,
            0.5 * np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, _SCAN)) ** 2,
            edges,
        ]
    )
    x = np.unique(x)
    level = gap(x)
    best = float(level.max())
    inner = np.flatnonzero((level[1:-1] >= level[:-2]) & (level[1:-1] >= level[2:])) + 1
    for i in inner[np.argsort(level[inner])[::-1][:_REFINED]]:
        low, high = x[i - 1], x[i + 1]
        for _ in range(_ROUNDS):
            fine = np.geomspace(low, high, 9) if low > 0.0 else np.linspace(low, high, 9)
            values = gap(fine)
            at = int(np.argmax(values))
            best = max(best, float(values[at]))
            low, high = fine[max(0, at - 1)], fine[min(8, at + 1)]
    return best
