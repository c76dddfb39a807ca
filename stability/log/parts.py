"""What a log is made of, checked and brought to one form: codes, grades, names, places.

Grades follow from the right labels where they are not given: g = 1 when the label is among the
item's gold labels, else 0. An unread answer has grade 0 as soon as its item is graded at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stability.log.round import SILENT_CODE, UNREAD, Round

Gold = tuple[tuple[str, ...] | None, ...]
Picks = Sequence[str] | Sequence[int] | Sequence[bool] | npt.NDArray[Any] | slice


def factorize(values: Sequence[Any]) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Return the place of each value among the distinct ones, in order of first appearance."""
    distinct = list(dict.fromkeys(values))
    place = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(place.__getitem__, values), np.int64, len(values))
    return codes, distinct


def key_name(values: Sequence[str]) -> str:
    """Join the key of a debate to one name; the bar between values is escaped inside them."""
    if len(values) == 1:
        return values[0]
    return "|".join(value.replace("\\", "\\\\").replace("|", "\\|") for value in values)


def integers(name: str, values: npt.ArrayLike, dtype: Any) -> npt.NDArray[Any]:
    """Copy as ``dtype``; refuse floats and values out of its range."""
    given = np.asarray(values)
    if given.dtype.kind not in "iub":
        raise ValueError(f"`{name}` must hold integers, got dtype {given.dtype}")
    info = np.iinfo(dtype)
    if given.size and (given.min() < info.min or given.max() > info.max):
        raise ValueError(f"`{name}` must lie in {info.min}..{info.max}")
    return np.array(given, dtype)


