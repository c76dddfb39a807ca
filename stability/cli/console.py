"""What a command gives out: sentences, tables of text, JSON, pictures."""

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure
    from rich.console import Console

    from stability.evaluate import StabilityTrace

_NAME = 34
_WIDE = 1000  # off a terminal nothing is folded


def print_trace(trace: "StabilityTrace") -> None:
    """Print the table of the rounds and what it says."""
    heads, body = trace.table()
    print_table(heads, body, text=("reason",))
    print()
    for line in trace.account():
        if line.startswith("Verdict:"):
            print()
        say(line)


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
    for place, head in enumerate(heads):
        # names are broken last, and only long ones
        longest = max((len(row[place]) for row in body), default=0) if head in text else 0
        table.add_column(
            head,
            justify="left" if head in text else "right",
            overflow="fold",
            min_width=min(longest, _NAME),
        )
    for row in body:
        table.add_row(*row)
    console().print(table)


def console() -> "Console":
    """Return the console of standard output, which takes text as it is; wide when no terminal."""
    from rich.console import Console

    out = Console(highlight=False, markup=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = _WIDE
    return out


def print_json(value: Any) -> None:
    """Print JSON types; NaN is refused."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def save_picture(figure: "Figure | SubFigure", path: Path) -> None:
    """Write a whole figure and close it; the folder is made."""
    from matplotlib import pyplot

    whole: Any = figure.figure
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.savefig(path, dpi=150, bbox_inches="tight")
    pyplot.close(whole)
