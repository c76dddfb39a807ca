"""The tidy form of a log: a table with a row for each recorded answer.

A debate is one distinct value of the key: the columns dataset, model, run (where present), the
columns named by ``key``, and item. Runs of one question (dataset, item) share a cluster. Each
(debate, round, agent) has at most one row; a missing row is silence, an empty answer is unread.
Rounds are whole numbers from 0 or 1 without a gap in any debate; a debate with fewer rounds
than the log is carried forward.
"""

import re
import reprlib
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stability._check import check_choice
from stability.errors import LogFormatError
from stability.log.debatelog import DebateLog
from stability.log.parts import clusters_of_keys, factorize
from stability.log.round import SILENT, SILENT_CODE, UNREAD, label_text
from stability.log.table import TidyTable

if TYPE_CHECKING:
    import pandas as pd

REQUIRED = ("item", "round", "agent", "answer")
KEY = ("dataset", "model", "run")
KNOWN = (*KEY, *REQUIRED, "correct", "gold", "cluster", "tokens", "source")
GOLD_SEPARATOR = "|"
Int = npt.NDArray[np.int64]


def build_log(
    table: TidyTable,
    *,
    unread: str = "wrong",
    extract: Callable[[str], object] | None = None,
    key: Iterable[str] = (),
    ignore: Iterable[str] = (),
    **columns: str,
) -> DebateLog:
    """Build a log from a table; the options are those of `read_log`.

    Raises
    ------
    LogFormatError
        Naming the file, the row and the rule that is broken.
    """
    absent = check_choice("unread", unread, ("wrong", "absent")) == "absent"
    extra, skipped = _listed("key", key), _listed("ignore", ignore)
    cells, unknown = _named_columns(table, extra, skipped, columns)
    if not table.lines:
        raise LogFormatError(f"{table.name}: must hold at least one row after the header")
    for name in ("item", "agent", "round"):
        blank = {text for text in set(cells[name]) if not text.strip()}
        if blank:
            row = next(row for row, text in enumerate(cells[name]) if text in blank)
            table.refuse(row, f"`{name}` must not be empty")
    key_columns = [name for name in (*KEY, *extra) if name in cells] + ["item"]
    item, debates = factorize(list(zip(*(cells[name] for name in key_columns), strict=True)))
    number = _round_numbers(table, cells["round"])
    agent, agents = _agent_codes(table, cells["agent"])
    _check_unique(table, item, number, agent, key_columns, cells, unknown)
    if unknown:
        raise LogFormatError(
            f"{table.name}: unknown column(s) {_quoted(unknown)}: name one in `key` when it tells "
            f"debates apart, in `ignore` when not; known are {', '.join(KNOWN)}"
        )
    first_round = int(number.min())
    last = _check_rounds(table, item, number, first_round, debates)
    t = number - first_round
    shape = (int(t.max()) + 1, len(debates), len(agents))
    at = (t, item, agent)
    notes = [f"column {name!r} was ignored" for name in skipped]
    sources = list(dict.fromkeys(cells.get("source", ())))
    if len(sources) > 1:
        notes.append(f"`source` is no part of the key: the log joins {_quoted(sources)}")

    code, labels, lost = _answer_codes(table, cells["answer"], extract)
    grade = None
    if "correct" in cells:
        grade = _grades(table, cells["correct"], code, lost, notes)
    if absent:
        gone = code == UNREAD
        code = np.where(gone, SILENT_CODE, code)
        if grade is not None:
            grade = np.where(gone, -1, grade)
        notes.append(f"{int(gone.sum())} unread answers are treated as silence (unread='absent')")
    gold = _gold(table, cells["gold"], item, len(debates)) if "gold" in cells else None
    if gold is not None and grade is not None and (grade < 0).all():
        notes.append("`correct` is empty everywhere: leave the column out to grade by `gold`")

    def cube(values: npt.NDArray[Any], fill: int, dtype: Any) -> npt.NDArray[Any]:
        whole = np.full(shape, fill, dtype)
        whole[at] = values
        return _carry(whole, last)

    firsts = np.zeros(len(debates), np.int64)
    firsts[item[::-1]] = np.arange(len(item))[::-1]
    tokens = None
    if "tokens" in cells:
        tokens = cube(_whole_numbers(table, "tokens", cells["tokens"]), -1, np.int64)
    return DebateLog(
        cube(code, SILENT_CODE, np.int32),
        labels,
        None if grade is None else cube(grade, -1, np.int8),
        gold=gold,
        agent_ids=agents,
        cluster=_clusters(table, cells, item, firsts),
        tokens=tokens,
        carried=np.arange(shape[0])[:, None] > last,
        keys=dict(zip(key_columns, zip(*debates, strict=True), strict=True)),
        notes=notes,
    )


