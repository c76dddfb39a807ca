"""The text of a tidy table, as every reader hands it over: columns of cells, and their lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from stability.errors import LogFormatError
from stability.log.round import SILENT, label_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TidyTable:
    """The text of a table, column by column, and where each row stands in its file.

    Attributes
    ----------
    name : str
        The file, for messages.
    columns : dict of str to list
        Text in every cell, "" for none; ``SILENT`` may stand in `answer` and a tuple of labels
        in `gold`.
    lines : sequence of int
        The place of each row; counted as `unit` says.
    unit : str
        "line" (of a file, from 1) or "row" (of a data frame, from 0).
    agents : tuple of str or None
        The agents and their order, when the source states them.
    """

    name: str
    columns: dict[str, list[Any]]
    lines: Sequence[int]
    unit: str = "line"
    agents: tuple[str, ...] | None = None

    def refuse(self, row: int, rule: str) -> NoReturn:
        """Raise the one error for a row that breaks a rule."""
        raise LogFormatError(f"{self.name}, {self.unit} {self.lines[row]}: {rule}")


def cell_text(column: str, value: object) -> Any:
    """Return a cell as text, "" for none; grades may be bools, gold may be a list of labels.

    Raises
    ------
    ValueError
        For a value that cannot be a label.
    """
    if isinstance(value, str):
        return value
    if column == "answer" and value is SILENT:
        return SILENT
    if column == "correct" and isinstance(value, bool | np.bool_):
        return str(int(value))
    if column == "gold" and isinstance(value, list | tuple | set | frozenset):
        texts = (label_text(label) for label in value)
        return tuple(text for text in texts if text is not None)
    return label_text(value) or ""


def table_of_frame(frame: "pd.DataFrame") -> TidyTable:
    """Read a data frame as a table of text; NaN, NA and None are empty cells."""
    agents = None
    columns = {}
    for label in frame.columns:
        name, series = str(label), frame[label]
        try:
            if name == "agent" and hasattr(series, "cat"):
                agents = tuple(cell_text(name, value) for value in series.cat.categories)
            columns[name] = _cells(name, series)
        except ValueError as error:
            raise LogFormatError(f"data frame, column {name!r}: {error}") from None
    return TidyTable("data frame", columns, range(len(frame)), "row", agents)


def _cells(name: str, series: "pd.Series[Any]") -> list[Any]:
    if series.dtype == object:
        # Values of many types: 1 and True are equal, lists cannot be hashed.
        values = series.where(series.notna(), None).tolist()
        return [value if type(value) is str else cell_text(name, value) for value in values]
    codes, distinct = series.factorize()
    # The code of a missing value is -1: it indexes the empty cell at the end.
    texts = np.array([*(cell_text(name, value) for value in distinct), ""], object)
    cells: list[Any] = texts[codes].tolist()
    return cells
