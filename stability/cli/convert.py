"""``stability convert`` and ``stability inspect``: a file as it was understood, tidy or shown."""

import argparse
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from stability.cli.console import print_json
from stability.cli.source import add_log, open_log
from stability.log import DebateLog
from stability.log.round import SILENT_CODE, UNREAD

_ENDINGS = (".csv", ".csv.gz", ".jsonl", ".parquet")


def add(commands: Any) -> None:
    """Describe both commands to the parser."""
    one = commands.add_parser("convert", help="write a recorded debate as a tidy table")
    add_log(one)
    one.add_argument(
        "-o", "--out", type=Path, required=True, metavar="FILE", help=", ".join(_ENDINGS)
    )
    one.set_defaults(run=_convert)
    other = commands.add_parser("inspect", help="say what a file was understood as")
    add_log(other)
    other.add_argument("--json", action="store_true", help="print JSON")
    other.set_defaults(run=_inspect)


def _convert(arguments: argparse.Namespace) -> None:
    out: Path = arguments.out
    if not out.name.endswith(_ENDINGS):
        raise ValueError(f"`--out` must end in one of {', '.join(_ENDINGS)}, got {out}")
    log = open_log(arguments)
    frame = log.to_frame()
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".parquet":
        frame.astype({"agent": str}).to_parquet(out, index=False)
    elif out.suffix == ".jsonl":
        frame.to_json(out, orient="records", lines=True)
    else:
        frame.to_csv(out, index=False)
    print(f"{repr(log)[10:-1]}: {len(frame)} rows in {out}")


def _inspect(arguments: argparse.Namespace) -> None:
    log = open_log(arguments)
    found = account(log)
    if arguments.json:
        print_json(found)
        return
    print(log.summary())
    print("\nagent                 spoke  unread  labels")
    for row in found["agents"]:
        name = row["agent"][:20]
        print(f"{name:20} {row['spoke']:6} {row['unread']:7} {row['labels']:7}")
    shown = ", ".join(repr(shorten(label, 40)) for label in found["common"])
    print(f"\nlabels: {found['n_labels']}, most often {shown}")
    for sentence in found["suspicious"]:
        print(f"look at: {sentence}")


def account(log: DebateLog) -> dict[str, Any]:
    """Return what a log holds: sizes, agents, labels, and what looks odd.

    Examples
    --------
    >>> found = account(DebateLog([[[0, -1]], [[0, -1]]], ["A"]))
    >>> found["suspicious"]
    ["agent '1' was never read"]
    """
    live = ~log.carried[:, :, None]
    spoke = (log.answers != SILENT_CODE) & live
    unread = (log.answers == UNREAD) & live
    readable = log.answers[(log.answers >= 0) & live]
    often = np.bincount(readable, minlength=len(log.labels))
    agents = [
        {
            "agent": name,
            "spoke": int(spoke[:, :, a].sum()),
            "unread": int(unread[:, :, a].sum()),
            "labels": int(np.unique(log.answers[:, :, a][log.answers[:, :, a] >= 0]).size),
        }
        for a, name in enumerate(log.agent_ids)
    ]
    return {
        "rounds": log.n_rounds,
        "items": log.n_items,
        "agents": agents,
        "graded": log.is_graded,
        "n_labels": len(log.labels),
        "common": [log.labels[place] for place in np.argsort(-often, kind="stable")[:10].tolist()],
        "states": {name: values.tolist() for name, values in log.state_counts().items()},
        "notes": list(log.notes),
        "suspicious": _suspicious(log, agents, often),
    }


def _suspicious(log: DebateLog, agents: list[dict[str, Any]], often: Any) -> list[str]:
    """What a reader should look at before using the log."""
    found = []
    for row in agents:
        if row["spoke"] and row["unread"] == row["spoke"]:
            found.append(f"agent {row['agent']!r} was never read")
        elif row["spoke"] and row["unread"] > row["spoke"] / 2:
            found.append(f"agent {row['agent']!r} was unread in more than half of its answers")
    long = sum(len(label) > 60 for label in log.labels)
    if long:
        found.append(
            f"{long} labels are longer than 60 characters: whole texts, and no labels; give an "
            "extractor"
        )
    elif len(log.labels) > 20 and np.median(often[often > 0]) == 1:
        found.append(f"most of the {len(log.labels)} labels occur once")
    if log.n_rounds == 1:
        found.append("there is one round: nothing was debated")
    if log.is_graded and not (log.correct == 1).any():
        found.append("no answer is right: gold and labels may be written differently")
    return found
