"""The cells of a sweep, and the blocks of runs that they are made in.

A cell is a function ``cell(*, seed, **parameters)`` that returns a row of results (a mapping from
names to numbers, text, True, False or None) or several. A block is a cell, one set of parameters
and a range of repeats. Its rows are a function of the block alone: the seed of a run comes from the
seed of the sweep, the parameters and the repeat.
"""

import hashlib
import importlib
import inspect
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

Value = str | int | float | bool | None
Row = dict[str, Value]
Cell = Callable[..., Mapping[str, Any] | Sequence[Mapping[str, Any]]]
_MOST = 2**63
_LIBRARIES = ("numpy", "scipy", "numba", "pandas")
_PACKAGES = ("sims", "theory", "stability")


class CellError(Exception):
    """A cell has failed; the message names its parameters, repeat and seed."""


@dataclass(frozen=True)
class Block:
    """Runs of one cell.

    Attributes
    ----------
    cell : str
        "package.module:function" or "path/to/file.py:function".
    parameters : dict
    first, last : int
        The repeats first..last - 1.
    seed : int
        Of the sweep.
    common : bool
        Whether runs of one repeat have one seed, whatever their parameters.
    """

    cell: str
    parameters: Row
    first: int
    last: int
    seed: int
    common: bool

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return self.last - self.first

    def seed_of(self, repeat: int) -> int:
        """Return the seed of a run, 0..2^63 - 1."""
        parts = [self.seed, repeat] if self.common else [self.seed, repeat, self.parameters]
        found = hashlib.blake2b(_canonical(parts).encode(), digest_size=8).digest()
        return int.from_bytes(found, "big") >> 1

    def key(self, version: str) -> str:
        """Return the name of its results: of cell, parameters, code version and seed range."""
        parts = [self.cell, self.parameters, version, self.seed, self.first, self.last, self.common]
        return hashlib.sha256(_canonical(parts).encode()).hexdigest()[:32]

    def run(self, cell: Cell) -> list[Row]:
        """Return the rows, in the order of the repeats.

        Raises
        ------
        CellError
            When the cell fails, or returns what is no row.
        """
        rows: list[Row] = []
        for repeat in range(self.first, self.last):
            seed = self.seed_of(repeat)
            try:
                found = cell(seed=seed, **self.parameters)
            except (Exception, SystemExit) as error:
                raise CellError(
                    f"{self._name(repeat, seed)} failed: {type(error).__name__}: {error}"
                ) from error
            results = [found] if isinstance(found, Mapping) else found
            head: Row = {**self.parameters, "repeat": repeat, "seed": seed}
            try:
                rows += [{**head, **_row(one, head)} for one in results]
            except (TypeError, ValueError) as error:
                raise CellError(f"{self._name(repeat, seed)} returned no row: {error}") from None
        return rows

    def _name(self, repeat: int, seed: int) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"the cell {self.cell}({given}, seed={seed}) of repeat {repeat}"


def _canonical(parts: Any) -> str:
    return json.dumps(parts, sort_keys=True, separators=(",", ":"))


def _row(found: Any, head: Row) -> Row:
    if not isinstance(found, Mapping):
        raise TypeError(f"a row must be a mapping, got {found!r}")
    row = {}
    for name, value in found.items():
        if not isinstance(name, str) or name in head:
            raise ValueError(f"a result must have a name of its own, got {name!r}")
        row[name] = scalar(name, value)
    return row


