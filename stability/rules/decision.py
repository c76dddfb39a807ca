"""What a rule says after a round: who has stopped, with which answers, and why.

A decision states the vote as it stands, v_l / s for the leading label l of the s agents that
spoke, beside the verdict, and says in words what a stop certifies: an answer that no longer
moves is not thereby a correct one.
"""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stability.errors import ScopeError
from stability.fit.drift import Drift, drift
from stability.rules.vote import Vote


class Reason(StrEnum):
    """Why an item has stopped, or why it has not.

    ``running`` and ``undecidable`` (too few items for this threshold: the rule refuses to stop)
    belong to items that go on; ``stable``, ``consensus`` and ``cap_reached`` to items that have
    stopped; ``oscillating`` to answers that come and go.

    Examples
    --------
    >>> str(Reason.cap_reached)
    'cap_reached'
    """

    running = "running"
    undecidable = "undecidable"
    oscillating = "oscillating"
    cap_reached = "cap_reached"
    stable = "stable"
    consensus = "consensus"


REASONS = tuple(Reason)
RUNNING, UNDECIDABLE, OSCILLATING, CAP_REACHED, STABLE, CONSENSUS = range(len(REASONS))


@dataclass(frozen=True, eq=False)
class Decision:
    """What a rule says after round ``round``.

    Attributes
    ----------
    round : int
        t, from 0.
    stop_items : ndarray of bool, shape (M,)
        Items that have stopped, in this round or before.
    stop : bool
        Whether all have stopped.
    reason : Reason
        While some item goes on: ``running``, or ``undecidable`` when a rule refuses to stop.
        Once all have stopped: the reason of the items that stopped last, and where these
        differ the weakest of them (the cap, then stable, then consensus).
    stop_rounds : ndarray of int32, shape (M,)
        Round in which each item stopped, -1 while it goes on.
    statistic, threshold : float or None
        What the rule measured and what it is compared with; of the item furthest from its stop
        when items stop alone; None where nothing is measured. A composite shows those of its
        first batch rule, else of its first rule that measures something.
    certifies : str
        One sentence: what the stop says, and what it does not.
    warnings : tuple of str
        One sentence each.
    vote : Vote
        The vote of this round; ``winner``, ``votes`` and ``spoke`` are read from it.
    labels : tuple of str
    reason_codes : ndarray of int8, shape (M,)
    counted : bool
        Whether the round held counts alone.
    vote_before : Vote or None
        The vote of the round before.
    counts : tuple
        (k, n, used, ...) of at most the last three rounds, oldest first, where a rule compared
        counts; ``drift`` is read from them.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> from stability.rules.consensus import Unanimity
    >>> rule = Unanimity()
    >>> _, decision = rule.step(rule.start(3), Round.from_answers(["A", "A", "A"]))
    >>> decision.stop, decision.answer, decision.reason.value
    (True, 'A', 'consensus')
    """

    round: int
    stop_items: npt.NDArray[np.bool_]
    stop: bool
    reason: Reason
    stop_rounds: npt.NDArray[np.int32]
    statistic: float | None
    threshold: float | None
    certifies: str
    warnings: tuple[str, ...]
    vote: Vote
    labels: tuple[str, ...]
    reason_codes: npt.NDArray[np.int8]
    counted: bool = False
    vote_before: Vote | None = None
    counts: tuple[tuple[Any, ...], ...] = ()

    @property
    def winner(self) -> npt.NDArray[np.int32]:
        """Code of the leading answer in ``labels``, shape (M,); -1 where there is none.

        A tie keeps the answer of the round before, at t = 0 that of the earliest agent. The items
        of a round of counts have no leading answer.
        """
        return self.vote.winner

    @property
    def votes(self) -> npt.NDArray[np.int32]:
        """Agents that gave the leading answer, shape (M,)."""
        return self.vote.top

    @property
    def spoke(self) -> npt.NDArray[np.int32]:
        """Agents that spoke, shape (M,)."""
        return self.vote.spoke

    @cached_property
    def answers(self) -> npt.NDArray[np.object_]:
        """Leading answer of each item, shape (M,): a label, or None where there is none."""
        table = np.array([*self.labels, None], dtype=object)
        answers: npt.NDArray[np.object_] = table[self.winner]
        answers.setflags(write=False)
        return answers

    @cached_property
    def support(self) -> npt.NDArray[np.float64]:
        """Share of the agents that spoke that back the leading answer, shape (M,), in [0, 1].

        0 where nobody gave a readable answer; NaN after a round of counts.
        """
        if self.counted:
            support = np.full(len(self.stop_items), np.nan)
        else:
            support = self.votes / np.maximum(self.spoke, 1)
        support.setflags(write=False)
        return support

    @cached_property
    def flip_share(self) -> float | None:
        """Share of the items whose leading answer is not that of the round before.

        An item without a readable answer in either round did not change; None at t = 0 and for
        counts. It needs no labels, and sees what a distribution cannot: changes that cancel.
        """
        if self.counted or self.vote_before is None:
            return None
        return float((self.winner != self.vote_before.winner).mean())

    @cached_property
    def drift(self) -> Drift | None:
        """How far the counts would still move if they went on as they do: an extrapolation.

        Of the counts that a `KSRule` compares, over the last three rounds; None without one, before
        t = 2, after the stop, or where the ratio of the changes may be 1.
        """
        if len(self.counts) < 3:
            return None
        used = np.logical_and.reduce([counts[2] & (counts[1] > 0) for counts in self.counts])
        return drift(*(counts[0][used] / counts[1][used] for counts in self.counts))

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The reason of each item."""
        return tuple(REASONS[code] for code in self.reason_codes.tolist())

    @property
    def answer(self) -> str | None:
        """The leading answer of a single debate.

        Raises
        ------
        ScopeError
            When the decision is about several items: read ``answers``.
        """
        if len(self.stop_items) != 1:
            raise ScopeError(
                f"`answer` is for a single debate; this decision is about {len(self.stop_items)} "
                "items: read `answers`"
            )
        code = int(self.winner[0])
        return self.labels[code] if code >= 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "round": self.round,
            "stop": self.stop,
            "reason": str(self.reason),
            "statistic": self.statistic,
            "threshold": self.threshold,
            "certifies": self.certifies,
            "warnings": list(self.warnings),
            "stop_items": self.stop_items.tolist(),
            "stop_rounds": self.stop_rounds.tolist(),
            "reasons": [str(reason) for reason in self.reasons],
            "answers": self.answers.tolist(),
            "support": None if self.counted else self.support.tolist(),
            "votes": self.votes.tolist(),
            "spoke": self.spoke.tolist(),
            "flip_share": self.flip_share,
            "drift": None if self.drift is None else self.drift.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the decision that ``to_dict`` wrote.

        Raises
        ------
        ValueError
            When it is anything else.
        """
        try:
            return cls._of_dict(data)
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(
                f"`data` must be a decision as `to_dict` wrote it, got {reprlib.repr(data)}"
            ) from error

    @classmethod
    def _of_dict(cls, data: Mapping[str, Any]) -> Self:
        place: dict[str, int] = {}
        winner = [-1 if a is None else place.setdefault(a, len(place)) for a in data["answers"]]
        said = cls(
            round=data["round"],
            stop_items=_array(data["stop_items"], np.bool_),
            stop=data["stop"],
            reason=Reason(data["reason"]),
            stop_rounds=_array(data["stop_rounds"], np.int32),
            statistic=data["statistic"],
            threshold=data["threshold"],
            certifies=data["certifies"],
            warnings=tuple(data["warnings"]),
            vote=Vote.known(
                np.array(winner, np.int32),
                np.array(data["votes"], np.int32),
                np.array(data["spoke"], np.int32),
            ),
            labels=tuple(place),
            reason_codes=_array([REASONS.index(Reason(r)) for r in data["reasons"]], np.int8),
            counted=data["support"] is None,
        )
        # the rounds they were read from are gone
        found = data["drift"]
        said.__dict__["flip_share"] = data["flip_share"]
        said.__dict__["drift"] = None if found is None else Drift(**found)
        return said

    def __str__(self) -> str:
        stopped, n_items = int(self.stop_items.sum()), len(self.stop_items)
        measured = ""
        if self.statistic is not None:
            measured = f", statistic {self.statistic:.4g} against {self.threshold:.4g}"
        return (
            f"t={self.round}: {self.reason}, {stopped} of {n_items} stopped{measured}. "
            + " ".join((self.certifies, *self.warnings))
        )


def _array(values: list[Any], dtype: Any) -> npt.NDArray[Any]:
    array = np.array(values, dtype)
    array.setflags(write=False)
    return array
