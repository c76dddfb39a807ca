"""How far the accuracy of two answers to the same items differs, when runs share a question.

Item i has the grades x_i, y_i in {0, 1} and lies in cluster g; clusters are independent of each
other, items of one cluster are not. With s_g = sum over g of y_i - x_i and m_g items in g, the
change is sum s_g / sum m_g.

The interval is that of the percentile bootstrap over clusters (Davison and Hinkley, Bootstrap
Methods and their Application, 1997, sections 2.4 and 5.3): G of the G clusters are drawn with
replacement and the ratio is taken anew. Clusters of equal (s_g, m_g) are interchangeable, so that
a resample is one multinomial draw over the distinct pairs, whatever the number of items.

The test is McNemar's, exact and over clusters: b clusters gain (s_g > 0) and c lose, and under
the hypothesis that gain and loss are equally likely b ~ Bin(b + c, 1/2),

    p = min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))),

not the mid-p, hence conservative. Where each cluster holds one item, it is McNemar's test of the
items; where it holds several, they count once, and nothing is assumed of items within it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Grades = npt.NDArray[np.int8]
Clusters = npt.NDArray[np.int64]
_NAN = float("nan")


class Change(NamedTuple):
    """The change of the accuracy from one answer to another.

    Attributes
    ----------
    change : float
        Mean of y - x over the items with both grades, in [-1, 1]; NaN without any.
    low, high : float
        Ends of its interval; NaN for fewer than two clusters. Where no item differs, both are 0:
        the bootstrap knows only what it saw, see ``stability.fit.share``.
    p : float
        The exact test that gain and loss are equally likely; 1 where no cluster differs, NaN
        without a graded item.
    n_items, n_clusters : int
        Items with both grades, and the clusters they lie in.
    """

    change: float
    low: float
    high: float
    p: float
    n_items: int
    n_clusters: int


def paired_change(
    before: Grades,
    after: Grades,
    cluster: Clusters | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Change:
    """Compare the grades of two answers, item by item.

    Parameters
    ----------
    before, after : ndarray of int8, shape (M,)
        1 right, 0 wrong, -1 unknown; an item with an unknown grade is left out.
    cluster : ndarray of int64, shape (M,), optional
        None: every item is a cluster of its own.
    confidence : float
        In (0, 1), of the interval.
    resamples : int
        >= 1.
    seed : int
        >= 0; the same seed gives the same interval.

    Examples
    --------
    >>> x, y = np.array([1, 1, 0, 0, 1, 0], np.int8), np.array([1, 0, 1, 1, 1, 1], np.int8)
    >>> found = paired_change(x, y)
    >>> round(found.change, 3), found.p, found.n_items
    (0.333, 0.625, 6)
    """
    from scipy.special import bdtr

    known = (before >= 0) & (after >= 0)
    n_items = int(known.sum())
    if n_items == 0:
        return Change(_NAN, _NAN, _NAN, _NAN, 0, 0)
    gain = after[known].astype(np.int64) - before[known]
    group = np.arange(n_items) if cluster is None else _places(cluster[known])
    sizes = np.bincount(group)
    sums = np.bincount(group, weights=gain).astype(np.int64)
    pairs, copies = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)
    low = high = _NAN
    if sizes.size > 1:
        rng = np.random.Generator(np.random.Philox(key=seed))
        drawn = rng.multinomial(sizes.size, copies / sizes.size, size=resamples)
        ratios = (drawn @ pairs[0]) / (drawn @ pairs[1])
        tail = (1.0 - confidence) / 2.0
        low, high = np.quantile(ratios, [tail, 1.0 - tail]).tolist()
    gains, losses = int((sums > 0).sum()), int((sums < 0).sum())
    p = min(1.0, 2.0 * float(bdtr(min(gains, losses), gains + losses, 0.5)))
    return Change(float(gain.mean()), low, high, p, n_items, sizes.size)


def _places(cluster: Clusters) -> Clusters:
    return np.unique(cluster, return_inverse=True)[1].reshape(-1).astype(np.int64)
