"""What readers of chats collect: who said what about which item in which round."""

from typing import Any

from stability.errors import LogFormatError
from stability.log.table import TidyTable, cell_text


class Turns:
    """Rows of a tidy table, in the order in which they are read.

    Parameters
    ----------
    name : str
        Of the file.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._columns: dict[str, list[Any]] = {
            column: [] for column in ("item", "round", "agent", "answer", "gold")
        }

    def say(self, item: Any, t: int, agent: Any, text: Any, gold: Any = None) -> None:
        """Add an answer; text None or blank is unread, gold None unknown.

        Raises
        ------
        LogFormatError
            When the text or the gold cannot be a cell.
        """
        try:
            answer = cell_text("answer", text)
            right = cell_text("gold", gold)
        except ValueError as error:
            raise LogFormatError(f"{self.name}, item {item!r}, round {t}: {error}") from None
        cells = (str(item), str(t), str(agent), answer, right)
        for column, cell in zip(self._columns.values(), cells, strict=True):
            column.append(cell)

    def table(self) -> TidyTable:
        """Return them as a table.

        Raises
        ------
        LogFormatError
            When nobody said anything.
        """
        rows = len(self._columns["item"])
        if rows == 0:
            raise LogFormatError(f"{self.name}: holds no answer of an agent")
        columns = dict(self._columns)
        if not any(columns["gold"]):
            del columns["gold"]
        return TidyTable(self.name, columns, range(1, rows + 1), "answer")


def shape(name: str, what: str, rule: str) -> LogFormatError:
    """Return the refusal of a document whose shape is not that of its format."""
    return LogFormatError(f"{name}: {what} must be {rule}")
