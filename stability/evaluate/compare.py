"""Two rounds of one log compared: accuracy, majority answers, and the shape of the counts.

Runs of one question share a cluster and are not independent: clusters are resampled whole, and with
them both rounds of their items.

The distance D = sup |F_1 - F_2| is never below 0, so that a percentile interval of its bootstrap
never reaches 0 and says nothing about "no change". What does is the bootstrap of the process: with
the replicate difference d*(k) = F_1*(k) - F_2*(k) and d = F_1 - F_2 the quantile q of sup |d* - d|
bounds the error of d everywhere at once, hence D lies in [max(0, D - q), D + q].
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability.evaluate.detect import observed_counts
from stability.evaluate.outcomes import leader_grades
from stability.evaluate.paired import Change, paired_change
from stability.fit.bootstrap import laws, refit
from stability.fit.mixture import fit_table
from stability.fit.result import MixtureFit
from stability.fit.share import upper_limit
from stability.fit.swap import swap_test
from stability.fit.table import count_table
from stability.log import DebateLog

if TYPE_CHECKING:
    import pandas as pd

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class DistanceBootstrap:
    """The bootstrap of a distance between two rounds.

    Attributes
    ----------
    distance : float
        D of the log.
    low, high : float
        Percentile interval of the replicates of D; its lower end is biased upwards.
    lower, upper : float
        What D may be by the centred process: D -+ the quantile of sup |d* - d|, within [0, 1].
    draws, sup : ndarray, shape (B,)
        Replicates of D and of sup |d* - d|.
    n_items, n_clusters, excluded : int
        Items counted in both rounds, the clusters they lie in, and items left out: without a count
        in one of the rounds, or, for the empirical space, with unequal n.
    level : float
    space, observable : str
    """

    distance: float
    low: float
    high: float
    lower: float
    upper: float
    draws: Float
    sup: Float
    n_items: int
    n_clusters: int
    excluded: int
    level: float
    space: str
    observable: str

    def summary(self) -> str:
        """Return the result in a sentence."""
        return (
            f"D = {self.distance:.3f} ({self.space}, {self.n_items} items in {self.n_clusters} "
            f"clusters); by the centred bootstrap at {100 * self.level:g} % it lies in "
            f"[{self.lower:.3f}, {self.upper:.3f}]."
        )


def bootstrap_distance(
    log: DebateLog,
    t1: int,
    t2: int,
    *,
    space: str = "predictive",
    observable: str = "auto",
    n_components: int = 2,
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> DistanceBootstrap:
    """Resample clusters and measure the distance of two rounds anew.

    Parameters
    ----------
    log : DebateLog
    t1, t2 : int
        0..T - 1, different rounds.
    space : {"predictive", "empirical"}
        Of the fitted laws at the modal n, or of the observed counts.
    observable : {"auto", "correct", "agreement"}
        As in `detect`.
    n_components : {1, 2, 3}
        Of the fits.
    replicates : int
        B >= 2.
    level : float
        In (0, 1).
    seed : int
        >= 0.

    Returns
    -------
    DistanceBootstrap

    Raises
    ------
    ValueError
        When an argument is out of range, or no item is counted in both rounds.

    Examples
    --------
    >>> from stability import load_smollm_debates
    >>> found = bootstrap_distance(load_smollm_debates(), 0, 1, replicates=200)
    >>> found.lower <= found.distance <= found.upper
    True
    """
    check_choice("space", space, ("predictive", "empirical"))
    check_int("n_components", n_components, minimum=1, maximum=3)
    check_int("replicates", replicates, minimum=2)
    check_int("seed", seed, minimum=0)
    check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
    pair = _Pair(log, t1, t2, observable, equal=space == "empirical")
    weight = _cluster_weights(pair.cluster, replicates, np.random.default_rng(seed))
    curves = []
    for k, n in zip(pair.k, pair.n, strict=True):
        cells, places = np.unique(np.stack([n, k]), axis=1, return_inverse=True)
        own = np.bincount(places.reshape(-1), minlength=cells.shape[1]).astype(np.float64)
        tables = _tables(weight, places.reshape(-1), cells.shape[1])
        both = np.vstack([own[None, :], tables])
        if space == "predictive":
            parts, _, _ = refit(cells[1].copy(), cells[0].copy(), both, n_components)
            curve = np.cumsum(laws(parts, pair.reference), axis=1)
        else:
            full = np.zeros((len(both), pair.reference + 1))
            np.add.at(full.T, cells[1], both.T)
            curve = np.cumsum(full, axis=1) / full.sum(axis=1, keepdims=True)
        curves.append(curve)
    gap = curves[0] - curves[1]
    distance = float(np.abs(gap[0]).max())
    draws = np.abs(gap[1:]).max(axis=1)
    sup = np.abs(gap[1:] - gap[0]).max(axis=1)
    half = float(np.quantile(sup, level))
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail]).tolist()
    for array in (draws, sup):
        array.setflags(write=False)
    return DistanceBootstrap(
        distance,
        low,
        high,
        max(0.0, distance - half),
        min(1.0, distance + half),
        draws,
        sup,
        pair.n_items,
        pair.n_clusters,
        pair.excluded,
        level,
        space,
        pair.observable,
    )


@dataclass(frozen=True, eq=False)
class RoundComparison:
    """What changed between two rounds.

    Attributes
    ----------
    t1, t2 : int
    observable : str
        "correct" or "agreement": what the counts count.
    before, after : float
        Mean share k / n over items.
    change, low, high : float
        Mean change of the share, with a Student interval over clusters; NaN for one cluster.
    changed, changed_upper : float
        Share of items whose count changed, and its upper limit: where nothing was seen to change
        the interval is [0, 0], and this is what is known.
    majority : Change or None
        The change of the accuracy of the leading answer, with McNemar's exact test over clusters;
        None for an ungraded log.
    distance : DistanceBootstrap
        How far the laws of the counts lie apart.
    swap_p : float
        The exact test that the rounds of each item are exchangeable, by D of the counts; NaN where
        an item has clusters or unequal n.
    spread_before, spread_after : float
        Standard deviation of k / n over items.
    fits : tuple of two MixtureFit
    """

    t1: int
    t2: int
    observable: str
    before: float
    after: float
    change: float
    low: float
    high: float
    level: float
    changed: float
    changed_upper: float
    majority: Change | None
    distance: DistanceBootstrap
    swap_p: float
    spread_before: float
    spread_after: float
    fits: tuple[MixtureFit, MixtureFit]

    def to_frame(self) -> "pd.DataFrame":
        """Return a row a figure: figure, before, after, change, low, high, p."""
        import pandas as pd

        rows: list[dict[str, Any]] = [
            {
                "figure": f"mean share {self.observable}",
                "before": self.before,
                "after": self.after,
                "change": self.change,
                "low": self.low,
                "high": self.high,
            }
        ]
        if self.majority is not None:
            one = self.majority
            rows.append(
                {
                    "figure": "leading answer correct",
                    "change": one.change,
                    "low": one.low,
                    "high": one.high,
                    "p": one.p,
                }
            )
        rows += [
            {
                "figure": "spread over items",
                "before": self.spread_before,
                "after": self.spread_after,
                "change": self.spread_after - self.spread_before,
            },
            {
                "figure": "distance D",
                "change": self.distance.distance,
                "low": self.distance.lower,
                "high": self.distance.upper,
                "p": self.swap_p,
            },
        ]
        columns = ["figure", "before", "after", "change", "low", "high", "p"]
        return pd.DataFrame(rows, columns=columns)

    def summary(self) -> str:
        """Return the comparison as a readable text."""
        lines = [
            f"Rounds {self.t1} and {self.t2}, {self.distance.n_items} items in "
            f"{self.distance.n_clusters} clusters",
            f"mean share {self.observable}: {self.before:.3f} -> {self.after:.3f}, change "
            f"{self.change:+.3f} ({100 * self.level:g} % {self.low:+.3f} to {self.high:+.3f})",
        ]
        if self.majority is not None:
            one = self.majority
            lines.append(
                f"leading answers: accuracy changes by {one.change:+.3f} ({one.low:+.3f} to "
                f"{one.high:+.3f}), McNemar p = {one.p:.3g}"
            )
        lines += [
            f"shape: spread over items {self.spread_before:.3f} -> {self.spread_after:.3f}",
            self.distance.summary(),
            f"{100 * self.changed:.1f} % of items changed their count, at most "
            f"{100 * self.changed_upper:.1f} %",
        ]
        return "\n".join(lines)


def compare_rounds(
    log: DebateLog,
    t1: int,
    t2: int,
    *,
    observable: str = "auto",
    n_components: int = 2,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> RoundComparison:
    """Compare two rounds of a log: accuracy, majority answers, shape.

    Parameters
    ----------
    log, t1, t2, observable, n_components, level, replicates, seed
        As for `bootstrap_distance`.

    Returns
    -------
    RoundComparison

    Raises
    ------
    ValueError
        When an argument is out of range, or no item is counted in both rounds.

    Examples
    --------
    >>> from stability import load_smollm_debates
    >>> found = compare_rounds(load_smollm_debates(), 0, 3, replicates=200)
    >>> found.low < found.change < found.high, found.majority.n_items
    (True, 72)
    """
    distance = bootstrap_distance(
        log,
        t1,
        t2,
        observable=observable,
        n_components=n_components,
        replicates=replicates,
        level=level,
        seed=seed,
    )
    pair = _Pair(log, t1, t2, observable, equal=False)
    shares = pair.k / pair.n
    change, low, high = _clustered_mean(shares[1] - shares[0], pair.cluster, level)
    moved = int((shares[0] != shares[1]).sum())
    majority = None
    if log.is_graded:
        grades = leader_grades(log, log.plurality())
        majority = paired_change(
            grades[t1], grades[t2], log.cluster, confidence=level, resamples=replicates, seed=seed
        )
    plain = pair.n_clusters == pair.n_items and bool((pair.n[0] == pair.n[1]).all())
    fits = tuple(
        fit_table(*count_table(k, n), n_components) for k, n in zip(pair.k, pair.n, strict=True)
    )
    return RoundComparison(
        t1,
        t2,
        pair.observable,
        float(shares[0].mean()),
        float(shares[1].mean()),
        change,
        low,
        high,
        level,
        moved / pair.n_items,
        float(upper_limit(moved, pair.n_items, level)),
        majority,
        distance,
        swap_test(pair.k[0], pair.k[1], seed=seed) if plain else float("nan"),
        float(shares[0].std()),
        float(shares[1].std()),
        (fits[0], fits[1]),
    )


class _Pair:
    """The counts of the items that are counted in both rounds, with their clusters."""

    def __init__(self, log: DebateLog, t1: int, t2: int, observable: str, equal: bool) -> None:
        last = log.n_rounds - 1
        rounds = [
            check_int(name, t, minimum=0, maximum=last) for name, t in (("t1", t1), ("t2", t2))
        ]
        if t1 == t2:
            raise ValueError(f"`t1` and `t2` must be different rounds, got {t1} twice")
        k, n, counted, self.observable = observed_counts(log, observable)
        used = counted[rounds].all(axis=0)
        if equal:
            used &= n[rounds[0]] == n[rounds[1]]
        if not used.any():
            raise ValueError(f"`log` must have an item that is counted in rounds {t1} and {t2}")
        self.k, self.n = k[rounds][:, used], n[rounds][:, used]
        self.n_items, self.excluded = int(used.sum()), int((~used).sum())
        groups = np.arange(log.n_items) if log.cluster is None else log.cluster
        self.cluster = np.unique(groups[used], return_inverse=True)[1].reshape(-1)
        self.n_clusters = int(self.cluster.max()) + 1
        sizes = np.bincount(self.n.reshape(-1))
        # the modal n, the larger of two; for observed counts any n that holds them all
        modal = int(sizes.size - 1 - np.argmax(sizes[::-1]))
        self.reference = int(self.n.max()) if equal else modal


def _cluster_weights(cluster: Int64, replicates: int, rng: np.random.Generator) -> Float:
    """How often each item is drawn in each replicate, shape (B, M): clusters whole."""
    groups = int(cluster.max()) + 1
    drawn = np.empty((replicates, groups))
    for start in range(0, replicates, _BLOCK):
        rows = drawn[start : start + _BLOCK]
        rows[:] = rng.multinomial(groups, np.full(groups, 1.0 / groups), size=len(rows))
    return drawn[:, cluster]


def _tables(weight: Float, places: Int64, cells: int) -> Float:
    """Frequencies of cells (B, R) of weighted items (B, M)."""
    found = np.empty((len(weight), cells))
    for cell in range(cells):
        found[:, cell] = weight[:, places == cell].sum(axis=1)
    return found


def _clustered_mean(values: Float, cluster: Int64, level: float) -> tuple[float, float, float]:
    """Mean over items with a Student interval over clusters (a ratio of sums)."""
    from scipy.special import stdtrit

    sizes = np.bincount(cluster)
    mean = float(values.mean())
    if sizes.size < 2:
        return mean, float("nan"), float("nan")
    residual = np.bincount(cluster, weights=values) - mean * sizes
    groups = sizes.size
    error = np.sqrt((residual**2).sum() * groups / (groups - 1.0)) / sizes.sum()
    half = float(stdtrit(groups - 1.0, 0.5 + level / 2.0)) * float(error)
    return mean, mean - half, mean + half
