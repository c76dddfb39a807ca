"""Finished blocks on disk, so that a sweep that was killed goes on where it was.

A folder holds ``sweep.json`` (what is swept), ``blocks/<key>.parquet`` and, at the end,
``table.parquet``. Files are written under another name, forced to the disk and renamed: under its
name a file is whole. Each carries its key and a digest of its rows; what does not agree with them
is made again.
"""

import fcntl
import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sims.montecarlo.work import Row

if TYPE_CHECKING:
    import pyarrow as pa

_KEY, _DIGEST = b"sims.key", b"sims.digest"


def to_table(rows: Sequence[Row]) -> "pa.Table":
    """Return rows as a table of Arrow.

    Raises
    ------
    ValueError
        When rows have other columns than the first, or a column has values of several kinds.
    """
    import pyarrow as pa

    for row in rows:
        if list(row) != list(rows[0]):
            raise ValueError(
                f"rows of a sweep must have the same columns, got {list(rows[0])} and {list(row)}"
            )
    columns = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ValueError(
                f"the column {name!r} of a sweep must have values of one kind: {error}"
            ) from None
    return pa.table(columns)


class Store:
    """The folder of a sweep; one run at a time may hold it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blocks = folder / "blocks"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder, and clear what a killed run has left half written.

        Raises
        ------
        ValueError
            When another run holds it.
        """
        self.blocks.mkdir(parents=True, exist_ok=True)
        with open(self.folder / ".lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"`out` {self.folder} is in use by another sweep") from None
            for left in (*self.folder.glob("*.tmp"), *self.blocks.glob("*.tmp")):
                left.unlink()
            yield

    def read(self, key: str) -> list[Row] | None:
        """Return the rows of a block; None where there is none, or none that is whole."""
        import pyarrow.parquet as pq

        path = self._path(key)
        if not path.exists():
            return None
        try:
            # read whole, not mapped: the file may be damaged in any place
            table = pq.ParquetFile(path).read()
            rows: list[Row] = table.to_pylist()
            marks = table.schema.metadata or {}
            whole = (marks.get(_KEY), marks.get(_DIGEST)) == (key.encode(), _digest(rows))
        except Exception:  # a damaged file can fail in any way
            whole = False
        if not whole:
            warnings.warn(f"the block {path} is damaged and is made again", stacklevel=2)
            return None
        return rows

    def write(self, key: str, rows: Sequence[Row]) -> None:
        """Write the rows of a block at once."""
        table = to_table(rows)
        marks = {_KEY: key.encode(), _DIGEST: _digest(table.to_pylist())}
        self._put(self._path(key), table.replace_schema_metadata(marks))

    def finish(self, rows: Sequence[Row]) -> Path:
        """Write the table of the whole sweep."""
        path = self.folder / "table.parquet"
        self._put(path, to_table(rows))
        return path

    def unfinish(self) -> None:
        """Remove the table of an earlier sweep."""
        (self.folder / "table.parquet").unlink(missing_ok=True)

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write what is swept."""
        path = self.folder / "sweep.json"
        spare = path.with_suffix(".json.tmp")
        spare.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
        _settle(spare, path)

    def manifest(self) -> dict[str, Any]:
        """Return what is swept.

        Raises
        ------
        ValueError
            When the folder is none of a sweep.
        """
        path = self.folder / "sweep.json"
        try:
            data = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise ValueError(f"{self.folder} is not the folder of a sweep: no sweep.json") from None
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not JSON: {error}") from None
        if not isinstance(data, dict):
            raise ValueError(f"{path} must hold an object")
        return data

    def _path(self, key: str) -> Path:
        return self.blocks / f"{key}.parquet"

    def _put(self, path: Path, table: "pa.Table") -> None:
        import pyarrow.parquet as pq

        spare = path.with_suffix(".parquet.tmp")
        pq.write_table(table, spare)
        _settle(spare, path)


def _settle(spare: Path, path: Path) -> None:
    """Force a file to the disk and give it its name; after it the name is on the disk too."""
    with open(spare, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(spare, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _digest(rows: Sequence[Row]) -> bytes:
    return hashlib.sha256(json.dumps(list(rows)).encode()).hexdigest().encode()
