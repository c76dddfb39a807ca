"""The command ``sims``: it has no subcommands in this version, and says so."""

import argparse
import sys

import sims


def main(argv: list[str] | None = None) -> int:
    """Parse the command line; exit code 2 for anything but ``--help``."""
    parser = argparse.ArgumentParser(prog="sims", description=sims.__doc__)
    parser.parse_args(argv)
    print("sims: no commands in this version; `sims.simulate` is there", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
