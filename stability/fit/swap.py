"""Did anything change between two rounds? The swap test, and the threshold it gives for D.

Item i has the counts (x_i, y_i) in two rounds. If nothing changed, the two are exchangeable within
the item: (x_i, y_i) is as likely as (y_i, x_i), however the items differ from each other and
however strongly an agent sticks to its answer. Swapping each item with probability 1/2 gives the
law of any statistic when nothing changed, given the items. With B patterns of swaps, of which
``hits`` reach the statistic that was observed,

    p = (1 + hits) / (1 + B)

is a valid p-value (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010, article 39). Items
with x_i = y_i move nothing; where the other ones are few, all patterns are counted and p is exact.

The .95 quantile q of D under the swaps is the largest D that is no evidence of a change, for these
items and agents as sticky as they are. A change of the distribution by Delta is seen, D > q, about
as often as a normal variable of mean Delta and variance (c + Delta) / M exceeds q, c being the
largest share of items that crossed one count (in either direction).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int
from stability._kernels.swap import pair_table, swapped

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
STATISTICS = ("D", "mean")
PERMUTATIONS = 999
_FEW = 255  # up to this many agents counts index the table of pairs themselves
_POWER = 1.2815515655446004  # the .9 quantile of the normal law


@dataclass(frozen=True, eq=False)
class Swaps:
    """Two rounds of counts, ready for the swap test.

    Attributes
    ----------
    n_items : int
        M, items used in both rounds with one number of agents.
    unlike : int
        Items used in both whose number of agents differs; they are left out.
    low, high : ndarray of int64, shape (G,)
        The groups of items that changed, as places in ``levels``: low < high.
    up, down : ndarray of int64, shape (G,)
        How many went from low to high, and back.
    levels : ndarray of int64, shape (L,)
        Counts in ascending order.
    """

    n_items: int
    unlike: int
    low: Int64
    high: Int64
    up: Int64
    down: Int64
    levels: Int64

    @property
    def discordant(self) -> int:
        """Items whose count changed."""
        return int(self.up.sum() + self.down.sum())

    @cached_property
    def distance(self) -> int:
        """M D of the observed counts."""
        return self._crossing(self.up - self.down)

    @property
    def shift(self) -> int:
        """|sum of the changes| of the counts."""
        return abs(
            int(((self.up - self.down) * (self.levels[self.high] - self.levels[self.low])).sum())
        )

    def observed(self, statistic: str) -> int:
        """Return the statistic of the rounds as they were, as a whole number (M D or a sum)."""
        return self.distance if statistic == "D" else self.shift

    def null(self, statistic: str, permutations: int, key: tuple[int, int]) -> tuple[Int64, bool]:
        """Return the statistic after swaps, and whether these are all patterns there are.

        Where 2 to the number of discordant items is at most permutations + 1, all are counted.
        Else ``key`` (a seed and a counter) gives the random bits: the same key, the same swaps.
        """
        size = self.up + self.down
        items = self.discordant
        exact = items < 63 and 2**items <= permutations + 1
        width = int(((size + 63) // 64).sum())
        if exact:
            # Bit by bit from the number of the pattern: each group takes its bits in turn.
            patterns = np.arange(2**items, dtype=np.uint64)
            words = np.empty((patterns.size, width), np.uint64)
            taken = np.cumsum(size) - size
            for group in range(size.size):
                words[:, group] = patterns >> np.uint64(taken[group])
        else:
            rng = np.random.Philox(key=np.array(key, np.uint64))
            words = rng.random_raw(permutations * width).reshape(permutations, width)
        distance, shift = np.empty(words.shape[0], np.int64), np.empty(words.shape[0], np.int64)
        swapped(words, self.low, self.high, size, self.levels, distance, shift)
        return (distance if statistic == "D" else shift), exact

    def p_value(self, statistic: str, permutations: int, key: tuple[int, int]) -> float:
        """Return (1 + hits) / (1 + B), or the exact share of all patterns."""
        null, exact = self.null(statistic, permutations, key)
        hits = int((null >= self.observed(statistic)).sum())
        return hits / null.size if exact else (1 + hits) / (1 + null.size)

    def quantile(self, confidence: float, permutations: int, key: tuple[int, int]) -> int:
        """Return the least M q that M D exceeds with probability <= 1 - confidence by chance."""
        null, exact = self.null("D", permutations, key)
        # the observed one belongs to its own null law; among all patterns it is there already
        law = np.sort(null if exact else np.append(null, self.distance))
        return int(law[int(np.ceil(confidence * law.size - 1e-9)) - 1])

    def detectable(self, threshold: float) -> float:
        """Return the change of the distribution that exceeds ``threshold`` in 9 of 10 cases.

        The least Delta with Delta - z sqrt((c + Delta) / M) >= threshold, z the .9 quantile of the
        normal law; at most 1.
        """
        crossed = self._crossing(self.up + self.down) / self.n_items
        spread = _POWER**2 / self.n_items
        # Delta = threshold + sqrt(spread (c + Delta)), a quadratic in Delta
        middle = threshold + spread / 2
        return min(1.0, middle + float(np.sqrt(middle**2 - threshold**2 + spread * crossed)))

    def _crossing(self, moves: Int64) -> int:
        line = np.zeros(self.levels.size + 1, np.int64)
        np.add.at(line, self.low, moves)
        np.subtract.at(line, self.high, moves)
        return int(np.abs(np.cumsum(line)).max())


def swaps(
    before: tuple[Int64, Int64, Bool], after: tuple[Int64, Int64, Bool], n_agents: int
) -> Swaps:
    """Group the items of two rounds by their counts.

    Parameters
    ----------
    before, after : tuple of three ndarray, shape (M,)
        Counts k, agents n and which items are used, items aligned.
    n_agents : int
        No n is larger.
    """
    (k_old, n_old, used_old), (k, n, used) = before, after
    if n_agents <= _FEW:
        levels = np.arange(n_agents + 1)
    else:
        levels, places = np.unique(np.concatenate([k_old, k]), return_inverse=True)
        k_old, k = places.reshape(2, -1).astype(np.int64)
    table = np.zeros((levels.size, levels.size), np.int64)
    compared, unlike = pair_table(k, n, used, k_old, n_old, used_old, table)
    low, high = np.nonzero(np.triu(table + table.T, 1))
    return Swaps(compared, unlike, low, high, table[low, high], table[high, low], levels)


def swap_test(
    k_before: npt.ArrayLike,
    k_after: npt.ArrayLike,
    *,
    statistic: str = "D",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> float:
    """Return the p-value of the hypothesis that nothing changed between two rounds.

    Parameters
    ----------
    k_before, k_after : array_like of int, shape (M,)
        Counts of correct (or agreeing) agents, >= 0, items aligned; one number of agents an item.
    statistic : {"D", "mean"}
        The Kolmogorov-Smirnov distance of the observed counts, or the change of their mean.
    permutations : int
        >= 1, patterns of swaps; where there are no more than permutations + 1 all are counted.
    seed : int
        >= 0; the same seed gives the same p-value.

    Returns
    -------
    float
        In (0, 1]; exactly valid: P(p <= level) <= level when the rounds are exchangeable within
        each item.

    Raises
    ------
    ValueError
        When the arrays are not counts of the same items, or an option is out of range.

    Examples
    --------
    >>> swap_test([3, 4, 5, 5, 6], [5, 6, 7, 6, 7], statistic="mean")
    0.0625
    >>> swap_test([3, 4, 5], [3, 4, 5])
    1.0
    """
    from stability.fit.counts import check_integers

    arrays = check_integers("k_before", k_before), check_integers("k_after", k_after)
    check_choice("statistic", statistic, STATISTICS)
    check_int("permutations", permutations, minimum=1)
    check_int("seed", seed, minimum=0, maximum=2**63)
    shapes = arrays[0].shape, arrays[1].shape
    if shapes[0] != shapes[1] or len(shapes[0]) != 1 or shapes[0][0] == 0:
        raise ValueError(
            f"`k_before` and `k_after` must hold the same items, at least one: shapes {shapes}"
        )
    for name, array in zip(("k_before", "k_after"), arrays, strict=True):
        if array.min() < 0:
            at = int(array.argmin())
            raise ValueError(f"`{name}` must be >= 0: {name}[{at}]={array[at]}")
    most = int(max(arrays[0].max(), arrays[1].max(), 1))
    agents, used = np.full(shapes[0], most), np.ones(shapes[0], np.bool_)
    pair = swaps((arrays[0], agents, used), (arrays[1], agents, used), most)
    return pair.p_value(statistic, permutations, (seed, 0))
