from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.log.round import SILENT, Round
from stability.rules import BetaPosterior


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
