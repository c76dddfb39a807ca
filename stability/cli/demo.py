"""``stability demo``: the main job on the packaged recording."""

import argparse
from pathlib import Path
from typing import Any

from stability.cli.console import print_trace, save_picture, say
from stability.datasets import load_recording
from stability.evaluate import detect
from stability.rules import Unanimity


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("demo", help="the main job on the packaged recording")
    one.add_argument("--plot", metavar="FILE", type=Path, default=Path("out/demo.png"))
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Do it."""
    # Said first: the first run compiles the kernels, and must not look as if it hung.
    say("A recorded debate: five agents, all SmolLM2-135M-Instruct, 72 questions, four rounds.")
    log = load_recording("smollm2")
    trace = detect(log)
    print_trace(trace)
    unanimity = detect(log, Unanimity())
    say(f"Unanimity: {unanimity.verdict}")
    flips = ", ".join(f"{row.flip_share:.1%}" for row in trace.rounds[1:])
    say(
        f"Flip share: the leading answer changed in {flips} of the items at t = 1, 2, 3: answers "
        "still move, whatever D says."
    )
    print()
    say(
        f"In short: the distance rule stops at t = {trace.stop_round} with a threshold that lies "
        f"inside sampling noise, while unanimity has stopped {unanimity.rounds[-1].stopped} of "
        f"{log.n_items} items and the leading answer still changes in "
        f"{trace.rounds[-1].flip_share:.1%} of them: {log.n_items} items cannot show that this "
        "debate has settled."
    )
    from stability import plots

    save_picture(plots.overview(trace), arguments.plot)
    say(f"Picture: {arguments.plot}")
