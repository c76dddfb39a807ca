"""The rules on the votes of one item: values by hand, and plain twins over random debates."""

from itertools import pairwise
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import entropy

from stability.errors import NeedsAnswersError
from stability.log.round import SILENT, Round
from stability.rules import (
    EntropyBelow,
    JensenShannonBelow,
    NoAnswerChanged,
    PluralityShare,
    PluralityUnchanged,
    StableMargin,
    Unanimity,
)

QUICK = settings(max_examples=60, deadline=None)
LABELS = ("A", "B", "C", "D")
RULES = (
    PluralityShare(),
    NoAnswerChanged(),
    EntropyBelow(0.8),
    JensenShannonBelow(),
    StableMargin(2, 2),
)
row = st.integers(1, 6).flatmap(
    lambda n: hnp.arrays(np.int32, (3, n), elements=st.sampled_from([0, 0, 1, 1, 2, 3, -1, -2]))
)


def feed(rule, *rounds):
    state = rule.start(len(rounds[0]))
    for answers in rounds:
        state, decision = rule.step(state, Round.from_answers(answers))
    return decision


def over(rule, codes):
    state = rule.start(codes.shape[1])
    decisions = []
    for one in codes:
        state, decision = rule.step(state, Round.from_codes(one[None], LABELS))
        decisions.append(decision)
    return decisions


def shares(codes, extra):
    """Votes by label; each unread answer is a label of its own, ``extra`` of the other round."""
    votes = [int((codes == label).sum()) for label in range(len(LABELS))]
    unread = int((codes == -1).sum())
    mine, others = [1] * unread, [0] * extra[1]
    return np.array([*votes, *(mine + others if extra[0] else others + mine)], float)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_counts_alone_are_not_enough(rule):
    with pytest.raises(NeedsAnswersError, match=f"{type(rule).__name__} needs the answers"):
        rule.step(rule.start(3), Round.from_counts([1, 2], 3))


@pytest.mark.parametrize(
    ("threshold", "answers", "stops"),
    [
        (0.8, ["A"] * 4 + ["B"], True),
        (0.8, ["A"] * 3 + ["B", SILENT], False),
        (0.8, ["A"] * 4 + [None], True),
        (0.6, ["A"] * 3 + ["B", "B"], True),  # 3/5 against .6, which is no binary number
        (0.7, ["A"] * 7 + ["B"] * 3, True),
        (0.29, [*"AAAAAAAAAAAAAAAAAAAAAAAAAAAAA", *map(str, range(71))], True),  # 29 of 100
        (1.0, ["A", "A", SILENT], True),
        (1.0, ["A", "A", None], False),
        (0.01, [None, None], False),
        (0.01, [SILENT], False),
    ],
)
def test_share_is_compared_in_its_decimals(threshold, answers, stops):
    assert feed(PluralityShare(threshold), answers).stop is stops


def test_full_share_is_unanimity():
    for answers in (["A", "A"], ["A", None], ["A", SILENT], [None, None], ["A", "B"]):
        assert feed(PluralityShare(1.0), answers).stop is feed(Unanimity(), answers).stop


@pytest.mark.parametrize(
    ("rounds", "stops"),
    [
        ([["A", "B"]], False),
        ([["A", "B"], ["A", "B"]], True),
        ([["A", "B"], ["B", "A"]], False),
        ([["A", None], ["A", None]], False),
        ([["A", SILENT], ["A", SILENT]], True),
        ([["A", SILENT], ["A", "A"]], False),
        ([[SILENT, SILENT], [SILENT, SILENT]], False),
    ],
)
def test_no_answer_changed(rounds, stops):
    assert feed(NoAnswerChanged(), *rounds).stop is stops


def test_no_answer_changed_is_patient():
    a, b = ["A", "B"], ["B", "B"]
    assert not feed(NoAnswerChanged(2), a, a).stop
    assert feed(NoAnswerChanged(2), a, a, a).stop
    assert not feed(NoAnswerChanged(2), a, a, b, b).stop
    assert feed(NoAnswerChanged(2), a, a, b, b, b).stop


@pytest.mark.parametrize(
    ("answers", "bits"),
    [
        (["A", "A"], 0.0),
        (["A", "B"], 1.0),
        (["A", "A", "A", "A", "B"], -0.8 * log2(0.8) - 0.2 * log2(0.2)),
        (["A", "B", "C", "D"], 2.0),
        (["A", "A", None, None], 1.5),  # shares .5, .25, .25
        (["A", "A", SILENT], 0.0),
    ],
)
def test_entropy_by_hand(answers, bits):
    decision = feed(EntropyBelow(0.5), answers)
    assert decision.statistic == pytest.approx(bits, abs=1e-12)
    assert decision.stop is (bits < 0.5)


def test_entropy_is_compared_strictly():
    assert not feed(EntropyBelow(1.0), ["A", "B"]).stop
    assert feed(EntropyBelow(np.nextafter(1.0, 2)), ["A", "B"]).stop


@pytest.mark.parametrize("rule", [EntropyBelow(9.0), JensenShannonBelow(9.0)])
def test_nothing_readable_is_not_agreement(rule):
    decision = feed(rule, [None, SILENT], [None, SILENT])
    assert (decision.stop, decision.statistic) == (False, None)


