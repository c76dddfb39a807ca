"""Tidy CSV (RFC 4180): a header line, then a line for each answer; blank lines are skipped."""

import csv
import io

from stability.errors import LogFormatError
from stability.log.readers.base import Format
from stability.log.table import TidyTable


def read_csv(text: str, name: str) -> TidyTable:
    """Read the text of a CSV file.

    Raises
    ------
    LogFormatError
        For an empty file, a faulty header, a row of another length, or broken quoting.

    Examples
    --------
    >>> read_csv("item,answer\\nq1,A\\n", "x.csv").columns
    {'item': ['q1'], 'answer': ['A']}
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    begun = 1
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(begun)
            # A quoted cell may hold line ends: a row stands where it begins.
            begun = reader.line_num + 1
    except csv.Error as error:
        raise LogFormatError(f"{name}, line {begun}: not valid CSV: {error}") from None
    if not rows:
        raise LogFormatError(f"{name}: the file is empty")
    header, *body = rows
    for column in header:
        if not column.strip() or header.count(column) > 1:
            raise LogFormatError(
                f"{name}, line {lines[0]}: column names must be different and not empty, "
                f"got {column!r}"
            )
    for line, row in zip(lines[1:], body, strict=True):
        if len(row) != len(header):
            raise LogFormatError(
                f"{name}, line {line}: a row must have {len(header)} cells as the header has, "
                f"got {len(row)}"
            )
    columns = {column: [row[place] for row in body] for place, column in enumerate(header)}
    return TidyTable(name, columns, lines[1:])


def _accepts(text: str) -> bool:
    first = text.lstrip().partition("\n")[0]
    return "," in first and not first.startswith(("{", "["))


CSV = Format("csv", (".csv",), _accepts, read_csv)
