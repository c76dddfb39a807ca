"""From a file to a log: open, unpack, decode, recognise the format, read, build."""

import gzip
import zlib
from collections.abc import Callable, Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

from stability._check import check_choice
from stability.errors import LogFormatError
from stability.log.debatelog import DebateLog
from stability.log.readers.base import Format
from stability.log.readers.tidy_csv import CSV
from stability.log.readers.tidy_jsonl import JSONL
from stability.log.tidy import build_log

FORMATS: dict[str, Format] = {one.name: one for one in (JSONL, CSV)}
"""The formats `read_log` knows, by name. A new one is a module here and an entry in this table."""

_GZIP = b"\x1f\x8b"


def read_log(
    source: str | PathLike[str] | IO[str] | IO[bytes],
    *,
    format: str = "auto",
    extract: Callable[[str], object] | None = None,
    unread: str = "wrong",
    key: Iterable[str] = (),
    ignore: Iterable[str] = (),
    **columns: str,
) -> DebateLog:
    """Read a recorded debate.

    A table with a row for each answer: columns item, round, agent, answer, and where known
    correct (1, 0 or empty), gold (several right labels are separated by "|"), tokens, cluster.
    The columns dataset, model and run tell debates apart where present; source is information
    only. Rounds start at 0 or 1 in the file and at t = 0 in the log. An empty (or blank) answer
    is unread, a missing row is silence, an empty grade is unknown, and a debate that ends before
    the last round is carried forward; ``log.summary()`` counts them all. `correct` decides where
    the column is present, `gold` grades where it is not.

    Parameters
    ----------
    source : path, or an open text or binary file
        May be gzip.
    format : {"auto", "csv", "jsonl"}
        "auto" goes by the ending of the name, else by the content.
    extract : callable (str) -> label or None, optional
        Turns the text of an answer into a label; None is unread.
    unread : {"wrong", "absent"}
        Whether an unread answer of a graded item counts as wrong, or as if the agent had not
        spoken.
    key : list of str
        Further columns that tell debates apart.
    ignore : list of str
        Columns to leave out.
    **columns : str
        Names in the file, for example ``item="question_id"``.

    Returns
    -------
    DebateLog

    Raises
    ------
    LogFormatError
        Naming file, line and rule: columns missing or unknown; two rows of one (item, round,
        agent); a grade outside 0, 1, empty; a gap in the rounds; a row of another length; an
        empty, truncated or wrongly encoded file.
    OSError
        When the file cannot be opened.

    Examples
    --------
    >>> import io
    >>> from stability.log.readers import read_log
    >>> rows = "item,round,agent,answer,correct\\nq,1,a,A,1\\nq,1,b,,\\nq,2,a,A,1\\n"
    >>> print(read_log(io.StringIO(rows)).summary())
    2 rounds, 1 item, 2 agents, graded
    t  read  unread  silent  unknown  carried
    0     1       1       0        0        0
    1     1       0       1        0        0
    """
    chosen = check_choice("format", format, ("auto", *FORMATS))
    name, content = _content(source)
    text = content.removeprefix("\ufeff") if isinstance(content, str) else _decode(name, content)
    if not text.strip():
        raise LogFormatError(f"{name}: the file is empty")
    reader = _recognise(name, text) if chosen == "auto" else FORMATS[chosen]
    table = reader.read(text, name)
    return build_log(table, unread=unread, extract=extract, key=key, ignore=ignore, **columns)


def _content(source: Any) -> tuple[str, str | bytes]:
    if isinstance(source, str | PathLike):
        path = Path(fspath(source))
        return path.name, path.read_bytes()
    if not hasattr(source, "read"):
        raise ValueError(f"`source` must be a path or an open file, got {source!r}")
    name = getattr(source, "name", None)
    return Path(name).name if isinstance(name, str) else "stream", source.read()


def _decode(name: str, content: bytes) -> str:
    packed = content.startswith(_GZIP)
    if name.lower().endswith(".gz") and not packed and content:
        raise LogFormatError(f"{name}: not a gzip file, though its name ends in .gz")
    if packed:
        try:
            content = gzip.decompress(content)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise LogFormatError(f"{name}: a truncated or damaged gzip file: {error}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LogFormatError(
            f"{name}, line {line}: text must be UTF-8, got byte {content[error.start]:#04x}"
        ) from None


def _recognise(name: str, text: str) -> Format:
    bare = name.lower().removesuffix(".gz")
    for one in FORMATS.values():
        if bare.endswith(one.suffixes):
            return one
    for one in FORMATS.values():
        if one.accepts(text):
            return one
    raise LogFormatError(
        f"{name}: neither the name nor the content tells the format: give format= one of "
        f"{', '.join(FORMATS)}"
    )
