"""One round of a debate: what every agent answered on every item.

An answer is a label. Two things are not answers and never win a vote: *unread* (the agent
spoke, nothing readable: code -1) and *silent* (the agent did not speak: code -2). A count is
the number of agents that are right on an item; unread counts as wrong, silent reduces the n it
is out of. Rounds are numbered by t from 0; round 0 is before any exchange.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from stability._check import check_int
from stability._kernels.votes import correct_counts as correct_counts_kernel
from stability.errors import NeedsAnswersError

UNREAD: Final = -1
SILENT_CODE: Final = -2
_INT8, _INT32, _INT64 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.int64)


class _Silence(Enum):
    # An enum member is one object however often it is copied or pickled.
    SILENT = "silent"

    def __repr__(self) -> str:
        return "SILENT"


SILENT: Final = _Silence.SILENT
"""Put this in a list of answers for an agent that did not speak."""

Label = str | int | float | bool | Literal[_Silence.SILENT] | None


def label_text(value: object) -> str | None:
    """Return a label as text, or None when it is unread (None, NaN, blank text).

    Parameters
    ----------
    value : object
        Text, a whole number, a bool or a finite float; 3.0 and 3 are the same label "3".

    Raises
    ------
    ValueError
        For any other type, and for an infinite float.

    Examples
    --------
    >>> [label_text(x) for x in ("A", 3, 3.0, 2.5, True, " ", None, float("nan"))]
    ['A', '3', '3', '2.5', 'True', None, None, None]
    """
    if value is None:
        return None
    if isinstance(value, str):
        return str(value) if value and not value.isspace() else None
    if isinstance(value, bool | int | np.integer | np.bool_):
        return str(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        if number != number:
            return None
        if number.is_integer():
            return str(int(number))
        if not np.isinf(number):
            return repr(number)
    raise ValueError(
        f"an answer must be text, a number, a bool, None (unread) or SILENT, got {value!r}"
    )


@dataclass(frozen=True, eq=False)
class Round:
    """The answers of one round, or the counts alone; build it with a ``from_`` method.

    Attributes
    ----------
    index : int or None
        t >= 0, or None for "the next one".
    codes : ndarray of int32, shape (M, n), or None
        Place of each answer in ``labels``; -1 unread, -2 silent. None when built from counts.
    labels : tuple of str
        The label of each code.
    correct : ndarray of int8, shape (M, n), or None
        1 right, 0 wrong, -1 unknown. An unread or silent answer is never 1.
    k, n_present : ndarray of int64, shape (M,), or None
        Agents right and agents that spoke; only when built from counts.
    item_ids : tuple of str or None
        One for each item, all different.

    Examples
    --------
    >>> from stability.log.round import SILENT, Round
    >>> r = Round.from_answers(
    ...     [["A", "A", None], ["B", SILENT, "A"]], correct=[[1, 1, 0], [0, 0, 1]]
    ... )
    >>> r.n_items, r.n_agents, r.labels
    (2, 3, ('A', 'B'))
    >>> k, n, graded = r.correct_counts()
    >>> k.tolist(), n.tolist(), graded.tolist()
    ([2, 1], [3, 2], [True, True])
    """

    index: int | None
    codes: npt.NDArray[np.int32] | None
    labels: tuple[str, ...] = ()
    correct: npt.NDArray[np.int8] | None = None
    k: npt.NDArray[np.int64] | None = None
    n_present: npt.NDArray[np.int64] | None = None
    item_ids: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.index is not None:
            object.__setattr__(self, "index", check_int("index", self.index, minimum=0))
        if self.codes is not None:
            self._check_answers(self.codes)
        else:
            self._check_counts()
        if self.item_ids is not None:
            ids = tuple(str(item) for item in self.item_ids)
            if len(ids) != self.n_items or len(set(ids)) != len(ids):
                raise ValueError(
                    f"`item_ids` must hold {self.n_items} different values, got {len(ids)} of "
                    f"which {len(set(ids))} differ"
                )
            object.__setattr__(self, "item_ids", ids)

    def _check_answers(self, given: Any) -> None:
        codes = _read_only("codes", given, _INT32)
        if codes.ndim != 2 or codes.size == 0:
            raise ValueError(
                f"answers must have shape (items, agents), at least (1, 1), got {codes.shape}"
            )
        labels = tuple(self.labels)
        low, high = int(codes.min()), int(codes.max())
        if low < SILENT_CODE or high >= len(labels):
            raise ValueError(
                f"`codes` must lie in -2..{len(labels) - 1} for {len(labels)} labels, "
                f"got {low}..{high}"
            )
        if len(set(labels)) != len(labels) or not all(type(label) is str for label in labels):
            raise ValueError(f"`labels` must be different texts, got {labels[:9]!r}")
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "labels", labels)
        if self.k is not None or self.n_present is not None:
            raise ValueError("`k` and `n_present` belong to a round built from counts alone")
        if self.correct is not None:
            correct = _read_only("correct", self.correct, _INT8)
            if correct.shape != codes.shape:
                raise ValueError(
                    f"`correct` must have the shape of the answers, {codes.shape}, "
                    f"got {correct.shape}"
                )
            if int(correct.min()) < -1 or int(correct.max()) > 1:
                bad = correct[(correct < -1) | (correct > 1)][0]
                raise ValueError(f"`correct` must be 1, 0 or -1 (unknown), got {bad}")
            if low < 0 and bool(np.any((codes < 0) & (correct == 1))):
                i, j = np.argwhere((codes < 0) & (correct == 1))[0]
                raise ValueError(
                    "`correct` must not be 1 where nothing was read: "
                    f"correct[{i}, {j}]=1, the answer is "
                    f"{'unread' if codes[i, j] == UNREAD else 'silent'}"
                )
            object.__setattr__(self, "correct", correct)

    def _check_counts(self) -> None:
        if self.k is None or self.n_present is None:
            raise ValueError("a Round holds `codes`, or `k` and `n_present`")
        if self.correct is not None or self.labels:
            raise ValueError("a round built from counts has neither `labels` nor `correct`")
        k = _read_only("k", self.k, _INT64)
        n = _read_only("n", self.n_present, _INT64)
        if k.ndim != 1 or k.size == 0 or n.shape != k.shape:
            raise ValueError(f"`k` and `n` must have shape (items,), got {k.shape} and {n.shape}")
        bad = np.flatnonzero((k < 0) | (k > n))
        if bad.size:
            i = int(bad[0])
            raise ValueError(f"`k` must lie in 0..`n`: k[{i}]={k[i]}, n[{i}]={n[i]}")
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "n_present", n)

    @classmethod
    def from_answers(
        cls,
        answers: Any,
        *,
        correct: Any = None,
        index: int | None = None,
        item_ids: Iterable[str] | None = None,
    ) -> "Round":
        """Build a round from labels.

        Parameters
        ----------
        answers : array-like, shape (M, n), or a list of n labels for one debate
            Text, numbers or bools; None, NaN and "" are unread, ``SILENT`` is silent. Whole
            numbers and bools become text by ``str``.
        correct : array-like of int, shape of ``answers``, optional
            1 right, 0 wrong, -1 or None unknown.
        index : int, optional
            t, from 0; None means the round after the last one.
        item_ids : iterable of str, optional
            One for each item; a rule then refuses a round with other items.

        Raises
        ------
        ValueError
            Rows of unlike length, a value that cannot be a label, a grade outside 1, 0, -1.

        Examples
        --------
        >>> Round.from_answers(["A", "B", None], index=0).codes.tolist()
        [[0, 1, -1]]
        """
        rows = _rows("answers", answers)
        n_agents = len(rows[0])
        place: dict[Any, int] = {}
        labels: dict[str, int] = {}
        flat = [value for row in rows for value in row]
        codes = np.empty(len(flat), np.int32)
        for spot, value in enumerate(flat):
            if value is SILENT:
                codes[spot] = SILENT_CODE
                continue
            # 1, 1.0 and True are equal as keys and different as labels.
            key = (type(value), value)
            try:
                code = place.get(key)
            except TypeError:  # what cannot be a key is no label: say so
                label_text(value)
                raise
            if code is None:
                text = label_text(value)
                code = UNREAD if text is None else labels.setdefault(text, len(labels))
                place[key] = code
            codes[spot] = code
        grades = None
        if correct is not None:
            unknown = [
                [-1 if c is None or c != c else c for c in r] for r in _rows("correct", correct)
            ]
            grades = np.asarray(unknown)
        return cls(
            index=index,
            codes=codes.reshape(len(rows), n_agents),
            labels=tuple(labels),
            correct=grades,
            item_ids=None if item_ids is None else tuple(item_ids),
        )

    @classmethod
    def from_codes(
        cls,
        codes: Any,
        labels: Sequence[str],
        *,
        correct: Any = None,
        index: int | None = None,
        item_ids: tuple[str, ...] | None = None,
    ) -> "Round":
        """Build a round from int32 codes (M, n): places in ``labels``, -1 unread, -2 silent.

        Read-only arrays of the right type are kept without a copy.

        Raises
        ------
        ValueError
            A code outside -2..len(labels) - 1, or a grade outside 1, 0, -1.

        Examples
        --------
        >>> Round.from_codes([[0, 1, -2]], ("A", "B")).answers.tolist()
        [['A', 'B', SILENT]]
        """
        return cls(
            index=index, codes=codes, labels=tuple(labels), correct=correct, item_ids=item_ids
        )

    @classmethod
    def from_counts(cls, k: Any, n: Any, *, index: int | None = None) -> "Round":
        """Build a round from counts: ``k`` agents right of the ``n`` that spoke, item by item.

        Parameters
        ----------
        k, n : int or array-like of int, shape (M,)
            0 <= k <= n; broadcast. Items must be in the same order in every round.
        index : int, optional
            t, from 0; None means the round after the last one.

        Raises
        ------
        ValueError
            When k lies outside 0..n.

        Examples
        --------
        >>> Round.from_counts([3, 7], 7).n_present.tolist()
        [7, 7]
        """
        k_all, n_all = np.broadcast_arrays(np.atleast_1d(k), np.atleast_1d(n))
        return cls(index=index, codes=None, k=k_all, n_present=n_all)

    @property
    def n_items(self) -> int:
        """M, the number of items."""
        array = self.codes if self.codes is not None else self.k
        assert array is not None
        return int(array.shape[0])

    @cached_property
    def n_agents(self) -> int:
        """Columns of answers, silent ones included; from counts, the largest n."""
        if self.codes is not None:
            return int(self.codes.shape[1])
        assert self.n_present is not None
        return int(self.n_present.max())

    @property
    def has_answers(self) -> bool:
        """Whether the round holds labels and not counts alone."""
        return self.codes is not None

    @property
    def has_correct(self) -> bool:
        """Whether answers are graded, or the round was built from counts."""
        return self.correct is not None or self.codes is None

    @cached_property
    def answers(self) -> npt.NDArray[np.object_]:
        """Labels, shape (M, n); None where unread, ``SILENT`` where silent.

        Raises
        ------
        NeedsAnswersError
            When the round was built from counts.
        """
        if self.codes is None:
            raise NeedsAnswersError("this round was built from counts: it holds no answers")
        table = np.array([*self.labels, SILENT, None], dtype=object)
        answers: npt.NDArray[np.object_] = table[self.codes]
        answers.setflags(write=False)
        return answers

    def correct_counts(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Count the agents that are right, item by item.

        Returns
        -------
        k, n : ndarray of int64, shape (M,)
            Agents right and agents that spoke: unread counts as wrong, silent reduces n.
        graded : ndarray of bool, shape (M,)
            False where a readable answer has no grade or no answer of the item has one.

        Raises
        ------
        NeedsAnswersError
            When the answers are not graded.
        """
        if self.codes is None:
            assert self.k is not None
            assert self.n_present is not None
            return self.k, self.n_present, self.n_present > 0
        if self.correct is None:
            raise NeedsAnswersError("this round holds no grades: give `correct`")
        k = np.empty(self.n_items, np.int64)
        n = np.empty(self.n_items, np.int64)
        graded = np.empty(self.n_items, np.bool_)
        correct_counts_kernel(self.codes, self.correct, k, n, graded)
        return k, n, graded


