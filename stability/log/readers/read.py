"""From a file to a log: open, unpack, decode, recognise the format, read, build."""

import gzip
import zlib
from collections.abc import Callable, Iterable
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

from stability._check import check_choice, check_int
from stability.errors import LogFormatError
from stability.log.debatelog import DebateLog
from stability.log.readers.agent_responses import AGENT_RESPONSES
from stability.log.readers.agent_rounds import AGENT_ROUNDS
from stability.log.readers.base import Format
from stability.log.readers.chat_dict import CHAT_DICT
from stability.log.readers.chat_folder import read_chat_folder
from stability.log.readers.documents import Chosen, Document, parse
from stability.log.readers.messages import MESSAGES
from stability.log.readers.pickled import is_pickle, unpickle
from stability.log.readers.round_history import ROUND_HISTORY
from stability.log.readers.state_dump import STATE_DUMP
from stability.log.readers.tidy_csv import CSV
from stability.log.readers.tidy_jsonl import JSONL
from stability.log.table import TidyTable, table_of_frame
from stability.log.tidy import build_log

FORMATS: dict[str, Format] = {one.name: one for one in (JSONL, CSV)}
"""Tables of text, by name. A new one is a module here and an entry in this table."""
DOCUMENTS: dict[str, Document] = {
    one.name: one
    for one in (
        CHAT_DICT,
        AGENT_RESPONSES,
        AGENT_ROUNDS,
        ROUND_HISTORY,
        STATE_DUMP,
        MESSAGES,
    )
}
"""Formats of JSON documents, by name, in the order in which a document is offered to them."""
OTHERS = ("parquet", "chat-folder")

MAX_BYTES = 512 * 2**20
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"


def read_log(
    source: str | PathLike[str] | IO[str] | IO[bytes],
    *,
    format: str = "auto",
    extract: Callable[[str], object] | None = None,
    unread: str = "wrong",
    key: Iterable[str] = (),
    ignore: Iterable[str] = (),
    speakers: Iterable[str] | None = None,
    turns: str | None = None,
    max_bytes: int = MAX_BYTES,
    **columns: str,
) -> DebateLog:
    """Read a recorded debate: a tidy table, or the chats that a framework has written.

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
        May be gzip. A folder holds runs, <run>/<agent>.json.
    format : str
        "auto" goes by the ending of the name and by the content; else one of "csv", "jsonl",
        "parquet" (tidy tables), "chat-dict" (also pickled), "agent-responses", "agent-rounds",
        "round-history", "state-dump", "messages", "chat-folder".
    extract : callable (str) -> label or None, optional
        Turns the text of an answer into a label; None is unread. Some stand in
        `stability.log.extract`. Gold of chats goes through it too, where it reads it.
    unread : {"wrong", "absent"}
        Whether an unread answer of a graded item counts as wrong, or as if the agent had not
        spoken.
    key : list of str
        Further columns that tell debates apart.
    ignore : list of str
        Columns to leave out.
    speakers : list of str, optional
        Who debates, where a chat holds others too.
    turns : {"round", "speaker"}, optional
        "speaker": the r-th message of a speaker is round r, where messages do not say their round.
    max_bytes : int
        >= 1, of the file when unpacked; a larger one is refused before it is parsed.
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
    known = ("auto", *FORMATS, *DOCUMENTS, *OTHERS)
    chosen = check_choice("format", format, known)
    limit = check_int("max_bytes", max_bytes, minimum=1)
    told = Chosen(
        None if speakers is None else _names("speakers", speakers),
        None if turns is None else check_choice("turns", turns, ("round", "speaker")),
    )
    table, gold_too = _table(source, chosen, told, limit)
    if gold_too and extract is not None and "gold" in table.columns:
        table.columns["gold"] = [_gold_read(cell, extract) for cell in table.columns["gold"]]
    return build_log(table, unread=unread, extract=extract, key=key, ignore=ignore, **columns)


def _table(source: Any, chosen: str, told: Chosen, limit: int) -> tuple[TidyTable, bool]:
    """Return the table of a source, and whether its gold is text as answers are."""
    if isinstance(source, str | PathLike) and Path(fspath(source)).is_dir():
        if chosen not in ("auto", "chat-folder"):
            raise LogFormatError(f"{source}: a folder, which is format='chat-folder'")
        return read_chat_folder(Path(fspath(source)), limit), True
    name, content = _content(source, limit)
    if isinstance(content, bytes):
        content = _unpacked(name, content, limit)
        if content.startswith(_PARQUET) or chosen == "parquet":
            return _parquet(name, content), False
        if is_pickle(content):
            return _document(unpickle(content, name), name, chosen, told), True
    text = content.removeprefix("\ufeff") if isinstance(content, str) else _decode(name, content)
    if not text.strip():
        raise LogFormatError(f"{name}: the file is empty")
    if chosen in FORMATS:
        return FORMATS[chosen].read(text, name), False
    bare = name.lower().removesuffix(".gz")
    if chosen == "auto":
        for one in FORMATS.values():
            if bare.endswith(one.suffixes) and not _matrices(text):
                return one.read(text, name), False
    if chosen in DOCUMENTS or text.lstrip().startswith(("[", "{")):
        document = _parsed(text, name, chosen)
        if document is not None:
            return _document(document, name, chosen, told), True
    return _recognise(name, text).read(text, name), False


def _parsed(text: str, name: str, chosen: str) -> Any:
    """The document of a text, or the list of its lines; None for tidy JSON Lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    each_line = chosen in DOCUMENTS and DOCUMENTS[chosen].lines
    if len(lines) > 1 and (each_line or _complete(lines[0])):
        if not each_line and not _matrices(text):
            return None
        return [parse(line, f"{name}, line {place}") for place, line in enumerate(lines, start=1)]
    if len(lines) == 1 and chosen == "auto" and lines[0].lstrip().startswith("{"):
        whole = parse(text, name)
        tidy = isinstance(whole, dict) and not any(
            one.accepts(whole) for one in DOCUMENTS.values() if not one.lines
        )
        return None if tidy else whole
    document = parse(text, name)
    return [document] if each_line else document


