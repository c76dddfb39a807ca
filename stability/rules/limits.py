"""Limits on the number of rounds: the end of every debate, and a floor under a rule.

Rounds are counted as held, round 0 included: after round t, t + 1 rounds have been held.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from stability._check import check_int
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import CAP_REACHED
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class MaxRounds(Rule):
    """Stop every item once ``rounds`` rounds have been held: ``MaxRounds(10)`` stops at t = 9.

    Formula: t + 1 >= rounds. A stop certifies nothing about the answers: the budget is spent.
    It costs nothing, and it is what makes any other rule end.

    Parameters
    ----------
    rounds : int
        >= 1.

    Raises
    ------
    ValueError
        When ``rounds`` is not a whole number >= 1.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = MaxRounds(2)
    >>> state = rule.start(n_agents=2)
    >>> state, first = rule.step(state, Round.from_answers(["A", "B"]))
    >>> state, second = rule.step(state, Round.from_answers(["A", "B"]))
    >>> first.stop, second.stop, second.reason.value
    (False, True, 'cap_reached')
    """

    rounds: int

    def __post_init__(self) -> None:
        check_int("rounds", self.rounds, minimum=1)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """``rounds`` - 1."""
        return self.rounds - 1

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        stop = np.full(seen.n_items, seen.round + 1 >= self.rounds)
        said = f"The cap of {self.rounds} rounds is reached, which certifies nothing."
        return memory, judgement(stop, CAP_REACHED, said)


@final
@dataclass(frozen=True, slots=True)
class MinRounds(Rule):
    """Satisfied once ``rounds`` rounds have been held; use it as ``rule & MinRounds(rounds)``.

    Formula: t + 1 >= rounds. It certifies nothing and costs nothing; in ``rule & MinRounds(r)``
    the reason and the measured values are those of ``rule``.

    Parameters
    ----------
    rounds : int
        >= 1.

    Raises
    ------
    ValueError
        When ``rounds`` is not a whole number >= 1.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> from stability.rules.consensus import Unanimity
    >>> rule = Unanimity() & MinRounds(2)
    >>> state = rule.start(n_agents=2)
    >>> state, first = rule.step(state, Round.from_answers(["A", "A"]))
    >>> state, second = rule.step(state, Round.from_answers(["A", "A"]))
    >>> first.stop, second.stop, second.reason.value
    (False, True, 'consensus')
    """

    rounds: int

    def __post_init__(self) -> None:
        check_int("rounds", self.rounds, minimum=1)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """``rounds`` - 1."""
        return self.rounds - 1

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        stop = np.full(seen.n_items, seen.round + 1 >= self.rounds)
        said = f"At least {self.rounds} rounds were held, which certifies nothing."
        return memory, judgement(stop, CAP_REACHED, said)
