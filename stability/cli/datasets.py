"""``stability datasets``: list what is packaged."""

import argparse
from typing import Any

from stability.cli.console import print_json, print_table
from stability.datasets import list_datasets


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("datasets", help="list what is packaged")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Do it."""
    found = list_datasets()
    if arguments.json:
        print_json([vars(one) for one in found])
        return
    heads = ("name", "kind", "what")
    print_table(heads, [(one.name, one.kind, one.description) for one in found], text=heads)