def _complete(line: str) -> bool:
    """Whether a line is a document of its own."""
    start = line.lstrip()[:1]
    return line.rstrip().endswith({"[": "]", "{": "}"}.get(start, " ")) and len(line.strip()) > 2


def _matrices(text: str) -> bool:
    """Whether a text looks like a matrix a line."""
    return text.lstrip().startswith("[[") and _complete(text.lstrip().split("\n", 1)[0])


def _document(document: Any, name: str, chosen: str, told: Chosen) -> TidyTable:
    if chosen != "auto":
        if chosen not in DOCUMENTS:
            raise LogFormatError(f"{name}: holds a document, which is not format={chosen!r}")
        one = DOCUMENTS[chosen]
        if not one.accepts(document):
            raise LogFormatError(f"{name}: the document does not have the shape of {chosen!r}")
        return one.read(document, name, told)
    for one in DOCUMENTS.values():
        if one.accepts(document):
            return one.read(document, name, told)
    raise LogFormatError(
        f"{name}: a document of a shape that no format has; known are {', '.join(DOCUMENTS)}"
    )


def _parquet(name: str, content: bytes) -> TidyTable:
    import pandas as pd

    try:
        frame = pd.read_parquet(BytesIO(content))
    except Exception as error:
        raise LogFormatError(f"{name}: not a Parquet file: {error}") from None
    return table_of_frame(frame)


def _gold_read(cell: Any, extract: Callable[[str], object]) -> Any:
    """Gold as the extractor reads it; as it stands where it does not."""
    if isinstance(cell, tuple):
        return tuple(str(extract(one) or one) for one in cell)
    return str(extract(cell) or cell) if cell else cell


def _names(option: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ValueError(f"`{option}` must be a list of names, got {names!r}")
    return tuple(str(name) for name in names)


def _content(source: Any, limit: int) -> tuple[str, str | bytes]:
    """Name and content of a source that is not larger than the limit."""
    if isinstance(source, str | PathLike):
        path = Path(fspath(source))
        if path.stat().st_size > limit:
            raise _too_large(path.name, limit)
        return path.name, path.read_bytes()
    if not hasattr(source, "read"):
        raise ValueError(f"`source` must be a path or an open file, got {source!r}")
    name = getattr(source, "name", None)
    said = Path(name).name if isinstance(name, str) else "stream"
    content = source.read(limit + 1)
    if len(content) > limit:
        raise _too_large(said, limit)
    return said, content


def _too_large(name: str, limit: int) -> LogFormatError:
    return LogFormatError(f"{name}: more than `max_bytes`={limit}; give a larger one to read it")


def _unpacked(name: str, content: bytes, limit: int) -> bytes:
    """The content of a gzip file, no more of it than the limit; other content as it is."""
    packed = content.startswith(_GZIP)
    if name.lower().endswith(".gz") and not packed and content:
        raise LogFormatError(f"{name}: not a gzip file, though its name ends in .gz")
    if not packed:
        return content
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as file:
            found = file.read(limit + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LogFormatError(f"{name}: a truncated or damaged gzip file: {error}") from None
    if len(found) > limit:
        raise _too_large(name, limit)
    return found


def _decode(name: str, content: bytes) -> str:
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
