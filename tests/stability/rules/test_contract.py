"""What every rule must do, over random debates: the laws of the step and of composites."""

import json
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stability._kernels.latch import latch
from stability.errors import RoundRefusedError
from stability.log.round import Round
from stability.rules import (
    SPRT,
    AllOf,
    AnyOf,
    BetaPosterior,
    EntropyBelow,
    JensenShannonBelow,
    MaxRounds,
    MinRounds,
    NoAnswerChanged,
    Patience,
    PluralityShare,
    PluralityUnchanged,
    Rule,
    StableMargin,
    Unanimity,
    rule_from_dict,
)
from stability.rules.base import judgement
from stability.rules.decision import STABLE
from stability.rules.seen import look

LABELS = ("A", "B", "C")
QUICK = settings(max_examples=25, deadline=None)

LEAVES = [
    Unanimity(),
    Unanimity(hold=1),
    PluralityUnchanged(),
    PluralityUnchanged(patience=2),
    PluralityShare(threshold=0.6),
    NoAnswerChanged(),
    EntropyBelow(bits=0.95),
    JensenShannonBelow(),
    StableMargin(margin=1, held=2),
    BetaPosterior(confidence=0.8),
    BetaPosterior(confidence=0.95, pool="all"),
    SPRT(power=0.6, level=0.2),
    MaxRounds(3),
    MinRounds(2),
]
leaves = st.sampled_from(LEAVES)
rules = st.recursive(
    leaves,
    lambda inner: (
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1])
        | st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1])
        | st.tuples(inner, st.integers(1, 3)).map(lambda pair: Patience(*pair))
    ),
    max_leaves=4,
)


@st.composite
def debates(draw):
    """Codes (T, M, n): few labels and rows that repeat, so that debates settle."""
    shape = tuple(draw(st.integers(*bounds)) for bounds in ((1, 5), (1, 4), (1, 4)))
    codes = draw(hnp.arrays(np.int32, shape, elements=st.sampled_from([0, 0, 0, 1, 1, 2, -1, -2])))
    calm = draw(hnp.arrays(np.bool_, shape[:2]))
    for t in range(1, shape[0]):
        codes[t, calm[t]] = codes[t - 1, calm[t]]
    return codes


def rounds_of(codes, labels=LABELS):
    return [Round.from_codes(row, labels, index=t) for t, row in enumerate(codes)]


def run(rule, rounds, *, through_json=False):
    """All decisions; with ``through_json`` rule and state are rebuilt at every round."""
    state = rule.start(n_agents=rounds[0].n_agents)
    decisions = []
    for one in rounds:
        state, decision = rule.step(state, one)
        decisions.append(decision)
        if through_json:
            rule = rule_from_dict(json.loads(json.dumps(rule.to_dict())))
            state = rule.state_from_dict(json.loads(json.dumps(state.to_dict())))
    return decisions


def stops(rule, codes):
    """The round in which each item stops, -1 for never."""
    return run(rule, rounds_of(codes))[-1].stop_rounds


def unlatched(rule, codes):
    """What the rule says of each item in each round, (T, M), when nothing is latched."""
    state = rule.start(codes.shape[2])
    memory, said = state.memory, []
    for one in rounds_of(codes):
        memory, judged = rule._judge(memory, look(state, one)[0])
        said.append(judged.stop)
        # The state moves on under a rule that never stops, so no row is carried.
        state, _ = MaxRounds(10**6).step(state, one)
    return np.array(said)


def first(says):
    return np.where(says.any(0), says.argmax(0), -1)


@QUICK
@given(rules, debates())
def test_a_rule_in_json_at_every_round_says_the_same(rule, codes):
    plain = run(rule, rounds_of(codes))
    rebuilt = run(rule, rounds_of(codes), through_json=True)
    assert [d.to_dict() for d in plain] == [d.to_dict() for d in rebuilt]
    assert rule_from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@QUICK
