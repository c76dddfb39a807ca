"""The command ``theory``.

Readable tables by default, ``--json`` for machines. Exit codes: 0 done, 2 bad input (one line on
standard error), 3 a repaired statement was violated.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from theory.cli import check, debate, show

COMMANDS = (check, show, debate)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Examples
    --------
    >>> main(["check", "EL-5.4", "--models", "2", "--json"]) # doctest: +ELLIPSIS
    [...]
    0
    """
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except (OSError, ValueError) as error:
        print(f"theory: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="theory",
        description="Which theorems of debate are true? Exact checks in finite models.",
        epilog="Exit codes: 0 done, 2 bad input, 3 a repaired statement was violated.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
