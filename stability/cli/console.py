"""What a command prints: sentences, tables of text, JSON."""

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from stability.evaluate import StabilityTrace


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
    for head in heads:
        table.add_column(head, justify="left" if head in text else "right", overflow="fold")
    for row in body:
        table.add_row(*row)
    console().print(table)


def console() -> "Console":
    """Return the console of standard output, which takes text as it is."""
    from rich.console import Console

    return Console(highlight=False, markup=False)


def print_json(value: Any) -> None:
    """Print JSON types; NaN is refused."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
