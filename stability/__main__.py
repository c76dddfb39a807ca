"""The command ``stability``: detect, fit, datasets, demo.

Readable tables by default, ``--json`` for machines. Exit codes: 0 done, 2 bad input (one line on
standard error).
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stability import __version__
from stability._check import check_int
from stability.datasets import list_datasets, load_count_table, load_recording
from stability.evaluate import StabilityTrace, detect
from stability.evaluate.detect import observed_counts
from stability.fit import MixtureFit, fit_mixture
from stability.log import FORMATS, DebateLog, read_log
from stability.log.tidy import KNOWN
from stability.rules import (
    BetaPosterior,
    KSRule,
    PluralityUnchanged,
    Rule,
    Unanimity,
    single_debate_rule,
)

if TYPE_CHECKING:
    from rich.console import Console

_RECORDINGS = tuple(one.name for one in list_datasets() if one.kind == "recording")
_TABLES = tuple(one.name for one in list_datasets() if one.kind == "counts")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Examples
    --------
    >>> main(["fit", "chromosome", "--components", "1", "--json"]) # doctest: +ELLIPSIS
    {...}
    0
    """
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], None] = arguments.run
    try:
        run(arguments)
    except (OSError, ValueError) as error:
        print(f"stability: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stability",
        description="When may a debate between language-model agents stop?",
        epilog="Exit codes: 0 done, 2 bad input.",
    )
    parser.add_argument("--version", action="version", version=f"stability {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("detect", help="run a stopping rule over a recorded debate")
    _add_log(one)
    one.add_argument(
        "--rule", choices=_RULES, default="ks", help="ks (default), or a rule on the votes"
    )
    one.add_argument("--epsilon", type=float, help="ks: threshold of D (.05)")
    one.add_argument("--patience", type=int, help="ks, plurality: rounds in a row (2, 1)")
    one.add_argument(
        "--space", choices=("predictive", "latent", "empirical"), help="ks: where D is taken"
    )
    one.add_argument(
        "--observable",
        choices=("auto", "correct", "agreement"),
        help="what is counted (auto: correct where the log is graded)",
    )
    one.add_argument("--plot", metavar="FILE", type=Path, help="write the picture of the rounds")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=_detect)

    one = commands.add_parser("fit", help="fit the Beta-Binomial mixture of one round")
    _add_log(one, f"; or a count table: {', '.join(_TABLES)}")
    one.add_argument("--round", type=int, metavar="t", help="the round, from 0")
    one.add_argument("--components", type=int, default=2, metavar="K", help="1, 2 or 3 (2)")
    one.add_argument("--observable", choices=("auto", "correct", "agreement"), help="as in detect")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=_fit)

    one = commands.add_parser("datasets", help="list what is packaged")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=_datasets)

    one = commands.add_parser("demo", help="the main job on the packaged recording")
    one.add_argument("--plot", metavar="FILE", type=Path, default=Path("out/demo.png"))
    one.set_defaults(run=_demo)
    return parser


def _add_log(command: argparse.ArgumentParser, more: str = "") -> None:
    command.add_argument(
        "log",
        metavar="LOG",
        help=f"a CSV or JSON Lines file, also gzip; a recording: {', '.join(_RECORDINGS)}{more}",
    )
    command.add_argument("--format", choices=("auto", *FORMATS), help="(auto)")
    command.add_argument("--unread", choices=("wrong", "absent"), help="(wrong)")
    command.add_argument(
        "--key", action="append", default=[], metavar="COLUMN", help="tells debates apart"
    )
    command.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="is left out"
    )
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME=COLUMN",
        help="the column's name in the file, for example item=question_id",
    )


def _open(arguments: argparse.Namespace) -> DebateLog:
    name: str = arguments.log
    if not Path(name).exists() and name in _RECORDINGS:
        _refuse_options_of_files(arguments)
        return load_recording(name)
    renamed = {}
    for pair in arguments.column:
        known, equals, column = pair.partition("=")
        if not equals or known not in KNOWN:
            names = ", ".join(KNOWN)
            raise ValueError(f"`--column` must be NAME=COLUMN, NAME one of {names}, got {pair!r}")
        renamed[known] = column
    if not Path(name).is_file():
        raise FileNotFoundError(
            f"{name!r} is neither a file nor a packaged recording ({', '.join(_RECORDINGS)})"
        )
    return read_log(
        name,
        format=arguments.format or "auto",
        unread=arguments.unread or "wrong",
        key=arguments.key,
        ignore=arguments.ignore,
        **renamed,
    )


