"""``theory show``: a theorem as printed and as repaired, its derivation and its counterexamples."""

import argparse
from typing import Any

from theory.cli.console import print_json, print_table, say
from theory.theorems import THEOREMS


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("show", help="statement, repair, derivation, counterexamples")
    one.add_argument("theorem", nargs="?", metavar="THEOREM", help="such as EL-5.4 (a list)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    if arguments.theorem is None:
        heads = ("theorem", "title", "repaired statement")
        rows = [(one.id, one.title, one.proof) for one in THEOREMS.values()]
        if arguments.json:
            print_json([dict(zip(("theorem", "title", "proof"), row, strict=True)) for row in rows])
        else:
            print_table(heads, rows, text=heads)
        return 0
    if arguments.theorem not in THEOREMS:
        raise ValueError(
            f"`theorem` must be one of {', '.join(THEOREMS)}, got {arguments.theorem!r}"
        )
    one = THEOREMS[arguments.theorem]
    cases = [
        (case, one.check(case.model, statement="printed", **case.options))
        for case in one.counterexamples()
    ]
    if arguments.json:
        print_json(
            {
                "theorem": one.id,
                "title": one.title,
                "source": one.source,
                "printed": one.printed,
                "repaired": one.repaired,
                "proof": one.proof,
                "derivation": one.doc,
                "counterexamples": [
                    {
                        "name": case.name,
                        "model": case.model.to_dict(),
                        "options": dict(case.options),
                        "verdict": verdict.to_dict(),
                    }
                    for case, verdict in cases
                ],
            }
        )
        return 0
    say(f"{one.id}: {one.title}")
    say(f"Source: {one.source}.")
    print()
    say(f"As printed: {one.printed}")
    say(f"Repaired ({one.proof}): {one.repaired}")
    print()
    print(one.doc.strip())
    for case, verdict in cases:
        print()
        said = ", ".join(f"{key}={value}" for key, value in case.options.items())
        say(f"Counterexample, {case.name}{f' ({said})' if said else ''}: {verdict.sentence}")
        for kind, size in zip(case.model.types, case.model.sizes, strict=True):
            weight = ", ".join(f"{w:.3g}" for w in kind.weight)
            kernel = "; ".join(", ".join(f"{p:.3g}" for p in row) for row in kind.kernel)
            say(f"    {size} of task weight ({weight}), kernel ({kernel})")
    return 0
