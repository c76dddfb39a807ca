"""The rule on the share of answers that changed: its limit, its decision, its error."""

import numpy as np
import pytest
from scipy.stats import binom

from stability.errors import NeedsAnswersError, ScopeError
from stability.fit.share import upper_limit
from stability.log.round import Round
from stability.rules import FlipRateBelow


def flipped(items, changed, rule=None, unread=0):
    """Two rounds of ``items`` unanimous pairs of which ``changed`` change their answer."""
    rule = FlipRateBelow() if rule is None else rule
    first = [["A", "A"]] * items
    second = [["B", "B"]] * changed + [[None, None]] * unread
    second += [["A", "A"]] * (items - changed - unread)
    state = rule.start(2)
    for answers in (first, second):
        state, decision = rule.step(state, Round.from_answers(answers))
    return decision


@pytest.mark.parametrize(
    ("items", "changed", "stop", "reason"),
    [
        (58, 0, False, "undecidable"),
        (59, 0, True, "stable"),
        (92, 1, False, "running"),
        (93, 1, True, "stable"),
        (124, 2, True, "stable"),
        (124, 3, False, "running"),
    ],
)
def test_items_needed(items, changed, stop, reason):
    """59, 93 and 124 items with 0, 1 and 2 changes, as for one certificate at .05."""
    decision = flipped(items, changed)
    assert (decision.stop, decision.reason) == (stop, reason)
    assert decision.statistic == upper_limit(changed, items, 0.95)
    assert bool(decision.warnings) is (reason == "undecidable")


def test_an_unreadable_vote_counts_as_changed():
    assert flipped(100, 1, unread=1).statistic == upper_limit(2, 100, 0.95)


def test_the_first_round_decides_nothing():
    rule = FlipRateBelow()
    _, decision = rule.step(rule.start(1), Round.from_answers([["A"]] * 100))
    assert (decision.stop, decision.statistic, decision.reason) == (False, None, "running")


def test_mirrored_counts_are_seen():
    """The counts of round 1 mirror those of round 0: the folded distribution is unmoved."""
    rounds = [
        [["A"] * k + ["B"] * (5 - k) for k in ks]
        for ks in ([4] * 77 + [1] * 23, [1] * 77 + [4] * 23)
    ]
    rule = FlipRateBelow()
    state = rule.start(5)
    for answers in rounds:
        state, decision = rule.step(state, Round.from_answers(answers))
    assert (decision.stop, decision.statistic) == (False, 1.0)


def test_one_item_or_counts_alone_are_refused():
    rule = FlipRateBelow()
    with pytest.raises(ScopeError, match="FlipRateBelow"):
        rule.start(3, n_items=1)
    with pytest.raises(NeedsAnswersError, match="FlipRateBelow needs the answers"):
        rule.step(rule.start(3), Round.from_counts([1, 2], 3))


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, float("nan")])
def test_parameters_out_of_range(bad):
    for name in ("share", "confidence"):
        with pytest.raises(ValueError, match=f"`{name}`"):
            FlipRateBelow(**{name: bad})


@pytest.mark.parametrize("items", [60, 100, 237, 1000])
def test_error_at_the_margin_is_exact(items):
    """At a true share of .05 the chance to stop, summed exactly, is at most .05."""
    stops = [x for x in range(items + 1) if upper_limit(x, items, 0.95) < 0.05]
    assert stops == list(range(len(stops)))
    assert stops
    size = binom.cdf(stops[-1], items, 0.05)
    assert 0 < size <= 0.05
    assert binom.cdf(stops[-1] + 1, items, 0.05) > 0.05  # and no larger region would do
    assert np.isfinite(size)
