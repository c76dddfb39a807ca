"""The shape of a stopping rule: a frozen configuration, a frozen memory, one pure step.

A rule is a pair (start, step) with step(state, round) -> (state, decision): no clock, no hidden
randomness, so the same rounds give the same decisions. The step is written once, here. It
checks the round, carries the answers of stopped items, takes the vote once, asks the rule for
its *unlatched* judgement of this round, and latches item by item. Children of a composite get
the same votes and are never latched; only the root is.

A class is either abstract or final, after the pattern of Equinox (docs/pattern.md) and the
init/step/terminate of Optimistix.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, final

import numpy as np
import numpy.typing as npt

from stability._check import check_int
from stability._kernels.latch import latch
from stability._kernels.votes import tally
from stability.errors import NeedsAnswersError, RoundRefusedError, ScopeError
from stability.log.round import Round
from stability.rules.decision import REASONS, RUNNING, Decision
from stability.rules.state import Closing, Memory, RuleState, state_from_dict

Scope = Literal["item", "batch"]
_NO_DRAWS = np.empty(0)
_NOTHING_YET = "No item has stopped yet, so nothing is certified."


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
    winner, top, second, spoke : ndarray of int32, shape (M,)
        Leading code (-1 none), its votes, votes of the best other label, agents that spoke.
    unanimous : ndarray of bool, shape (M,)
    before : RuleState or None
        The state after the round before; None at t = 0.
    """

    round: int
    n_agents: int
    n_items: int
    codes: npt.NDArray[np.int32] | None
    correct: npt.NDArray[np.int8] | None
    k: npt.NDArray[np.int64] | None
    n: npt.NDArray[np.int64] | None
    winner: npt.NDArray[np.int32]
    top: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    spoke: npt.NDArray[np.int32]
    unanimous: npt.NDArray[np.bool_]
    before: RuleState | None

    def answer_codes(self, rule: "Rule") -> npt.NDArray[np.int32]:
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


@dataclass(frozen=True, eq=False, slots=True)
class Judgement:
    """What a rule says of this round alone, unlatched.

    ``stop`` and ``reason_codes`` have shape (M,); ``certifies`` is what a stop would certify.
    """

    stop: npt.NDArray[np.bool_]
    reason_codes: npt.NDArray[np.int8]
    statistic: float | None
    threshold: float | None
    certifies: str
    warnings: tuple[str, ...] = ()


def judgement(
    stop: npt.NDArray[np.bool_],
    reason: int,
    certifies: str,
    *,
    waiting: int = RUNNING,
    statistic: float | None = None,
    threshold: float | None = None,
    warnings: tuple[str, ...] = (),
) -> Judgement:
    """Build a judgement in which all stopped items have one reason, all others ``waiting``."""
    if waiting == RUNNING:
        codes = stop.view(np.int8) * np.int8(reason)
    else:
        codes = np.where(stop, np.int8(reason), np.int8(waiting))
    return Judgement(stop, codes, statistic, threshold, certifies, warnings)


