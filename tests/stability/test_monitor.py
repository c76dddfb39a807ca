import json

import numpy as np
import pytest

from stability.errors import RoundRefusedError
from stability.log.round import SILENT, Round
from stability.monitor import Monitor
from stability.rules import BetaPosterior, MaxRounds, PluralityUnchanged, Unanimity

RULE = Unanimity() | PluralityUnchanged(2) | MaxRounds(4)
ROUNDS = [["A", "B", None], ["B", "A", SILENT], ["A", "B", "B"], ["B", "B", "A"]]


@pytest.mark.parametrize(
    "shape",
    [
        lambda answers: answers,
        lambda answers: [answers],
        lambda answers: np.array([answers], dtype=object),
        lambda answers: Round.from_answers(answers),
    ],
)
def test_a_round_may_come_in_any_form(shape):
    monitor, rule_state = Monitor(RULE), RULE.start(3)
    for answers in ROUNDS:
        rule_state, expected = RULE.step(rule_state, Round.from_answers(answers))
        assert monitor.update(shape(answers)).to_dict() == expected.to_dict()
    assert monitor.decision.to_dict() == expected.to_dict()


@pytest.mark.parametrize("rule", [RULE, BetaPosterior(0.9, pool="all")])
def test_a_monitor_goes_on_from_json(rule):
    whole, parts, before = Monitor(rule), Monitor(rule), None
    for answers in ROUNDS:
        expected = whole.update(answers)
        saved = json.loads(json.dumps(parts.state_dict()))
        parts = Monitor(rule)
        parts.load_state_dict(saved)
        assert (before is None) is (parts.decision is None)
        assert before is None or parts.decision.to_dict() == before
        assert parts.update(answers).to_dict() == expected.to_dict()
        before = expected.to_dict()


def test_a_refused_round_leaves_it_as_it_was():
    monitor = Monitor(RULE)
    monitor.update(ROUNDS[0])
    with pytest.raises(RoundRefusedError):
        monitor.update(["A", "B"])
    assert monitor.decision.round == 0
    assert monitor.update(ROUNDS[1]).round == 1


def test_reset():
    monitor = Monitor(Unanimity(), n_agents=3)
    with pytest.raises(RoundRefusedError, match="2 agents, the rule was started for 3"):
        monitor.update(["A", "A"])
    assert monitor.update(["A", "A", "A"]).stop
    monitor.reset()
    assert monitor.decision is None
    assert not monitor.update(["A", "A", "B"]).stop


def test_the_state_of_another_rule_is_refused():
    saved = Monitor(MaxRounds(3)).state_dict()
    with pytest.raises(ValueError, match="not of"):
        Monitor(MaxRounds(4)).load_state_dict(saved)
    with pytest.raises(ValueError, match="must be a Rule"):
        Monitor("unanimity")
