"""One round as a rule sees it: checked against the rounds before, carried, counted.

A round may follow a state when it is the next one and has the same items, agents and kind of
content. Rows of stopped items are replaced by their last answers, labels are matched by text,
and the vote is taken at most once for all the rules of a composite.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stability._kernels.latch import any_stopped, carry
from stability.errors import NeedsAnswersError, RoundRefusedError
from stability.log.round import Round
from stability.rules.state import RuleState
from stability.rules.vote import Vote


@dataclass(frozen=True, eq=False, slots=True)
class Seen:
    """One round as a rule sees it: checked, stopped rows carried, votes counted.

    Attributes
    ----------
    round : int
        t.
    n_agents, n_items : int
    codes, correct : ndarray, shape (M, n), or None
    k, n : ndarray of int64, shape (M,), or None
        The counts, when the round holds counts alone.
    vote : Vote
        Taken when first read; ``winner``, ``top``, ``second``, ``spoke`` and ``unanimous`` are
        its columns.
    before : RuleState or None
        The state after the round before; None at t = 0.
    n_labels : int
        Labels met so far; codes lie below.
    """

    round: int
    n_agents: int
    n_items: int
    codes: npt.NDArray[np.int32] | None
    correct: npt.NDArray[np.int8] | None
    k: npt.NDArray[np.int64] | None
    n: npt.NDArray[np.int64] | None
    vote: Vote
    before: RuleState | None
    n_labels: int

    @property
    def winner(self) -> npt.NDArray[np.int32]:
        """Code of the leading answer, -1 for none, shape (M,)."""
        return self.vote.winner

    @property
    def top(self) -> npt.NDArray[np.int32]:
        """Votes of the leading answer, shape (M,)."""
        return self.vote.top

    @property
    def second(self) -> npt.NDArray[np.int32]:
        """Votes of the best other answer, shape (M,)."""
        return self.vote.second

    @property
    def spoke(self) -> npt.NDArray[np.int32]:
        """Agents that spoke, shape (M,)."""
        return self.vote.spoke

    @property
    def unanimous(self) -> npt.NDArray[np.bool_]:
        """Whether all agents that spoke gave one readable answer, shape (M,)."""
        return self.vote.unanimous

    def answer_codes(self, rule: object) -> npt.NDArray[np.int32]:
        """Return the codes, or say that ``rule`` cannot work on counts."""
        if self.codes is None:
            raise NeedsAnswersError(
                f"{type(rule).__name__} needs the answers of the agents; "
                "this round was built from counts"
            )
        return self.codes

    def unchanged(self) -> npt.NDArray[np.bool_]:
        """Say which items have the leading answer of the round before, shape (M,)."""
        if self.before is None or self.before.winner is None:
            return np.zeros(self.n_items, np.bool_)
        same: npt.NDArray[np.bool_] = (self.winner == self.before.winner) & (self.winner >= 0)
        return same


def look(state: RuleState, round_: Round) -> tuple[Seen, tuple[str, ...]]:
    """Check the round against the state and count its votes; also return all labels so far."""
    t = state.round + 1
    n_items = round_.n_items
    _check_follows(state, round_, t, n_items)
    stopped = None
    if state.stop_rounds is not None and any_stopped(state.stop_rounds):
        stopped = state.stop_rounds >= 0
    before = state if t > 0 else None
    if round_.codes is None:
        k, n = round_.k, round_.n_present
        assert k is not None
        assert n is not None
        if stopped is not None:
            assert state.k is not None
            assert state.n_present is not None
            k, n = np.where(stopped, state.k, k), np.where(stopped, state.n_present, n)
            k.setflags(write=False)
            n.setflags(write=False)
        vote = Vote.of_counts(n)
        known = len(state.labels)
        return Seen(t, state.n_agents, n_items, None, None, k, n, vote, before, known), state.labels
    codes, labels = _match(state.labels, round_)
    correct = round_.correct
    if stopped is not None:
        assert state.codes is not None
        assert state.stop_rounds is not None
        codes = carry(state.stop_rounds, state.codes, codes)
        codes.setflags(write=False)
        if correct is not None:
            assert state.correct is not None
            correct = carry(state.stop_rounds, state.correct, correct)
            correct.setflags(write=False)
    vote = Vote(codes, len(labels), state.vote)
    seen = Seen(t, state.n_agents, n_items, codes, correct, None, None, vote, before, len(labels))
    return seen, labels


def _check_follows(state: RuleState, round_: Round, t: int, n_items: int) -> None:
    if round_.index is not None and round_.index != t:
        how = "repeats an earlier round" if round_.index < t else "skips a round"
        raise RoundRefusedError(f"round {round_.index} {how}: the next one is t = {t}")
    if state.n_items is not None and n_items != state.n_items:
        raise RoundRefusedError(
            f"round {t} has {n_items} items, the debate has {state.n_items}; items that have "
            "stopped stay in the round, their answers are carried"
        )
    n_agents = round_.n_agents
    if round_.has_answers and n_agents != state.n_agents:
        raise RoundRefusedError(
            f"round {t} has {n_agents} agents, the rule was started for {state.n_agents}; "
            "mark an agent that did not speak with SILENT"
        )
    if n_agents > state.n_agents:
        raise RoundRefusedError(
            f"round {t} counts up to {n_agents} agents, the rule was started for {state.n_agents}"
        )
    if (
        state.item_ids is not None
        and round_.item_ids is not None
        and round_.item_ids != state.item_ids
    ):
        place = next(
            i
            for i, (a, b) in enumerate(zip(round_.item_ids, state.item_ids, strict=True))
            if a != b
        )
        raise RoundRefusedError(
            f"round {t} has other items: item {place} is {round_.item_ids[place]!r}, "
            f"it was {state.item_ids[place]!r}"
        )
    if t == 0:
        return
    if round_.has_answers != (state.codes is not None):
        had, has = ("counts", "answers") if round_.has_answers else ("answers", "counts")
        raise RoundRefusedError(f"round {t} holds {has}, the rounds before it held {had}")
    if round_.has_answers and (round_.correct is None) != (state.correct is None):
        raise RoundRefusedError(
            f"round {t} {'has no' if round_.correct is None else 'has'} grades (`correct`), "
            f"the rounds before it {'had' if round_.correct is None else 'had none'}"
        )


def _match(known: tuple[str, ...], round_: Round) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Return the round's codes as places in the labels known so far, new ones appended."""
    assert round_.codes is not None
    if round_.labels is known or round_.labels == known or not known:
        return round_.codes, round_.labels
    place = {label: code for code, label in enumerate(known)}
    codes = [place.setdefault(label, len(place)) for label in round_.labels]
    # Codes -2 and -1 index the last two places of the table, which keeps them.
    table = np.array([*codes, -2, -1], np.int32)
    matched: npt.NDArray[np.int32] = table[round_.codes]
    matched.setflags(write=False)
    return matched, tuple(place)
