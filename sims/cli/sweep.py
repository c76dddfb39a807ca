"""``sims sweep`` and ``sims resume``: a cell over a grid, from a file of TOML."""

import argparse
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sims.montecarlo.engines import ENGINES
from sims.montecarlo.sweep import resume, sweep

if TYPE_CHECKING:
    import pandas as pd

_KNOWN = ("cell", "grid", "seed", "repeats", "engine", "out", "block", "common")


def add(commands: Any) -> None:
    """Describe both commands to the parser."""
    one = commands.add_parser(
        "sweep",
        help="run a function over a grid of parameters",
        description="Run a function over a grid of parameters, with repeats that have their own "
        f"seeds. The file has {', '.join(_KNOWN)}; `cell` is 'package.module:function' or "
        "'file.py:function', `out` a folder; both are seen from the file.",
    )
    one.add_argument("file", type=Path, metavar="SWEEP.toml")
    one.set_defaults(run=_sweep)
    other = commands.add_parser("resume", help="go on with a sweep that was interrupted")
    other.add_argument("folder", type=Path, metavar="DIR", help="its `out`")
    other.set_defaults(run=_resume)
    for command in (one, other):
        command.add_argument("--engine", choices=ENGINES, help="(that of the sweep)")
        command.add_argument("--workers", type=int, help="(the cores that may be used)")
        command.add_argument("--quiet", action="store_true", help="no progress")


def _sweep(arguments: argparse.Namespace) -> int:
    try:
        data = tomllib.loads(arguments.file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{arguments.file} is not TOML: {error}") from None
    unknown = [name for name in data if name not in _KNOWN]
    absent = [name for name in ("cell", "grid", "out") if name not in data]
    if unknown or absent:
        raise ValueError(
            f"{arguments.file} must have cell, grid and out, and of {', '.join(_KNOWN)} only; "
            f"it lacks {absent} and has {unknown}"
        )
    home = arguments.file.resolve().parent
    cell, out = data.pop("cell"), data.pop("out")
    if not isinstance(cell, str) or not isinstance(out, str):
        raise ValueError(f"`cell` and `out` must be text, got {cell!r} and {out!r}")
    file, _, function = cell.rpartition(":")
    if file.endswith(".py"):
        cell = f"{home / file}:{function}"
    elif str(home) not in sys.path:
        # a package beside the file
        sys.path.insert(0, str(home))
    folder = home / out
    if arguments.engine is not None:
        data["engine"] = arguments.engine
    return _show(
        lambda: sweep(
            cell, **data, out=folder, workers=arguments.workers, progress=not arguments.quiet
        ),
        folder,
    )


def _resume(arguments: argparse.Namespace) -> int:
    return _show(
        lambda: resume(
            arguments.folder,
            engine=arguments.engine,
            workers=arguments.workers,
            progress=not arguments.quiet,
        ),
        arguments.folder,
    )


def _show(make: "Callable[[], pd.DataFrame]", folder: Path) -> int:
    table = make()
    print(table.head(20).round(5).to_string(index=False))
    if len(table) > 20:
        print(f"and {len(table) - 20} rows more")
    print(f"Table: {folder / 'table.parquet'} ({len(table)} rows)")
    return 0
