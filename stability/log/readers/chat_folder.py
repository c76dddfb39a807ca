"""A folder of runs: <run>/<agent>.json, each a list of {role, content}.

The r-th assistant message of a file is the answer of its agent in round r; a run is an item. A
folder that holds the files themselves is one run.
"""

from pathlib import Path

from stability.errors import LogFormatError
from stability.log.readers.chat_dict import said_by
from stability.log.readers.documents import parse
from stability.log.readers.turns import Turns
from stability.log.table import TidyTable


def read_chat_folder(folder: Path, max_bytes: int) -> TidyTable:
    """Read the folder.

    Raises
    ------
    LogFormatError
        For a link, a file that is no chat, text that is not UTF-8, or more than ``max_bytes`` in
        all.
    """
    runs = sorted(path for path in folder.iterdir() if path.is_dir() or path.is_symlink())
    if any(path.suffix == ".json" for path in folder.iterdir() if path.is_file()):
        runs = [folder]
    turns, left = Turns(folder.name), max_bytes
    for run in runs:
        _refuse_link(run, folder)
        for path in sorted(run.iterdir()):
            _refuse_link(path, folder)
            if path.suffix != ".json" or not path.is_file():
                continue
            name = path.relative_to(folder.parent).as_posix()
            left -= path.stat().st_size
            if left < 0:
                raise LogFormatError(
                    f"{folder.name}: more than `max_bytes`={max_bytes} in its files"
                )
            try:
                text = path.read_bytes().decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise LogFormatError(f"{name}: text must be UTF-8: {error}") from None
            for t, said in enumerate(said_by(parse(text, name), name, "the chat")):
                turns.say(run.name, t, path.stem, said)
    return turns.table()


def _refuse_link(path: Path, folder: Path) -> None:
    if path.is_symlink():
        name = path.relative_to(folder.parent).as_posix()
        raise LogFormatError(f"{name}: a link is not followed; copy what it points to")