@given(rules, debates())
def test_the_root_latches_the_first_stop_of_each_item(rule, codes):
    decisions = run(rule, rounds_of(codes))
    # Carried rows do not change what an item rule says before the item stops.
    np.testing.assert_array_equal(decisions[-1].stop_rounds, first(unlatched(rule, codes)))
    for before, after in pairwise(decisions):
        assert (after.stop_items >= before.stop_items).all()
        held = before.stop_items
        assert after.answers[held].tolist() == before.answers[held].tolist()
        assert after.support[held].tolist() == before.support[held].tolist()
        old, new = np.array(before.reasons), np.array(after.reasons)
        assert (old[held] == new[held]).all()
        assert after.stop == after.stop_items.all()


@QUICK
@given(rules, rules, debates())
def test_either_stops_at_the_earlier_and_both_at_the_first_common_round(a, b, codes):
    first_a, first_b = stops(a, codes), stops(b, codes)
    never = len(codes)
    earlier = np.minimum(
        np.where(first_a < 0, never, first_a), np.where(first_b < 0, never, first_b)
    )
    np.testing.assert_array_equal(stops(a | b, codes), np.where(earlier == never, -1, earlier))
    common = first(unlatched(a, codes) & unlatched(b, codes))
    np.testing.assert_array_equal(stops(a & b, codes), common)
    np.testing.assert_array_equal(stops(b & a, codes), common)


@QUICK
@given(rules, rules, rules, debates())
def test_grouping_does_not_matter(a, b, c, codes):
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)
    np.testing.assert_array_equal(stops(a & (b | c), codes), stops((a & b) | (a & c), codes))


@QUICK
@given(rules, st.integers(1, 4), debates())
def test_patience_waits_for_m_in_a_row(rule, m, codes):
    says = unlatched(rule, codes)
    rows = np.array(
        [says[max(t - m + 1, 0) : t + 1].all(0) & (t >= m - 1) for t in range(len(codes))]
    )
    np.testing.assert_array_equal(stops(Patience(rule, m), codes), first(rows))


@QUICK
@given(st.integers(0, 3), debates())
def test_two_ways_to_wait(m, codes):
    # A leading answer that stays while all agree is the same answer.
    held = Patience(Unanimity(), m + 1) & Patience(PluralityUnchanged(), m) if m else Unanimity()
    np.testing.assert_array_equal(stops(Unanimity(hold=m), codes), stops(held, codes))
    np.testing.assert_array_equal(
        stops(PluralityUnchanged(m + 1), codes), stops(Patience(PluralityUnchanged(), m + 1), codes)
    )


@QUICK
@given(rules, debates(), st.randoms(use_true_random=False))
def test_reordered_items_give_reordered_decisions(rule, codes, random):
    order = list(range(codes.shape[1]))
    random.shuffle(order)
    plain, moved = run(rule, rounds_of(codes)), run(rule, rounds_of(codes[:, order]))
    for one, other in zip(plain, moved, strict=True):
        assert other.stop_items.tolist() == one.stop_items[order].tolist()
        assert other.answers.tolist() == one.answers[order].tolist()
        assert other.support.tolist() == one.support[order].tolist()
        assert [other.reasons[i] for i in range(len(order))] == [one.reasons[i] for i in order]
        assert (other.reason, other.statistic) == (one.reason, one.statistic)


@QUICK
@given(rules, debates(), st.permutations(range(3)))
def test_renamed_labels_give_renamed_answers(rule, codes, names):
    table = np.array([*names, -2, -1], np.int32)
    renamed = {LABELS[a]: LABELS[b] for a, b in enumerate(names)} | {None: None}
    plain, other = run(rule, rounds_of(codes)), run(rule, rounds_of(table[codes]))
    for one, two in zip(plain, other, strict=True):
        assert [renamed[answer] for answer in one.answers] == two.answers.tolist()
        assert one.stop_items.tolist() == two.stop_items.tolist()
        assert (one.statistic, one.support.tolist()) == (two.statistic, two.support.tolist())


