"""The command ``stability``.

Readable tables by default, ``--json`` for machines. Exit codes: 0 done, 2 bad input (one line on
standard error), 3 a check failed.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from stability import __version__
from stability.cli import (
    audit,
    certify,
    convert,
    datasets,
    demo,
    detect,
    fit,
    outlook,
    plan,
    replay,
)

COMMANDS = (detect, fit, replay, plan, certify, audit, outlook, convert, datasets, demo)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Examples
    --------
    >>> main(["fit", "chromosome", "--components", "1", "--json"]) # doctest: +ELLIPSIS
    {...}
    0
    """
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int | None] = arguments.run
    try:
        return run(arguments) or 0
    except (OSError, ValueError) as error:
        print(f"stability: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stability",
        description="When may a debate between language-model agents stop?",
        epilog="Exit codes: 0 done, 2 bad input, 3 a check failed.",
    )
    parser.add_argument("--version", action="version", version=f"stability {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
