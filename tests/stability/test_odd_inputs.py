"""Odd inputs at the public doors: one clear ValueError, or the right answer."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from stability import (
    BetaBinomial,
    KSRule,
    MaxRounds,
    Monitor,
    Round,
    Unanimity,
    debate_loop,
    fit_mixture,
    read_log,
    rule_from_dict,
)
from stability.errors import LogFormatError
from stability.fit.result import shapes


@pytest.mark.parametrize(
    "answers",
    [
        {"alice": "A", "bob": "B"},
        {"A", "B"},
        pd.DataFrame([["A", "B"]]),
        ["A", ["B"]],
        np.zeros((2, 2, 2), int),
        [[["A"], "B"]],
    ],
)
def test_what_is_no_table_of_answers_is_refused(answers):
    with pytest.raises(ValueError, match="answer"):
        Round.from_answers(answers)
    with pytest.raises(ValueError, match="answer"):
        Monitor(Unanimity()).update(answers)


@pytest.mark.parametrize(
    "rule", [MaxRounds(np.int64(3)), KSRule(epsilon=np.float32(0.25)), Unanimity(hold=np.int8(1))]
)
def test_numpy_numbers_become_json(rule):
    assert rule_from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize(
    "data", [{"kind": "MaxRounds"}, {"kind": "AnyOf", "rules": 3}, {"kind": "Patience"}, 3, {}]
)
def test_rules_that_cannot_be_rebuilt(data):
    with pytest.raises(ValueError, match=r"rule|parameters"):
        rule_from_dict(data)


def test_masked_counts_are_refused():
    with pytest.raises(ValueError, match="`k` must not hold masked values"):
        fit_mixture(np.ma.array([3, 4], mask=[False, True]), 7)


def test_an_endless_timeout_is_none():
    log, _ = debate_loop(
        [lambda _: "A", lambda _: "A"], Unanimity() | MaxRounds(2), ["q"], timeout=float("inf")
    )
    assert log.answers.shape == (1, 1, 2)


def test_deep_nesting_is_an_error_of_the_file():
    with pytest.raises(LogFormatError, match="line 1: not valid JSON"):
        read_log(io.StringIO("[" * 100_000), format="jsonl")


def test_byte_order_mark_of_a_text_stream():
    text = "\ufeffitem,round,agent,answer\nq,0,a,A\nq,0,b,A\n"
    assert read_log(io.StringIO(text), format="csv").item_ids == ("q",)


def test_em_reports_the_bound_it_reaches():
    k = [0] * 8 + [7] * 12
    fits = [fit_mixture(k, 7, method=method) for method in ("auto", "em")]
    assert fits[0].status.at_bound
    assert fits[1].status.at_bound
    assert fits[1].loglik == pytest.approx(fits[0].loglik, abs=1e-10)


def test_an_item_that_nobody_answered_is_no_second_item():
    assert fit_mixture([0, 3], [0, 7], n_components=1).status == "single item"


def test_one_component_of_very_unequal_items_is_the_higher_of_two_maxima():
    fit = fit_mixture([1, 1], [1, 40], freq=[3, 3], n_components=1)
    em = fit_mixture([1, 1], [1, 40], freq=[3, 3], n_components=1, method="em")
    # by a grid search on the log-likelihood: -11.0268 at mean .4519, rho .5899
    assert fit.loglik == pytest.approx(-11.0268, abs=5e-5)
    assert (fit.mean[0], fit.rho[0]) == pytest.approx((0.4519, 0.5899), abs=5e-5)
    assert em.loglik == pytest.approx(fit.loglik, abs=1e-8)


def test_a_single_cell_and_tiny_correlations_give_no_warning():
    assert BetaBinomial(2, 6).pmf([1], 7).shape == (1,)
    tiny = BetaBinomial.from_mean(0.3, 1e-310)
    assert tiny.pmf(0, 7) == pytest.approx(0.7**7)
    alpha, beta = shapes(np.array([0.3]), np.array([1e-310]))
    assert np.isinf([alpha[0], beta[0]]).all()
