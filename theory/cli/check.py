"""``theory check``: which statements hold, on random models or on yours."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from theory._check import check_int
from theory.cli.console import print_json, print_table, say
from theory.model.concepts import DebateModel
from theory.theorems import THEOREMS
from theory.theorems.base import STATEMENTS, Theorem


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser(
        "check", help="check the statements on random models, or on a model of yours"
    )
    one.add_argument("theorem", nargs="*", metavar="THEOREM", help="such as EL-5.4 (all)")
    one.add_argument("--model", type=Path, metavar="FILE", help="a model as JSON")
    one.add_argument("--models", type=int, default=100, help="random models a statement (100)")
    one.add_argument("--seed", type=int, default=0, help="of the random models (0)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it; 3 when a repaired statement is violated."""
    for name in arguments.theorem:
        if name not in THEOREMS:
            raise ValueError(f"`theorem` must be one of {', '.join(THEOREMS)}, got {name!r}")
    chosen = [THEOREMS[name] for name in arguments.theorem or THEOREMS]
    if arguments.model is not None:
        return _on_model(chosen, arguments)
    models = check_int("models", arguments.models, minimum=1)
    seed = check_int("seed", arguments.seed, minimum=0)
    rows = [survey(one, models, seed) for one in chosen]
    if arguments.json:
        print_json(rows)
    else:
        print_table(
            ("theorem", "statement", "as printed", "repaired", "smallest margin", "counterexample"),
            [
                (
                    row["theorem"],
                    row["title"],
                    _printed(row),
                    "VIOLATED" if row["repaired_violated"] else "no violation",
                    f"{row['repaired_margin']:.2g}",
                    row["counterexample"] or "none",
                )
                for row in rows
            ],
            text=("theorem", "statement", "as printed", "repaired", "counterexample"),
        )
        print()
        say(
            f"{models} random models a statement, seed {seed}, all of which meet its assumptions; "
            "the smallest margin is that of the repaired statement. `theory show THEOREM` prints "
            "statements and derivation."
        )
    return 3 if any(row["repaired_violated"] for row in rows) else 0


def survey(theorem: Theorem, models: int, seed: int) -> dict[str, Any]:
    """Check both statements on random models and the printed one on its counterexamples."""
    violated, margins = 0, []
    for statement in STATEMENTS:
        for place in range(models):
            rng = np.random.default_rng([seed, place])
            verdict = theorem.check(theorem.sample(rng, statement), statement=statement)
            assert verdict.margin is not None
            if statement == "printed":
                violated += verdict.holds is False
            else:
                margins.append((verdict.margin, verdict.holds is False))
    listed = [
        (one.name, theorem.check(one.model, statement="printed", **one.options).margin or 0.0, one)
        for one in theorem.counterexamples()
    ]
    worst = min(listed, key=lambda case: case[1], default=None)
    text = None
    if worst is not None:
        name, margin, case = worst
        said = ", ".join(f"{key}={value}" for key, value in case.options.items())
        size = f"n={case.model.n_agents}, K={case.model.n_concepts}, L={case.model.n_answers}"
        text = f"{name}: {margin:.3g} ({size}{', ' + said if said else ''})"
    return {
        "theorem": theorem.id,
        "title": theorem.title,
        "models": models,
        "printed_violated": violated,
        "printed_counterexamples": len(listed),
        "other_reading_only": all("reading" in case.options for _, _, case in listed),
        "repaired_violated": sum(broken for _, broken in margins),
        "repaired_margin": min(margin for margin, _ in margins),
        "counterexample": text,
    }


def _printed(row: dict[str, Any]) -> str:
    if row["printed_violated"]:
        return f"false: {row['printed_violated']} of {row['models']} violate it"
    if row["printed_counterexamples"] and row["other_reading_only"]:
        return "no violation; false in another reading"
    if row["printed_counterexamples"]:
        return "false: see the counterexample"
    return "no violation"


def _on_model(chosen: list[Theorem], arguments: argparse.Namespace) -> int:
    model = DebateModel.from_json(arguments.model.read_text("utf-8"))
    verdicts = [one.check(model, statement=name) for one in chosen for name in STATEMENTS]
    if arguments.json:
        print_json([verdict.to_dict() for verdict in verdicts])
    else:
        for verdict in verdicts:
            say(verdict.sentence)
            if verdict.evidence:
                said = ", ".join(
                    f"{key}: {_short(value)}" for key, value in verdict.evidence.items()
                )
                say(f"    {said}")
    broken = [one for one in verdicts if one.statement == "repaired" and one.holds is False]
    return 3 if broken else 0


def _short(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, list | tuple | np.ndarray):
        return "[" + ", ".join(_short(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_short(one)}" for key, one in value.items()) + "}"
    return str(value)
