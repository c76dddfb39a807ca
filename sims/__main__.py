"""The command ``sims``.

Readable tables by default, ``--json`` for machines. Exit codes: 0 done, 2 bad input (one line on
standard error), 3 a simulated verdict contradicts the exact one, 130 interrupted.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from sims.cli import characteristics, check, run, scenarios, sweep
from sims.montecarlo.work import CellError
from theory import ChainTooLargeError

COMMANDS = (run, scenarios, check, characteristics, sweep)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return command(arguments)
    except (OSError, ValueError, CellError, ChainTooLargeError) as error:
        lines = [str(error), *getattr(error, "__notes__", [])]
        print(f"sims: {' '.join(' '.join(lines).split())}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"sims: not enough memory: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sims",
        description="Monte Carlo debates of latent-concept agents.",
        epilog="Exit codes: 0 done, 2 bad input, 3 a check failed, 130 interrupted.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
