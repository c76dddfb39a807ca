"""Formats that are one JSON document, or one a line: parsed once, recognised by their shape."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stability.errors import LogFormatError
from stability.log.table import TidyTable


@dataclass(frozen=True)
class Chosen:
    """What a reader of chats may be told.

    Attributes
    ----------
    speakers : tuple of str or None
        Who debates; the others are left out. None takes all assistants.
    turns : {"round", "speaker"} or None
        Whether a message says its round, or the r-th message of a speaker is round r.
    """

    speakers: tuple[str, ...] | None = None
    turns: str | None = None


@dataclass(frozen=True)
class Document:
    """A format of documents.

    Attributes
    ----------
    name : str
        What ``read_log(format=...)`` is given.
    accepts : callable (document) -> bool
        Whether a document looks like this format.
    read : callable (document, name, chosen) -> TidyTable
        The reader; raises LogFormatError.
    lines : bool
        Whether a file holds a document a line; the reader is given their list.
    """

    name: str
    accepts: Callable[[Any], bool]
    read: Callable[[Any, str, Chosen], TidyTable]
    lines: bool = False


def parse(text: str, name: str) -> Any:
    """Parse one JSON document; NaN and infinities become None.

    Raises
    ------
    LogFormatError
        For text that is not JSON, a repeated key, or nesting too deep.

    Examples
    --------
    >>> parse('{"a": NaN}', "x.json")
    {'a': None}
    """
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=lambda _: None)
    except RecursionError:
        raise LogFormatError(f"{name}: the document is nested too deep to be a debate") from None
    except ValueError as error:
        raise LogFormatError(f"{name}: not valid JSON: {error}") from None


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; a key that comes twice would lose a value."""
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:60]!r} is repeated")
    return value
