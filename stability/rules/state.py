"""The frozen memory of a rule between two rounds, and its JSON form.

A state holds what the next round is checked against (items, agents, labels), the last answers
(from which the rows of stopped items are carried), the latch, and the rule's own memory: a
nest of tuples, arrays, numbers and fits.
"""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

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


_ARRAYS = ("codes", "correct", "k", "n_present", "stop_rounds", "reason_codes")


def state_from_dict(data: dict[str, Any]) -> RuleState:
    """Build the state that ``RuleState.to_dict`` wrote.

    Raises
    ------
    ValueError
        When a field is missing or unknown.
    """
    expected = set(RuleState.__dataclass_fields__)
    if set(data) != expected:
        raise ValueError(
            f"a rule state has the fields {sorted(expected)}; "
            f"missing {sorted(expected - set(data))}, unknown {sorted(set(data) - expected)}"
        )
    closing = data["closing"]
    ids = data["item_ids"]
    return RuleState(
        n_agents=data["n_agents"],
        n_items=data["n_items"],
        round=data["round"],
        labels=tuple(data["labels"]),
        item_ids=None if ids is None else tuple(ids),
        **{name: _decode(data[name]) for name in _ARRAYS},
        vote=None if data["vote"] is None else Vote.known(*_decode(data["vote"])),
        memory=_decode(data["memory"]),
        closing=None
        if closing is None
        else Closing(
            closing["reason_code"],
            closing["statistic"],
            closing["threshold"],
            closing["certifies"],
            tuple(closing["warnings"]),
        ),
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
