"""Replay the default rules on recorded debates and print the tables.

Run with ``python -m benchmarks.replay_recorded FOLDER [--full]``, FOLDER holding the tidy files
``<source>.csv.gz``. For each source: the table of the replay, then what the vote of round 0 and
the KS rule did; at the end one condensed table, rounds saved and answers changed of every rule by
source, and the published layout of the KS rule. ``--full`` adds the parts of the sources whose
debates differ in the number of agents. Nothing of the debates is kept.
"""

import sys
import time
from pathlib import Path

from stability.cli.console import print_table, say
from stability.evaluate.replay import replay
from stability.evaluate.split import split
from stability.evaluate.tables import account, published_table, table
from stability.log import read_log

# How each source is taken apart: runs where its teams are known by them, else by who spoke.
PARTS = {
    "dylan_mmlu": "run",
    "du_format_forks": "run",
    "madam_rag_ramdocs": "agents",
    "moral_dilemma_pairs": "model",
}
LEAST = 100


def show(name, log):
    start = time.perf_counter()
    frame = replay(log)
    seconds = time.perf_counter() - start
    print()
    say(f"{name}: {log!r}, replayed in {seconds:.2f} s")
    print_table(*table(frame), text=("rule",))
    for line in account(frame):
        if not line.startswith("rounds: "):
            say(line)
    return frame


def condensed(frames):
    """Return saved / changed of each rule by source, in per cent."""
    names = list(dict.fromkeys(rule for frame in frames.values() for rule in frame["rule"]))
    rows = []
    for name in names:
        cells = [name]
        for frame in frames.values():
            row = frame[frame["rule"] == name]
            if len(row) and not row["rounds_saved"].isna().item():
                saved, changed = row["rounds_saved"].item(), row["answers_changed"].item()
                cells.append(f"{100 * saved:.1f} / {100 * changed:.1f}")
            else:
                cells.append("-")
        rows.append(cells)
    return ["rule", *frames], rows


def main(folder, full):
    frames = {}
    for path in sorted(Path(folder).glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        start = time.perf_counter()
        log = read_log(path)
        say(f"{name}: read in {time.perf_counter() - start:.2f} s")
        if name == "cmd_llm_discussion":
            # Its retries are second debates of the questions that failed.
            log = log.select(items=[run == "main" for run in log.keys["run"]])
        frames[name] = show(name, log)
        for part, some in split(log, PARTS[name]).items() if full and name in PARTS else ():
            if some.n_items >= LEAST:
                show(f"{name}, {PARTS[name]} {part}", some)
    print()
    say("Rounds saved / answers changed, in per cent:")
    print_table(*condensed(frames), text=("rule",))
    print()
    say("As published: rounds and accuracy of the full debate and with the rule.")
    found = published_table(frames)
    found = found[found["rule"].str.startswith("KSRule(")]
    print(found.round(2).to_string(index=False))


if __name__ == "__main__":
    main(sys.argv[1], "--full" in sys.argv[2:])
