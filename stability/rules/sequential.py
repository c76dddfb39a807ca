"""Rules that follow the evidence for one answer from vote to vote.

With a votes for the leading answer and b for its nearest rival, and a uniform prior on the
leader's share p of the two, the posterior is p ~ Beta(a + 1, b + 1), and

    P(p > 1/2 | a, b) = I_{1/2}(b + 1, a + 1),

the regularised incomplete beta function. Source: the Beta-Bernoulli posterior of adaptive
self-consistency (Aggarwal et al., arXiv 2305.11860).
"""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_real
from stability._kernels.votes import pool as pool_kernel
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import STABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory


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
        from scipy.special import betainc

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
        probability = betainc(second + 1.0, top + 1.0, 0.5)
        said = (
            f"The leading answer has the larger share of the votes with probability "
            f">= {self.confidence} if votes were independent, which votes of a debate are not; "
            "it need not be right."
        )
        lowest, needed = float(probability.min()), float(self.confidence)
        stop = leads & (probability >= self.confidence)
        return kept, judgement(stop, STABLE, said, statistic=lowest, threshold=needed)
