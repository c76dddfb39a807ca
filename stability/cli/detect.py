"""``stability detect``: run a stopping rule over a recorded debate."""

import argparse
from pathlib import Path
from typing import Any

from stability.cli.console import print_json, print_trace, save_picture
from stability.cli.source import add_log, open_log
from stability.evaluate import detect
from stability.log import DebateLog
from stability.rules import (
    BetaPosterior,
    KSRule,
    PluralityUnchanged,
    Rule,
    Unanimity,
    rule_from_text,
    single_debate_rule,
)

_NAMED: dict[str, Rule] = {"unanimity": Unanimity(), "beta": BetaPosterior()}
_RULES = ("ks", "plurality", "single", *_NAMED)
_OPTIONS = {"epsilon": ("ks",), "space": ("ks",), "patience": ("ks", "plurality")}


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("detect", help="run a stopping rule over a recorded debate")
    add_log(one)
    one.add_argument(
        "--rule",
        default="ks",
        help=f"{', '.join(_RULES)}; or a rule as Python writes it: 'Unanimity() | MaxRounds(4)'",
    )
    one.add_argument("--epsilon", type=float, help="ks: threshold of D (.05)")
    one.add_argument("--patience", type=int, help="ks, plurality: rounds in a row (2, 1)")
    one.add_argument(
        "--space", choices=("predictive", "latent", "empirical"), help="ks: where D is taken"
    )
    one.add_argument(
        "--observable",
        choices=("auto", "correct", "agreement"),
        help="what is counted (auto: correct where the log is graded)",
    )
    one.add_argument("--plot", metavar="FILE", type=Path, help="write the picture of the rounds")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Do it."""
    log = open_log(arguments)
    trace = detect(log, _rule(arguments, log), observable=arguments.observable)
    if arguments.plot is not None:
        from stability import plots

        save_picture(plots.overview(trace), arguments.plot)
    if arguments.json:
        print_json(trace.to_dict())
        return
    print_trace(trace)
    if arguments.plot is not None:
        print(f"Picture: {arguments.plot}")


def _rule(arguments: argparse.Namespace, log: DebateLog) -> Rule:
    given = {name: getattr(arguments, name) for name in _OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if arguments.rule not in _OPTIONS[name]:
            raise ValueError(
                f"`--{name}` belongs to --rule {' or '.join(_OPTIONS[name])}, got {arguments.rule}"
            )
    if arguments.rule == "ks":
        return KSRule(observable=arguments.observable or "auto", **given)
    if arguments.rule == "plurality":
        return PluralityUnchanged(**given)
    if arguments.rule == "single":
        return single_debate_rule(log.n_agents)
    if arguments.rule in _NAMED:
        return _NAMED[arguments.rule]
    return rule_from_text(arguments.rule)
