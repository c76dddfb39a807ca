"""``sims check``: theorems by simulated debates, beside their exact checks."""

import argparse
import json
from typing import Any

import numpy as np

from sims.checks import SIMULATED, check_by_simulation
from theory import THEOREMS, DebateModel, Verdict


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("check", help="theorems by simulation, beside their exact checks")
    one.add_argument("theorem", nargs="*", metavar="THEOREM", help="such as EL-5.4 (all)")
    one.add_argument("--debates", type=float, default=5e4, help="debates for each mean (5e4)")
    one.add_argument("--seed", type=int, default=0, help="(0)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def cases(theorem_id: str) -> list[tuple[str, str, DebateModel, dict[str, Any]]]:
    """Return the models that are simulated: the counterexamples, and a random one."""
    theorem = THEOREMS[theorem_id]
    found = []
    for case in theorem.counterexamples():
        options = dict(case.options)
        if "reading" not in options:
            found.append(("printed", case.name, case.model, options))
    if theorem_id not in ("EL-6.1", "EL-6.2"):
        model = theorem.sample(np.random.default_rng(7), "repaired")
        found.append(("repaired", "a random model", model, {}))
    return found


def run(arguments: argparse.Namespace) -> int:
    """Do it; 3 when a simulated verdict contradicts the exact one."""
    for name in arguments.theorem:
        if name not in SIMULATED:
            raise ValueError(f"`theorem` must be one of {', '.join(SIMULATED)}, got {name!r}")
    rows = []
    for name in arguments.theorem or SIMULATED:
        for statement, what, model, options in cases(name):
            exact = THEOREMS[name].check(model, statement=statement, **options)
            found = check_by_simulation(
                name,
                model,
                statement=statement,
                debates=int(arguments.debates),
                seed=arguments.seed,
                **options,
            )
            rows.append((name, statement, what, exact, found))
    broken = [row for row in rows if contradicts(row[3], row[4])]
    if arguments.json:
        print(
            json.dumps(
                [
                    {"model": what, "exact": exact.to_dict(), "simulated": found.to_dict()}
                    for _, _, what, exact, found in rows
                ],
                indent=2,
                allow_nan=False,
            )
        )
        return 3 if broken else 0
    heads = ("theorem", "statement", "model", "exact", "margin", "simulated", "estimate", "SE")
    body = [
        (
            name,
            statement,
            what,
            _word(exact),
            f"{exact.margin:.4f}",
            _word(found),
            f"{found.margin:.4f}",
            f"{found.evidence['standard error']:.4f}",
        )
        for name, statement, what, exact, found in rows
    ]
    wide = [max(len(row[c]) for row in (heads, *body)) for c in range(len(heads))]
    for row in (heads, *body):
        print("  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=True)).rstrip())
    print(
        "\nThe estimate is the least mean difference; the exact margin of EL-5.1 is that of the "
        "worst count, or a rate, and not of the same quantity."
    )
    return 3 if broken else 0


def contradicts(exact: Verdict, found: Verdict) -> bool:
    """Say whether both decide, and differently."""
    return found.holds is not None and exact.holds is not None and found.holds != exact.holds


def _word(verdict: Verdict) -> str:
    return {True: "holds", False: "violated", None: "undecided"}[verdict.holds]
