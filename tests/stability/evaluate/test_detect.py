import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.datasets import load_smollm_debates
from stability.errors import NeedsAnswersError, ScopeError
from stability.evaluate import StabilityTrace, detect
from stability.fit import fit_mixture, ks_distance
from stability.log import DebateLog
from stability.rules import (
    KSRule,
    MaxRounds,
    PluralityUnchanged,
    Unanimity,
    single_debate_rule,
)


@pytest.fixture(scope="module")
def smollm():
    return load_smollm_debates()


@pytest.fixture(scope="module")
def trace(smollm):
    return detect(smollm)


def twin(log, t):
    """Share, flips and unanimity of a graded round, counted one by one."""
    shares, flips, same = [], [], []
    winners = log.plurality()
    for i in range(log.n_items):
        spoke = [j for j in range(log.n_agents) if log.answers[t, i, j] != -2]
        shares.append(sum(log.correct[t, i, j] == 1 for j in spoke) / len(spoke))
        flips.append(t > 0 and winners[t, i] != winners[t - 1, i])
        answers = {int(log.answers[t, i, j]) for j in spoke}
        same.append(len(answers) == 1 and min(answers) >= 0)
    return np.mean(shares), np.mean(flips), np.mean(same)


def test_figures_of_the_packaged_debates(smollm, trace):
    assert len(trace.rounds) == len(trace.fits) == len(trace.decisions) == 4
    for t, row in enumerate(trace.rounds):
        share, flips, same = twin(smollm, t)
        assert row.round == t
        assert row.items == row.active == 72
        assert row.share == pytest.approx(share, abs=1e-14)
        assert row.unanimous == pytest.approx(same, abs=1e-14)
        assert t == 0 or row.flip_share == pytest.approx(flips, abs=1e-14)
    first = trace.rounds[0]
    for name in ("predictive", "latent", "empirical", "flip_share"):
        assert np.isnan(getattr(first, name))


def test_empirical_distance_is_that_of_the_histograms(smollm, trace):
    k, _, _ = smollm.correct_counts()
    cdfs = [np.cumsum(np.bincount(row, minlength=6)) for row in k]
    expected = [int(np.abs(b - a).max()) / 72 for a, b in pairwise(cdfs)]
    assert trace.distances["empirical"].tolist() == expected


def test_fits_and_distances_are_those_of_the_public_functions(smollm, trace):
    k, n, _ = smollm.correct_counts()
    fits = [fit_mixture(k[t], n[t]) for t in range(4)]
    for mine, other in zip(trace.fits, fits, strict=True):
        assert mine.loglik == other.loglik
        assert np.array_equal(mine.mean, other.mean)
    for space in ("predictive", "latent"):
        options = {"n": 5} if space == "predictive" else {}
        for t in (1, 2, 3):
            expected = ks_distance(fits[t - 1], fits[t], space=space, **options)
            assert trace.distances[space][t - 1] == expected


@pytest.mark.parametrize("space", ["predictive", "empirical"])
def test_the_rule_measures_the_same(smollm, space):
    rule = KSRule(epsilon=0.1, space=space)
    trace = detect(smollm, rule)
    assert [said.statistic for said in trace.decisions[1 : (trace.stop_round or 3) + 1]] == (
        trace.distances[space][: trace.stop_round or 3].tolist()
    )
    assert trace.stop_round == rule.stop_round(trace.distances[space])


