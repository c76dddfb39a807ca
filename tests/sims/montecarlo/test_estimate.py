"""Estimates against exact chains: means, errors, coverage, pairs, control variates."""

import numpy as np
import pytest
from scipy.stats import binom

import sims.montecarlo.estimate as module
from sims import Panel, Scenario, estimate, simulate
from theory import CountChain, DebateModel, DiversityPruning

MODEL = DebateModel.binary(7, 0.6, 0.75)
CHAIN = CountChain(MODEL)


def right(found):
    return found.counts[:, -1, 0] / 7


def majority(found):
    return found.counts[:, -1, 0] > 3


def test_it_is_the_plain_mean_of_all_debates():
    found = estimate(right, MODEL, rounds=3, debates=40_000, seed=2)
    values = right(simulate(MODEL, debates=40_000, rounds=3, seed=2))
    assert found.mean == pytest.approx(values.mean(), abs=1e-14)
    assert found.standard_error == pytest.approx(values.std(ddof=1) / 200, rel=1e-12)
    assert (found.interval, found.debates, found.reached) == ("student", 40_000, True)
    assert found.plain_error == found.standard_error


def test_digits_survive_a_large_offset():
    found = estimate(lambda one: 1e9 + right(one), MODEL, rounds=2, debates=20_000)
    plain = estimate(right, MODEL, rounds=2, debates=20_000)
    assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-6)