@pytest.mark.parametrize(
    ("before", "after", "bits", "stops"),
    [
        ("AAABB", "AAABB", 0.0, True),
        ("AAABB", "ABABA", 0.0, True),  # others hold the answers, the shares stay
        ("AAABB", "AABBB", 0.0290, False),  # the leader changed
        ("AAAAB", "AAABB", 0.03485, True),
        ("AAAAB", "AAAAA", 0.1080, False),
        ("AAA", "BBB", 1.0, False),
    ],
)
def test_divergence_by_hand(before, after, bits, stops):
    decision = feed(JensenShannonBelow(), list(before), list(after))
    assert decision.statistic == pytest.approx(bits, abs=5e-5)
    assert decision.stop is stops
    assert not feed(JensenShannonBelow(), list(before)).stop


@pytest.mark.parametrize(
    ("margin", "held", "rounds", "stops"),
    [
        (1, 1, ["AAB"], True),
        (2, 1, ["AAB"], False),
        (2, 1, ["AAAB"], True),
        (1, 1, ["AABB"], False),  # a tie has no margin
        (1, 2, ["AAB"], False),
        (1, 2, ["AAB", "AAB"], True),
        (2, 2, ["AABB", "AAAB"], True),  # the tie already led
        (1, 2, ["AAB", "ABB"], False),
        (1, 2, ["AAB", "ABB", "ABB"], True),
        (3, 2, ["AAA", "AAA"], True),
    ],
)
def test_margin_and_run_length(margin, held, rounds, stops):
    assert feed(StableMargin(margin, held), *map(list, rounds)).stop is stops


def test_a_run_of_leaders_breaks_where_nobody_could_be_read():
    rule = StableMargin(1, 2)
    assert not feed(rule, ["A", "A"], [None, None], ["A", "A"]).stop
    assert feed(rule, ["A", "A"], [None, None], ["A", "A"], ["A", "A"]).stop


@QUICK
@given(row, st.sampled_from([0.1, 0.4, 0.5, 0.6, 2 / 3, 0.75, 1.0]))
def test_share_and_entropy_against_twins(codes, threshold):
    for one, said, spread in zip(
        codes,
        over(PluralityShare(threshold), codes[:1]),
        over(EntropyBelow(0.9), codes[:1]),
        strict=False,
    ):
        spoke = int((one != -2).sum())
        votes = [int((one == label).sum()) for label in range(4)]
        reached = max(votes) > 0 and max(votes) / spoke >= threshold - 1e-9
        assert said.stop is reached
        if max(votes) == 0:
            assert spread.statistic is None
            continue
        expected = entropy(shares(one, (True, 0)) / spoke, base=2)
        assert spread.statistic == pytest.approx(expected, abs=1e-12)
        if abs(expected - 0.9) > 1e-9:
            assert spread.stop is bool(expected < 0.9)


@QUICK
@given(row)
def test_divergence_against_scipy(codes):
    before, after = codes[:2]
    decision = over(JensenShannonBelow(2.0), codes[:2])[-1]
    if (before >= 0).sum() == 0 or (after >= 0).sum() == 0:
        assert (decision.statistic, decision.stop) == (None, False)
        return
    lost, new = int((before == -1).sum()), int((after == -1).sum())
    p = shares(before, (True, new))
    q = shares(after, (False, lost))
    p, q = p / p.sum(), q / q.sum()
    mean = (p + q) / 2
    expected = entropy(mean, base=2) - entropy(p, base=2) / 2 - entropy(q, base=2) / 2
    assert decision.statistic == pytest.approx(expected, abs=1e-12)
    assert 0 <= decision.statistic <= 1
    assert decision.stop is over(PluralityUnchanged(), codes[:2])[-1].stop


@QUICK
@given(row)
def test_same_answers_against_a_twin(codes):
    said = over(NoAnswerChanged(), codes)
    expected = [
        bool((b == a).all() and (a != -1).all() and (a != -2).any()) for b, a in pairwise(codes)
    ]
    latched = np.logical_or.accumulate(np.array(expected))
    assert [d.stop for d in said] == [False, *latched.tolist()]


@QUICK
@given(row)
def test_nothing_changed_implies_every_weaker_settling(codes):
    """No answer changed, so neither did the leader, and the shares are those before."""
    if over(NoAnswerChanged(), codes[:2])[-1].stop and (codes[1] >= 0).any():
        assert over(PluralityUnchanged(), codes[:2])[-1].stop
        assert over(JensenShannonBelow(1e-9), codes[:2])[-1].stop


@QUICK
@given(row, st.integers(1, 4), st.integers(1, 3))
def test_a_larger_margin_or_a_longer_run_never_stops_earlier(codes, margin, held):
    def stop(rule):
        when = over(rule, codes)[-1].stop_rounds[0]
        return len(codes) if when < 0 else when

    now = stop(StableMargin(margin, held))
    assert now <= stop(StableMargin(margin + 1, held))
    assert now <= stop(StableMargin(margin, held + 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PluralityShare(0.0), r"`threshold` must lie in \(0"),
        (lambda: PluralityShare(1.2), "`threshold`"),
        (lambda: NoAnswerChanged(0), "`patience` must be"),
        (lambda: EntropyBelow(0.0), "`bits`"),
        (lambda: EntropyBelow(float("nan")), "`bits`"),
        (lambda: JensenShannonBelow(-1), "`bits`"),
        (lambda: StableMargin(0, 1), "`margin` must be"),
        (lambda: StableMargin(1, 0), "`held` must be"),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()
