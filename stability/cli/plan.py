"""``stability plan``: items needed for an equivalence test, or for a certificate."""

import argparse
from typing import Any

from stability.cli.console import print_json, print_table, say
from stability.cli.source import add_log, open_log
from stability.evaluate.plan import items_for_certificate, pilot_sd, plan
from stability.rules import PairedEquivalence, rule_from_text

_TEST = ("agents", "rule", "delta", "lag", "looks", "level", "stickiness", "sd", "power")
_CERTIFICATE = ("max_risk", "confidence")


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser(
        "plan",
        help="items needed: for PairedEquivalence, or for a certificate",
        description="Items that PairedEquivalence needs, from a pilot LOG, from the spread of the "
        "changes (--sd) or from how often agents repeat their answers (--agents, --stickiness); "
        "or, with --certificate, the items that certify a rule with so many losses.",
    )
    add_log(one)
    one._actions[1].nargs = "?"  # the log is a pilot, and may be left out
    one.add_argument("--agents", type=int, metavar="N")
    one.add_argument("--rule", help="a PairedEquivalence as Python writes it, for all below")
    one.add_argument("--delta", type=float, help="margin of the mean share (.02)")
    one.add_argument("--lag", type=int, help="rounds between the two compared (3)")
    one.add_argument("--looks", type=int, help="looks that share the level (1)")
    one.add_argument("--level", type=float, help="(.05)")
    one.add_argument("--stickiness", type=float, help="how often an agent repeats its answer")
    one.add_argument("--sd", type=float, help="standard deviation of an item's change")
    one.add_argument("--power", type=float, help="(.9)")
    one.add_argument("--certificate", action="store_true", help="plan a certificate instead")
    one.add_argument("--max-risk", type=float, help="of a certificate (.05)")
    one.add_argument("--confidence", type=float, help="of a certificate (.95)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Do it."""
    other = _TEST if arguments.certificate else _CERTIFICATE
    for name in other:
        if getattr(arguments, name) is not None:
            kind = "leave out" if arguments.certificate else "give"
            raise ValueError(f"`--{name.replace('_', '-')}`: {kind} --certificate")
    if arguments.certificate:
        _certificate(arguments)
        return
    given = {name: getattr(arguments, name) for name in ("delta", "lag", "looks", "level")}
    rule = None if arguments.rule is None else _rule(arguments.rule)
    if rule is None and arguments.delta is None:
        given["delta"] = 0.02
    sd = arguments.sd
    if arguments.log is not None:
        lag = rule.lag if rule is not None else 3 if arguments.lag is None else arguments.lag
        if sd is not None or arguments.stickiness is not None:
            raise ValueError("`LOG` tells the spread: leave out --sd and --stickiness")
        sd = pilot_sd(open_log(arguments), lag)
    found = plan(
        arguments.agents,
        rule=rule,
        **given,
        stickiness=arguments.stickiness,
        sd=sd,
        power=0.9 if arguments.power is None else arguments.power,
    )
    if arguments.json:
        print_json(found.to_dict())
    else:
        say(found.sentence)


def _rule(text: str) -> PairedEquivalence:
    rule = rule_from_text(text)
    if not isinstance(rule, PairedEquivalence):
        raise ValueError(f"`--rule` must be a PairedEquivalence, got {text}")
    return rule


def _certificate(arguments: argparse.Namespace) -> None:
    if arguments.log is not None:
        raise ValueError("`LOG` is not needed to plan a certificate")
    risk = 0.05 if arguments.max_risk is None else arguments.max_risk
    sure = 0.95 if arguments.confidence is None else arguments.confidence
    rows = [
        {
            "losses": losses,
            **{
                f"families_{families}": items_for_certificate(
                    risk, sure, losses=losses, families=families
                )
                for families in (1, 2)
            },
        }
        for losses in range(6)
    ]
    if arguments.json:
        print_json({"max_risk": risk, "confidence": sure, "items": rows})
        return
    print_table(
        ("losses", "one family", "two families"),
        [[str(value) for value in row.values()] for row in rows],
    )
    say(
        f"Debates, one a question and each held to its full length, that certify with confidence "
        f"{sure:g} a rule whose answer differs from the full one in so many of them at a risk of "
        f"at most {risk:g}."
    )
