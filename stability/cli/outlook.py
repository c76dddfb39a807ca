"""``stability outlook``: what became of recorded debates in each state."""

import argparse
import math
from typing import Any

from stability.cli.console import print_json, print_table, say
from stability.cli.source import add_log, open_logs
from stability.evaluate.outlook import outlook, outlook_by_source


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser(
        "outlook", help="how often debates ended differently, by the state they were in"
    )
    add_log(one, many=True)
    one.add_argument(
        "--least", type=int, default=20, metavar="N", help="states a source needs (20)"
    )
    one.add_argument("--by-source", action="store_true", help="a row a source and state")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Do it."""
    logs = open_logs(arguments)
    by_source: bool = arguments.by_source
    table = outlook_by_source(logs) if by_source else outlook(logs, least=arguments.least)
    rows = table.astype(object).to_dict("records")
    ended = {name: int(log.carried.any(axis=0).sum()) for name, log in logs.items()}
    if arguments.json:
        rows = [
            {key: None if _is_nan(value) else value for key, value in row.items()} for row in rows
        ]
        print_json({"states": rows, "ended_early": ended})
        return
    texts = ("source", "level", "leader")
    heads = list(table.columns)
    heads.sort(key=lambda head: head not in texts)
    print_table(heads, [[_cell(row[head]) for head in heads] for row in rows], text=texts)
    say(
        "States: rounds before the last; ended differently: the leading answer of the last round "
        "is another one."
    )
    for name, number in ended.items():
        if number:
            say(
                f"{name}: {number} debates ended before its last round and are left out; if they "
                "were ended because the agents agreed, leave the source out."
            )


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _cell(value: Any) -> str:
    if _is_nan(value):
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
