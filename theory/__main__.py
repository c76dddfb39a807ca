"""The command ``theory``: it has no subcommands in this version, and says so."""

import argparse
import sys

import theory


def main(argv: list[str] | None = None) -> int:
    """Parse the command line; exit code 2 for anything but ``--help``."""
    parser = argparse.ArgumentParser(prog="theory", description=theory.__doc__)
    parser.parse_args(argv)
    print("theory: no commands in this version", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
