"""The sweep is a replay of every pair, with the distances taken once."""

import numpy as np
import pytest

from stability.datasets import load_smollm_debates
from stability.errors import NeedsAnswersError, ScopeError
from stability.evaluate.replay import replay
from stability.evaluate.sweep import sweep_ks
from stability.log import DebateLog
from stability.rules import KSRule

EPSILONS, PATIENCES = (0.02, 0.05, 0.08, 0.3), (1, 2, 3)


@pytest.mark.parametrize("space", ["predictive", "latent", "empirical"])
@pytest.mark.parametrize("observable", ["correct", "agreement"])
def test_each_pair_is_a_replay(space, observable):
    log = load_smollm_debates()
    frame = sweep_ks(log, EPSILONS, PATIENCES, space=space, observable=observable)
    assert frame["epsilon"].tolist() == [e for e in EPSILONS for _ in PATIENCES]
    rules = [
        KSRule(epsilon=row.epsilon, patience=row.patience, space=space, observable=observable)
        for row in frame.itertuples()
    ]
    expected = replay(log, rules, resamples=1)
    expected = expected[expected["kind"] == "rule"].reset_index(drop=True)
    for name in ("stop_round", "rounds", "rounds_saved", "answers_changed", "accuracy_change"):
        assert frame[name].equals(expected[name]), name


def test_a_distance_of_exactly_epsilon_is_not_below_it():
    # one of twenty items gains a right agent: the observed D is 1/20
    answers = np.zeros((2, 20, 1), int)
    answers[1, 0] = 1
    log = DebateLog(answers, "AB", gold=["B"] * 20)
    frame = sweep_ks(log, [0.05, 0.0500001], [1], space="empirical")
    assert frame["stop_round"].tolist()[1] == 1
    assert frame["stop_round"].isna().tolist() == [True, False]


def test_rounds_without_a_common_item_do_not_count():
    log = DebateLog([[[0], [-2]], [[-2], [0]], [[-2], [0]]], "A", gold=["A", "A"])
    frame = sweep_ks(log, [0.5], [1, 2], space="empirical")
    assert frame["stop_round"].isna().tolist() == [False, True]
    assert frame["stop_round"][0] == 2


def test_ended_debates_cost_what_they_held():
    log = DebateLog(np.zeros((3, 30, 2), int), "A", carried=np.arange(3)[:, None] >= [1] * 30)
    frame = sweep_ks(log, [0.05], [2])
    assert frame["stop_round"].tolist() == [2]
    assert (frame["rounds"][0], frame["rounds_saved"][0]) == (1.0, 0.0)


def test_one_round_stops_nowhere():
    frame = sweep_ks(load_smollm_debates().select(rounds=1))
    assert frame["stop_round"].isna().all()
    assert (frame["rounds"] == 1).all()


def test_bad_input():
    log = load_smollm_debates()
    with pytest.raises(ValueError, match="epsilons"):
        sweep_ks(log, [0.05, 1.0])
    with pytest.raises(ValueError, match="patiences"):
        sweep_ks(log, [0.05], [0])
    with pytest.raises(ValueError, match="at least one"):
        sweep_ks(log, [], [1])
    with pytest.raises(ValueError, match="space"):
        sweep_ks(log, space="counts")
    with pytest.raises(ScopeError):
        sweep_ks(log.select(items=[0]))
    with pytest.raises(NeedsAnswersError):
        sweep_ks(DebateLog(log.answers, log.labels), observable="correct")
