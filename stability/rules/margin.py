"""Stop an item when its leading answer is far ahead and has led for some rounds.

Let m_i(t) be the votes of the leading answer less those of the best other one, and h_i(t) for how
many rounds in a row the leader has led, this one included. The pair (m, h) is the state of a vote
that is known to matter: how far the others would have to move, and for how long they have not.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from stability._check import check_int
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import STABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class StableMargin(Rule):
    """Stop an item when its leader is ``margin`` votes ahead and led ``held`` rounds in a row.

    Formula: m_i(t) >= margin and h_i(t) >= held; the margin is asked of this round only, and
    ``held=1`` asks for no round before it. A tie keeps the former leader, with margin 0. Unread
    and silent agents back nobody, so that n agents reach at most a margin of those that were
    read. A stop certifies just this: how many agents would have to move, and for how long the
    leader has led. What it is worth is measured on debates in full length; `certify` orders
    these rules by ``held`` and ``margin`` and makes a promise of one of them. Cost: O(n) an item.

    Parameters
    ----------
    margin : int
        In votes, >= 1.
    held : int
        In rounds, >= 1.

    Raises
    ------
    ValueError
        When a parameter is not a whole number >= 1.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = StableMargin(margin=2, held=2)
    >>> state = rule.start(n_agents=4)
    >>> for answers in (["A", "A", "B", "B"], ["A", "A", "A", "B"]):
    ...     state, decision = rule.step(state, Round.from_answers(answers))
    >>> decision.stop, decision.answer
    (True, 'A')
    """

    margin: int
    held: int

    def __post_init__(self) -> None:
        check_int("margin", self.margin, minimum=1)
        check_int("held", self.held, minimum=1)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: the votes may stay close."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        seen.answer_codes(self)
        lead = seen.top - seen.second
        streak = None
        stop = lead >= self.margin
        if self.held > 1:
            earlier = np.int32(0) if memory is None else np.where(seen.unchanged(), memory, 0)
            streak = np.where(seen.winner >= 0, earlier + np.int32(1), np.int32(0))
            streak.setflags(write=False)
            stop = stop & (streak >= self.held)
        rounds = "in this round" if self.held == 1 else f"and led {self.held} rounds in a row"
        said = (
            f"The leading answer was {self.margin} votes or more ahead {rounds}; it need not stay "
            "there, nor be right."
        )
        lowest, needed = float(lead.min()), float(self.margin)
        return streak, judgement(stop, STABLE, said, statistic=lowest, threshold=needed)
