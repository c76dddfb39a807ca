"""The states of recorded debates and what became of them: worked by hand, and on recordings."""

import math

import numpy as np
import pytest

from stability import DebateLog, load_smollm_debates, read_log
from stability.evaluate.outlook import LEVELS, outlook, outlook_by_source

A, B, UNREAD, SILENT = 0, 1, -1, -2


def rows(table, *columns):
    return [tuple(row) for row in table[list(columns)].astype(object).itertuples(index=False)]


def test_each_state_is_counted_once_a_round():
    # one debate of five agents: 3-2 for A, then 4-1 for A (held), then all B: ended differently
    rounds = [[[A, A, A, B, B]], [[A, A, A, A, B]], [[B] * 5]]
    table = outlook_by_source({"one": DebateLog(rounds, ["A", "B"])})
    assert rows(table, "n", "level", "leader", "states", "changed") == [
        (5, "four fifths", "held", 1, 1),
        (5, "majority", "new", 1, 1),
    ]


@pytest.mark.parametrize(
    ("answers", "level"),
    [
        ([A] * 5, "unanimous"),
        ([A, A, A, A, B], "four fifths"),
        ([A, A, A, A, UNREAD], "four fifths"),
        ([A, A, A, SILENT, SILENT], "unanimous"),
        ([A, A, A, UNREAD, B], "majority"),
        ([A, A, SILENT, B, B], "less"),
        ([A, A, UNREAD, B, B], "less"),
    ],
)
def test_levels(answers, level):
    table = outlook_by_source({"one": DebateLog([[answers], [[A] * 5]], ["A", "B"])})
    spoke = sum(answer != SILENT for answer in answers)
    assert rows(table, "n", "level", "states", "changed") == [(spoke, level, 1, 0)]


def test_levels_are_those_of_exact_shares():
    for n in range(1, 21):
        for votes in range(1, n + 1):
            states = [[[A] * votes + [UNREAD] * (n - votes)], [[A] * n]]
            (row,) = rows(outlook_by_source({"one": DebateLog(states, ["A"])}), "level")
            expected = next(
                name
                for name, reached in zip(
                    LEVELS, (votes == n, votes / n >= 0.8, votes / n > 0.5, True), strict=True
                )
                if reached
            )
            assert row == (expected,)


def test_rounds_without_a_leader_and_ended_debates_are_left_out():
    rounds = [[[UNREAD], [A]], [[A], [A]], [[A], [A]]]
    carried = [[False, False], [False, False], [False, True]]
    table = outlook_by_source({"one": DebateLog(rounds, ["A"], carried=carried)})
    # debate 0: nothing at t = 0, a new leader at t = 1; debate 1 had ended
    assert rows(table, "leader", "states", "changed") == [("new", 1, 0)]


def test_a_range_is_over_sources_with_enough_states():
    def source(changed, debates):
        first = [[A, A, A]] * debates
        last = [[B, B, B]] * changed + [[A, A, A]] * (debates - changed)
        return DebateLog([first, last], ["A", "B"])

    logs = {"x": source(1, 20), "y": source(0, 40), "z": source(5, 5)}
    table = outlook(logs)
    names = ("n", "sources", "states", "lowest", "highest", "left_out")
    assert rows(table, *names) == [("3+", 2, 60, 0.0, 0.05, 1)]
    assert rows(outlook(logs, least=5), *names) == [("3+", 3, 65, 0.0, 1.0, 0)]
    (row,) = rows(outlook(logs, least=100), *names)
    assert row[1:3] == (0, 0)
    assert math.isnan(row[3])


def test_counts_add_up():
    log = load_smollm_debates()
    table = outlook_by_source({"s": log})
    winner = log.plurality()
    readable = winner[:-1] >= 0
    assert table["states"].sum() == readable.sum()
    assert table["changed"].sum() == ((winner[:-1] != winner[-1]) & readable).sum()
    assert np.allclose(table["share"], table["changed"] / table["states"])


@pytest.mark.parametrize("logs", [{}, None, {"x": 3}, [load_smollm_debates()]])
def test_logs_are_checked(logs):
    with pytest.raises(ValueError, match="`logs` must"):
        outlook(logs)


def test_debates_of_one_round_are_refused():
    with pytest.raises(ValueError, match="'x' has 1 rounds"):
        outlook({"x": DebateLog([[[A]]], ["A"])})
    with pytest.raises(ValueError, match="readable answer before the last round: 'x' has none"):
        outlook({"x": DebateLog([[[-1, -2]], [[A, A]]], ["A"])})
    with pytest.raises(ValueError, match="`least` must be >= 1"):
        outlook({"x": load_smollm_debates()}, least=0)


def test_two_agents_leave_agreement_again_and_more_agents_hardly(recorded):
    names = ("moral_dilemma_pairs", "diversity_mmlu_5round", "diverse_minds_arithmetic")
    logs = {name: read_log(recorded / f"{name}.csv.gz") for name in names}
    table = outlook(logs).set_index(["n", "level", "leader"])["highest"]
    assert 0.14 < table["2", "unanimous", "new"] < 0.17
    assert 0.03 < table["2", "unanimous", "held"] < 0.06
    assert table["3+", "unanimous", "new"] < 0.02
