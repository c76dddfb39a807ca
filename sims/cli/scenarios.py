"""``sims scenarios``: the named debates, and the JSON of one."""

import argparse
import json
from typing import Any

from sims.debates.scenarios import ABOUT, SCENARIOS


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("scenarios", help="the named debates, or the JSON of one")
    one.add_argument("name", nargs="?", metavar="NAME")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    if arguments.name is not None:
        if arguments.name not in SCENARIOS:
            raise ValueError(
                f"`name` must be one of {', '.join(SCENARIOS)}, got {arguments.name!r}"
            )
        print(json.dumps(SCENARIOS[arguments.name].to_dict(), indent=2))
        return 0
    wide = max(map(len, ABOUT))
    for name, said in ABOUT.items():
        print(f"{name.ljust(wide)}  {said}")
    return 0
