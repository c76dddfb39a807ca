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
from stability.errors import ScopeError
from stability.log.round import Round
from stability.rules.decision import REASONS, RUNNING, Decision
from stability.rules.seen import Seen, look
from stability.rules.state import Closing, Memory, RuleState, state_from_dict

Scope = Literal["item", "batch"]
_NOTHING_YET = "No item has stopped yet, so nothing is certified."


@dataclass(frozen=True, eq=False, slots=True)
class Judgement:
    """What a rule says of this round alone, unlatched.

    ``stop`` and ``reason_codes`` have shape (M,); ``certifies`` is what a stop would certify;
    ``counts`` are (k, n, used, ...) of at most the last three rounds, oldest first, where the rule
    compares counts.
    """

    stop: npt.NDArray[np.bool_]
    reason_codes: npt.NDArray[np.int8]
    statistic: float | None
    threshold: float | None
    certifies: str
    warnings: tuple[str, ...] = ()
    counts: tuple[tuple[Any, ...], ...] = ()


def judgement(
    stop: npt.NDArray[np.bool_],
    reason: int,
    certifies: str,
    *,
    waiting: int = RUNNING,
    statistic: float | None = None,
    threshold: float | None = None,
    warnings: tuple[str, ...] = (),
    counts: tuple[tuple[Any, ...], ...] = (),
) -> Judgement:
    """Build a judgement in which all stopped items have one reason, all others ``waiting``."""
    if waiting == RUNNING:
        codes = stop.view(np.int8) * np.int8(reason)
    else:
        codes = np.where(stop, np.int8(reason), np.int8(waiting))
    return Judgement(stop, codes, statistic, threshold, certifies, warnings, counts)


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
            vote=None,
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
        seen, labels = look(state, round_)
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
            counts: tuple[tuple[Any, ...], ...] = ()
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
            counts = said.counts
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
            vote=seen.vote,
            labels=labels,
            reason_codes=reasons,
            counted=seen.codes is None,
            vote_before=None if seen.before is None else seen.before.vote,
            counts=counts,
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
            vote=seen.vote,
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
    def state_from_dict(self, data: Mapping[str, Any]) -> RuleState:
        """Build the state that ``state.to_dict()`` of this rule wrote.

        Raises
        ------
        ValueError
            Naming the field that is missing, unknown or damaged.
        """
        return state_from_dict(data, self._begin)

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
    try:
        rule = cls(**{key: _rich(value) for key, value in data.items() if key != "kind"})
    except TypeError as error:
        raise ValueError(f"these are not the parameters of {name}: {error}") from None
    assert isinstance(rule, Rule)
    return rule


def _plain(value: Any) -> Any:
    if isinstance(value, Rule):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


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
