"""Stop a batch when a test finds no change between the last two rounds.

Under the hypothesis that nothing changed, the two counts of an item are exchangeable, and swapping
them item by item gives the law of any statistic (``stability.fit.swap``). Where agents stick to
their answers few items move at all, and the test knows it.
"""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from stability._check import check_choice, check_int, check_real
from stability.fit.swap import STATISTICS, swaps
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.counts import (
    OBSERVABLES,
    REFERENCES,
    Counts,
    count,
    left_out,
    resolve,
)
from stability.rules.decision import STABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class SwapTest(Rule):
    """Stop all items when a test of "nothing changed in the last step" does not reject.

    Formula: p = (1 + hits) / (1 + B) > level, where ``hits`` of the B patterns of swaps within
    items give a statistic at least as large as the one observed; where at most B + 1 patterns
    exist all are counted and p is exact. The statistic is D of the observed counts, or the change
    of their mean. The earliest stop is t = 1.

    It answers "did anything change", not "has it settled": a rejection is evidence of a change at
    the level, while its absence is none of rest. With few items even large changes pass, and an
    unchanged debate goes on with probability ``level`` in each round. `PairedEquivalence` turns
    the question round. Items whose number of agents changed are not compared.

    The random bits are a function of the seed and of t, so that the step stays pure. Cost: O(n) an
    item for the counts, and O(B) times the pairs of unlike counts.
    Source: Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010), article 39.

    Parameters
    ----------
    statistic : {"D", "mean"}
    level : float
        In (0, 1).
    permutations : int
        B >= 1; below 1/level - 1 the test could never reject.
    seed : int
        >= 0.
    observable : {"auto", "correct", "agreement"}
        What is counted, as in `KSRule`.
    reference : {"current", "first", "previous"}
        Whose leading answer "agreement" means.

    Raises
    ------
    ValueError
        When a parameter is out of range.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = SwapTest()
    >>> state = rule.start(n_agents=5)
    >>> for counts in ([1, 2, 2, 3, 4, 1, 3, 2], [4, 5, 4, 5, 5, 3, 5, 4]):
    ...     state, decision = rule.step(state, Round.from_counts(counts, 5))
    >>> decision.stop, decision.statistic
    (False, 0.03125)
    """

    statistic: Literal["D", "mean"] = "D"
    level: float = 0.05
    permutations: int = 999
    seed: int = 0
    observable: Literal["auto", "correct", "agreement"] = "auto"
    reference: Literal["current", "first", "previous"] = "current"

    def __post_init__(self) -> None:
        check_choice("statistic", self.statistic, STATISTICS)
        check_real("level", self.level, low=0.0, high=1.0, closed_low=False, closed_high=False)
        check_int("permutations", self.permutations, minimum=1)
        check_int("seed", self.seed, minimum=0, maximum=2**63)
        check_choice("observable", self.observable, OBSERVABLES)
        check_choice("reference", self.reference, REFERENCES)
        if self.level * (self.permutations + 1) < 1.0:
            raise ValueError(
                f"`permutations` must be >= 1/level - 1, or p is never <= level, got "
                f"permutations={self.permutations}, level={self.level}"
            )

    @property
    def scope(self) -> Scope:
        """All items stop together."""
        return "batch"

    @property
    def latest_stop(self) -> int | None:
        """None: every round may show a change."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        # What is counted, the codes of round 0, the last counts.
        return (None, None, None)

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        observable, first, before = memory
        if observable is None:
            observable = resolve(self.observable, seen)
        if observable == "agreement" and self.reference == "first" and first is None:
            first = seen.winner
        counts = count(self, observable, seen, self.reference, first)
        warnings = left_out(seen.n_items - int(counts.used.sum()), seen, observable)
        p = None
        if before is not None:
            old = Counts(*before)
            pair = swaps(old[:3], counts[:3], seen.n_agents)
            if pair.unlike:
                warnings += (
                    f"{pair.unlike} items whose number of agents changed are not compared.",
                )
            if pair.n_items == 0:
                warnings += (f"Rounds {seen.round - 1} and {seen.round} have no item in common.",)
            else:
                p = pair.p_value(self.statistic, self.permutations, (self.seed, seen.round))
        stop = np.full(seen.n_items, p is not None and p > self.level)
        what = "mean" if self.statistic == "mean" else "distribution"
        said = (
            f"A test at level {self.level} found no change of the {what} of the counts in the last "
            "step; that is no evidence that there was none, nor that none will follow."
        )
        return (observable, first, tuple(counts)), judgement(
            stop, STABLE, said, statistic=p, threshold=float(self.level), warnings=warnings
        )