def _rows(name: str, value: Any) -> list[list[Any]]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise ValueError(f"`{name}` must be an (items, agents) table or a list, got {value!r}")
    if isinstance(value, Mapping | Set) or hasattr(value, "columns"):
        raise ValueError(
            f"`{name}` must be a list or an array in the order of the agents, got a "
            f"{type(value).__name__}: {value!r}"
        )
    rows = value.tolist() if isinstance(value, np.ndarray) else list(value)
    nested: list[bool] = [isinstance(row, list | tuple | np.ndarray) for row in rows]
    if not any(nested):
        rows, nested = [rows], [True]
    if not all(nested):
        raise ValueError(f"`{name}` mixes rows and single values: row {nested.index(False)}")
    table = [list(row) for row in rows]
    for i, row in enumerate(table):
        if len(row) != len(table[0]):
            raise ValueError(
                f"`{name}` must have one value for each agent (SILENT for one that did not "
                f"speak): row 0 has {len(table[0])}, row {i} has {len(row)}"
            )
    return table


def _read_only(name: str, value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    given = np.asarray(value)
    if given.dtype.kind == "b" and dtype.itemsize == 1:
        given = given.astype(np.int8)
    if given.size == 0:
        given = given.astype(dtype)
    if given.dtype.kind not in "iu":
        as_int = given.astype(np.int64) if given.dtype.kind == "f" else None
        if as_int is None or not np.array_equal(as_int, given):
            raise ValueError(f"`{name}` must hold whole numbers, got dtype {given.dtype}")
        given = as_int
    if given.dtype == dtype and given.flags.c_contiguous and not given.flags.writeable:
        return given
    info = np.iinfo(dtype)
    narrower = given.size and not np.can_cast(given.dtype, dtype)
    if narrower and (int(given.min()) < info.min or int(given.max()) > info.max):
        raise ValueError(f"`{name}` holds {given.min()}..{given.max()}, beyond {dtype}")
    array: npt.NDArray[Any] = np.array(given, dtype=dtype, order="C")
    array.setflags(write=False)
    return array
