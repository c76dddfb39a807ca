"""Parts of a log: nothing is lost, and the figures of the whole are those of the parts."""

import numpy as np
import pytest

from stability.evaluate.replay import replay
from stability.evaluate.split import split
from stability.log import DebateLog, read_log
from stability.rules import PluralityUnchanged, Unanimity


def test_parts_hold_their_agents():
    # item 0: agents 0, 2; item 1: all three, one of them silent later; item 2: agent 1
    answers = [[[0, -2, 1], [0, 0, 0], [-2, 0, -2]], [[1, -2, 1], [0, -2, 0], [-2, 1, -2]]]
    parts = split(DebateLog(answers, "AB", item_ids=["x", "y", "z"]))
    assert {name: part.item_ids for name, part in parts.items()} == {
        "1": ("z",),
        "2": ("x",),
        "3": ("y",),
    }
    assert {name: part.agent_ids for name, part in parts.items()} == {
        "1": ("1",),
        "2": ("0", "2"),
        "3": ("0", "1", "2"),
    }


def test_numbers_are_in_order():
    answers = np.full((1, 3, 12), -2)
    for item, spoke in enumerate((12, 2, 9)):
        answers[0, item, :spoke] = 0
    assert list(split(DebateLog(answers, "A"))) == ["2", "9", "12"]


def test_a_key_takes_a_log_apart():
    keys = {"run": ["b", "a", "b"], "item": ["1", "1", "2"]}
    parts = split(DebateLog(np.zeros((1, 3, 2), int), "A", keys=keys), by="run")
    assert [(name, part.n_items) for name, part in parts.items()] == [("a", 1), ("b", 2)]
    with pytest.raises(ValueError, match="`by` must be one of agents, run, item, got 'model'"):
        split(DebateLog(np.zeros((1, 3, 2), int), "A", keys=keys), by="model")


def test_debates_in_which_nobody_spoke_keep_their_agents():
    assert split(DebateLog(np.full((1, 2, 3), -2), "A"))["0"].n_agents == 3


@pytest.mark.parametrize("by", ["agents", "run"])
def test_rules_on_the_votes_average_over_parts(recorded, by):
    log = read_log(recorded / "du_format_forks.csv.gz")
    rules = [Unanimity(), PluralityUnchanged()]
    whole = replay(log, rules, resamples=1).set_index("rule")
    frames = [replay(part, rules, resamples=1) for part in split(log, by).values()]
    assert sum(int(frame["items"][0]) for frame in frames) == log.n_items
    for name in ("Unanimity()", "PluralityUnchanged()"):
        for figure in ("rounds", "answers", "answers_changed"):
            sums = sum(
                int(frame["items"][0]) * frame.set_index("rule").loc[name, figure]
                for frame in frames
            )
            assert whole.loc[name, figure] == pytest.approx(sums / log.n_items)
