"""Stop a batch when the mean share of right answers is shown not to have moved.

Item i has the share c_i(t) = k_i / n_i of agents that are right, and d_i = c_i(t) - c_i(t - lag) is
its change. Two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987, 657-680) reject
|mean change| >= delta when

    (delta - |mean d|) / sqrt(v / M) > z(1 - level),

so that the debate stops on evidence of rest, not for want of evidence of a change. Over several
looks the level is spent by Bonferroni: eight looks at the nominal level cross at least once in
about 30 % of the runs at the margin.

A small variance is not evidence. No item changes with probability (1 - delta)^M at most, if a mean
change of delta is there; that is the p-value where none did, and with fewer than
log(level) / log(1 - delta) items nothing can be decided. Where some did, v is not taken below what
the items that might change could add: it is the larger of the sample variance and u q, with u the
upper limit (at 1 - level) of the share of items that changed and q the mean d^2 of those.

Nor is a mean that a few large changes make. With g the skewness towards the margin, 0 if it points
away, the p-value of each side has the first Edgeworth term of a studentised mean (Hall, J. R. Stat.
Soc. B 54, 1992, 221-228),

    p = 1 - Phi(T) + g (2 T^2 + 1) phi(T) / (6 sqrt(M)).

Measured (``benchmarks/paired_size.py``, eight kinds of changes, the worst M of each): at the margin
the size of a look at .05 is .055 or less with a standard error of .003, where the plain test has
.10 for rare jumps among many small changes; that of a look at .05/7 = .0071 is .017 for such jumps,
.010 for jumps among more changes, and .007 or less for all others.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, erfc, exp, log, pi, sqrt
from typing import Literal, final

import numpy as np

from stability._check import check_choice, check_int, check_real
from stability._kernels.paired import paired_sums
from stability.fit.share import upper_limit
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.counts import OBSERVABLES, REFERENCES, count, left_out, resolve
from stability.rules.decision import RUNNING, STABLE, UNDECIDABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class PairedEquivalence(Rule):
    """Stop all items when the mean share surely moved by less than delta over the last rounds.

    Formula: the larger of the two one-sided p-values of the module is at most the level of one
    look. Looks are at t = lag .. max_rounds - 1; ``"bonferroni"`` shares the level among these
    max_rounds - lag looks (7 at the defaults), a number among so many; later looks cannot stop.
    With fewer items than log(level of one look) / log(1 - delta) (245 at the defaults, 149 for
    one look) the rule cannot stop, with the reason ``undecidable``.

    A stop certifies that the mean share of such items moved by less than delta over ``lag`` rounds,
    wrongly with probability at most ``level`` in all the looks together, if items are independent
    and M is large enough for a mean to be normal. It does not say that no item changed (gains and
    losses cancel), nor that later rounds add nothing. `plan` says how many items it needs.
    Cost: O(n) an item. Source: Schuirmann (1987); the floor of the variance is ours.

    Parameters
    ----------
    delta : float
        In (0, 1), the margin of the mean share.
    lag : int
        >= 1, rounds between the two that are compared.
    level : float
        In (0, .5), of all looks together.
    looks : "bonferroni" or int
        Among how many looks the level is shared; >= 1.
    max_rounds : int
        > lag; the length of the debate, round 0 included.
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
    >>> rule = PairedEquivalence(lag=1)
    >>> state = rule.start(n_agents=4)
    >>> for k in ([1, 2, 3, 4] * 100, [1, 3, 2, 4] * 100):
    ...     state, decision = rule.step(state, Round.from_counts(k, 4))
    >>> decision.stop, round(decision.statistic, 4), round(decision.threshold, 4)
    (False, 0.0166, 0.0056)
    """

    delta: float = 0.02
    lag: int = 3
    level: float = 0.05
    looks: int | Literal["bonferroni"] = "bonferroni"
    max_rounds: int = 10
    observable: Literal["auto", "correct", "agreement"] = "auto"
    reference: Literal["current", "first", "previous"] = "current"

    def __post_init__(self) -> None:
        check_real("delta", self.delta, low=0.0, high=1.0, closed_low=False, closed_high=False)
        check_int("lag", self.lag, minimum=1)
        check_real("level", self.level, low=0.0, high=0.5, closed_low=False, closed_high=False)
        check_int("max_rounds", self.max_rounds, minimum=1)
        if self.max_rounds <= self.lag:
            raise ValueError(
                f"`max_rounds` must be > lag, got max_rounds={self.max_rounds}, lag={self.lag}"
            )
        if isinstance(self.looks, str):
            check_choice("looks", self.looks, ("bonferroni",))
        else:
            check_int("looks", self.looks, minimum=1)
        check_choice("observable", self.observable, OBSERVABLES)
        check_choice("reference", self.reference, REFERENCES)

    @property
    def n_looks(self) -> int:
        """Among how many looks the level is shared."""
        return self.max_rounds - self.lag if isinstance(self.looks, str) else self.looks

    @property
    def least(self) -> int:
        """Items below which nothing can be decided."""
        return least_items(self.delta, self.level / self.n_looks)

    @property
    def scope(self) -> Scope:
        """All items stop together."""
        return "batch"

    @property
    def latest_stop(self) -> int | None:
        """None: the share may move for ever."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        # What is counted, the codes of round 0, the counts of the last rounds, oldest first.
        return (None, None, (None,) * self.lag)

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        observable, first, kept = memory
        if observable is None:
            observable = resolve(self.observable, seen)
        if observable == "agreement" and self.reference == "first" and first is None:
            first = seen.winner
        counts = count(self, observable, seen, self.reference, first)
        warnings = left_out(seen.n_items - int(np.count_nonzero(counts.used)), seen, observable)
        level = self.level / self.n_looks
        p, items = None, seen.n_items
        if kept[0] is not None:
            items, changed, *sums = paired_sums(*counts[:3], *kept[0])
            if items == 0:
                warnings += (
                    f"Rounds {seen.round - self.lag} and {seen.round} have no item in common.",
                )
            else:
                p = p_value(items, changed, (sums[0], sums[1], sums[2]), self.delta, level)
        spent = seen.round - self.lag >= self.n_looks
        hopeless = items < self.least
        if spent:
            warnings += (
                f"The level was shared among {self.n_looks} looks, which are spent: round "
                f"{seen.round} cannot stop.",
            )
        if hopeless:
            warnings += (
                f"With {items} items a mean change of {self.delta} cannot be excluded at level "
                f"{level:.4g}, even if no item changes: {self.least} are needed.",
            )
        stop = p is not None and p <= level and not spent and not hopeless
        rounds = "round" if self.lag == 1 else f"{self.lag} rounds"
        looks = "one look" if self.n_looks == 1 else f"{self.n_looks} looks"
        said = (
            f"The mean share moved by less than {self.delta} over the last {rounds}, at "
            f"level {self.level} over {looks}; changes of single items may cancel, "
            "and later rounds may add to it."
        )
        recent = (*kept[1:], counts[:3])
        return (observable, first, recent), judgement(
            np.full(seen.n_items, stop),
            STABLE,
            said,
            waiting=UNDECIDABLE if hopeless else RUNNING,
            statistic=p,
            threshold=level,
            warnings=warnings,
        )


