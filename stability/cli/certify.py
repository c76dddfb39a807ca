"""``stability certify``: a stopping rule with a promise, from debates of full length."""

import argparse
from pathlib import Path
from typing import Any

from stability.cli.console import print_json, print_table, save_picture, say
from stability.cli.source import add_log, open_log
from stability.evaluate.certificate import METHODS
from stability.evaluate.certify import certify
from stability.evaluate.families import FAMILIES
from stability.evaluate.losses import LOSSES
from stability.evaluate.split import split
from stability.log import read_log
from stability.rules import rule_from_text, rule_to_text


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("certify", help="a stopping rule with a promise that holds")
    add_log(one)
    one.add_argument("--max-risk", type=float, default=0.05, help="(.05)")
    one.add_argument("--confidence", type=float, default=0.95, help="(.95)")
    one.add_argument("--loss", choices=LOSSES, default=LOSSES[0], help=f"({LOSSES[0]})")
    one.add_argument(
        "--family", action="append", choices=FAMILIES, help="may be repeated (margin, posterior)"
    )
    one.add_argument(
        "--rule",
        action="append",
        metavar="RULE",
        help="a family of your own: rules as Python writes them, the safest first",
    )
    one.add_argument("--method", choices=METHODS, default=METHODS[0], help=f"({METHODS[0]})")
    one.add_argument(
        "--tuned-on",
        action="append",
        default=[],
        metavar="LOG",
        help="a file of debates on which the rules were chosen; none may be in LOG",
    )
    one.add_argument(
        "--part", metavar="KEY=VALUE", help="these debates only: a key of the log, or agents=N"
    )
    one.add_argument("--seed", type=int, default=0, help="of the draw of one debate a cluster (0)")
    one.add_argument("--out", type=Path, metavar="FILE", help="write the certificate as JSON")
    one.add_argument("--plot", type=Path, metavar="FILE", help="draw what each rule saved and cost")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it; 3 when nothing can be certified."""
    log = open_log(arguments)
    if arguments.part is not None:
        key, equals, value = arguments.part.partition("=")
        parts = split(log, key) if equals else {}
        if value not in parts:
            raise ValueError(
                f"`--part` must be KEY=VALUE, one of {', '.join(f'{key}={one}' for one in parts)}, "
                f"got {arguments.part!r}"
            )
        log = parts[value]
    options: dict[str, Any] = {}
    if arguments.family is not None:
        options["families"] = arguments.family
    elif arguments.method == "conformal":
        options["families"] = ["margin"]
    if arguments.rule is not None:
        if arguments.family is not None:
            raise ValueError("`--rule` is a family of its own: leave out --family")
        options["rules"] = [rule_from_text(text) for text in arguments.rule]
    found = certify(
        log,
        max_risk=arguments.max_risk,
        confidence=arguments.confidence,
        loss=arguments.loss,
        method=arguments.method,
        tuned_on=[read_log(path) for path in arguments.tuned_on],
        seed=arguments.seed,
        **options,
    )
    if arguments.out is not None:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        found.save(arguments.out)
    if arguments.plot is not None:
        from stability import plots

        save_picture(plots.certificate(found).figure, arguments.plot)
    if arguments.json:
        print_json(found.to_dict())
    else:
        print_table(
            ("family", "rule", "losses", "p", "passed", "saved"),
            [
                (
                    one.family,
                    rule_to_text(one.rule),
                    str(one.losses),
                    f"{one.p_value:.4f}",
                    "yes" if one.passed else "no",
                    f"{100 * one.saved:.1f} %",
                )
                for one in found.tested
            ],
            text=("family", "rule"),
        )
        print()
        say(found.sentence)
        if arguments.out is not None:
            print(f"Certificate: {arguments.out}")
        if arguments.plot is not None:
            print(f"Picture: {arguments.plot}")
    return 3 if found.rule is None else 0
