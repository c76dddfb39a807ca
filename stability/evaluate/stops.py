"""Where a rule stops each debate of a recorded log, and with which answer.

Item i stops at the least t at which the rule says so; a debate that the rule lets run to the end,
or that had ended before, is held for as many rounds as were recorded. The answer at the stop is
the leading answer of that round, where a tie keeps the leader of the round before.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stability.log import DebateLog
from stability.rules import Decision, Rule


@dataclass(frozen=True, eq=False)
class Stops:
    """The stops of one rule on one log.

    Attributes
    ----------
    held : ndarray of int64, shape (M,)
        Rounds held, in 1..T: t + 1 for a stop at t, at most those that were recorded.
    stopped : ndarray of bool, shape (M,)
        Whether the rule has stopped the item.
    winner : ndarray of int32, shape (M,)
        Code of the answer at the stop (of the last round without one), -1 for none.
    final : ndarray of int32, shape (M,)
        Code of the answer of the debate in full length, -1 for none.
    decision : Decision
        What the rule said last: when it had stopped every item, else in the last round.
    """

    held: npt.NDArray[np.int64]
    stopped: npt.NDArray[np.bool_]
    winner: npt.NDArray[np.int32]
    final: npt.NDArray[np.int32]
    decision: Decision

    @property
    def changed(self) -> npt.NDArray[np.bool_]:
        """Whether the answer at the stop differs from that of the full length, shape (M,)."""
        changed: npt.NDArray[np.bool_] = self.winner != self.final
        return changed


def stops(log: DebateLog, rule: Rule) -> Stops:
    """Run ``rule`` over ``log`` until all items have stopped.

    Raises
    ------
    ScopeError
        When a batch rule is given one item.
    NeedsAnswersError
        When the rule needs grades that the log does not hold.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.rules import Unanimity
    >>> found = stops(load_smollm_debates(), Unanimity())
    >>> round(float(found.held.mean()), 2), round(float(found.changed.mean()), 3)
    (3.17, 0.014)
    """
    state = rule.start(n_agents=log.n_agents, n_items=log.n_items)
    for one in log.rounds():
        state, decision = rule.step(state, one)
        if decision.stop:
            break
    winners = log.plurality()
    recorded = (~log.carried).sum(axis=0)
    at = np.where(decision.stop_items, decision.stop_rounds, log.n_rounds - 1)
    found = Stops(
        held=np.minimum(at + 1, recorded).astype(np.int64),
        stopped=decision.stop_items,
        winner=winners[at, np.arange(log.n_items)],
        final=winners[-1],
        decision=decision,
    )
    for array in (found.held, found.winner, found.final):
        array.setflags(write=False)
    return found
