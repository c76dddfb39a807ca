"""What a format of recorded debates is: a name, the endings of its files, and a reader."""

from collections.abc import Callable
from dataclasses import dataclass

from stability.log.table import TidyTable


@dataclass(frozen=True)
class Format:
    """A recorded format.

    Attributes
    ----------
    name : str
        What ``read_log(format=...)`` is given.
    suffixes : tuple of str
        Endings of file names, lower case, without ".gz".
    accepts : callable (text) -> bool
        Whether a text of unknown name looks like this format.
    read : callable (text, name) -> TidyTable
        The reader; raises LogFormatError naming ``name`` and the line.
    """

    name: str
    suffixes: tuple[str, ...]
    accepts: Callable[[str], bool]
    read: Callable[[str, str], TidyTable]