def shaped(name: str, array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return ``array`` when it has ``shape``."""
    if array.shape != shape:
        raise ValueError(f"`{name}` must have shape {shape}, got {array.shape}")
    return array


def names(name: str, values: Iterable[str] | None, count: int) -> tuple[str, ...]:
    """Return ``count`` different names; the places as text when none are given."""
    found = tuple(str(place) for place in range(count)) if values is None else tuple(values)
    if len(found) != count or len(set(found)) != count:
        raise ValueError(
            f"`{name}` must hold {count} different names, got {len(found)} of which "
            f"{len(set(found))} differ"
        )
    for value in found:
        if not isinstance(value, str):
            raise ValueError(f"`{name}` must be text, got {value!r}")
    return found


def names_and_keys(
    item_ids: Iterable[str] | None, keys: Mapping[str, Sequence[str]] | None, count: int
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the key columns, and the names of the items that follow from them."""
    if keys is None:
        ids = names("item_ids", item_ids, count)
        return {"item": ids}, ids
    columns = {name: tuple(column) for name, column in keys.items()}
    if list(columns)[-1:] != ["item"] or any(len(c) != count for c in columns.values()):
        raise ValueError(f"`keys` must hold columns of {count} values, the last one 'item'")
    joined = [key_name(key) for key in zip(*columns.values(), strict=True)]
    ids = names("keys", joined, count)
    if item_ids is not None and tuple(item_ids) != ids:
        raise ValueError("`item_ids` must be the names made of `keys` when both are given")
    return columns, ids


def gold_labels(gold: Sequence[str | Iterable[str] | None], count: int) -> Gold:
    """Bring the right labels of each item to a tuple of text, or None."""
    if isinstance(gold, str) or len(gold) != count:
        raise ValueError(f"`gold` must hold one entry for each of {count} items, got {gold!r}")
    found: list[tuple[str, ...] | None] = []
    for item, entry in enumerate(gold):
        labels = None if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
        if labels is not None and not all(isinstance(x, str) and x.strip() for x in labels):
            raise ValueError(f"`gold` must be text and not blank: gold[{item}]={entry!r}")
        found.append(tuple(dict.fromkeys(labels)) if labels else None)
    return tuple(found)


def grade(
    cube: npt.NDArray[np.int32],
    labels: tuple[str, ...],
    gold: Gold | None,
) -> npt.NDArray[np.int8]:
    """Grade the answers by the right labels; -1 where those are not known."""
    grades = np.full(cube.shape, -1, np.int8)
    if gold is None:
        return grades
    code = {label: place for place, label in enumerate(labels)}
    size = max(1, len(labels))
    right = [
        item * size + code[label]
        for item, entry in enumerate(gold)
        for label in entry or ()
        if label in code
    ]
    places = np.arange(len(gold), dtype=np.int64)[None, :, None] * size + cube
    known = np.array([entry is not None for entry in gold])[None, :, None] & (cube >= 0)
    grades[known] = np.isin(places[known], right)
    return grades


def settle_unread(
    cube: npt.NDArray[np.int32],
    grades: npt.NDArray[np.int8],
    gold: Gold | None,
) -> npt.NDArray[np.int8]:
    """Check the grades, and grade unread answers as wrong where the item is graded at all."""
    if int(grades.min()) < -1 or int(grades.max()) > 1:
        raise ValueError(
            f"`correct` must be 1, 0 or -1 (unknown), got {grades.min()}..{grades.max()}"
        )
    for code, word, limit in ((UNREAD, "unread", 0), (SILENT_CODE, "silent", -1)):
        bad = (cube == code) & (grades > limit)
        if bad.any():
            t, i, j = np.argwhere(bad)[0]
            raise ValueError(
                f"`correct` must not be {grades[t, i, j]} where an agent is {word}: "
                f"correct[{t}, {i}, {j}]"
            )
    graded = np.asarray((grades >= 0).any(axis=(0, 2)))
    if gold is not None:
        graded = graded | np.array([entry is not None for entry in gold])
    settled = grades.copy()
    settled[(cube == UNREAD) & graded[None, :, None]] = 0
    return settled


def check_carried(
    carried: npt.NDArray[np.bool_],
    answers: npt.NDArray[np.int32],
    correct: npt.NDArray[np.int8],
    item_ids: tuple[str, ...],
) -> None:
    """Refuse carried states that do not repeat the last recorded one to the end."""
    if carried[0].any():
        item = item_ids[int(np.flatnonzero(carried[0])[0])]
        raise ValueError(f"`carried` must be False at t = 0: item {item!r}")
    if (carried[:-1] & ~carried[1:]).any():
        raise ValueError("`carried` must stay True once it is: an ended debate does not resume")
    moved = (answers[1:] != answers[:-1]) | (correct[1:] != correct[:-1])
    if (moved & carried[1:, :, None]).any():
        raise ValueError("a carried state must repeat the state of the round before")


def clusters_of_keys(columns: Mapping[str, Sequence[str]]) -> npt.NDArray[np.int64] | None:
    """Return the question (dataset, item) of each debate; None when no further key is held."""
    if set(columns) <= {"dataset", "item"}:
        return None
    question = [columns[name] for name in ("dataset", "item") if name in columns]
    return factorize(list(zip(*question, strict=True)))[0]


def join_rounds(
    rounds: Sequence[Round],
) -> tuple[
    npt.NDArray[np.int32], tuple[str, ...], npt.NDArray[np.int8] | None, tuple[str, ...] | None
]:
    """Stack rounds of the same items and agents: codes, labels, grades, item names."""
    if not rounds:
        raise ValueError("`rounds` must hold at least one round")
    labels: dict[str, int] = {}
    cubes: list[npt.NDArray[np.int32]] = []
    grades: list[npt.NDArray[np.int8]] = []
    first = rounds[0]
    for t, one in enumerate(rounds):
        if one.codes is None:
            raise ValueError(f"`rounds` must hold answers: round {t} has counts alone")
        same_shape = not cubes or one.codes.shape == cubes[0].shape
        same_grades = (one.correct is None) == (first.correct is None)
        if not (same_shape and same_grades and one.item_ids == first.item_ids):
            raise ValueError(
                "`rounds` must agree in items, agents and the presence of grades: "
                f"round {t} differs from round 0"
            )
        table = [labels.setdefault(label, len(labels)) for label in one.labels]
        cubes.append(np.array([*table, SILENT_CODE, UNREAD], np.int32)[one.codes])
        if one.correct is not None:
            grades.append(one.correct)
    return np.stack(cubes), tuple(labels), np.stack(grades) if grades else None, first.item_ids


def places(name: str, wanted: Picks | None, names: tuple[str, ...]) -> npt.NDArray[np.intp]:
    """Turn names, places, a mask or a slice into places; refuse repeats and an empty pick."""
    every = np.arange(len(names))
    if wanted is None:
        return every
    if isinstance(wanted, slice):
        found = every[wanted]
    else:
        values = list(wanted)
        if values and all(isinstance(v, str) for v in values):
            place = {value: code for code, value in enumerate(names)}
            lost = [v for v in values if v not in place]
            if lost:
                raise ValueError(f"`{name}` must be names in the log, got {lost[0]!r}")
            found = np.array([place[str(v)] for v in values])
        else:
            array = np.asarray(values)
            if array.dtype == np.bool_:
                found = every[shaped(name, array, every.shape)]
            else:
                found = integers(name, array, np.int64) if values else every[:0]
                if found.size and (found.min() < 0 or found.max() >= len(names)):
                    raise ValueError(
                        f"`{name}` must lie in 0..{len(names) - 1}, got "
                        f"{found.min()}..{found.max()}"
                    )
    if found.size == 0 or len(set(found.tolist())) != found.size:
        raise ValueError(f"`{name}` must pick at least one and none twice, got {wanted!r}")
    return found
