"""The command ``sims``.

Readable tables by default, ``--json`` for machines. Exit codes: 0 done, 2 bad input (one line on
standard error), 3 a simulated verdict contradicts the exact one, 130 interrupted,
143 terminated.
"""

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

from sims.cli import characteristics, check, run, scenarios, sweep
from sims.montecarlo.work import CellError
from theory import ChainTooLargeError

COMMANDS = (run, scenarios, check, characteristics, sweep)


class Terminated(KeyboardInterrupt):
    """SIGTERM: what is running ends as after Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.run
    try:
        with _heard():
            return command(arguments)
    except (OSError, ValueError, CellError, ChainTooLargeError) as error:
        if isinstance(error, BrokenPipeError):
            # whoever read the output has enough of it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        lines = [str(error), *getattr(error, "__notes__", [])]
        print(f"sims: {' '.join(' '.join(lines).split())}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"sims: not enough memory: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print("\n".join(["sims: interrupted.", *getattr(error, "__notes__", [])]), file=sys.stderr)
        return 143 if isinstance(error, Terminated) else 130


@contextlib.contextmanager
def _heard() -> Iterator[None]:
    """Hear SIGTERM as an interrupt, where signals are heard at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
