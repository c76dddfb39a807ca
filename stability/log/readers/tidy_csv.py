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
    header: list[str] = []
    cells: list[str] = []  # one flat list: a list a row would cost more than the parsing
    lines: list[int] = []
    begun = 1
    try:
        for row in reader:
            if len(row) == len(header):
                cells += row
                lines.append(begun)
            elif row and not header:
                header = _header(row, f"{name}, line {begun}")
            elif row:
                raise LogFormatError(
                    f"{name}, line {begun}: a row must have {len(header)} cells as the header "
                    f"has, got {len(row)}"
                )
            # A quoted cell may hold line ends: a row stands where it begins.
            begun = reader.line_num + 1
    except csv.Error as error:
        raise LogFormatError(f"{name}, line {begun}: not valid CSV: {error}") from None
    if not header:
        raise LogFormatError(f"{name}: the file is empty")
    width = len(header)
    columns = {column: cells[place::width] for place, column in enumerate(header)}
    return TidyTable(name, columns, lines)


def _header(row: list[str], where: str) -> list[str]:
    for column in row:
        if not column.strip() or row.count(column) > 1:
            raise LogFormatError(
                f"{where}: column names must be different and not empty, got {column!r}"
            )
    return row


def _accepts(text: str) -> bool:
    first = text.lstrip().partition("\n")[0]
    return "," in first and not first.startswith(("{", "["))


CSV = Format("csv", (".csv",), _accepts, read_csv)
