"""``sims characteristics``: what stopping rules do where the truth is known."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from sims.characteristics import operating_characteristics
from sims.cli.files import check_picture, check_table, write_picture, write_table

_SHOWN = ("false_stop", "never_stop", "stop_round", "to_come", "changed", "cost")


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("characteristics", help="measure stopping rules on simulated debates")
    one.add_argument(
        "rule", nargs="*", metavar="RULE", help="such as 'KSRule(epsilon=0.1)' (every rule)"
    )
    one.add_argument(
        "--scenario",
        action="append",
        metavar="NAME",
        help="of `sims scenarios`; may be repeated (stationary, drifting)",
    )
    one.add_argument(
        "--items", type=int, action="append", help="items in a batch; may be repeated (100)"
    )
    one.add_argument("--rounds", type=int, default=11, help="rounds, round 0 included (11)")
    one.add_argument("--replicates", type=int, default=200, help="batches of each kind (200)")
    one.add_argument("--margin", type=float, default=0.02, help="a change that matters (.02)")
    one.add_argument("--seed", type=int, default=0, help="(0)")
    one.add_argument(
        "--out", "-o", type=Path, metavar="FILE", help="write the table (csv or parquet)"
    )
    one.add_argument("--plot", type=Path, metavar="FILE", help="draw one figure as a heat map")
    one.add_argument("--figure", choices=_SHOWN, default=_SHOWN[0], help=f"to draw ({_SHOWN[0]})")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    check_table(arguments.out)
    check_picture(arguments.plot)
    table = operating_characteristics(
        arguments.rule or None,
        arguments.scenario or ("stationary", "drifting"),
        items=arguments.items or [100],
        rounds=arguments.rounds,
        replicates=arguments.replicates,
        margin=arguments.margin,
        seed=arguments.seed,
        progress=None if sys.stderr.isatty() else False,
    )
    if arguments.out is not None:
        write_table(table, arguments.out)
    if arguments.plot is not None:
        from sims import plots

        write_picture(plots.characteristics(table, arguments.figure), arguments.plot)
    if arguments.json:
        print(json.dumps(json.loads(table.to_json(orient="records")), indent=2))
        return 0
    shown = table[["scenario", "items", "rule", *_SHOWN]].copy()
    for name in _SHOWN:
        shown[name] = [
            "-" if mean != mean or mean is None else f"{mean:.3g} ({error:.1g})"
            for mean, error in zip(table[name], table[f"{name}_se"], strict=True)
        ]
    print(shown.to_string(index=False))
    print(
        f"\n{arguments.replicates} batches each; standard errors in brackets. A false stop comes "
        f"while accuracy still changes by more than {arguments.margin:g}."
    )
    return 0
