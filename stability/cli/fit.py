"""``stability fit``: the Beta-Binomial mixture of one round, or of a count table."""

import argparse
from pathlib import Path
from typing import Any

from stability._check import check_int
from stability.cli.console import print_json
from stability.cli.source import add_log, open_log, refuse_options_of_files
from stability.datasets import list_datasets, load_count_table
from stability.evaluate.detect import observed_counts
from stability.fit import MixtureFit, fit_mixture

_TABLES = tuple(one.name for one in list_datasets() if one.kind == "counts")


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("fit", help="fit the Beta-Binomial mixture of one round")
    add_log(one, f"; or a count table: {', '.join(_TABLES)}")
    one.add_argument("--round", type=int, metavar="t", help="the round, from 0")
    one.add_argument("--components", type=int, default=2, metavar="K", help="1, 2 or 3 (2)")
    one.add_argument("--observable", choices=("auto", "correct", "agreement"), help="as in detect")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Do it."""
    if not Path(arguments.log).exists() and arguments.log in _TABLES:
        refuse_options_of_files(arguments, arguments.log)
        for name in ("round", "observable"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"`--{name}` belongs to a log; {arguments.log} is a count table")
        k, n, freq = load_count_table(arguments.log)
        fitted = fit_mixture(k, n, freq=freq, n_components=arguments.components)
        _print_fit(fitted, arguments.json, {"table": arguments.log})
        return
    log = open_log(arguments)
    if arguments.round is None:
        raise ValueError("`--round` is needed: which round of the log, from 0")
    t = check_int("--round", arguments.round, minimum=0, maximum=log.n_rounds - 1)
    k, n, counted, observable = observed_counts(log, arguments.observable or "auto")
    held = counted[t]
    if not held.any():
        raise ValueError(f"no item can be counted in round {t}")
    fitted = fit_mixture(k[t][held], n[t][held], n_components=arguments.components)
    told = {"round": t, "observable": observable, "left_out": int((~held).sum())}
    _print_fit(fitted, arguments.json, told)


def _print_fit(fitted: MixtureFit, as_json: bool, told: dict[str, Any]) -> None:
    if as_json:
        print_json({**told, **fitted.to_dict()})
        return
    print(", ".join(f"{name} {value}" for name, value in told.items()))
    print(fitted.summary())
