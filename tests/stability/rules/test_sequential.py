from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.log.round import SILENT, Round
from stability.rules import SPRT, BetaPosterior


def exact(a, b):
    """P(p > 1/2) for p ~ Beta(a + 1, b + 1): a binomial tail, in whole numbers."""
    trials = a + b + 1
    return float(Fraction(sum(comb(trials, k) for k in range(a + 1)), 2**trials))


def statistic(answers, **parameters):
    rule = BetaPosterior(**parameters)
    _, decision = rule.step(rule.start(len(answers)), Round.from_answers(answers))
    return decision.statistic


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 3), st.integers(0, 3))
def test_the_posterior_is_a_binomial_tail(a, b, unread, silent):
    if a + b + unread + silent == 0:
        return
    answers = ["A"] * a + ["B"] * b + [None] * unread + [SILENT] * silent
    assert statistic(answers) == pytest.approx(exact(max(a, b), min(a, b)), rel=1e-12)


def test_many_votes():
    value = statistic(["A"] * 700 + ["B"] * 600)
    assert value == pytest.approx(exact(700, 600), rel=1e-12)
    assert 0.997 < value < 0.998


def test_only_the_two_leading_labels_count():
    assert statistic(["A", "A", "A", "B", "C", "D"]) == pytest.approx(exact(3, 1))


def test_votes_of_all_rounds():
    rule = BetaPosterior(confidence=0.99, pool="all")
    state = rule.start(2)
    for t, (votes, stops) in enumerate([(2, False), (4, False), (6, True)]):
        state, decision = rule.step(state, Round.from_answers(["A", "A"]))
        assert decision.statistic == pytest.approx(exact(votes, 0))
        assert (decision.stop, decision.round) == (stops, t)
    assert decision.reason == "stable"


def test_the_pooled_leader_must_lead_the_round():
    rule = BetaPosterior(confidence=0.75, pool="all")
    state, _ = rule.step(rule.start(5), Round.from_answers(list("AAABB")))
    _, decision = rule.step(state, Round.from_answers(list("ACCDE")))
    assert decision.statistic == pytest.approx(exact(4, 2))
    assert decision.statistic >= rule.confidence
    assert (decision.answer, decision.stop) == ("C", False)
    _, decision = rule.step(state, Round.from_answers(list("AACDE")))
    assert (decision.answer, decision.stop) == ("A", True)


@pytest.mark.parametrize("confidence", [0.4, 1.0, float("nan"), "x"])
def test_confidence_is_checked(confidence):
    with pytest.raises(ValueError, match="`confidence` must"):
        BetaPosterior(confidence=confidence)


def test_pool_is_checked():
    with pytest.raises(ValueError, match="`pool` must be one of round, all, got 'last'"):
        BetaPosterior(pool="last")


UP, DOWN = log(0.8 / 0.5), log(0.2 / 0.5)


def walk(rule, *rounds):
    state = rule.start(len(rounds[0]))
    decisions = []
    for answers in rounds:
        state, decision = rule.step(state, Round.from_answers(list(answers)))
        decisions.append(decision)
    return decisions


def test_ratio_of_two_shares_by_hand():
    first, second = walk(SPRT(), "AAAAB", "AAAAA")
    assert first.statistic == pytest.approx(4 * UP + DOWN)
    assert second.statistic == pytest.approx(9 * UP + DOWN)
    assert first.threshold == pytest.approx(log(18))
    assert (first.stop, second.stop, second.reason) == (False, True, "stable")


def test_a_new_leader_starts_the_test_again():
    *_, last = walk(SPRT(), "AAAAB", "BBBBB")
    assert last.statistic == pytest.approx(5 * UP)
    assert not last.stop


def test_a_weak_leader_is_dropped():
    rule = SPRT(power=0.8, level=0.2)
    first, second, third = walk(rule, "AABCD", "AAAAA", "AAAAA")
    assert first.statistic == pytest.approx(2 * UP + 3 * DOWN)
    assert (first.reason, first.stop) == ("oscillating", False)
    assert second.statistic == pytest.approx(5 * UP)  # from 0, not from the sum before
    assert (second.reason, third.reason) == ("stable", "stable")


@pytest.mark.parametrize(
    ("answers", "ratio"),
    [([None, None], 0.0), ([SILENT, SILENT], 0.0), (["A", None], UP + DOWN), (["A", SILENT], UP)],
)
def test_what_counts_as_a_vote_against(answers, ratio):
    assert walk(SPRT(), answers)[0].statistic == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p0": 0.8, "p1": 0.8}, "`p0` must be < `p1`, got p0=0.8, p1=0.8"),
        ({"level": 0.9, "power": 0.5}, "`level` must be < `power`"),
        ({"p1": 1.0}, "`p1`"),
        ({"level": 0.0}, "`level`"),
    ],
)
def test_sprt_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        SPRT(**parameters)


@pytest.mark.statistical
def test_wald_rates_for_independent_votes():
    """One agent, votes for or against one fixed answer: the errors of the first crossing.

    The rule names the leader itself; here every vote against is unread, so that one answer leads
    as long as one of ten agents gives it. Wald: at most level / power of the weak leaders are
    taken for strong ones, and (1 - power) / (1 - level) of the strong ones are dropped, whatever
    the overshoot. 4,000 runs: the standard error of a share of .11 is .005; four of them.
    """
    rng = np.random.default_rng(1945)
    rule = SPRT(p0=0.5, p1=0.6, level=0.1, power=0.9)
    runs = 4000
    for share, wrong in ((0.5, 1), (0.6, -1)):
        state = rule.start(10)
        fate = np.zeros(runs, np.int8)  # 1 stopped, -1 dropped before that
        for _ in range(60):
            codes = np.where(rng.random((runs, 10)) < share, 0, -1).astype(np.int32)
            state, decision = rule.step(state, Round.from_codes(codes, ("A",)))
            new = fate == 0
            dropped = np.array(decision.reasons) == "oscillating"
            fate[new & decision.stop_items] = 1
            fate[new & dropped] = -1
        assert (fate != 0).mean() > 0.99
        assert 0.02 < (fate == wrong).mean() <= 0.1 / 0.9 + 4 * np.sqrt(0.11 * 0.89 / runs)
