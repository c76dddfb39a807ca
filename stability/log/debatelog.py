"""A recorded debate: what every agent answered on every item in every round.

The states form a cube, rounds x items x agents, numbered t = 0..T-1, i = 0..M-1, j = 0..n-1. A
state is a label (a code >= 0), *unread* (-1: the agent spoke, nothing readable) or *silent* (-2:
it did not speak), with a grade: 1 right, 0 wrong, -1 unknown. Two conventions make the cube
whole. A debate that ended before the last round keeps its last states to the end, marked
`carried`: otherwise later rounds would hold the harder debates only, and a distance between
rounds would compare different items. And an unread answer without a grade counts as wrong when
anything else of its item is graded, or its right answers are known.

Runs of one question are not independent: they share a `cluster`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int
from stability._kernels import votes
from stability.log.parts import (
    Gold,
    Picks,
    check_carried,
    clusters_of_keys,
    factorize,
    gold_labels,
    grade,
    integers,
    join_rounds,
    names,
    names_and_keys,
    places,
    settle_unread,
    shaped,
)
from stability.log.round import SILENT_CODE, UNREAD, Round
from stability.log.ties import Ties

if TYPE_CHECKING:
    import pandas as pd

Counts = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
_REFERENCES = ("current", "first", "previous")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class DebateLog:
    """Answers of n agents on M items in T rounds. Read one with `read_log` or `from_frame`.

    Parameters
    ----------
    answers : array-like of int, shape (T, M, n)
        Codes: the place of the answer in `labels`, -1 unread, -2 silent.
    labels : sequence of str
        The text of each code; all different, none blank.
    correct : array-like of int, shape (T, M, n), optional
        1 right, 0 wrong, -1 unknown; never 1 where nothing was read. Without it answers are
        graded by `gold`.
    gold : sequence of length M, optional
        The right labels of each item: text, several texts, or None where they are not known.
    item_ids, agent_ids : sequence of str, optional
        Names, all different; "0", "1", ... when left out.
    cluster : array-like, shape (M,), optional
        Items of equal cluster are runs of one question. Without it, items equal in the keys
        dataset and item, when there are further keys.
    tokens : array-like of int, shape (T, M, n), optional
        Tokens spent on each answer; -1 unknown, 0 where the agent was silent or is carried.
    carried : array-like of bool, shape (T, M), optional
        True where an ended debate is carried forward; its states repeat those before.
    keys : mapping of str to sequence of str, optional
        The columns that tell debates apart, one value an item, "item" last.
    notes : sequence of str
        What a reader wants known about how the log was made; no part of equality.

    Raises
    ------
    ValueError
        When shapes, codes, grades, names or carried states do not fit together.

    Examples
    --------
    >>> from stability.log.debatelog import DebateLog
    >>> log = DebateLog([[[0, 1, -1]], [[0, 0, 0]]], ["A", "B"], gold=["A"])
    >>> log
    DebateLog(2 rounds, 1 item, 3 agents, graded)
    >>> log.correct_counts()[0].tolist()
    [[1], [3]]
    """

    answers: npt.NDArray[np.int32]
    labels: tuple[str, ...]
    correct: npt.NDArray[np.int8]
    gold: Gold | None
    item_ids: tuple[str, ...]
    agent_ids: tuple[str, ...]
    cluster: npt.NDArray[np.int64] | None
    tokens: npt.NDArray[np.int64] | None
    carried: npt.NDArray[np.bool_]
    keys: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]

    def __init__(
        self,
        answers: npt.ArrayLike,
        labels: Iterable[str],
        correct: npt.ArrayLike | None = None,
        *,
        gold: Sequence[str | Iterable[str] | None] | None = None,
        item_ids: Iterable[str] | None = None,
        agent_ids: Iterable[str] | None = None,
        cluster: npt.ArrayLike | None = None,
        tokens: npt.ArrayLike | None = None,
        carried: npt.ArrayLike | None = None,
        keys: Mapping[str, Sequence[str]] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        cube = integers("answers", answers, np.int32)
        if cube.ndim != 3 or cube.size == 0:
            raise ValueError(
                "`answers` must have shape (rounds, items, agents), at least (1, 1, 1), "
                f"got {cube.shape}"
            )
        n_rounds, n_items, n_agents = cube.shape
        texts = tuple(labels)
        if len(set(texts)) != len(texts):
            raise ValueError("`labels` must all be different")
        for name in texts:
            if not isinstance(name, str) or not name.strip():
                raise ValueError(f"`labels` must be text and not blank, got {name!r}")
        low, high = int(cube.min()), int(cube.max())
        if low < SILENT_CODE or high >= len(texts):
            raise ValueError(
                f"`answers` must lie in -2..{len(texts) - 1} for {len(texts)} labels, "
                f"got {low}..{high}"
            )
        ended = np.zeros((n_rounds, n_items), np.bool_)
        if carried is not None:
            ended = np.array(shaped("carried", np.asarray(carried), ended.shape), np.bool_)
        right = None if gold is None else gold_labels(gold, n_items)
        if correct is None:
            grades = grade(cube, texts, right)
        else:
            grades = shaped("correct", integers("correct", correct, np.int8), cube.shape)
        spent = None
        if tokens is not None:
            spent = shaped("tokens", integers("tokens", tokens, np.int64), cube.shape)
            if int(spent.min()) < -1:
                raise ValueError(f"`tokens` must be >= 0, or -1 for unknown, got {spent.min()}")
            spent[(cube == SILENT_CODE) | ended[:, :, None]] = 0
        columns, ids = names_and_keys(item_ids, keys, n_items)
        groups = clusters_of_keys(columns)
        if cluster is not None:
            groups = factorize(shaped("cluster", np.asarray(cluster), (n_items,)).tolist())[0]
        settled = settle_unread(cube, grades, right)
        check_carried(ended, cube, settled, ids)
        _set(self, "answers", cube)
        _set(self, "labels", texts)
        _set(self, "correct", settled)
        _set(self, "gold", right)
        _set(self, "item_ids", ids)
        _set(self, "agent_ids", names("agent_ids", agent_ids, n_agents))
        _set(self, "cluster", groups)
        _set(self, "tokens", spent)
        _set(self, "carried", ended)
        _set(self, "keys", MappingProxyType(columns))
        _set(self, "notes", tuple(notes))

    @classmethod
    def from_rounds(
        cls,
        rounds: Iterable[Round],
        *,
        gold: Sequence[str | Iterable[str] | None] | None = None,
        agent_ids: Iterable[str] | None = None,
        tokens: npt.ArrayLike | None = None,
        carried: npt.ArrayLike | None = None,
        notes: Iterable[str] = (),
    ) -> "DebateLog":
        """Join rounds of the same items and agents; their labels are matched by text.

        Raises
        ------
        ValueError
            When there is no round, one holds counts alone, or shapes, items or the presence of
            grades differ between rounds.

        Examples
        --------
        >>> from stability.log.round import Round
        >>> first = Round.from_answers(["A", "B"])
        >>> log = DebateLog.from_rounds([first, Round.from_answers(["B", "B"])], gold=["B"])
        >>> log.correct_counts()[0].tolist()
        [[1], [2]]
        """
        cube, labels, grades, item_ids = join_rounds(list(rounds))
        return cls(
            cube,
            labels,
            grades,
            gold=gold,
            item_ids=item_ids,
            agent_ids=agent_ids,
            tokens=tokens,
            carried=carried,
            notes=notes,
        )

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame", **options: Any) -> "DebateLog":
        """Build a log from a tidy data frame: a row an answer.

        Columns and options are those of `read_log`. None, NaN and "" in `answer` are unread,
        ``SILENT`` is silent (as a missing row is). A categorical `agent` column fixes the agents
        and their order; categories without a row are agents that never spoke.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns item, round, agent, answer; optional correct, gold and the others.
        **options
            ``unread``, ``extract``, ``key``, ``ignore`` and column names, as in `read_log`.

        Raises
        ------
        LogFormatError
            Naming the row (counted from 0) and the rule that is broken.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame(
        ...     {"item": [1, 1], "round": [0, 0], "agent": ["x", "y"], "answer": ["A", "B"]}
        ... )
        >>> DebateLog.from_frame(frame)
        DebateLog(1 round, 1 item, 2 agents, not graded)
        """
        from stability.log.table import table_of_frame
        from stability.log.tidy import build_log

        return build_log(table_of_frame(frame), **options)

    def to_frame(self) -> "pd.DataFrame":
        """Return a tidy data frame: a row a recorded answer, by item, round and agent.

        Columns: the key columns (item last), round (from 0), agent (categorical), answer ("" is
        unread), correct (1, 0 or NA); cluster, gold and tokens when known. Silence and carried
        states have no row, except that a round in which nobody spoke is kept as rows with the
        answer ``SILENT``. `from_frame` gives back an equal log.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> log = DebateLog([[[0, 1], [0, -1]]], ["A", "B"], gold=["A", None])
        >>> log.to_frame()["answer"].tolist()
        ['A', 'B', 'A', '']
        """
        from stability.log.tidy import frame_of_log

        return frame_of_log(self)

    @property
    def n_rounds(self) -> int:
        """T, the rounds held, round 0 included."""
        return int(self.answers.shape[0])

    @property
    def n_items(self) -> int:
        """M, the number of items."""
        return int(self.answers.shape[1])

    @property
    def n_agents(self) -> int:
        """The number of agents, counting those that are silent in some items."""
        return int(self.answers.shape[2])

    @property
    def is_graded(self) -> bool:
        """Whether any answer has a grade."""
        return bool((self.correct >= 0).any())

    def __repr__(self) -> str:
        sizes = {"round": self.n_rounds, "item": self.n_items, "agent": self.n_agents}
        text = ", ".join(f"{size} {word}{'' if size == 1 else 's'}" for word, size in sizes.items())
        return f"DebateLog({text}, {'graded' if self.is_graded else 'not graded'})"

    def __eq__(self, other: object) -> bool:
        """Same content; the numbering of the labels and the notes do not matter."""
        if not isinstance(other, DebateLog):
            return NotImplemented
        if self.answers.shape != other.answers.shape:
            return False
        code = {label: place for place, label in enumerate(self.labels)}
        # -3 for a label that this log does not know: it equals no code.
        table = [code.get(label, -3) for label in other.labels]
        theirs = np.array([*table, SILENT_CODE, UNREAD], np.int32)[other.answers]
        return (
            np.array_equal(self.answers, theirs)
            and np.array_equal(self.correct, other.correct)
            and np.array_equal(self.carried, other.carried)
            and _same(self.cluster, other.cluster)
            and _same(self.tokens, other.tokens)
            and self.gold == other.gold
            and self.item_ids == other.item_ids
            and self.agent_ids == other.agent_ids
            and dict(self.keys) == dict(other.keys)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that arrays are read-only again in another process.
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["keys"] = dict(self.keys)
        return partial(DebateLog, **values), ()

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds in order, t = 0, 1, ..., as a stopping rule takes them."""
        grades = self.correct if self.is_graded else None
        for t in range(self.n_rounds):
            yield Round.from_codes(
                self.answers[t],
                self.labels,
                correct=None if grades is None else grades[t],
                index=t,
                item_ids=self.item_ids,
            )

    def n_present(self) -> npt.NDArray[np.int64]:
        """Count the agents that spoke, shape (T, M)."""
        return np.asarray(np.count_nonzero(self.answers != SILENT_CODE, axis=2), np.int64)

    def correct_counts(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Count the agents that are right, item by item and round by round.

        Returns
        -------
        k, n : ndarray of int64, shape (T, M)
            Agents right and agents that spoke; unread counts as wrong, silent reduces n.
        graded : ndarray of bool, shape (T, M)
            False where a readable answer has no grade, or no answer of the item has one.

        Raises
        ------
        NeedsAnswersError
            When no answer of the log is graded.
        """
        k, n, graded = zip(*(one.correct_counts() for one in self.rounds()), strict=True)
        return np.stack(k), np.stack(n), np.stack(graded)

    def plurality(
        self, ties: Ties | str = Ties.previous, *, seed: int | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the code of the leading answer, shape (T, M); -1 where nothing was readable.

        Parameters
        ----------
        ties : Ties or str
            "previous" (the default), "first" or "random"; "share" chooses no label.
        seed : int, optional
            Needed with "random": the draw depends on it, on t and on the place of the item.

        Raises
        ------
        ValueError
            For "share", an unknown name, or a seed that is missing or not needed.

        Examples
        --------
        >>> log = DebateLog([[[0, 0, 1, 1]], [[1, 1, 0, 0]]], ["A", "B"])
        >>> log.plurality().ravel().tolist(), log.plurality("first").ravel().tolist()
        ([0, 0], [0, 1])
        """
        rule = Ties(check_choice("ties", ties, [t for t in Ties if t is not Ties.share]))
        if (seed is not None) != (rule is Ties.random):
            raise ValueError(f"`seed` belongs to ties='random', got ties={rule!s}, seed={seed!r}")
        winners = np.empty((self.n_rounds, self.n_items), np.int32)
        scratch = np.zeros(max(1, len(self.labels)), np.int32)
        counts = np.empty((3, self.n_items), np.int32)
        unanimous = np.empty(self.n_items, np.bool_)
        nobody = np.full(self.n_items, -1, np.int32)
        draws = np.empty(0)
        for t in range(self.n_rounds):
            if seed is not None:
                start = np.array([0, t, 0, 0], np.uint64)
                source = np.random.Philox(key=check_int("seed", seed, minimum=0), counter=start)
                draws = np.random.Generator(source).random(self.n_items)
            before = winners[t - 1] if rule is Ties.previous and t > 0 else nobody
            before.setflags(write=False)
            votes.tally(
                self.answers[t],
                before,
                draws,
                scratch,
                winners[t],
                counts[0],
                counts[1],
                counts[2],
                unanimous,
            )
            if t > 0:
                # A debate that has ended keeps its answer, also where a draw settled it.
                np.copyto(winners[t], winners[t - 1], where=self.carried[t])
        return winners

    def agreement_counts(self, reference: str = "current") -> Counts:
        """Count the agents that agree with a plurality, which needs no grades.

        Parameters
        ----------
        reference : {"current", "first", "previous"}
            The plurality (ties: previous) of the round itself, of t = 0, or of the round before
            (at t = 0 the current one).

        Returns
        -------
        k, n : ndarray of int64, shape (T, M)
            Agents that gave the reference answer, and agents that spoke.

        Examples
        --------
        >>> log = DebateLog([[[0, 0, 1]], [[1, 1, 1]]], ["A", "B"])
        >>> [log.agreement_counts(r)[0].ravel().tolist() for r in ("current", "first")]
        [[2, 3], [2, 0]]
        """
        chosen = check_choice("reference", reference, _REFERENCES)
        winners = self.plurality()
        winners.setflags(write=False)
        k = np.empty((self.n_rounds, self.n_items), np.int64)
        n = np.empty_like(k)
        for t in range(self.n_rounds):
            at = {"current": t, "first": 0, "previous": max(0, t - 1)}[chosen]
            votes.agreement(self.answers[t], winners[at], k[t], n[t])
        return k, n

    def select(
        self,
        items: Picks | None = None,
        agents: Picks | None = None,
        rounds: int | None = None,
    ) -> "DebateLog":
        """Return the log of some items, some agents, or the first rounds.

        Parameters
        ----------
        items, agents : sequence of str, of int or of bool, or slice, optional
            Names, places or a mask; the order given is kept.
        rounds : int, optional
            How many rounds to hold, round 0 included.

        Raises
        ------
        ValueError
            For an unknown or repeated name or place, or when nothing is left.

        Examples
        --------
        >>> log = DebateLog([[[0, 1], [1, 1]], [[0, 0], [1, 1]]], ["A", "B"])
        >>> log.select(items=["1"], rounds=1)
        DebateLog(1 round, 1 item, 2 agents, not graded)
        """
        i = places("items", items, self.item_ids)
        j = places("agents", agents, self.agent_ids)
        held = self.n_rounds
        if rounds is not None:
            held = check_int("rounds", rounds, minimum=1, maximum=self.n_rounds)
        cut = np.ix_(np.arange(held), i, j)
        return DebateLog(
            self.answers[cut],
            self.labels,
            self.correct[cut],
            gold=None if self.gold is None else [self.gold[place] for place in i],
            agent_ids=[self.agent_ids[place] for place in j],
            cluster=None if self.cluster is None else self.cluster[i],
            tokens=None if self.tokens is None else self.tokens[cut],
            carried=self.carried[:held, i],
            keys={name: [column[place] for place in i] for name, column in self.keys.items()},
            notes=self.notes,
        )

    def one_per_cluster(self, seed: int) -> "DebateLog":
        """Return a log of independent items: one drawn at random from each cluster.

        Parameters
        ----------
        seed : int
            At least 0; the same seed draws the same items.

        Examples
        --------
        >>> log = DebateLog([[[0], [0], [0]]], ["A"], cluster=[7, 7, 9])
        >>> log.one_per_cluster(seed=1).n_items
        2
        """
        start = check_int("seed", seed, minimum=0)
        if self.cluster is None:
            return self
        order = np.random.default_rng(start).permutation(self.n_items)
        chosen = order[np.unique(self.cluster[order], return_index=True)[1]]
        return self.select(items=np.sort(chosen))

    def state_counts(self) -> dict[str, npt.NDArray[np.int64]]:
        """Count the states of each round: what was recorded and what was not.

        Returns
        -------
        dict of ndarray of int64, shape (T,)
            ``read``, ``unread`` answers; ``silent``: agents of a debate still running that did
            not speak; ``unknown``: answers, read or not, without a grade; ``carried``: items
            whose debate had ended. Carried items count only there.

        Examples
        --------
        >>> log = DebateLog([[[0, -1, -2]], [[0, 0, 0]]], ["A"])
        >>> {name: values.tolist() for name, values in log.state_counts().items()}
        {'read': [1, 3], 'unread': [1, 0], 'silent': [1, 0], 'unknown': [2, 3], 'carried': [0, 0]}
        """
        live = ~self.carried[:, :, None]
        spoke = self.answers != SILENT_CODE
        member = spoke.any(axis=0)
        masks = {
            "read": self.answers >= 0,
            "unread": self.answers == UNREAD,
            "silent": ~spoke & member,
            "unknown": spoke & (self.correct < 0),
        }
        counts = {name: np.count_nonzero(m & live, axis=(1, 2)) for name, m in masks.items()}
        counts["carried"] = np.count_nonzero(self.carried, axis=1)
        return {name: np.asarray(values, np.int64) for name, values in counts.items()}

    def summary(self) -> str:
        """Return a readable account: sizes, the states of each round, the notes.

        Examples
        --------
        >>> print(DebateLog([[[0, -1, -2]], [[0, 0, 0]]], ["A"]).summary())
        2 rounds, 1 item, 3 agents, not graded
        t  read  unread  silent  unknown  carried
        0     1       1       1        2        0
        1     3       0       0        3        0
        """
        counts = self.state_counts()
        lines = [repr(self)[len("DebateLog(") : -1], "t  " + "  ".join(counts)]
        for t in range(self.n_rounds):
            cells = (f"{values[t]:>{len(name)}}" for name, values in counts.items())
            lines.append(f"{t}  " + "  ".join(cells))
        return "\n".join([*lines, *self.notes])


def _set(log: DebateLog, name: str, value: Any) -> None:
    if isinstance(value, np.ndarray):
        value = np.ascontiguousarray(value)
        value.setflags(write=False)
    object.__setattr__(log, name, value)


def _same(a: npt.NDArray[Any] | None, b: npt.NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b))
