"""The frozen memory of a rule between two rounds, and its JSON form.

A state holds what the next round is checked against (items, agents, labels), the last answers
(from which the rows of stopped items are carried), the latch, and the rule's own memory: a
nest of tuples, arrays, numbers and fits.
"""

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from stability._check import check_fields, check_int
from stability.rules.decision import REASONS
from stability.rules.vote import Vote

Memory = Any
"""Nested tuples of None, bool, int, float, text, arrays and types made known; frozen."""


class Rememberable(Protocol):
    """A frozen value that a rule may keep: it turns itself into JSON types and back."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""

    @classmethod
    def from_dict(cls, data: dict[str, Any], /) -> Self:
        """Build what ``to_dict`` wrote."""


_KNOWN: dict[str, type[Rememberable]] = {}


def make_known(cls: type[Rememberable]) -> None:
    """Let rules keep values of ``cls`` in their memory."""
    _KNOWN[cls.__name__] = cls


@dataclass(frozen=True, eq=False, slots=True)
class Closing:
    """What the decision said when the last item stopped; later rounds repeat it."""

    reason_code: int
    statistic: float | None
    threshold: float | None
    certifies: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RuleState:
    """Where a rule stands after round ``round`` (-1 before the first).

    Attributes
    ----------
    n_agents : int
        Columns every round must have; the reference n of a fitted distance.
    n_items : int or None
        None until the first round says it.
    round : int
        t of the last round.
    labels : tuple of str
        Every label met so far; codes in the arrays below are places in it.
    item_ids : tuple of str or None
    codes, correct : ndarray, shape (M, n), or None
        The last answers and grades, rows of stopped items carried.
    k, n_present : ndarray of int64, shape (M,), or None
        The last counts, when rounds hold counts alone.
    vote : Vote or None
        The last vote, which keeps the leaders of tied items.
    stop_rounds : ndarray of int32, shape (M,), or None
        Round in which each item stopped, -1 while it goes on.
    reason_codes : ndarray of int8, shape (M,), or None
    memory : nested tuple
        The rule's own.
    closing : Closing or None

    Examples
    --------
    >>> import json
    >>> from stability.rules.limits import MaxRounds
    >>> rule = MaxRounds(3)
    >>> state = rule.start(n_agents=5)
    >>> rule.state_from_dict(json.loads(json.dumps(state.to_dict()))).n_agents
    5
    """

    n_agents: int
    n_items: int | None
    round: int
    labels: tuple[str, ...]
    item_ids: tuple[str, ...] | None
    codes: npt.NDArray[np.int32] | None
    correct: npt.NDArray[np.int8] | None
    k: npt.NDArray[np.int64] | None
    n_present: npt.NDArray[np.int64] | None
    vote: Vote | None
    stop_rounds: npt.NDArray[np.int32] | None
    reason_codes: npt.NDArray[np.int8] | None
    memory: Memory
    closing: Closing | None

    @property
    def winner(self) -> npt.NDArray[np.int32] | None:
        """Code of the last leading answers, -1 for none, shape (M,)."""
        return None if self.vote is None else self.vote.winner

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        closing, vote = self.closing, self.vote
        return {
            "n_agents": self.n_agents,
            "n_items": self.n_items,
            "round": self.round,
            "labels": list(self.labels),
            "item_ids": None if self.item_ids is None else list(self.item_ids),
            **{name: _encode(getattr(self, name)) for name in _ARRAYS},
            "vote": None
            if vote is None
            else [_encode(column) for column in (vote.winner, vote.top, vote.spoke)],
            "memory": _encode(self.memory),
            "closing": None
            if closing is None
            else {
                "reason_code": closing.reason_code,
                "statistic": closing.statistic,
                "threshold": closing.threshold,
                "certifies": closing.certifies,
                "warnings": list(closing.warnings),
            },
        }


_ARRAYS = {
    "codes": "int32",
    "correct": "int8",
    "k": "int64",
    "n_present": "int64",
    "stop_rounds": "int32",
    "reason_codes": "int8",
}


def state_from_dict(data: Mapping[str, Any], begin: Callable[[int], Memory]) -> RuleState:
    """Build the state that ``RuleState.to_dict`` wrote.

    ``begin(n_agents)`` is the memory before the first round: what is a tuple there stays one of
    the same length.

    Raises
    ------
    ValueError
        When a field is missing, unknown, or cannot be what a state holds.
    """
    check_fields("data", data, RuleState.__dataclass_fields__)
    values: dict[str, Any] = {}
    for name, value in data.items():
        try:
            values[name] = _field(name, value)
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise _refused(name, "be as `to_dict` wrote it", value) from error
    state = RuleState(**values)
    _check_arrays(state)
    if not _same_nest(begin(state.n_agents), state.memory):
        raise _refused("memory", "be that of this rule", data["memory"])
    return state


def _refused(name: str, rule: str, value: Any) -> ValueError:
    return ValueError(f"`{name}` of a rule state must {rule}, got {reprlib.repr(value)}")


def _field(name: str, value: Any) -> Any:
    if name == "memory":
        return _decode(value)
    if name == "n_agents":
        return check_int(name, value, minimum=1)
    if name == "round":
        return check_int(name, value, minimum=-1)
    if name == "labels":
        return _texts(value)
    if value is None:
        return None
    if name == "n_items":
        return check_int(name, value, minimum=1)
    if name == "item_ids":
        return _texts(value)
    if name == "vote":
        winner, top, spoke = (_array(column, "int32") for column in value)
        return Vote.known(winner, top, spoke)
    if name == "closing":
        code = check_int("reason_code", value["reason_code"], minimum=0, maximum=len(REASONS) - 1)
        words = value["certifies"], _texts(value["warnings"])
        return Closing(code, value["statistic"], value["threshold"], *words)
    return _array(value, _ARRAYS[name])


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError("not a list of text")
    return tuple(value)


def _array(value: Any, dtype: str) -> npt.NDArray[Any]:
    array = _decode(value)
    if not isinstance(array, np.ndarray) or array.dtype.name != dtype:
        raise TypeError(f"not an array of {dtype}")
    return array


def _check_arrays(state: RuleState) -> None:
    """Refuse shapes and codes that would lead a kernel out of its arrays."""
    m, n, t, last_label = state.n_items, state.n_agents, state.round, len(state.labels) - 1
    begun, vote = t >= 0, state.vote
    if begun and m is None:
        raise _refused("n_items", "be known after a round", m)
    if len(set(state.labels)) <= last_label:
        raise _refused("labels", "differ", list(state.labels))
    if state.item_ids is not None and len(state.item_ids) != m:
        raise _refused("item_ids", f"hold {m} names", list(state.item_ids))
    by_item, by_answer = (m,), (m, n)
    columns = (None,) * 3 if vote is None else (vote.winner, vote.top, vote.spoke)
    for name, array, shape, low, high, needed in (
        ("codes", state.codes, by_answer, -2, last_label, begun and state.k is None),
        ("correct", state.correct, by_answer, -1, 1, False),
        ("k", state.k, by_item, 0, n, begun and state.codes is None),
        ("n_present", state.n_present, by_item, 0, n, state.k is not None),
        ("vote", columns[0], by_item, -1, last_label, begun),
        ("vote", columns[1], by_item, 0, n, begun),
        ("vote", columns[2], by_item, 0, n, begun),
        ("stop_rounds", state.stop_rounds, by_item, -1, t, begun),
        ("reason_codes", state.reason_codes, by_item, 0, len(REASONS) - 1, begun),
    ):
        if array is None:
            if needed:
                raise _refused(name, "be known after a round", None)
        elif array.shape != shape or array.min() < low or array.max() > high:
            rule = f"have shape {shape} and values from {low} to {high}"
            raise _refused(name, rule, array.tolist())


def _same_nest(beginning: Memory, memory: Memory) -> bool:
    if not isinstance(beginning, tuple):
        return True
    return (
        isinstance(memory, tuple)
        and len(memory) == len(beginning)
        and all(map(_same_nest, beginning, memory))
    )


def _encode(value: Memory) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": value.tolist()}
    if isinstance(value, tuple):
        return [_encode(part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if _KNOWN.get(type(value).__name__) is type(value):
        return {"type": type(value).__name__, "value": value.to_dict()}
    raise TypeError(f"a rule's memory must not hold {type(value).__name__}")


def _decode(value: Any) -> Memory:
    if isinstance(value, list):
        return tuple(_decode(part) for part in value)
    if isinstance(value, dict):
        if "type" in value:
            return _KNOWN[value["type"]].from_dict(value["value"])
        array = np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])
        array.setflags(write=False)
        return array
    return value
