"""Stop a batch when hardly any leading answer changed in the last round.

Of M items x had another leading answer than in the round before. If items are independent, x is
Binomial(M, p), and the upper limit of Clopper and Pearson, the p at which x or fewer flips have
probability 1 - confidence, bounds the share p of the population of items at that confidence.

No labels are needed. On recorded debates the flip share of a round says more about how many answers
will still change than the distance of two distributions does, in which changes in both directions
cancel. Source: Clopper and Pearson, Biometrika 26 (1934) 404-413.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from stability._check import check_real
from stability.fit.share import upper_limit
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import RUNNING, STABLE, UNDECIDABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class FlipRateBelow(Rule):
    """Stop all items when surely few of them changed their leading answer in the last round.

    Formula: u(x, M) < share, where x of the M items have another leading answer than in the round
    before and u is the upper limit of their share at ``confidence``. A tie keeps the former
    leader; an item without a readable answer in one of the two rounds counts as changed, since
    nothing shows that it held. Items that have ended count as unchanged. The earliest stop is
    t = 1. With fewer than log(1 - confidence) / log(1 - share) items not even x = 0 would do (59
    at the defaults): the rule cannot stop, with the reason ``undecidable``.

    A stop certifies that in the population of these items at most ``share`` of the leading answers
    changed in the last *round*, at the confidence of one look; a rule that looks in every round
    errs more often in all, and later rounds may change others. It is the batch rule to begin
    with. Cost: O(n) an item and one inverse incomplete beta function.

    Parameters
    ----------
    share : float
        In (0, 1).
    confidence : float
        In (0, 1), of one look.

    Raises
    ------
    ValueError
        When a parameter is out of range.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = FlipRateBelow(share=.05)
    >>> state = rule.start(n_agents=2)
    >>> for answers in ([["A", "A"]] * 100, [["A", "A"]] * 99 + [["B", "B"]]):
    ...     state, decision = rule.step(state, Round.from_answers(answers))
    >>> decision.stop, round(decision.statistic, 4)
    (True, 0.0466)
    """

    share: float = 0.05
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name in ("share", "confidence"):
            value = getattr(self, name)
            check_real(name, value, low=0.0, high=1.0, closed_low=False, closed_high=False)

    @property
    def scope(self) -> Scope:
        """All items stop together."""
        return "batch"

    @property
    def latest_stop(self) -> int | None:
        """None: answers may change for ever."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:  # noqa: ARG002
        seen.answer_codes(self)
        items = seen.n_items
        hopeless = upper_limit(0, items, self.confidence) >= self.share
        upper = None
        if seen.before is not None:
            upper = upper_limit(items - int(seen.unchanged().sum()), items, self.confidence)
        stop = np.full(items, upper is not None and upper < self.share)
        said = (
            f"At most {self.share} of the leading answers of such items changed in the last round, "
            f"at confidence {self.confidence} for one look; later rounds may change others, and "
            "an unmoved answer is not thereby right."
        )
        warnings: tuple[str, ...] = ()
        if hopeless:
            warnings = (
                f"With {items} items the share cannot be shown to lie below {self.share} at "
                f"confidence {self.confidence}, even if no answer changes.",
            )
        return None, judgement(
            stop,
            STABLE,
            said,
            waiting=UNDECIDABLE if hopeless else RUNNING,
            statistic=upper,
            threshold=float(self.share),
            warnings=warnings,
        )