COVERED = {
    "student": (right, {}, CHAIN.accuracy(3)),
    "clopper-pearson": (majority, {}, CHAIN.majority_accuracy(3)),
    "control": (majority, {"control": True}, CHAIN.majority_accuracy(3)),
    "anytime": (majority, {"error": 0.003}, CHAIN.majority_accuracy(3)),
    "anytime (many draws)": (right, {"error": 0.002}, CHAIN.accuracy(3)),
    "bounded": (right, {"error": 0.002, "bounds": (0.0, 1.0)}, CHAIN.accuracy(3)),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", COVERED)
def test_intervals_cover(name, monkeypatch):
    """300 seeds at .90: too few are covered once in 10^6 cases (or, for fixed n, too many)."""
    monkeypatch.setattr(module, "_BATCH", 2048)
    measure, options, exact = COVERED[name]
    options = {"debates": 4000} | ({"debates": 200_000} if "error" in options else {}) | options
    covered = sum(
        found.low <= exact <= found.high
        for seed in range(300)
        for found in [estimate(measure, MODEL, rounds=4, seed=seed, confidence=0.9, **options)]
    )
    assert covered >= binom.ppf(1e-6, 300, 0.9)
    if "error" not in options:
        assert covered <= binom.ppf(1 - 1e-6, 300, 0.9)


def test_a_wrong_mean_is_not_covered():
    found = estimate(right, MODEL, rounds=4, debates=200_000)
    assert not found.low <= CHAIN.accuracy(0) <= found.high


def test_it_stops_at_its_error_or_says_that_it_did_not():
    soon = estimate(right, MODEL, rounds=4, debates=10**7, error=0.002)
    assert soon.reached
    assert soon.standard_error <= 0.002
    assert soon.debates < 10**6
    late = estimate(right, MODEL, rounds=4, debates=5000, error=1e-6)
    assert (late.reached, late.debates) == (False, 5000)
    assert "not reached" in str(late)


def test_pairs_share_their_draws():
    other = DebateModel.binary(7, 0.61, 0.75)
    found = estimate(right, other, against=MODEL, rounds=4, debates=40_000)
    alone = estimate(right, MODEL, rounds=4, debates=40_000)
    exact = CountChain(other).accuracy(3) - CHAIN.accuracy(3)
    assert abs(found.mean - exact) < 5 * found.standard_error
    assert found.standard_error < alone.standard_error / 2
    same = estimate(majority, MODEL, against=MODEL, rounds=4, debates=1000)
    assert (same.mean, same.standard_error, same.interval) == (0.0, 0.0, "student")
    panels = estimate(
        right, Panel(drift=0.1), against=Panel(), rounds=4, debates=40_000, record="counts"
    )
    assert abs(panels.mean - 0.1 * (1 - 0.9**3)) < 5 * panels.standard_error


def test_a_view_is_compared_with_none():
    found = estimate(
        right, MODEL.with_(view=DiversityPruning(3)), against=MODEL, rounds=4, debates=40_000
    )
    exact = CountChain(MODEL.with_(view=DiversityPruning(3))).accuracy(3) - CHAIN.accuracy(3)
    assert abs(found.mean - exact) < 5 * found.standard_error


def test_controls_leave_what_the_chain_does_not_know():
    known = estimate(right, MODEL, rounds=4, debates=20_000, control=True)
    assert known.mean == pytest.approx(CHAIN.accuracy(3), abs=1e-9)
    assert known.standard_error < 1e-6
    vote = estimate(majority, MODEL, rounds=4, debates=20_000, control=True)
    assert vote.standard_error < vote.plain_error / 1.5
    assert abs(vote.mean - CHAIN.majority_accuracy(3)) < 5 * vote.standard_error
    sticky = Scenario(MODEL, stickiness=0.2)
    held = estimate(right, sticky, rounds=2, debates=20_000, control=True)
    assert held.standard_error < held.plain_error / 2
    # an agent keeps its answer in a fifth of the cases
    exact = 0.2 * CHAIN.accuracy(0) + 0.8 * CHAIN.accuracy(1)
    assert abs(held.mean - exact) < 5 * held.standard_error
    panel = estimate(right, Panel(), rounds=2, debates=20_000, control=True)
    assert panel.mean == pytest.approx(Panel().accuracy(1), abs=1e-9)


def test_answers_and_sums_can_be_measured():
    def kept(found):
        return (found.answers[:, 0] == found.answers[:, 1]).mean(axis=1)

    found = estimate(kept, Panel(stickiness=0.5), rounds=2, debates=2000, record="answers")
    assert 0.5 < found.mean < 1


def test_one_batch_more_or_less_changes_nothing(monkeypatch):
    whole = estimate(right, MODEL, rounds=2, debates=5000)
    monkeypatch.setattr(module, "_BATCH", 999)
    parts = estimate(right, MODEL, rounds=2, debates=5000)
    assert parts.mean == pytest.approx(whole.mean, abs=1e-14)
    assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"debates": 1}, "`debates` must be a whole number >= 2, got 1"),
        ({"error": 0}, "`error` must lie in \\(0, inf\\), got 0"),
        ({"error": float("nan")}, "`error`"),
        ({"confidence": 1.0}, r"`confidence` must lie in \(0, 1\), got 1.0"),
        ({"bounds": (1, 0)}, "`bounds` must be"),
        ({"bounds": (0.0, 0.5)}, "`bounds` .* must hold the measure"),
        ({"bounds": (0.0, 1.0), "control": True}, "`bounds` must be None"),
        ({"measure": lambda _: 1.0}, "`measure` must return a number for every debate"),
        ({"measure": lambda found: found.right / 0.0}, "`measure` must return"),
        ({"measure": lambda found: right(found) * np.nan}, "`measure` must return finite"),
        ({"rounds": 0}, "`rounds`"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refusals(options, said):
    options = {"measure": right, "rounds": 2, "debates": 100} | options
    with pytest.raises(ValueError, match=said):
        estimate(options.pop("measure"), MODEL, **options)


@pytest.mark.statistical
def test_controls_over_few_debates_cover_or_are_refused():
    """Four rounds need 50 debates; at 50 the intervals cover, 400 seeds at .95 down to 90 %.

    A share that covers in .95 falls below .90 in 400 with probability 10^-5.
    """
    with pytest.raises(ValueError, match="`debates` must be >= 50 with control=True over 4 rounds"):
        estimate(majority, MODEL, rounds=4, debates=49, control=True)
    exact = CHAIN.majority_accuracy(3)
    covered = sum(
        found.low <= exact <= found.high
        for seed in range(400)
        for found in [estimate(majority, MODEL, rounds=4, debates=50, seed=seed, control=True)]
    )
    assert covered / 400 > 0.90


def test_a_measure_is_a_share_only_where_it_says_so():
    def rare(found):
        return 1000.0 * (found.counts[:, -1, 0] == -1)

    found = estimate(rare, MODEL, rounds=2, debates=40_000, error=0.5)
    # nothing was seen, which is not that nothing happens
    assert (found.mean, found.reached, found.debates) == (0.0, False, 40_000)
    assert found.interval == "anytime (many draws)"
    share = estimate(lambda one: rare(one) / 1000, MODEL, rounds=2, debates=500, bounds=(0, 1))
    assert share.interval == "clopper-pearson"
    assert estimate(lambda one: rare(one) > 0, MODEL, rounds=2, debates=500).high > 0