def _refuse_options_of_files(arguments: argparse.Namespace) -> None:
    for name in ("format", "unread", "key", "ignore", "column"):
        if getattr(arguments, name):
            raise ValueError(f"`--{name}` belongs to a file; {arguments.log} is packaged")


_RULES = ("ks", "unanimity", "plurality", "beta", "single")
_OPTIONS = {"epsilon": ("ks",), "space": ("ks",), "patience": ("ks", "plurality")}


def _rule(arguments: argparse.Namespace, log: DebateLog) -> Rule:
    given = {name: getattr(arguments, name) for name in _OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if arguments.rule not in _OPTIONS[name]:
            raise ValueError(
                f"`--{name}` belongs to --rule {' or '.join(_OPTIONS[name])}, got {arguments.rule}"
            )
    if arguments.rule == "ks":
        return KSRule(observable=arguments.observable or "auto", **given)
    if arguments.rule == "plurality":
        return PluralityUnchanged(**given)
    if arguments.rule == "single":
        return single_debate_rule(log.n_agents)
    return Unanimity() if arguments.rule == "unanimity" else BetaPosterior()


def _detect(arguments: argparse.Namespace) -> None:
    log = _open(arguments)
    trace = detect(log, _rule(arguments, log), observable=arguments.observable)
    if arguments.plot is not None:
        _save_picture(trace, arguments.plot)
    if arguments.json:
        _print_json(trace.to_dict())
        return
    _print_trace(trace)
    if arguments.plot is not None:
        print(f"Picture: {arguments.plot}")


def _fit(arguments: argparse.Namespace) -> None:
    if not Path(arguments.log).exists() and arguments.log in _TABLES:
        _refuse_options_of_files(arguments)
        for name in ("round", "observable"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"`--{name}` belongs to a log; {arguments.log} is a count table")
        k, n, freq = load_count_table(arguments.log)
        fitted = fit_mixture(k, n, freq=freq, n_components=arguments.components)
        _print_fit(fitted, arguments.json, {"table": arguments.log})
        return
    log = _open(arguments)
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
        _print_json({**told, **fitted.to_dict()})
        return
    print(", ".join(f"{name} {value}" for name, value in told.items()))
    print(fitted.summary())


def _datasets(arguments: argparse.Namespace) -> None:
    found = list_datasets()
    if arguments.json:
        _print_json([vars(one) for one in found])
        return
    heads = ("name", "kind", "what")
    _print_table(heads, [(one.name, one.kind, one.description) for one in found], text_from=0)


def _demo(arguments: argparse.Namespace) -> None:
    # Said first: the first run compiles the kernels, and must not look as if it hung.
    _say("A recorded debate: five agents, all SmolLM2-135M-Instruct, 72 questions, four rounds.")
    log = load_recording("smollm2")
    trace = detect(log)
    _print_trace(trace)
    unanimity = detect(log, Unanimity())
    _say(f"Unanimity: {unanimity.verdict}")
    flips = ", ".join(f"{row.flip_share:.1%}" for row in trace.rounds[1:])
    _say(
        f"Flip share: the leading answer changed in {flips} of the items at t = 1, 2, 3: answers "
        "still move, whatever D says."
    )
    print()
    _say(
        f"In short: the distance rule stops at t = {trace.stop_round} with a threshold that lies "
        f"inside sampling noise, while unanimity has stopped {unanimity.rounds[-1].stopped} of "
        f"{log.n_items} items and the leading answer still changes in "
        f"{trace.rounds[-1].flip_share:.1%} of them: {log.n_items} items cannot show that this "
        "debate has settled."
    )
    _save_picture(trace, arguments.plot)
    _say(f"Picture: {arguments.plot}")


def _print_trace(trace: StabilityTrace) -> None:
    heads, body = trace.table()
    _print_table(heads, body, text_from=len(heads) - 1)
    print()
    for line in trace.account():
        if line.startswith("Verdict:"):
            print()
        _say(line)


def _say(text: str) -> None:
    """Print a sentence: broken between words on a terminal, in one line everywhere else."""
    console = _console()
    console.print(text, soft_wrap=not console.is_terminal)


def _print_table(heads: Sequence[str], body: Sequence[Sequence[str]], *, text_from: int) -> None:
    """Print a table; the columns before ``text_from`` are figures, set to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, head in enumerate(heads):
        text = place >= text_from
        table.add_column(head, justify="left" if text else "right", overflow="fold")
    for row in body:
        table.add_row(*row)
    _console().print(table)


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False, markup=False)


def _save_picture(trace: StabilityTrace, path: Path) -> None:
    from stability import plots

    path.parent.mkdir(parents=True, exist_ok=True)
    plots.overview(trace).savefig(path, dpi=150)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


if __name__ == "__main__":
    sys.exit(main())