def frame_of_log(log: DebateLog) -> "pd.DataFrame":
    """Return the tidy data frame of a log; see `DebateLog.to_frame`."""
    import pandas as pd

    spoke = log.answers != SILENT_CODE
    # A round in which nobody spoke needs rows, or the debate would seem to end before it.
    written = (spoke | ~spoke.any(axis=2, keepdims=True)) & ~log.carried[:, :, None]
    item, t, agent = np.nonzero(written.transpose(1, 0, 2))
    at = (t, item, agent)
    data: dict[str, Any] = {
        name: np.array(column, object)[item] for name, column in log.keys.items()
    }
    data["round"] = t
    data["agent"] = pd.Categorical.from_codes(
        agent, categories=pd.Index(log.agent_ids, dtype=object)
    )
    data["answer"] = np.array([*log.labels, SILENT, ""], object)[log.answers[at]]
    grades = log.correct[at]
    data["correct"] = pd.arrays.IntegerArray(grades.copy(), grades < 0)
    derived = clusters_of_keys(log.keys)
    if log.cluster is not None and (derived is None or (log.cluster != derived).any()):
        data["cluster"] = log.cluster[item]
    if log.gold is not None:
        told = np.empty(log.n_items, object)
        told[:] = [_gold_cell(entry) for entry in log.gold]
        data["gold"] = told[item]
    if log.tokens is not None:
        spent = log.tokens[at]
        data["tokens"] = pd.arrays.IntegerArray(spent.copy(), spent < 0)
    return pd.DataFrame(
        {name: pd.Series(values, dtype=values.dtype) for name, values in data.items()}
    )


def _gold_cell(entry: tuple[str, ...] | None) -> object:
    if entry is None:
        return ""
    joined = GOLD_SEPARATOR.join(entry)
    return joined if _gold_labels(joined) == entry else entry


def _gold_labels(cell: Any) -> tuple[str, ...]:
    parts = cell.split(GOLD_SEPARATOR) if isinstance(cell, str) else cell
    return tuple(dict.fromkeys(part for part in parts if part.strip()))