def test_decisions_are_those_of_stepping(smollm):
    rule = Unanimity() | MaxRounds(3)
    trace = detect(smollm, rule)
    state = rule.start(smollm.n_agents)
    for one, said in zip(smollm.rounds(), trace.decisions, strict=True):
        state, expected = rule.step(state, one)
        assert expected.to_dict() == said.to_dict()
    assert trace.stop_round == 2
    # Items that have stopped are no longer asked.
    assert [row.active for row in trace.rounds] == [72, 60, 52, 0]
    assert [row.stopped for row in trace.rounds] == [12, 20, 72, 72]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_log_can_be_measured(data):
    sizes = [data.draw(st.integers(1, high)) for high in (3, 4, 3)]
    count = int(np.prod(sizes))
    codes = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=count, max_size=count)))
    gold = data.draw(st.none() | st.just(["A"] * sizes[1]) | st.just([None] * sizes[1]))
    log = DebateLog(codes.reshape(sizes), "ABC", gold=gold)
    trace = detect(log, PluralityUnchanged() | MaxRounds(2))
    assert trace.stop_round == (1 if sizes[0] > 1 else None) or trace.stop_round == 0
    json.dumps(trace.to_dict(), allow_nan=False)
    assert trace.summary().count("\n") >= sizes[0] + 1
    for row, fit in zip(trace.rounds, trace.fits, strict=True):
        assert (fit is None) == (row.items == 0)
        assert 0 <= row.unanimous <= 1
        for value in (row.predictive, row.latent, row.empirical, row.flip_share):
            assert np.isnan(value) or 0 <= value <= 1
    assert len(trace.to_frame()) == sizes[0]


def test_one_debate_of_one_agent():
    log = DebateLog([[[0]], [[1]], [[1]]], ["A", "B"], gold=["B"])
    trace = detect(log, single_debate_rule(1))
    assert [row.share for row in trace.rounds] == [0.0, 1.0, 1.0]
    assert trace.distances["empirical"].tolist() == [1.0, 0.0]
    assert trace.distances["predictive"].tolist() == pytest.approx([1.0, 0.0], abs=1e-6)


def test_a_batch_rule_refuses_one_debate_and_says_what_to_use():
    with pytest.raises(ScopeError, match="single_debate_rule"):
        detect(DebateLog([[[0, 0]]], ["A"]))


@pytest.mark.parametrize("right", [0, 1])
def test_all_right_and_all_wrong(right):
    log = DebateLog(np.full((3, 30, 4), right), ["A", "B"], gold=["B"] * 30)
    trace = detect(log)
    assert [row.share for row in trace.rounds] == [right] * 3
    for space in ("predictive", "latent", "empirical"):
        assert trace.distances[space].tolist() == [0.0, 0.0]
    assert trace.stop_round == 2


def test_agreement_where_nothing_is_graded(smollm):
    bare = DebateLog(smollm.answers, smollm.labels)
    trace = detect(bare)
    assert (trace.observable, trace.reference) == ("agreement", "current")
    k, n = bare.agreement_counts()
    assert [row.share for row in trace.rounds] == pytest.approx((k / n).mean(axis=1).tolist())
    graded = detect(smollm, KSRule(observable="agreement", reference="first"))
    assert (graded.observable, graded.reference) == ("agreement", "first")
    k, n = smollm.agreement_counts("first")
    assert [row.share for row in graded.rounds] == pytest.approx((k / n).mean(axis=1).tolist())
    assert "agree with the first plurality" in graded.summary()
    with pytest.raises(NeedsAnswersError):
        detect(bare, Unanimity(), observable="correct")


def test_what_is_left_out_is_told():
    # item 0 is never graded, item 1 only in round 1, agent 1 of item 2 is silent in round 1
    answers = [[[0, 0], [0, 0], [0, 0], [0, 1]], [[0, 0], [0, 0], [0, -2], [1, 1]]]
    correct = [[[-1, -1], [-1, -1], [1, 1], [1, 0]], [[-1, -1], [1, 1], [1, -1], [0, 0]]]
    log = DebateLog(answers, ["A", "B"], correct, notes=["read by hand"])
    trace = detect(log, MaxRounds(2))
    assert [row.items for row in trace.rounds] == [2, 3]
    # Only item 3 has the same n in both rounds: it went from one right to none.
    assert trace.rounds[1].empirical == 1.0
    assert trace.rounds[1].excluded == 2
    assert trace.notes == (
        "Items left out of the counts, by round: 2, 1 (they have an answer without a grade).",
        "Items left out of the empirical D, from t = 1: 2 (another n, or counted in one of the two "
        "rounds only).",
        "Answers that are silent, by round: 0, 1 (they reduce n).",
        "At t = 0, 1 the fit lies at a bound of the model, where the latent D can be large "
        "although the counts barely moved.",
        "read by hand",
    )


