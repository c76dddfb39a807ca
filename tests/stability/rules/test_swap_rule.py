"""The rule that stops when a swap test does not reject."""

import json

import numpy as np
import pytest

from stability.errors import NeedsAnswersError, ScopeError
from stability.fit.swap import swap_test
from stability.log.round import SILENT, Round
from stability.rules import KSRule, SwapTest, rule_from_dict


def run(rule, rounds):
    state = rule.start(n_agents=max(one.n_agents for one in rounds))
    decisions = []
    for one in rounds:
        state, decision = rule.step(state, one)
        decisions.append(decision)
        rule = rule_from_dict(json.loads(json.dumps(rule.to_dict())))
        state = rule.state_from_dict(json.loads(json.dumps(state.to_dict())))
    return decisions


def rounds(rows, n=7):
    return [Round.from_counts(row, n) for row in rows]


@pytest.mark.parametrize("statistic", ["D", "mean"])
def test_p_is_that_of_the_function(statistic):
    rng = np.random.default_rng(0)
    rows = [rng.binomial(7, p, 60) for p in (0.4, 0.6, 0.6)]
    rule = SwapTest(statistic=statistic)
    first, second, third = run(rule, rounds(rows))
    assert (first.statistic, first.stop) == (None, False)
    # the random bits of a step depend on the round, those of the function on 0
    assert second.statistic == pytest.approx(
        swap_test(rows[0], rows[1], statistic=statistic), abs=0.02
    )
    assert second.statistic <= 0.05
    assert not second.stop
    assert third.stop is (third.statistic > 0.05)


def test_the_step_is_pure():
    rng = np.random.default_rng(1)
    rows = rounds([rng.binomial(7, 0.5, 200) for _ in range(3)])
    assert [d.to_dict() for d in run(SwapTest(), rows)] == [
        d.to_dict() for d in run(SwapTest(), rows)
    ]


def test_few_items_give_an_exact_p():
    said = run(SwapTest(statistic="mean"), rounds([[0] * 6, [7] * 6]))[-1]
    assert said.statistic == 2 / 2**6
    assert not said.stop


def test_no_evidence_of_change_is_said_to_be_no_evidence_of_rest():
    said = run(SwapTest(), rounds([[3, 4], [3, 4]]))[-1]
    assert (said.stop, said.statistic) == (True, 1.0)
    assert "no evidence that there was none" in said.certifies


def test_items_that_cannot_be_compared_are_told():
    first = Round.from_answers([["A", "A"], ["A", "B"]], correct=[[1, 1], [1, 0]])
    second = Round.from_answers([["A", SILENT], ["A", "B"]], correct=[[1, -1], [1, 0]])
    said = run(SwapTest(), [first, second])[-1]
    assert "1 items whose number of agents changed are not compared." in said.warnings
    nobody = Round.from_answers([[SILENT] * 2] * 2, correct=[[-1, -1]] * 2)
    said = run(SwapTest(), [first, nobody])[-1]
    assert (said.stop, said.statistic) == (False, None)
    assert any("no item in common" in text for text in said.warnings)


@pytest.mark.parametrize("reference", ["current", "first", "previous"])
def test_agreement_counts_as_in_the_distance_rule(reference):
    rng = np.random.default_rng(2)
    log = [Round.from_codes(rng.integers(0, 3, (40, 5)).astype(np.int32), "ABC") for _ in range(3)]
    test = run(SwapTest(reference=reference), log)
    ks = run(KSRule(epsilon="calibrated", reference=reference, patience=1), log)
    for a, b in zip(test[1:], ks[1:], strict=True):
        assert (a.statistic <= 0.05) == (b.statistic > b.threshold)


def test_grades_are_needed_for_correct_only():
    plain = Round.from_answers([["A", "B"], ["A", "A"]])
    with pytest.raises(NeedsAnswersError, match=r"SwapTest\(observable='correct'\) needs graded"):
        run(SwapTest(observable="correct"), [plain])
    with pytest.raises(ScopeError, match="SwapTest"):
        SwapTest().start(3, n_items=1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"statistic": "median"}, "`statistic`"),
        ({"level": 0.0}, "`level`"),
        ({"permutations": 0}, "`permutations`"),
        ({"permutations": 9}, "`permutations` must be >= 1/level - 1"),
        ({"seed": -1}, "`seed`"),
        ({"observable": "right"}, "`observable`"),
        ({"reference": "last"}, "`reference`"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        SwapTest(**parameters)
