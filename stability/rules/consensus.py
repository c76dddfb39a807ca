"""Rules on the vote of one item: agreement of all or of a share, answers that stay as they are.

With v_l agents behind label l and s agents that spoke, an item is unanimous when max_l v_l = s
and s >= 1: an unread answer counts among those that spoke and breaks it, a silent agent does
not. The plurality is the label of max_l v_l; a tie keeps the plurality of the round before.

Neither says that the answer is right: agents that read each other agree for other reasons too.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import final

import numpy as np
import numpy.typing as npt

from stability._check import check_int, check_real
from stability._kernels.votes import lowest_share, same_answers
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
class PluralityShare(Rule):
    """Stop an item when its leading answer has a given share of the votes.

    Formula: max_l v_l >= threshold * s, s >= 1, compared exactly in the decimals of the threshold:
    four of five agents reach .8. An unread answer counts in s and backs nobody; a silent agent
    is left out. A stop certifies the share in this round, not that the answer is right or will
    stay: on recorded debates of n >= 3 a majority was left again in up to half of the cases.
    Cost: O(n) an item. Source: the agreement threshold of many debate loops (in DyLAN, arXiv
    2310.02170, more than two thirds).

    Parameters
    ----------
    threshold : float
        In (0, 1].

    Raises
    ------
    ValueError
        When ``threshold`` is out of range.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = PluralityShare()
    >>> answers = [["A", "A", "A", "A", "B"], ["A", "A", "A", "B", "B"]]
    >>> _, decision = rule.step(rule.start(5), Round.from_answers(answers))
    >>> decision.stop_items.tolist()
    [True, False]
    """

    threshold: float = 0.8

    def __post_init__(self) -> None:
        check_real("threshold", self.threshold, low=0.0, high=1.0, closed_low=False)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: the votes may stay divided."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:  # noqa: ARG002
        seen.answer_codes(self)
        stop = seen.top >= _votes_needed(self.threshold, seen.n_agents)[seen.spoke]
        said = (
            f"At least {self.threshold} of the agents that spoke gave the leading answer in this "
            "round; the others may be right, and minds may change."
        )
        lowest, needed = float(lowest_share(seen.top, seen.spoke)), float(self.threshold)
        return None, judgement(stop, CONSENSUS, said, statistic=lowest, threshold=needed)


@lru_cache
def _votes_needed(threshold: float, n_agents: int) -> npt.NDArray[np.int32]:
    """Return the least votes that are the share ``threshold`` of s = 0..n agents; never 0."""
    exact = Fraction(str(threshold))
    votes = np.array([max(1, ceil(exact * s)) for s in range(n_agents + 1)], np.int32)
    votes.setflags(write=False)
    return votes


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


@final
@dataclass(frozen=True, slots=True)
class NoAnswerChanged(Rule):
    """Stop an item when no agent has changed its answer, ``patience`` times in a row.

    Formula: x_j(t) = x_j(t-1) for all agents j that speak in one of the two rounds, for
    ``patience`` rounds in a row, so the earliest stop is t = ``patience``. An unread answer is
    like no other, not even like another unread one, and breaks it, as does an agent that falls
    silent or begins to speak; an item in which nobody speaks does not stop. A stop certifies that
    every agent repeated itself: where agents answer the same when they read the same, nothing
    moves any more; where they draw their answers anew, they may. Agents need not agree. Cost:
    O(n) an item. Source: the fixed point of a debate seen as a map of answers to answers.

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
    >>> rule = NoAnswerChanged()
    >>> state = rule.start(n_agents=3)
    >>> for answers in (["A", "B", "B"], ["A", "B", "B"]):
    ...     state, decision = rule.step(state, Round.from_answers(answers))
    >>> decision.stop, decision.support.round(2).tolist()
    (True, [0.67])
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
        """None: answers may change for ever."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        codes = seen.answer_codes(self)
        streak = np.zeros(seen.n_items, np.int32)
        if seen.before is not None and seen.before.codes is not None:
            earlier = np.zeros(seen.n_items, np.int32) if memory is None else memory
            earlier.setflags(write=False)
            same_answers(codes, seen.before.codes, earlier, streak)
        streak.setflags(write=False)
        said = (
            f"No agent changed its answer for {self.patience + 1} rounds in a row; they need not "
            "agree, and an answer that is repeated is not thereby right."
        )
        stop = streak >= self.patience
        lowest, needed = float(streak.min()), float(self.patience)
        return streak, judgement(stop, STABLE, said, statistic=lowest, threshold=needed)