class Rule(ABC):
    """A stopping rule: a frozen dataclass with a pure ``step``.

    A new rule is one final class: a frozen dataclass whose fields are its parameters (numbers,
    text, rules, tuples of rules), with ``scope``, ``latest_stop``, ``_begin`` and ``_judge``.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> from stability.rules.consensus import Unanimity
    >>> from stability.rules.limits import MaxRounds
    >>> rule = Unanimity() | MaxRounds(3)
    >>> state = rule.start(n_agents=3)
    >>> for answers in (["A", "B", None], ["A", "A", "A"]):
    ...     state, decision = rule.step(state, Round.from_answers(answers))
    >>> decision.round, decision.stop, decision.answer
    (1, True, 'A')
    >>> rule_from_dict(rule.to_dict()) == rule
    True
    """

    __slots__ = ()
    _registry: ClassVar[dict[str, type["Rule"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for parent in cls.__mro__[1:]:
            if parent in Rule._registry.values():
                raise TypeError(f"{parent.__name__} is final: compose it, do not subclass it")
        same = Rule._registry.get(cls.__name__)
        if same is not None and (same.__module__, same.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise TypeError(f"there is a rule named {cls.__name__} in {same.__module__}")
        Rule._registry[cls.__name__] = cls

    @property
    @abstractmethod
    def scope(self) -> Scope:
        """``"item"``: each item stops alone; ``"batch"``: all stop together."""

    @property
    @abstractmethod
    def latest_stop(self) -> int | None:
        """The t from which on the rule says stop whatever the answers; None if there is none."""

    @abstractmethod
    def _begin(self, n_agents: int) -> Memory:
        """Return the memory before the first round."""

    @abstractmethod
    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        """Judge one round; pure and unlatched."""

    @final
    def start(self, n_agents: int, n_items: int | None = None) -> RuleState:
        """Return the state before the first round.

        Parameters
        ----------
        n_agents : int
            n >= 1; every round must have as many columns.
        n_items : int, optional
            M >= 1; None leaves it to the first round.

        Raises
        ------
        ScopeError
            When a batch rule is started for one item.
        """
        agents = check_int("n_agents", n_agents, minimum=1)
        items = None if n_items is None else check_int("n_items", n_items, minimum=1)
        if items is not None:
            _check_scope(self, items)
        return RuleState(
            n_agents=agents,
            n_items=items,
            round=-1,
            labels=(),
            item_ids=None,
            codes=None,
            correct=None,
            k=None,
            n_present=None,
            winner=None,
            stop_rounds=None,
            reason_codes=None,
            memory=self._begin(agents),
            closing=None,
        )

    @final
    def step(self, state: RuleState, round_: Round) -> tuple[RuleState, Decision]:
        """Take in one round.

        Parameters
        ----------
        state : RuleState
            From ``start`` or from the step before; it is not changed.
        round_ : Round
            Its index must be one more than the last (None means that it is). Rows of items that
            have stopped are replaced by their last answers; labels are matched by their text.

        Returns
        -------
        RuleState, Decision

        Raises
        ------
        RoundRefusedError
            A repeated or skipped round, other items, another number of agents, answers or
            grades that appear or disappear.
        NeedsAnswersError
            The rule needs answers, or graded answers, that the round does not hold.
        ScopeError
            A batch rule was given a single item.
        """
        if state.round < 0:
            _check_scope(self, round_.n_items)
        seen, labels = _look(state, round_)
        previous_stops = state.stop_rounds
        if previous_stops is None:
            previous_stops = np.full(seen.n_items, -1, np.int32)
            previous_reasons = np.zeros(seen.n_items, np.int8)
            previous_stops.setflags(write=False)
            previous_reasons.setflags(write=False)
        else:
            assert state.reason_codes is not None
            previous_reasons = state.reason_codes
        closing = state.closing
        if closing is not None:
            memory, stop_rounds, reasons = state.memory, previous_stops, previous_reasons
            statistic, threshold = closing.statistic, closing.threshold
            certifies, warnings = closing.certifies, closing.warnings
            stop, code = True, closing.reason_code
            stop_items = stop_rounds >= 0
            stop_items.setflags(write=False)
        else:
            memory, said = self._judge(state.memory, seen)
            stop_items = np.empty(seen.n_items, np.bool_)
            stop_rounds = np.empty(seen.n_items, np.int32)
            reasons = np.empty(seen.n_items, np.int8)
            said.stop.setflags(write=False)
            said.reason_codes.setflags(write=False)
            count, last, going = latch(
                said.stop,
                said.reason_codes,
                seen.round,
                previous_stops,
                previous_reasons,
                stop_rounds,
                reasons,
                stop_items,
            )
            statistic, threshold, warnings = said.statistic, said.threshold, said.warnings
            certifies = said.certifies if count else _NOTHING_YET
            stop = count == seen.n_items
            code = last if stop else going
            if stop:
                closing = Closing(code, statistic, threshold, certifies, warnings)
            for array in (stop_items, stop_rounds, reasons):
                array.setflags(write=False)
        decision = Decision(
            round=seen.round,
            stop_items=stop_items,
            stop=stop,
            reason=REASONS[code],
            stop_rounds=stop_rounds,
            statistic=statistic,
            threshold=threshold,
            certifies=certifies,
            warnings=warnings,
            winner=seen.winner,
            votes=seen.top,
            spoke=seen.spoke,
            labels=labels,
            reason_codes=reasons,
            counted=seen.codes is None,
        )
        after = RuleState(
            n_agents=state.n_agents,
            n_items=seen.n_items,
            round=seen.round,
            labels=labels,
            item_ids=state.item_ids if round_.item_ids is None else round_.item_ids,
            codes=seen.codes,
            correct=seen.correct,
            k=seen.k,
            n_present=seen.n,
            winner=seen.winner,
            stop_rounds=stop_rounds,
            reason_codes=reasons,
            memory=memory,
            closing=closing,
        )
        return after, decision

    @final
    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: the name of the rule and its parameters."""
        data: dict[str, Any] = {"kind": type(self).__name__}
        for field in fields(self):  # type: ignore[arg-type]  # every final rule is a dataclass
            data[field.name] = _plain(getattr(self, field.name))
        return data

    @final
    def state_from_dict(self, data: dict[str, Any]) -> RuleState:
        """Build the state that ``state.to_dict()`` wrote."""
        return state_from_dict(data)

    @final
    def __or__(self, other: "Rule") -> "Rule":
        """Stop an item when either rule says so."""
        from stability.rules.combine import AnyOf

        return AnyOf((self, other)) if isinstance(other, Rule) else NotImplemented

    @final
    def __and__(self, other: "Rule") -> "Rule":
        """Stop an item when both rules say so in the same round."""
        from stability.rules.combine import AllOf

        return AllOf((self, other)) if isinstance(other, Rule) else NotImplemented


def rule_from_dict(data: Mapping[str, Any]) -> Rule:
    """Build the rule that ``rule.to_dict()`` wrote, composites too.

    Raises
    ------
    ValueError
        When the name is not a rule's, or a parameter is unknown or out of range.

    Examples
    --------
    >>> rule_from_dict({"kind": "MaxRounds", "rounds": 10})
    MaxRounds(rounds=10)
    """
    name = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(name, str) or name not in Rule._registry:
        known = ", ".join(sorted(Rule._registry))
        raise ValueError(f"the `kind` of a rule must be one of {known}, got {name!r}")
    cls: Any = Rule._registry[name]
    known_fields = [field.name for field in fields(cls)]
    unknown = [key for key in data if key != "kind" and key not in known_fields]
    if unknown:
        raise ValueError(f"{name} has the parameters {known_fields}, got {unknown}")
    rule = cls(**{key: _rich(value) for key, value in data.items() if key != "kind"})
    assert isinstance(rule, Rule)
    return rule


def _plain(value: Any) -> Any:
    if isinstance(value, Rule):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value


def _rich(value: Any) -> Any:
    if isinstance(value, Mapping):
        return rule_from_dict(value)
    if isinstance(value, list):
        return tuple(_rich(part) for part in value)
    return value


def _check_scope(rule: Rule, n_items: int) -> None:
    if n_items == 1 and rule.scope == "batch":
        raise ScopeError(
            f"{batch_part(rule)} compares two distributions over a batch of items and was given "
            "one item; for a single debate use single_debate_rule(n_agents)"
        )


def batch_part(rule: Rule) -> str | None:
    """Return the name of the first batch rule inside ``rule``, None when there is none."""
    if rule.scope == "item":
        return None
    for field in fields(rule):  # type: ignore[arg-type]
        value = getattr(rule, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Rule) and part.scope == "batch":
                return batch_part(part)
    return type(rule).__name__


def _look(state: RuleState, round_: Round) -> tuple[Seen, tuple[str, ...]]:
    """Check the round against the state and count its votes."""
    t = state.round + 1
    n_items = round_.n_items
    _check_follows(state, round_, t, n_items)
    stopped = None
    if state.stop_rounds is not None and int(state.stop_rounds.max()) >= 0:
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
        nobody = np.full(n_items, -1, np.int32)
        none = np.zeros(n_items, np.int32)
        never = np.zeros(n_items, np.bool_)
        spoke = n.astype(np.int32)
        for array in (k, n, nobody, none, never, spoke):
            array.setflags(write=False)
        return (
            Seen(
                t,
                state.n_agents,
                n_items,
                None,
                None,
                k,
                n,
                nobody,
                none,
                none,
                spoke,
                never,
                before,
            ),
            state.labels,
        )
    codes, labels = _match(state.labels, round_)
    correct = round_.correct
    if stopped is not None:
        assert state.codes is not None
        codes = np.where(stopped[:, None], state.codes, codes)
        codes.setflags(write=False)
        if correct is not None:
            assert state.correct is not None
            correct = np.where(stopped[:, None], state.correct, correct)
            correct.setflags(write=False)
    winner = np.empty(n_items, np.int32)
    top = np.empty(n_items, np.int32)
    second = np.empty(n_items, np.int32)
    spoke = np.empty(n_items, np.int32)
    unanimous = np.empty(n_items, np.bool_)
    previous = state.winner
    if previous is None:
        previous = np.full(n_items, -1, np.int32)
        previous.setflags(write=False)
    scratch = np.zeros(max(len(labels), 1), np.int32)
    tally(codes, previous, _NO_DRAWS, scratch, winner, top, second, spoke, unanimous)
    for array in (winner, top, second, spoke, unanimous):
        array.setflags(write=False)
    seen = Seen(
        t,
        state.n_agents,
        n_items,
        codes,
        correct,
        None,
        None,
        winner,
        top,
        second,
        spoke,
        unanimous,
        before,
    )
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
