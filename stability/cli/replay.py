"""``stability replay``: what rules would have saved on recorded debates, and what changed."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stability.cli.console import print_json, print_table, save_picture, say
from stability.cli.source import add_log, open_logs
from stability.evaluate.replay import replay
from stability.evaluate.split import split
from stability.evaluate.sweep import sweep_ks
from stability.evaluate.tables import account, condensed, published_table, table
from stability.log import DebateLog
from stability.rules import rule_from_text

if TYPE_CHECKING:
    import pandas as pd


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser(
        "replay", help="what stopping rules would have saved and changed on recorded debates"
    )
    add_log(one, many=True)
    one.add_argument(
        "--rule",
        action="append",
        metavar="RULE",
        help="a rule as Python writes it, 'Unanimity() | MaxRounds(4)'; may be repeated "
        "(a set of all kinds)",
    )
    one.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="the debates with this value of a key, of the logs that have some",
    )
    one.add_argument(
        "--by", metavar="KEY", help="a table a part: a key of the log, or `agents`, their number"
    )
    one.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")
    one.add_argument(
        "--published", action="store_true", help="also in the layout of the published table"
    )
    one.add_argument(
        "--plot", metavar="FILE", type=Path, help="draw rounds spent against answers changed"
    )
    one.add_argument(
        "--heat", metavar="FILE", type=Path, help="draw KSRule for epsilon against patience"
    )
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Do it."""
    rules = None if arguments.rule is None else [rule_from_text(text) for text in arguments.rule]
    logs: dict[str, DebateLog] = {}
    for name, log in _only(open_logs(arguments), arguments.only).items():
        if arguments.by is None:
            logs[name] = log
        else:
            parts = split(log, arguments.by)
            logs |= {f"{name}, {arguments.by} {key}": part for key, part in parts.items()}
    frames = {}
    for name, log in logs.items():
        frames[name] = replay(log, rules, seed=arguments.seed)
        if not arguments.json:
            _print(name, log, frames[name])
        for draw, path in ((_frontier, arguments.plot), (_heat, arguments.heat)):
            if path is not None:
                own = path if len(logs) == 1 else path.with_stem(f"{path.stem}-{_slug(name)}")
                draw(name, log, frames[name], own)
                if not arguments.json:
                    print(f"Picture: {own}")
    if arguments.json:
        print_json({name: _plain(frame) for name, frame in frames.items()})
        return
    if len(frames) > 1:
        print()
        say("Rounds saved / answers changed, in per cent:")
        print_table(*condensed(frames), text=("rule",))
    if arguments.published:
        print()
        found = published_table(frames)
        say("As published: rounds and accuracy of the full debate and with the rule.")
        body = [[_cell(value) for value in row] for row in found.astype(object).values.tolist()]
        print_table([str(name).replace("_", " ") for name in found], body, text=("log", "rule"))


def _only(logs: dict[str, DebateLog], pairs: list[str]) -> dict[str, DebateLog]:
    """Keep the debates with these values; a log in which none has the value is kept whole."""
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"`--only` must be KEY=VALUE, got {pair!r}")
        here = {name for name, log in logs.items() if value in log.keys.get(key, ())}
        if not here:
            raise ValueError(f"`--only` must name a value that some debate has, got {pair!r}")
        for name in here:
            logs[name] = logs[name].select(items=[own == value for own in logs[name].keys[key]])
    return logs


def _print(name: str, log: DebateLog, frame: "pd.DataFrame") -> None:
    print()
    say(f"{name}: {log!r}")
    print_table(*table(frame), text=("rule",))
    for line in account(frame):
        say(line)
    ended = int(log.carried.any(axis=0).sum())
    if ended:
        say(
            f"{ended} debates ended before the last round of the log and are counted in their own "
            "length; what they would have said later is not known."
        )


def _frontier(name: str, log: DebateLog, frame: "pd.DataFrame", path: Path) -> None:  # noqa: ARG001
    from stability import plots

    title = f"{name}: below the line a rule beats a fixed length"
    save_picture(plots.frontier(frame, title=title).figure, path)


def _heat(name: str, log: DebateLog, frame: "pd.DataFrame", path: Path) -> None:  # noqa: ARG001
    from stability import plots

    title = f"{name}: rounds held, and what that changes (–: does not stop)"
    save_picture(plots.heat_map(sweep_ks(log), title=title).figure, path)


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)


def _plain(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
