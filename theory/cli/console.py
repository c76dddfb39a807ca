"""What a command gives out: sentences, tables of text, JSON, pictures."""

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure
    from rich.console import Console


def say(text: str) -> None:
    """Print a sentence: broken between words on a terminal, in one line everywhere else."""
    out = console()
    out.print(text, soft_wrap=not out.is_terminal)


def print_table(
    heads: Sequence[str], body: Sequence[Sequence[str]], *, text: Collection[str] = ()
) -> None:
    """Print a table; columns of ``text`` are set to the left, figures to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(head, justify="left" if head in text else "right", overflow="fold")
    for row in body:
        table.add_row(*row)
    console().print(table)


def console() -> "Console":
    """Return the console of standard output, which takes text as it is; wide when no terminal."""
    from rich.console import Console

    out = Console(highlight=False, markup=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = 1000
    return out


def print_json(value: Any) -> None:
    """Print JSON types; NaN is refused."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def save_picture(figure: "Figure | SubFigure", path: Path) -> None:
    """Write a figure; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole: Any = figure.figure
    whole.savefig(path, dpi=150, bbox_inches="tight")
