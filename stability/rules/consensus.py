"""Rules on the vote of one item: agreement of all, and a leading answer that stays.

With v_l agents behind label l and s agents that spoke, an item is unanimous when max_l v_l = s
and s >= 1: an unread answer counts among those that spoke and breaks it, a silent agent does
not. The plurality is the label of max_l v_l; a tie keeps the plurality of the round before.

Neither says that the answer is right: agents that read each other agree for other reasons too.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from stability._check import check_int
from stability._kernels.votes import lowest_share
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import CONSENSUS, STABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class Unanimity(Rule):
    """Stop an item when every agent that spoke gave the same readable answer.

    Formula: max_l v_l = s, s >= 1, with the same label in ``hold`` further rounds in a row. A
    stop certifies that all agents agree, not that they are right. On recorded debates of n >= 3
    agents at most 1.4 % of the final answers differ from those at the stop, and 1 to 52 % of
    the rounds are saved; with ``hold=1`` at most .4 % differ. Cost: O(n) an item.
    Source: the usual consensus check of multi-agent debate; the figures are measured.

    Parameters
    ----------
    hold : int
        >= 0, further rounds for which the same answer must be unanimous.

    Raises
    ------
    ValueError
        When ``hold`` is not a whole number >= 0.

    Examples
    --------
    >>> from stability.log.round import SILENT, Round
    >>> rule = Unanimity()
    >>> answers = [["A", "A", SILENT], ["A", "A", None], ["A", "A", "B"]]
    >>> _, decision = rule.step(rule.start(3), Round.from_answers(answers))
    >>> decision.stop_items.tolist(), decision.statistic
    ([True, False, False], 0.6666666666666666)
    """

    hold: int = 0

    def __post_init__(self) -> None:
        check_int("hold", self.hold, minimum=0)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: agents may disagree for ever."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        seen.answer_codes(self)
        if self.hold == 0:
            # One round decides, so nothing is remembered.
            streak, stop = None, seen.unanimous
        else:
            held = np.ones(seen.n_items, np.int32)
            if memory is not None:
                held += np.where(seen.unchanged(), memory, np.int32(0))
            streak = np.where(seen.unanimous, held, np.int32(0))
            streak.setflags(write=False)
            stop = streak > self.hold
        further = f" for {self.hold + 1} rounds in a row" if self.hold else ""
        said = f"All agents that spoke gave one answer{further}; consensus is not correctness."
        lowest = float(lowest_share(seen.top, seen.spoke))
        return streak, judgement(stop, CONSENSUS, said, statistic=lowest, threshold=1.0)


@final
@dataclass(frozen=True, slots=True)
class PluralityUnchanged(Rule):
    """Stop an item when its leading answer is that of the round before, ``patience`` times.

    Formula: argmax_l v_l(t) = argmax_l v_l(t-1) for ``patience`` rounds in a row, so the
    earliest stop is t = ``patience``; a tie keeps the former leader; an item without a readable
    answer has no leader and does not stop. A stop certifies that the vote did not move, not
    that the agents stopped changing their minds, and not that the answer is right. Cost: O(n)
    an item.

    Parameters
    ----------
    patience : int
        >= 1.

    Raises
    ------
    ValueError
        When ``patience`` is not a whole number >= 1.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = PluralityUnchanged()
    >>> state = rule.start(n_agents=3)
    >>> for answers in (["A", "B", "B"], ["A", "B", None]):
    ...     state, decision = rule.step(state, Round.from_answers(answers))
    >>> decision.stop, decision.answer
    (True, 'B')
    """

    patience: int = 1

    def __post_init__(self) -> None:
        check_int("patience", self.patience, minimum=1)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: the vote may move for ever."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        seen.answer_codes(self)
        longer = np.int32(1) if memory is None else memory + np.int32(1)
        streak = np.where(seen.unchanged(), longer, np.int32(0))
        streak.setflags(write=False)
        said = (
            f"The leading answer was the same after {self.patience + 1} rounds in a row; agents "
            "may still change their minds, and an unmoved answer is not thereby right."
        )
        stop = streak >= self.patience
        lowest, needed = float(streak.min()), float(self.patience)
        return streak, judgement(stop, STABLE, said, statistic=lowest, threshold=needed)