@QUICK
@given(rules, debates(), st.lists(st.permutations(["A", "B", "C", "D"]), min_size=5, max_size=5))
def test_the_order_of_the_labels_in_a_round_does_not_matter(rule, codes, orders):
    shuffled = []
    for t, row in enumerate(codes):
        table = np.array([*(orders[t].index(label) for label in LABELS), -2, -1], np.int32)
        shuffled.append(Round.from_codes(table[row], tuple(orders[t]), index=t))
    plain, other = run(rule, rounds_of(codes)), run(rule, shuffled)
    assert [d.to_dict() for d in plain] == [d.to_dict() for d in other]


@QUICK
@given(rules, debates())
def test_what_stopped_items_say_later_does_not_matter(rule, codes):
    rounds = rounds_of(codes)
    state, other = rule.start(codes.shape[2]), rule.start(codes.shape[2])
    for t, one in enumerate(rounds):
        row = codes[t].copy()
        if t and state.stop_rounds is not None:
            row[state.stop_rounds >= 0] = -2
        state, decision = rule.step(state, one)
        other, silent = rule.step(other, Round.from_codes(row, LABELS, index=t))
        assert decision.to_dict() == silent.to_dict()


@QUICK
@given(rules, debates())
def test_step_changes_nothing_it_was_given(rule, codes):
    rounds = rounds_of(codes)
    state = rule.start(codes.shape[2])
    for one in rounds:
        before = json.dumps(state.to_dict())
        after, decision = rule.step(state, one)
        _, again = rule.step(state, one)
        assert decision.to_dict() == again.to_dict()
        assert json.dumps(state.to_dict()) == before
        state = after


@QUICK
@given(rules)
def test_latest_stop_is_a_promise(rule):
    end = rule.latest_stop
    if end is None:
        return
    # Three agents that never agree, and change their minds in every round.
    codes = np.array([[[0, 1, 2]], [[1, 2, 0]], [[2, 0, 1]]] * 8, np.int32)
    assert end < len(codes)
    says = unlatched(rule, codes)
    assert says[end:].all()


@pytest.mark.parametrize("rule", [*LEAVES, LEAVES[0] | LEAVES[6], LEAVES[0] & LEAVES[7]])
def test_rules_are_frozen_final_and_hashable(rule):
    assert is_dataclass(rule)
    name = fields(rule)[0].name
    with pytest.raises(AttributeError):
        setattr(rule, name, 1)
    assert len({rule, rule_from_dict(rule.to_dict())}) == 1
    with pytest.raises(TypeError, match="final"):
        type("Other", (type(rule),), {})


def test_a_user_may_write_a_rule():
    @dataclass(frozen=True)
    class NobodySpoke(Rule):
        times: int = 1
        scope = "item"
        latest_stop = None

        def _begin(self, n_agents):
            return ("seen", n_agents, 0.5, False, None)

        def _judge(self, memory, seen):
            return memory, judgement(seen.spoke == 0, STABLE, "Nobody spoke.")

    rule = NobodySpoke() | MaxRounds(9)
    decisions = run(rule, rounds_of(np.array([[[0]], [[-2]]], np.int32)), through_json=True)
    assert [d.stop for d in decisions] == [False, True]
    assert decisions[-1].certifies == "Nobody spoke."
    with pytest.raises(TypeError, match="there is a rule named"):
        type("NobodySpoke", (Rule,), {})
    with pytest.raises(TypeError, match="abstract"):
        Rule()


@QUICK
@given(
    hnp.arrays(np.bool_, 5),
    hnp.arrays(np.int8, 5, elements=st.integers(0, 5)),
    hnp.arrays(np.int32, 5, elements=st.integers(-1, 3)),
    hnp.arrays(np.int8, 5, elements=st.integers(0, 5)),
)
def test_latch_is_its_twin(says_stop, says, old_rounds, old_codes):
    arrays = says_stop, says, old_rounds, old_codes
    for array in arrays:
        array.setflags(write=False)
    rounds, codes, stopped = np.empty(5, np.int32), np.empty(5, np.int8), np.empty(5, np.bool_)
    got = latch(says_stop, says, 4, old_rounds, old_codes, rounds, codes, stopped)
    running = old_rounds < 0
    np.testing.assert_array_equal(rounds, np.where(running & says_stop, 4, old_rounds))
    np.testing.assert_array_equal(codes, np.where(running, says, old_codes))
    np.testing.assert_array_equal(stopped, rounds >= 0)
    last = codes[rounds == rounds.max()].min() if stopped.any() else -1
    assert got == (stopped.sum(), last, codes[~stopped].max(initial=-1))