def _listed(option: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ValueError(f"`{option}` must be a list of column names, got {names!r}")
    return tuple(names)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _named_columns(
    table: TidyTable, extra: tuple[str, ...], skipped: tuple[str, ...], renamed: dict[str, str]
) -> tuple[dict[str, list[Any]], list[str]]:
    """Return the columns by the names used here, and the names nobody accounts for."""
    for name in renamed:
        if name not in KNOWN:
            raise ValueError(f"a column option must be one of {', '.join(KNOWN)}, got `{name}`")
    for name in extra:
        if name in KNOWN:
            raise ValueError(f"`key` must not hold {name!r}: it has its own place")
    for name in (*extra, *skipped, *renamed.values()):
        if name not in table.columns:
            raise LogFormatError(
                f"{table.name}: no column {name!r}; the columns are {_quoted(table.columns)}"
            )
    free = {name: name for name in table.columns if name not in (*skipped, *renamed.values())}
    wanted = {**{k: v for k, v in free.items() if k not in renamed}, **renamed}
    cells = {name: table.columns[wanted[name]] for name in (*KNOWN, *extra) if name in wanted}
    missing = [name for name in REQUIRED if name not in cells]
    if missing:
        raise LogFormatError(
            f"{table.name}: missing column(s) {_quoted(missing)}; the columns are "
            f"{_quoted(table.columns)}; rename with, for example, "
            f"`read_log(..., {missing[0]}='...')`"
        )
    unknown = [name for name in free if name not in cells]
    return cells, unknown


def _codes_by_value(
    table: TidyTable, cells: list[Any], convert: Callable[[str], int | None], rule: str
) -> Int:
    """Convert each distinct text once; the first row with a text that breaks the rule is named."""
    code, distinct = factorize(cells)
    values = [convert(text) for text in distinct]
    for place, value in enumerate(values):
        if value is None:
            row = int(np.flatnonzero(code == place)[0])
            table.refuse(row, f"{rule}, got {distinct[place]!r}")
    return np.array(values, np.int64)[code]


def _whole_number(text: str) -> int | None:
    # "2.0" is what a column of whole numbers becomes when a tool stored it as floats.
    found = re.fullmatch(r"\s*(\d{1,10})(?:\.0*)?\s*", text)
    return int(found[1]) if found and int(found[1]) < 2**31 else None


def _round_numbers(table: TidyTable, cells: list[str]) -> Int:
    return _codes_by_value(table, cells, _whole_number, "`round` must be a whole number >= 0")


def _whole_numbers(table: TidyTable, name: str, cells: list[str]) -> Int:
    def convert(text: str) -> int | None:
        return _whole_number(text) if text.strip() else -1

    return _codes_by_value(table, cells, convert, f"`{name}` must be a whole number or empty")


def _agent_codes(table: TidyTable, cells: list[str]) -> tuple[Int, list[str]]:
    if table.agents is None:
        return factorize(cells)
    place = {name: code for code, name in enumerate(table.agents)}
    return np.array([place[name] for name in cells], np.int64), list(table.agents)


def _answer_codes(
    table: TidyTable, cells: list[Any], extract: Callable[[str], object] | None
) -> tuple[Int, list[str], npt.NDArray[np.bool_]]:
    """Return the code of each row, the labels, and where ``extract`` found nothing in a text."""
    raw, distinct = factorize(cells)
    labels: dict[str, int] = {}
    codes, lost = [], []
    for place, value in enumerate(distinct):
        read = None if value is SILENT else label_text(value)
        label = read
        if read is not None and extract is not None:
            try:
                label = label_text(extract(read))
            except Exception as error:
                row = int(np.flatnonzero(raw == place)[0])
                told = f"{type(error).__name__}: {error}"
                table.refuse(row, f"`extract` failed on {reprlib.repr(read)}: {told}")
        lost.append(read is not None and label is None)
        if label is None:
            codes.append(SILENT_CODE if value is SILENT else UNREAD)
        else:
            codes.append(labels.setdefault(label, len(labels)))
    return np.array(codes, np.int64)[raw], list(labels), np.array(lost)[raw]


def _grades(
    table: TidyTable,
    cells: list[str],
    code: Int,
    lost: npt.NDArray[np.bool_],
    notes: list[str],
) -> Int:
    allowed = {"": -1, "0": 0, "1": 1, "0.0": 0, "1.0": 1}
    grade = _codes_by_value(
        table, cells, lambda text: allowed.get(text.strip()), "`correct` must be 0, 1 or empty"
    )
    # The file's grader may read what `extract` cannot: then unread counts as wrong, and is told.
    overruled = lost & (grade == 1)
    if overruled.any():
        grade[overruled] = 0
        notes.append(
            f"{int(overruled.sum())} answers graded 1 that `extract` could not read count as wrong"
        )
    for blank, limit, word in (
        (UNREAD, 0, "1 where the answer is empty"),
        (SILENT_CODE, -1, "given for a silent agent"),
    ):
        bad = np.flatnonzero((code == blank) & (grade > limit))
        if bad.size:
            table.refuse(int(bad[0]), f"`correct` must not be {word}")
    return grade


def _gold(
    table: TidyTable, cells: list[Any], item: Int, n_items: int
) -> list[tuple[str, ...] | None]:
    code, distinct = factorize(cells)
    found: list[tuple[str, ...] | None] = [None] * n_items
    rows = np.unique(item * len(distinct) + code, return_index=True)[1]
    for row in np.sort(rows):
        labels = _gold_labels(distinct[code[row]])
        known = found[item[row]]
        if labels and known is not None and set(known) != set(labels):
            table.refuse(
                int(row),
                f"`gold` must be the same in all rows of a debate, got {'|'.join(labels)!r} "
                f"after {'|'.join(known)!r}",
            )
        found[item[row]] = known or labels or None
    return found


def _check_unique(
    table: TidyTable,
    item: Int,
    number: Int,
    agent: Int,
    key_columns: list[str],
    cells: dict[str, list[Any]],
    unknown: list[str],
) -> None:
    ordered = np.lexsort((agent, number, item))
    same = np.ones(len(ordered) - 1, np.bool_)
    for column in (item, number, agent):
        same &= column[ordered[1:]] == column[ordered[:-1]]
    if not same.any():
        return
    again = np.flatnonzero(same)
    place = again[np.argmin(ordered[again + 1])]
    row, twin = int(ordered[place + 1]), int(ordered[place])
    key = ", ".join((*key_columns, "round", "agent"))
    spare = [n for n in table.columns if n not in KNOWN and n not in key_columns]
    if "source" in cells:
        spare.append("source")
    spare = [name for name in dict.fromkeys((*unknown, *spare)) if name in table.columns]
    helping = _separating(table, spare, (item, number, agent))
    advice = "no other column tells the rows apart"
    if helping == ("source",):
        advice = "`source` would make it unique: read one source at a time, or rename it to `run`"
    elif helping:
        advice = f"key=[{_quoted(helping)}] would make it unique"
    table.refuse(
        row,
        f"({key}) must be unique, the same as in {table.unit} {table.lines[twin]}; {advice}",
    )


def _separating(table: TidyTable, spare: list[str], codes: tuple[Int, ...]) -> tuple[str, ...]:
    """The smallest set of further columns under which no two rows have the same key."""
    base = [code.tolist() for code in codes]
    for size in range(1, len(spare) + 1):
        for names in combinations(spare, size):
            rows = zip(*base, *(table.columns[name] for name in names), strict=True)
            if len(set(rows)) == len(table.lines):
                return names
    return ()


def _check_rounds(
    table: TidyTable, item: Int, number: Int, first: int, debates: list[tuple[str, ...]]
) -> Int:
    """Return the last t of each debate; refuse a gap."""
    if first > 1:
        row = int(np.argmin(number))
        table.refuse(row, f"rounds must start at 0 or 1, the first one is {first}")
    ordered = np.lexsort((number, item))
    i, r = item[ordered], number[ordered]
    opening = np.r_[True, i[1:] != i[:-1]]
    before = np.where(opening, first - 1, np.r_[0, r[:-1]])
    gap = np.flatnonzero(r > before + 1)
    if gap.size:
        place = gap[np.argmin(ordered[gap])]
        row = int(ordered[place])
        missing = int(before[place]) + 1
        name = "|".join(debates[int(item[row])])
        table.refuse(
            row,
            f"the rounds of a debate must have no gap: {name!r} has round {r[place]} "
            f"but no round {missing}",
        )
    last = np.zeros(len(debates), np.int64)
    np.maximum.at(last, item, number - first)
    return last


def _carry(cube: npt.NDArray[Any], last: Int) -> npt.NDArray[Any]:
    n_rounds, n_items = cube.shape[:2]
    if (last == n_rounds - 1).all():
        return cube
    state = np.minimum(np.arange(n_rounds)[:, None], last)
    carried: npt.NDArray[Any] = cube[state, np.arange(n_items)]
    return carried


def _clusters(table: TidyTable, cells: dict[str, list[Any]], item: Int, firsts: Int) -> Int | None:
    if "cluster" not in cells:
        return None
    code = factorize(cells["cluster"])[0]
    bad = np.flatnonzero(code != code[firsts][item])
    if bad.size:
        table.refuse(int(bad[0]), "`cluster` must be the same in all rows of a debate")
    return code[firsts]
