"""``theory debate``: a model round by round, with and without interventions."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theory._check import check_int
from theory.cli.console import print_json, print_table, save_picture, say
from theory.model.ablation import ablation
from theory.model.chain import CountChain
from theory.model.concepts import DebateModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = ("accuracy", "majority", "echo")


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("debate", help="accuracy by round, with all sets of interventions")
    one.add_argument("--model", type=Path, metavar="FILE", help="a model as JSON (an example)")
    one.add_argument("--rounds", type=int, default=11, help="rounds held, round 0 included (11)")
    one.add_argument(
        "--k", type=int, help="answers kept by a pruning that the model does not have (n / 2)"
    )
    one.add_argument(
        "--mend", type=float, default=0.3, help="share of wrong answers that are refuted (.3)"
    )
    one.add_argument("--plot", type=Path, metavar="FILE", help="draw all of it by round")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def example() -> DebateModel:
    """Return the model that is shown when none is given: four of seven misled."""
    return DebateModel.shared_misconception(7, 4, weight=0.9, misled=0.3, right=0.8, wrong=0.3)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    rounds = check_int("rounds", arguments.rounds, minimum=1)
    model = example()
    if arguments.model is not None:
        model = DebateModel.from_json(arguments.model.read_text("utf-8"))
    chains = {
        name: CountChain(one)
        for name, one in ablation(model, k=arguments.k, mend=arguments.mend).items()
    }
    table = {
        name: {
            "accuracy": [chain.accuracy(t) for t in range(rounds)],
            "majority": [chain.majority_accuracy(t) for t in range(rounds)],
            "echo": [chain.echo(t) for t in range(rounds)],
        }
        for name, chain in chains.items()
    }
    if arguments.plot is not None:
        save_picture(_picture(chains, rounds), arguments.plot)
    if arguments.json:
        print_json({"model": model.to_dict(), "rounds": rounds, "interventions": table})
        return 0
    if arguments.model is None:
        say("An example: four of seven agents share a misconception (give --model for yours).")
    say("Without interventions, by round:")
    print_table(
        ("t", *FIGURES),
        [(str(t), *(f"{table['none'][name][t]:.4f}" for name in FIGURES)) for t in range(rounds)],
    )
    print()
    say("Accuracy by round:")
    shown = [t for t in range(rounds) if t < 6 or t % 5 == 0 or t == rounds - 1]
    print_table(
        ("interventions", *(f"t={t}" for t in shown)),
        [(name, *(f"{one['accuracy'][t]:.4f}" for t in shown)) for name, one in table.items()],
        text=("interventions",),
    )
    say(
        "accuracy: mean over agents; majority: of the leading answer, leaders sharing a tie; echo: "
        "that an agent of the next round gives the leading answer of this one."
    )
    if arguments.plot is not None:
        print(f"Picture: {arguments.plot}")
    return 0


def _picture(chains: dict[str, CountChain], rounds: int) -> "Figure":
    """Draw the figures of the plain debate, and its accuracy under all interventions."""
    from matplotlib.figure import Figure

    from theory import plots

    figure = Figure(figsize=(12.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    plots.figures(chains["none"], rounds, left).set_title("without interventions")
    plots.interventions(chains, rounds, right).set_title("accuracy with interventions")
    return figure
