"""Rules that follow the evidence for one answer from vote to vote.

Both take votes for independent, and votes of a debate are not: the same agents speak again in every
round, and they have read each other. Their probabilities are scores, to be calibrated on debates
in full length (`certify`), not error rates.

With a votes for the leading answer and b for its nearest rival, and a uniform prior on the
leader's share p of the two, the posterior is p ~ Beta(a + 1, b + 1), and

    P(p > 1/2 | a, b) = I_{1/2}(b + 1, a + 1),

the regularised incomplete beta function. Source: the Beta-Bernoulli posterior of adaptive
self-consistency (Aggarwal et al., arXiv 2305.11860).
"""

from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_real
from stability._kernels.votes import pool as pool_kernel
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import OSCILLATING, RUNNING, STABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory

# Up to this many votes the probabilities are looked up.
_TABLE = 200


@final
@dataclass(frozen=True, slots=True)
class BetaPosterior(Rule):
    """Stop an item when its leading answer very probably has the larger share of the votes.

    Formula: I_{1/2}(b + 1, a + 1) >= confidence, with a votes for the leader and b for its
    nearest rival, in this round (``pool="round"``) or in all rounds so far (``pool="all"``; the
    leader of the pooled vote must then lead this round as well). The probability is that of
    independent votes under a uniform prior. Votes of a debate are *not* independent: rounds
    repeat the same agents, who read each other, so ``pool="all"`` counts the same opinion many
    times and the number is a score, not a probability. A stop does not say that the answer is
    right. Cost: O(n) an item and one incomplete beta function.

    Parameters
    ----------
    confidence : float
        In [.5, 1).
    pool : {"round", "all"}
        Which votes count.

    Raises
    ------
    ValueError
        When a parameter is out of range.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = BetaPosterior(confidence=.95)
    >>> _, decision = rule.step(rule.start(5), Round.from_answers(["A"] * 5))
    >>> decision.stop, round(decision.statistic, 4)
    (True, 0.9844)
    """

    confidence: float = 0.95
    pool: Literal["round", "all"] = "round"

    def __post_init__(self) -> None:
        check_real("confidence", self.confidence, low=0.5, high=1.0, closed_high=False)
        check_choice("pool", self.pool, ("round", "all"))

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: a vote may stay divided."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        codes = seen.answer_codes(self)
        leads = seen.winner >= 0
        kept = None
        top: npt.NDArray[np.integer] = seen.top
        second: npt.NDArray[np.integer] = seen.second
        if self.pool == "all":
            # Votes are kept by item and by label met, since texts may run to thousands.
            n_items, n_agents = codes.shape
            width = 0 if memory is None else memory[0].shape[1]
            slots = np.full((n_items, width + n_agents), -1, np.int32)
            votes = np.zeros((n_items, width + n_agents), np.int64)
            if memory is not None:
                slots[:, :width], votes[:, :width] = memory
            winner = np.empty(n_items, np.int32)
            most, rival = np.empty(n_items, np.int64), np.empty(n_items, np.int64)
            used = pool_kernel(codes, slots, votes, winner, most, rival)
            top, second = most, rival
            kept = (slots[:, :used].copy(), votes[:, :used].copy())
            for array in kept:
                array.setflags(write=False)
            leads = leads & (winner == seen.winner)
        probability = _ahead(top, second)
        said = (
            f"The leading answer has the larger share of the votes with probability "
            f">= {self.confidence} if votes were independent, which votes of a debate are not; "
            "it need not be right."
        )
        lowest, needed = float(probability.min()), float(self.confidence)
        stop = leads & (probability >= self.confidence)
        return kept, judgement(stop, STABLE, said, statistic=lowest, threshold=needed)


def _ahead(
    top: npt.NDArray[np.integer], second: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    """Return I_{1/2}(b + 1, a + 1) for each pair of counts; few votes have few pairs."""
    most = int(top.max())
    if most > _TABLE:
        return _posterior(top, second)
    found: npt.NDArray[np.float64] = _table(most)[top, second]
    return found


@lru_cache
def _table(most: int) -> npt.NDArray[np.float64]:
    votes = np.arange(most + 1)
    return _posterior(votes[:, None], votes)


def _posterior(
    top: npt.NDArray[np.integer], second: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    from scipy.special import betainc

    return np.asarray(betainc(second + 1.0, top + 1.0, 0.5), np.float64)


@final
@dataclass(frozen=True, slots=True)
class SPRT(Rule):
    """Stop an item when a sequential test finds its leader backed by p1 of the votes, not by p0.

    Formula: after v of s agents back the leader, the log-likelihood ratio grows by

        v log(p1 / p0) + (s - v) log((1 - p1) / (1 - p0)),

    an unread answer among the s. The sum starts anew with every new leader. It stops the item at
    log(power / level) or above; at log((1 - power) / (1 - level)) or below the leader is dropped
    and the sum starts again from 0, with the reason ``oscillating`` in that round.

    Wald's error rates, about ``level`` for a leader that each vote backs with probability p0 and
    1 - ``power`` for one backed with p1, hold for independent votes and one run of the test. Votes
    of a debate are dependent: rounds repeat the same agents, who read each other, so that a
    unanimous debate passes any bound by repeating itself, and the leader is chosen by the same
    votes. The ratio is a score, not a probability. A stop does not say that the answer is right.
    Cost: O(n) an item. Source: Wald, Ann. Math. Statist. 16 (1945) 117-186.

    Parameters
    ----------
    p0, p1 : float
        0 < p0 < p1 < 1, the share of the votes of a weak and of a strong leader.
    level : float
        In (0, 1).
    power : float
        In (level, 1).

    Raises
    ------
    ValueError
        When a parameter is out of range.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = SPRT()
    >>> state = rule.start(n_agents=5)
    >>> for _ in range(2):
    ...     state, decision = rule.step(state, Round.from_answers(["A"] * 5))
    ...     print(round(decision.statistic, 2), decision.stop)
    2.35 False
    4.7 True
    """

    p0: float = 0.5
    p1: float = 0.8
    level: float = 0.05
    power: float = 0.9

    def __post_init__(self) -> None:
        for name in ("p0", "p1", "level", "power"):
            value = getattr(self, name)
            check_real(name, value, low=0.0, high=1.0, closed_low=False, closed_high=False)
        for less, more in (("p0", "p1"), ("level", "power")):
            if not getattr(self, less) < getattr(self, more):
                raise ValueError(
                    f"`{less}` must be < `{more}`, got {less}={getattr(self, less)}, "
                    f"{more}={getattr(self, more)}"
                )

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: the test may start again for ever."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        seen.answer_codes(self)
        upper = log(self.power / self.level)
        lower = log((1.0 - self.power) / (1.0 - self.level))
        ratio = seen.top * log(self.p1 / self.p0)
        ratio += (seen.spoke - seen.top) * log((1.0 - self.p1) / (1.0 - self.p0))
        if memory is not None:
            ratio += np.where(seen.unchanged(), memory, 0.0)
        ratio[seen.winner < 0] = 0.0
        stop = ratio >= upper
        dropped = ratio <= lower
        reasons = np.where(dropped, np.int8(OSCILLATING), np.int8(RUNNING))
        reasons[stop] = STABLE
        said = (
            f"The votes favour a leader backed by {self.p1} of them over one backed by {self.p0}, "
            f"at Wald's level {self.level} if votes were independent, which votes of a debate are "
            "not; it need not be right."
        )
        lowest = float(ratio.min())
        kept = np.where(dropped, 0.0, ratio)
        kept.setflags(write=False)
        return kept, Judgement(stop, reasons, lowest, upper, said)
