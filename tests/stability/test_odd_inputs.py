"""Odd inputs at the public doors: one clear ValueError, or the right answer."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from stability import (
    BetaBinomial,
    DebateLog,
    KSRule,
    MaxRounds,
    Monitor,
    PluralityUnchanged,
    Round,
    Unanimity,
    debate_loop,
    detect,
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


RULE = Unanimity() | PluralityUnchanged(3) | KSRule(patience=1) | MaxRounds(3)
ARRAY = {"dtype": "int32", "shape": [2, 2], "values": [[0, 1], [5, 0]]}


@pytest.fixture
def saved():
    """The state of a monitor after two rounds, as it comes back from a file."""
    monitor = Monitor(RULE)
    monitor.update([["A", "B"], ["A", "A"]])
    monitor.update([["A", "B"], ["A", "A"]])
    return json.loads(json.dumps(monitor.state_dict()))


DAMAGES = [
    ("n_agents", "2"),
    ("n_agents", 0),
    ("n_items", None),
    ("round", 1.5),
    ("labels", 3),
    ("labels", ["A", 3]),
    ("item_ids", [1, 2]),
    ("item_ids", ["a"]),
    ("codes", None),
    ("codes", [[0, 1], [0, 0]]),
    ("codes", {"dtype": "int32", "shape": [2, 2]}),
    ("codes", {**ARRAY, "shape": [3, 2]}),
    ("codes", {**ARRAY, "dtype": "no such type"}),
    # a code without a label would let the kernels write outside of their arrays
    ("codes", ARRAY),
    ("correct", {"dtype": "int8", "shape": [2], "values": [0, 1]}),
    ("vote", None),
    ("vote", [{"dtype": "int32", "shape": [2], "values": [0, 0]}] * 2),
    ("vote", [{"dtype": "int32", "shape": [2], "values": [7, 0]}] * 3),
    ("stop_rounds", None),
    ("reason_codes", {"dtype": "int8", "shape": [2], "values": [0, 99]}),
    ("memory", None),
    ("memory", [None, None]),
    ("memory", [None, None, 3, None]),
    ("memory", [None, None, {"type": "NoFit", "value": {}}, None]),
    ("memory", [None, None, {"type": "MixtureFit", "value": {}}, None]),
    ("closing", {}),
    ("closing", 3),
]


@pytest.mark.parametrize(("name", "value"), DAMAGES, ids=[f"{n}-{v}"[:40] for n, v in DAMAGES])
def test_a_damaged_state_is_named(saved, name, value):
    assert RULE.state_from_dict(saved["state"]).round == 1
    with pytest.raises(ValueError, match=f"`{name}` of a rule state must") as caught:
        RULE.state_from_dict({**saved["state"], name: value})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("data", [3, None, {}, {"round": 1}])
def test_what_is_no_state_is_refused(data):
    with pytest.raises(ValueError, match="`data` must have the fields"):
        RULE.state_from_dict(data)
    with pytest.raises(ValueError, match="`data` must have the fields"):
        Monitor(RULE).load_state_dict(data)


def test_a_monitor_that_cannot_load_stays_as_it_was(saved):
    monitor = Monitor(RULE)
    for damaged in (
        {**saved, "decision": {}},
        {**saved, "decision": {**saved["decision"], "reasons": ["tired"]}},
        {**saved, "decision": {**saved["decision"], "votes": None}},
        {**saved, "state": {}},
    ):
        with pytest.raises(ValueError, match=r"`data` must|`decision` must be"):
            monitor.load_state_dict(damaged)
        assert monitor.state is None
        assert monitor.decision is None


def test_detect_says_what_it_wants():
    with pytest.raises(TypeError, match="`log` must be a DebateLog, got 3"):
        detect(3)
    with pytest.raises(TypeError, match="`rule` must be a Rule, got 'unanimity'"):
        detect(DebateLog([[[0]]], ["A"]), "unanimity")


@pytest.mark.parametrize(
    ("extract", "message"),
    [
        (lambda text: text.split(":")[1], "IndexError: list index out of range"),
        (lambda text: [text], "ValueError: an answer must be"),
    ],
)
def test_an_extract_that_fails_names_the_row(extract, message):
    text = "item,round,agent,answer\nq,0,a,\nq,0,b,none\n"
    expected = f"line 3: `extract` failed on 'none': {message}"
    with pytest.raises(LogFormatError, match=expected) as caught:
        read_log(io.StringIO(text), format="csv", extract=extract)
    assert caught.value.__context__ is not None


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
