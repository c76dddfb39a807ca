"""Tidy JSON Lines: one object a line with the columns as keys; blank lines are skipped.

null and a missing key are empty cells; numbers become text (3 and 3.0 are "3"), true and false
are grades in `correct`, and `gold` may be a list of labels.
"""

import json
from typing import Any

from stability.errors import LogFormatError
from stability.log.readers.base import Format
from stability.log.table import TidyTable, cell_text


def read_jsonl(text: str, name: str) -> TidyTable:
    """Read the text of a JSON Lines file.

    Raises
    ------
    LogFormatError
        For an empty file, a line that is not one JSON object, a repeated key, or a value that
        cannot be a cell.

    Examples
    --------
    >>> read_jsonl('{"item": 1, "answer": null}\\n{"item": 2}', "x.jsonl").columns
    {'item': ['1', '2'], 'answer': ['', '']}
    """
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    # Not splitlines(): it also splits at characters that may stand inside a JSON string.
    for line, chunk in enumerate(text.split("\n"), start=1):
        if not chunk.strip():
            continue
        try:
            value = json.loads(chunk, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise LogFormatError(f"{name}, line {line}: not valid JSON: {error}") from None
        if not isinstance(value, dict):
            raise LogFormatError(
                f"{name}, line {line}: each line must hold one JSON object, got "
                f"{type(value).__name__}"
            )
        objects.append(value)
        lines.append(line)
    if not objects:
        raise LogFormatError(f"{name}: the file is empty")
    names = dict.fromkeys(key for value in objects for key in value)
    columns: dict[str, list[Any]] = {key: [] for key in names}
    for line, value in zip(lines, objects, strict=True):
        for key, cells in columns.items():
            cell = value.get(key)
            try:
                cells.append(cell if type(cell) is str else cell_text(key, cell))
            except ValueError as error:
                raise LogFormatError(f"{name}, line {line}: column {key!r}: {error}") from None
    return TidyTable(name, columns, lines)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is repeated")
    return value


def _accepts(text: str) -> bool:
    return text.lstrip().startswith("{")


JSONL = Format("jsonl", (".jsonl", ".ndjson"), _accepts, read_jsonl)