def test_a_round_without_any_grade_has_no_fit():
    log = DebateLog([[[0, 0]], [[0, 0]]], ["A"], [[[-1, -1]], [[1, 1]]])
    trace = detect(log, MaxRounds(2))
    assert trace.fits[0] is None
    assert trace.fits[1] is not None
    assert np.isnan(trace.distances["predictive"]).all()
    assert np.isnan(trace.distances["empirical"]).all()


def test_carried_debates_and_clusters_are_told():
    keys = {"run": ["1", "2", "1"], "item": ["a", "a", "b"]}
    log = DebateLog(np.zeros((2, 3, 2), int), ["A"], keys=keys, carried=[[0, 0, 0], [0, 1, 1]])
    trace = detect(log, MaxRounds(2))
    assert [row.active for row in trace.rounds] == [3, 1]
    assert "carried forward, by round: 0, 2." in trace.summary()
    assert "The 3 items are runs of 2 questions" in trace.summary()


def test_summary_shows_flips_and_unanimity_beside_d(trace):
    assert isinstance(trace, StabilityTrace)
    text = trace.summary()
    assert text == str(trace)
    lines = text.splitlines()
    for head in ("D_pred", "D_lat", "D_emp", "flips", "unan"):
        assert head in lines[0]
    assert "0.347" in lines[2]
    assert any(line.startswith("Verdict: ") for line in lines)
    assert any("72" in line and "noise" in line for line in lines)


def test_frame_and_arrays(trace):
    frame = trace.to_frame()
    assert frame["round"].tolist() == [0, 1, 2, 3]
    assert frame["empirical"].tolist()[1:] == trace.distances["empirical"].tolist()
    for column in trace.distances.values():
        assert column.shape == (3,)
        assert not column.flags.writeable


@pytest.mark.parametrize("options", [{"observable": "votes"}, {"reference": "last"}])
def test_bad_options(smollm, options):
    with pytest.raises(ValueError, match="must be one of"):
        detect(smollm, MaxRounds(2), **options)


def test_one_is_no_plural():
    trace = detect(DebateLog([[[0, 1]]], ["A", "B"]), Unanimity())
    assert trace.verdict == "Unanimity() did not stop the whole debate in 1 round (running)."
    assert trace.account()[0].startswith("1 item, 2 agents, 1 round; counted:")
    assert repr(trace) == "StabilityTrace(Unanimity(), 1 round, 1 item, stop_round=None)"
    one = detect(DebateLog([[[0]], [[0]]], ["A"]), Unanimity(hold=1))
    assert one.account()[0].startswith("1 item, 1 agent, 2 rounds;")


def test_the_rule_on_changed_answers_stands_beside_every_verdict(smollm):
    trace = detect(smollm)
    assert "FlipRateBelow() does not stop (running); in round 3 at most 30.3 %" in trace.beside[0]
    assert any("FlipRateBelow" in line for line in trace.account())
    assert trace.to_dict()["beside"] == list(trace.beside)
    still = DebateLog([[[0, 0]] * 80] * 4, ["A"])
    assert (
        detect(still, Unanimity())
        .beside[0]
        .startswith("Beside it, FlipRateBelow() stops at t = 1;")
    )
    one = DebateLog([[[0, 0]]] * 2, ["A"])
    assert detect(one, Unanimity()).beside == ()


def test_the_drift_is_extrapolated_in_words():
    wrong = np.arange(400)[:, None] < np.array([200, 80, 30])
    log = DebateLog(wrong.T[:, :, None].astype(int), ["A", "B"], gold=["A"] * 400)
    said = detect(log, KSRule(patience=9)).beside[-1]
    assert "extrapolation, not a bound" in said