# What a step refuses.

FIRST = Round.from_answers([["A", "B"], ["B", "B"]], index=0, item_ids=["x", "y"])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (Round.from_answers([["A", "B"], ["B", "B"]], index=0), "repeats"),
        (Round.from_answers([["A", "B"], ["B", "B"]], index=2), "skips"),
        (Round.from_answers([["A", "B"]], index=1), "1 items, the debate has 2"),
        (Round.from_answers([["A"], ["B"]]), "1 agents, the rule was started for 2"),
        (Round.from_answers([["A", "B"]] * 2, item_ids=["x", "z"]), "item 1 is 'z', it was 'y'"),
        (Round.from_answers([["A", "B"]] * 2, correct=[[1, 0]] * 2), "has grades"),
        (Round.from_counts([1, 2], 2), "holds counts, the rounds before it held answers"),
    ],
)
def test_a_round_that_cannot_follow_is_refused(second, message):
    rule = Unanimity()
    state, _ = rule.step(rule.start(2), FIRST)
    with pytest.raises(RoundRefusedError, match=message):
        rule.step(state, second)
    # The state is as before: the right round still follows.
    after, decision = rule.step(state, Round.from_answers([["A", "A"], ["B", "B"]], index=1))
    assert (after.round, decision.stop) == (1, True)


def test_counts_and_grades_must_not_come_and_go():
    rule = MaxRounds(5)
    state, _ = rule.step(rule.start(7), Round.from_counts([1, 2], 7))
    with pytest.raises(RoundRefusedError, match="holds answers"):
        rule.step(state, Round.from_answers([["A"] * 7] * 2))
    with pytest.raises(RoundRefusedError, match="counts up to 8 agents"):
        rule.step(state, Round.from_counts([1, 2], 8))
    state, _ = rule.step(rule.start(1), Round.from_answers(["A"], correct=[1]))
    with pytest.raises(RoundRefusedError, match="has no grades"):
        rule.step(state, Round.from_answers(["A"]))


def test_the_first_round_is_round_0():
    rule = MaxRounds(5)
    with pytest.raises(RoundRefusedError, match="the next one is t = 0"):
        rule.step(rule.start(1), Round.from_answers(["A"], index=1))
    with pytest.raises(RoundRefusedError, match="3 items"):
        rule.step(rule.start(1, n_items=2), Round.from_answers([["A"]] * 3))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"kind": "KSrule"}, "must be one of"),
        ({"rounds": 3}, "must be one of"),
        ({"kind": "MaxRounds", "round": 3}, "MaxRounds has the parameters"),
        ({"kind": "MaxRounds", "rounds": 0}, "`rounds`"),
        ({"kind": "AnyOf", "rules": [{"kind": "MaxRounds", "rounds": 3}]}, "two rules"),
        (3, "must be one of"),
    ],
)
def test_what_is_not_a_rule_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        rule_from_dict(data)


def test_what_is_not_a_state_is_refused():
    rule = MaxRounds(3)
    data = rule.start(3).to_dict()
    data["rounds"] = data.pop("round")
    with pytest.raises(ValueError, match=r"missing \['round'\], unknown \['rounds'\]"):
        rule.state_from_dict(data)


def test_only_rules_combine():
    with pytest.raises(TypeError):
        MaxRounds(3) | 3
    with pytest.raises(TypeError):
        MaxRounds(3) & None
    for make in (AnyOf, AllOf):
        with pytest.raises(ValueError, match="must hold rules"):
            make((MaxRounds(3), "x"))
    with pytest.raises(ValueError, match="must be a Rule"):
        Patience("x", 1)
