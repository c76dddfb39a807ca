import numpy as np
import pytest

from stability.errors import NeedsAnswersError
from stability.log.round import SILENT, Round
from stability.rules import (
    MaxRounds,
    MinRounds,
    Patience,
    PluralityUnchanged,
    Unanimity,
    single_debate_rule,
)


def feed(rule, *rounds):
    state = rule.start(len(rounds[0]) if isinstance(rounds[0], list) else rounds[0].n_agents)
    for answers in rounds:
        one = answers if isinstance(answers, Round) else Round.from_answers(answers)
        state, decision = rule.step(state, one)
    return decision


@pytest.mark.parametrize(
    ("answers", "stops"),
    [
        (["A", "A", "A"], True),
        (["A", "A", "B"], False),
        (["A", "A", None], False),
        (["A", "A", SILENT], True),
        (["A", SILENT, SILENT], True),
        ([SILENT, SILENT, SILENT], False),
        ([None, None, None], False),
        (["A"], True),
    ],
)
def test_unanimity(answers, stops):
    decision = feed(Unanimity(), answers)
    assert decision.stop is stops
    assert decision.reason == ("consensus" if stops else "running")
    assert (decision.certifies == "No item has stopped yet, so nothing is certified.") is not stops


def test_held_unanimity_needs_the_same_answer():
    a, b = ["A", "A"], ["B", "B"]
    assert not feed(Unanimity(hold=1), a).stop
    assert feed(Unanimity(hold=1), a, a).stop
    assert not feed(Unanimity(hold=1), a, b).stop
    assert feed(Unanimity(hold=1), a, b, b).stop
    assert not feed(Unanimity(hold=1), a, ["A", "B"], a).stop
    assert feed(Unanimity(hold=1), a, a).statistic == 1.0


def test_a_tie_keeps_the_former_plurality():
    rule = PluralityUnchanged()
    decision = feed(rule, ["B", "B", "A", "A"], ["A", "A", "B", "B"])
    assert (decision.stop, decision.answer, decision.reason) == (True, "B", "stable")
    decision = feed(rule, ["A", "A", "B"], ["B", "B", "A"])
    assert (decision.stop, decision.answer) == (False, "B")
    assert decision.support.tolist() == [2 / 3]


def test_no_readable_answer_is_no_plurality():
    decision = feed(PluralityUnchanged(), [None, None], [None, SILENT])
    assert (decision.stop, decision.answer, decision.support.tolist()) == (False, None, [0.0])


def test_patience_of_the_plurality():
    a, b = ["A"], ["B"]
    assert [feed(PluralityUnchanged(2), *rounds).stop for rounds in ([a], [a, a], [a, a, a])] == [
        False,
        False,
        True,
    ]
    assert not feed(PluralityUnchanged(2), a, a, b, b).stop


@pytest.mark.parametrize("rule", [Unanimity(), Unanimity(hold=1), PluralityUnchanged()])
def test_counts_alone_are_not_enough(rule):
    with pytest.raises(NeedsAnswersError, match=f"{type(rule).__name__} needs the answers"):
        feed(rule, Round.from_counts([3, 7], 7))


def test_limits_take_counts():
    decision = feed(MaxRounds(1), Round.from_counts([3, 6], [7, 6]))
    assert (decision.stop, decision.reason, decision.round) == (True, "cap_reached", 0)
    assert decision.answers.tolist() == [None, None]
    assert np.isnan(decision.support).all()
    assert decision.to_dict()["support"] is None


def test_max_rounds_10_stops_at_t_9():
    rule = MaxRounds(10)
    state = rule.start(1)
    for t in range(10):
        state, decision = rule.step(state, Round.from_answers(["A"]))
        assert decision.stop is (t == 9)
    assert decision.reason == "cap_reached"
    assert "nothing" in decision.certifies