def scalar(name: str, value: Any) -> Value:
    """Return a value as plain Python.

    Raises
    ------
    ValueError
        When it is not text, True, False, None, or a number that fits 64 bits.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int) and -_MOST <= value < _MOST:
        return value
    raise ValueError(
        f"`{name}` must be text, True, False, None or a number of 64 bits, got {value!r}"
    )


def parameter_sets(grid: Any) -> list[Row]:
    """Return the sets of parameters: all combinations of a mapping, or the mappings given.

    Raises
    ------
    ValueError
        When the grid is empty, a set comes twice, or a value is no finite scalar.
    """
    if isinstance(grid, Mapping):
        sets: list[Row] = [{}]
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray | range):
                values = [values]
            sets = [{**one, name: _parameter(name, value)} for one in sets for value in values]
    elif isinstance(grid, Sequence) and all(isinstance(one, Mapping) for one in grid):
        sets = [{name: _parameter(name, value) for name, value in one.items()} for one in grid]
    else:
        raise ValueError(f"`grid` must be a mapping or a sequence of mappings, got {grid!r}")
    if not sets:
        raise ValueError("`grid` must have at least one set of parameters, it has none")
    seen = set()
    for one in sets:
        text = _canonical(one)
        if text in seen:
            raise ValueError(f"`grid` must not name a set of parameters twice, got {text} again")
        seen.add(text)
    return sets


def _parameter(name: Any, value: Any) -> Value:
    if not isinstance(name, str) or not name.isidentifier() or name in ("seed", "repeat"):
        raise ValueError(
            f"`grid` must name arguments of the cell, other than seed and repeat, got {name!r}"
        )
    plain = scalar(name, value)
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"`{name}` of the grid must be finite, got {plain!r}")
    return plain


def name_of(cell: Any) -> str:
    """Return the name by which any process finds a cell.

    Raises
    ------
    ValueError
        When it is no function at the top level of a module or a file.
    """
    home, name = getattr(cell, "__module__", None), getattr(cell, "__qualname__", None)
    rule = "`cell` must be a function at the top level of a module or file"
    if not callable(cell) or not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{rule}, got {cell!r}")
    module = sys.modules.get(str(home))
    if home == "__main__":
        path = getattr(module, "__file__", None)
        if path is None:
            raise ValueError(f"{rule}, so that other processes find it, got {cell!r}")
        home = str(Path(path).resolve())
    if getattr(module, name, None) is not cell:
        raise ValueError(f"{rule}, got {cell!r}")
    return f"{home}:{name}"


def full_name(name: str) -> str:
    """Return the name with the whole path of its file, if it has one."""
    home, _, function = str(name).rpartition(":")
    return f"{Path(home).resolve()}:{function}" if home.endswith(".py") else name


def find_cell(name: str) -> Cell:
    """Return the cell of a name.

    Raises
    ------
    ValueError
        When there is none.
    """
    home, _, function = name.rpartition(":") if isinstance(name, str) else ("", "", "")
    if not home or not function.isidentifier():
        raise ValueError(
            f"`cell` must read 'package.module:function' or 'file.py:function', got {name!r}"
        )
    try:
        module = _load(home) if home.endswith(".py") else importlib.import_module(home)
        found = getattr(module, function)
    except (ImportError, OSError, AttributeError) as error:
        raise ValueError(f"`cell` {name!r} cannot be found: {error}") from None
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"`cell` {name!r} cannot be loaded: {said}") from None
    if not callable(found):
        raise ValueError(f"`cell` {name!r} must be a function, got {found!r}")
    return found  # type: ignore[no-any-return]


@cache
def _load(path: str) -> Any:
    main = sys.modules["__main__"]
    if getattr(main, "__file__", None) and Path(str(main.__file__)).resolve() == Path(path):
        return main
    name = "_cells_" + hashlib.sha256(path.encode()).hexdigest()[:16]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise OSError(f"no file {path}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    # as for a script: what lies beside the file can be imported
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec.loader.exec_module(module)
    return module


def code_version(cell: Cell) -> str:
    """Return a hash of the source of a cell, of this project and of its libraries.

    The source of a cell is its own file with all modules that were loaded from the folder of that
    file, or below it.
    """
    found = hashlib.sha256()
    try:
        source = inspect.getsourcefile(inspect.unwrap(cell))
    except TypeError:
        source = None
    files = [] if source is None else _beside(Path(source).resolve())
    for package in _PACKAGES:
        home = Path(__file__).resolve().parents[2] / package
        files += sorted(home.rglob("*.py"))
    for file in files:
        found.update(file.read_bytes())
    for library in _LIBRARIES:
        found.update(importlib.import_module(library).__version__.encode())
    return found.hexdigest()[:16]


def _beside(source: Path) -> list[Path]:
    """The file, and the loaded modules that lie in its folder or below."""
    found = {source}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file is not None and file.endswith(".py"):
            path = Path(file).resolve()
            if path.is_relative_to(source.parent):
                found.add(path)
    return sorted(path for path in found if path.is_file())


def run_block(block: Block) -> list[Row]:
    """Find the cell and run the block; for another process."""
    return block.run(find_cell(block.cell))
