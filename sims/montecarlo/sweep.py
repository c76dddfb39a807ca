"""A function over a grid of parameters, repeated with seeds of its own, that survives being killed.

The table is a function of cell, grid, seed and repeats alone: it is the same, bit for bit, for
every engine, number of workers, and however often a sweep was interrupted.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sims._check import check_flag, check_whole
from sims.debates.cores import cores
from sims.montecarlo.checkpoint import Store, to_table
from sims.montecarlo.engines import ENGINES, run_blocks
from sims.montecarlo.progress import Progress
from sims.montecarlo.work import (
    Block,
    Cell,
    Row,
    code_version,
    find_cell,
    full_name,
    name_of,
    parameter_sets,
)

if TYPE_CHECKING:
    import pandas as pd

_FIELDS = ("cell", "grid", "seed", "repeats", "engine", "block", "common")


def sweep(
    cell: Cell | str,
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    seed: int = 0,
    repeats: int = 1,
    engine: Literal["threads", "loky"] = "threads",
    out: str | Path | None = None,
    workers: int | None = None,
    block: int = 16,
    common: bool = False,
    progress: bool | None = None,
) -> "pd.DataFrame":
    """Run a cell for every set of parameters, several times each.

    Parameters
    ----------
    cell : callable or str
        ``cell(*, seed, **parameters)`` returns a mapping from names to numbers, text, True, False
        or None, or several of them; a function at the top level of a module or file, or its name,
        "package.module:function" or "file.py:function". It must use no randomness but its seed.
    grid : mapping or sequence of mappings
        Values by argument, of which all combinations are run; or the sets of arguments themselves.
    seed : int
        0..2^63 - 1, of the sweep; each run has its own, from it, its parameters and its repeat.
    repeats : int
        >= 1, runs for each set of parameters.
    engine : {"threads", "loky"}
        Threads suit cells that spend their time in compiled code; processes of loky any other, and
        cells whose process may die.
    out : path, optional
        A folder for finished blocks. A sweep that was killed goes on when it is called again, or by
        ``sims resume``. A block is used again only for the same cell, parameters, seeds and code.
        Blocks of other sweeps stay in the folder. None keeps everything in memory.
    workers : int, optional
        >= 1; None takes the cores that this process may use.
    block : int
        >= 1, repeats in a block: what is lost at most by each worker when a sweep is killed.
    common : bool
        Whether all sets of parameters share the seeds of their repeats, for paired differences.
    progress : bool, optional
        Whether to write to standard error how far it is; None does on a terminal.

    Returns
    -------
    pandas.DataFrame
        A row for each result, in the order of grid and repeats: parameters, repeat, seed, results.

    Raises
    ------
    ValueError
        When an argument is out of range, or another sweep holds ``out``.
    CellError
        When a cell fails; finished blocks stay in ``out``.

    Examples
    --------
    >>> from sims.montecarlo.cells import debate
    >>> table = sweep(debate, {"scenario": ["ring", "sticky"], "rounds": 2, "debates": 100}, seed=1)
    >>> table[["scenario", "t"]].values.tolist()
    [['ring', 0], ['ring', 1], ['sticky', 0], ['sticky', 1]]
    """
    name = full_name(cell) if isinstance(cell, str) else name_of(cell)
    function = find_cell(name) if isinstance(cell, str) else cell
    sets = parameter_sets(grid)
    for what, value, low, high in (
        ("seed", seed, 0, 2**63 - 1),
        ("repeats", repeats, 1, 2**40),
        ("block", block, 1, 2**40),
        ("workers", 1 if workers is None else workers, 1, 1024),
    ):
        check_whole(what, value, low, high)
    seed, repeats, block = int(seed), int(repeats), int(block)
    workers = None if workers is None else int(workers)
    common = check_flag("common", common)
    if engine not in ENGINES:
        raise ValueError(f"`engine` must be one of {', '.join(ENGINES)}, got {engine!r}")
    blocks = [
        Block(name, one, first, min(first + block, repeats), seed, common)
        for one in sets
        for first in range(0, repeats, block)
    ]
    if workers is None:
        workers = cores()
    if out is None:
        return _frame(_run(blocks, function, engine, workers, "", None, progress))
    store = Store(Path(out))
    with store.held():
        manifest = [name, sets, seed, repeats, engine, block, common]
        store.write_manifest(dict(zip(_FIELDS, manifest, strict=True)))
        try:
            rows = _run(blocks, function, engine, workers, code_version(function), store, progress)
        except BaseException as error:
            error.add_note(f"Finished blocks are kept. Go on with: sims resume {out}")
            raise
        store.finish(rows)
    return _frame(rows)


def resume(
    out: str | Path,
    *,
    engine: Literal["threads", "loky"] | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> "pd.DataFrame":
    """Go on with the sweep of a folder; a finished one is read.

    Parameters
    ----------
    out : path
    engine, workers, progress
        As for `sweep`; the engine is that of the sweep if None.

    Returns
    -------
    pandas.DataFrame
        The table that the sweep would have returned.

    Raises
    ------
    ValueError
        When the folder is none of a sweep, or another process holds it.
    CellError
        When a cell fails.

    Examples
    --------
    >>> import tempfile
    >>> grid = {"scenario": ["ring"], "rounds": 2, "debates": 100}
    >>> with tempfile.TemporaryDirectory() as out:
    ...     table = sweep("sims.montecarlo.cells:debate", grid, seed=1, out=out)
    ...     again = resume(out)
    >>> again.equals(table)
    True
    """
    data = Store(Path(out)).manifest()
    if set(data) != set(_FIELDS):
        raise ValueError(f"sweep.json of {out} must have {list(_FIELDS)}, got {list(data)}")
    if engine is not None:
        data["engine"] = engine
    return sweep(**data, out=out, workers=workers, progress=progress)


def _run(
    blocks: list[Block],
    cell: Cell,
    engine: str,
    workers: int,
    version: str,
    store: Store | None,
    progress: bool | None,
) -> list[Row]:
    """Return the rows of all blocks; what the store has is read, what is made is written."""
    keys = [block.key(version) for block in blocks]
    found: dict[str, list[Row]] = {}
    if store is not None:
        read = ((key, store.read(key)) for key in keys)
        found = {key: rows for key, rows in read if rows is not None}
    missing = [block for key, block in zip(keys, blocks, strict=True) if key not in found]
    if store is not None and missing:
        store.unfinish()
    total = sum(block.runs for block in blocks)
    shown = Progress(total, total - sum(block.runs for block in missing), progress)
    try:
        for block, rows in run_blocks(missing, cell, engine, workers):
            key = block.key(version)
            # as they would be read from a file
            found[key] = to_table(rows).to_pylist()
            if store is not None:
                store.write(key, rows)
            shown.add(block.runs)
    finally:
        shown.end()
    return [row for key in keys for row in found[key]]


def _frame(rows: list[Row]) -> "pd.DataFrame":
    frame: pd.DataFrame = to_table(rows).to_pandas()
    return frame