def test_reasons_of_composites():
    same, other = ["A", "A"], ["A", "B"]
    # Where a rule and the cap stop an item together, the rule's reason counts.
    assert feed(MaxRounds(1) | Unanimity(), same).reason == "consensus"
    assert feed(MaxRounds(1) | Unanimity(), other).reason == "cap_reached"
    assert feed(MinRounds(1) & Unanimity(), same).reason == "consensus"
    assert feed(MinRounds(2) & Unanimity(), same).reason == "running"
    assert feed(Patience(Unanimity(), 2), same).reason == "running"
    assert feed(Patience(Unanimity(), 2), same, same).reason == "consensus"
    # Two items: the batch has the reason of the item that stopped last, the weakest first.
    rule = Unanimity() | MaxRounds(2)
    early = feed(rule, Round.from_answers([same, other]), Round.from_answers([other, same]))
    assert (early.reason, [str(r) for r in early.reasons]) == ("consensus", ["consensus"] * 2)
    late = feed(rule, Round.from_answers([same, other]), Round.from_answers([other, other]))
    assert (late.reason, [str(r) for r in late.reasons]) == (
        "cap_reached",
        ["consensus", "cap_reached"],
    )
    assert late.stop_rounds.tolist() == [0, 1]
    assert late.answers.tolist() == ["A", "A"]


def test_the_words_of_a_composite_are_those_of_the_rule_that_stopped():
    rule = Unanimity() | MaxRounds(2)
    assert feed(rule, ["A", "A"]).certifies == feed(Unanimity(), ["A", "A"]).certifies
    capped = feed(rule, ["A", "B"], ["A", "B"])
    assert capped.certifies == "The cap of 2 rounds is reached, which certifies nothing."
    # One sentence, however many rules.
    assert feed(rule & MinRounds(1), ["A", "A"]).certifies.count(".") == 1


def test_the_decision_of_the_end_is_repeated():
    rule = Unanimity() | MaxRounds(3)
    end = feed(rule, ["A", "A"]).to_dict()
    later = feed(rule, ["A", "A"], ["B", "B"], [SILENT, SILENT]).to_dict()
    assert later == end | {"round": 2, "flip_share": 0.0}


@pytest.mark.parametrize(
    ("n_agents", "rounds", "stop"),
    [
        (3, [["A", "A", "B"], ["A", "A", "A"]], 1),
        (7, [["A"] * 7], 0),
        (2, [["A", "A"]] * 4, 2),
        (2, [["A", "B"], *[["A", "A"]] * 6], 4),
        (1, [["A"]] * 4, 2),
        (1, [["A"], ["B"], ["A"]] * 3, 7),
        (3, [["A", "B", "C"]] * 9, 7),
    ],
)
def test_single_debate_rule(n_agents, rounds, stop):
    rule = single_debate_rule(n_agents)
    assert rule.scope == "item"
    assert rule.latest_stop == 7
    assert int(feed(rule, *rounds).stop_rounds[0]) == stop


@pytest.mark.parametrize(
    "make",
    [
        lambda: Unanimity(hold=-1),
        lambda: Unanimity(hold=True),
        lambda: PluralityUnchanged(0),
        lambda: MaxRounds(0),
        lambda: MinRounds(1.5),
        lambda: Patience(Unanimity(), 0),
        lambda: single_debate_rule(0),
        lambda: single_debate_rule(3, max_rounds=0),
    ],
)
def test_parameters_are_checked(make):
    with pytest.raises(ValueError, match="must be"):
        make()


def test_a_decision_in_words():
    text = str(feed(Unanimity() | MaxRounds(9), ["A", "A", "B"], ["A", "A", "A"]))
    assert text == (
        "t=1: consensus, 1 of 1 stopped, statistic 1 against 1. All agents that spoke gave one "
        "answer; consensus is not correctness."
    )
    with pytest.raises(ValueError, match="this decision is about 2 items: read `answers`"):
        _ = feed(Unanimity(), Round.from_answers([["A"], ["B"]])).answer