@lru_cache
def least_items(delta: float, level: float) -> int:
    """Return the least M with (1 - delta)^M <= level: fewer items decide nothing.

    Examples
    --------
    >>> least_items(.02, .05), least_items(.02, .05 / 7)
    (149, 245)
    """
    return ceil(log(level) / log(1.0 - delta) - 1e-9)


def p_value(
    items: int,
    changed: int,
    sums: tuple[float, float, float],
    delta: float,
    level: float,
) -> float:
    """Return the p-value of |mean change| >= delta: the larger of two one-sided ones.

    Parameters
    ----------
    items, changed : int
        M >= 1, and the items whose share changed.
    sums : tuple of three float
        Of d, d^2 and d^3.
    delta : float
    level : float
        Of the upper limit of the share of items that change.

    Examples
    --------
    >>> round(p_value(200, 0, (0.0, 0.0, 0.0), .02, .05), 4)  # nothing moved: .98^200
    0.0176
    """
    if changed == 0:
        return float((1.0 - delta) ** items)
    total, squares, cubes = sums
    mean = total / items
    spread = squares / items - mean * mean
    floor = upper_limit(changed, items, 1.0 - level) * squares / changed
    error = sqrt(max(spread * items / max(items - 1, 1), floor) / items)
    skew = 0.0
    if spread > 0.0:
        skew = (cubes / items - 3.0 * mean * squares / items + 2.0 * mean**3) / spread**1.5
    sides = []
    for towards, gap in ((-skew, delta + mean), (skew, delta - mean)):
        t = gap / error
        p = 0.5 * erfc(t / sqrt(2.0))
        if towards > 0.0 and t > 0.0:
            density = exp(-0.5 * t * t) / sqrt(2.0 * pi)
            p += towards * (2.0 * t * t + 1.0) * density / (6.0 * sqrt(items))
        sides.append(min(1.0, p))
    return max(sides)
