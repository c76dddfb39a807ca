"""The log of a command: its options, and opening it."""

import argparse
from pathlib import Path

from stability.datasets import list_datasets, load_recording
from stability.log import DebateLog, read_log
from stability.log.extract import EXTRACTORS, Extract, pattern
from stability.log.readers import DOCUMENTS, FORMATS, OTHERS
from stability.log.tidy import KNOWN

_RECORDINGS = tuple(one.name for one in list_datasets() if one.kind == "recording")


def add_log(command: argparse.ArgumentParser, more: str = "", *, many: bool = False) -> None:
    """Add the log of a command, or several, and how to read it."""
    command.add_argument(
        "log",
        metavar="LOG",
        nargs="+" if many else None,
        help=f"a file of a known format, also gzip, or a folder of chats; a recording: "
        f"{', '.join(_RECORDINGS)}{more}",
    )
    command.add_argument("--format", choices=("auto", *FORMATS, *DOCUMENTS, *OTHERS), help="(auto)")
    command.add_argument(
        "--extract", choices=tuple(EXTRACTORS), help="how a label is read from what was said"
    )
    command.add_argument(
        "--pattern", metavar="REGEX", help="the label is its last match, or the first group of it"
    )
    command.add_argument(
        "--speaker", action="append", default=[], metavar="NAME", help="who debates (all)"
    )
    command.add_argument(
        "--turns",
        choices=("round", "speaker"),
        help="speaker: the r-th message of a speaker is round r",
    )
    command.add_argument("--unread", choices=("wrong", "absent"), help="(wrong)")
    command.add_argument(
        "--key", action="append", default=[], metavar="COLUMN", help="tells debates apart"
    )
    command.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="is left out"
    )
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME=COLUMN",
        help="the column's name in the file, for example item=question_id",
    )


def open_log(arguments: argparse.Namespace) -> DebateLog:
    """Read the one log of a command."""
    return _open(arguments.log, arguments)


def open_logs(arguments: argparse.Namespace) -> dict[str, DebateLog]:
    """Read the logs of a command, by the names of their files without folder and ending."""
    logs: dict[str, DebateLog] = {}
    for path in arguments.log:
        name = Path(path).name.split(".")[0]
        if name in logs:
            raise ValueError(f"`LOG` must hold files of different names, got {name!r} twice")
        logs[name] = _open(path, arguments)
    return logs


def _open(name: str, arguments: argparse.Namespace) -> DebateLog:
    if not Path(name).exists() and name in _RECORDINGS:
        refuse_options_of_files(arguments, name)
        return load_recording(name)
    renamed = {}
    for pair in arguments.column:
        known, equals, column = pair.partition("=")
        if not equals or known not in KNOWN:
            names = ", ".join(KNOWN)
            raise ValueError(f"`--column` must be NAME=COLUMN, NAME one of {names}, got {pair!r}")
        renamed[known] = column
    if not Path(name).exists():
        raise FileNotFoundError(
            f"{name!r} is neither a file nor a packaged recording ({', '.join(_RECORDINGS)})"
        )
    return read_log(
        name,
        format=arguments.format or "auto",
        extract=_extractor(arguments),
        speakers=arguments.speaker or None,
        turns=arguments.turns,
        unread=arguments.unread or "wrong",
        key=arguments.key,
        ignore=arguments.ignore,
        **renamed,
    )


def _extractor(arguments: argparse.Namespace) -> Extract | None:
    """The extractor by name or pattern."""
    if arguments.extract is not None and arguments.pattern is not None:
        raise ValueError("`--extract` and `--pattern` exclude each other")
    if arguments.pattern is not None:
        return pattern(arguments.pattern)
    return None if arguments.extract is None else EXTRACTORS[arguments.extract]


def refuse_options_of_files(arguments: argparse.Namespace, packaged: str) -> None:
    """Refuse options that say how to read a file when the data are packaged."""
    for name in (
        "format",
        "extract",
        "pattern",
        "speaker",
        "turns",
        "unread",
        "key",
        "ignore",
        "column",
    ):
        if getattr(arguments, name):
            raise ValueError(f"`--{name}` belongs to a file; {packaged} is packaged")
