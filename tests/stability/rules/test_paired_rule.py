"""Equivalence of the mean share: the floor of the variance, looks, size and power."""

import json
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm, skew
from statsmodels.stats.weightstats import ttost_paired

from stability._kernels.paired import paired_sums
from stability.errors import NeedsAnswersError, ScopeError
from stability.fit.share import upper_limit
from stability.log.round import Round
from stability.rules import PairedEquivalence, rule_from_dict
from stability.rules.paired import least_items, p_value

ONE = PairedEquivalence(lag=1, looks=1)


def run(rule, rows, n=7):
    state = rule.start(n_agents=n)
    decisions = []
    for row in rows:
        state, decision = rule.step(state, Round.from_counts(row, n))
        decisions.append(decision)
        rule = rule_from_dict(json.loads(json.dumps(rule.to_dict())))
        state = rule.state_from_dict(json.loads(json.dumps(state.to_dict())))
    return decisions


def sums(d):
    return len(d), int((d != 0).sum()), (d.sum(), (d**2).sum(), (d**3).sum())


def model(rng, items, stick, lag=1, change=0.0, n=7):
    easy = rng.random(items) < 0.65
    p = np.where(easy, rng.beta(8, 2, items), rng.beta(2, 5, items))[:, None]
    first = rng.random((items, n)) < p
    kept = rng.random((items, n)) < stick**lag
    second = np.where(kept, first, rng.random((items, n)) < p)
    second &= rng.random((items, n)) >= change / 0.62
    return second.mean(1) - first.mean(1)


def test_sums_twin():
    rng = np.random.default_rng(0)
    n, n_old = rng.integers(0, 6, 80), rng.integers(0, 6, 80)
    k, k_old = rng.integers(0, n + 1), rng.integers(0, n_old + 1)
    used, used_old = rng.random(80) < 0.9, rng.random(80) < 0.9
    both = used & used_old & (n > 0) & (n_old > 0)
    d = k[both] / n[both] - k_old[both] / n_old[both]
    items, changed, *found = paired_sums(k, n, used, k_old, n_old, used_old)
    assert (items, changed) == (both.sum(), (np.abs(d) > 1e-12).sum())
    assert found == pytest.approx([d.sum(), (d**2).sum(), (d**3).sum()])


def test_symmetric_changes_have_the_p_of_two_one_sided_tests():
    """Where the skewness is 0 and the floor does not bind, as in statsmodels, normal for t."""
    d = np.repeat([1, -1, 2, -2, 0], 60) / 7 + 0.0
    d = np.concatenate([d, [1 / 7, -1 / 7]])
    found = p_value(*sums(d), 0.02, 0.05)
    p, *_ = ttost_paired(d, np.zeros_like(d), -0.02, 0.02)
    floor = upper_limit(sums(d)[1], len(d), 0.95) * (d**2).sum() / sums(d)[1]
    widened = sqrt(floor / d.var(ddof=1))
    assert widened > 1  # a little: the limit of the share lies above the share
    assert found == pytest.approx(norm.sf(norm.isf(p) / widened), rel=0.04)


def test_skewness_towards_the_margin_raises_p():
    rng = np.random.default_rng(1)
    d = np.where(rng.random(400) < 0.01, -1.0, rng.choice([-1, 0, 1], 400) / 7)
    assert skew(d) < -2
    m = len(d)
    floor = upper_limit(sums(d)[1], m, 0.95) * (d**2).sum() / sums(d)[1]
    t = (0.02 + d.mean()) / sqrt(max(d.var(ddof=1), floor) / m)
    expected = norm.sf(t) - skew(d) * (2 * t * t + 1) * norm.pdf(t) / 6 / sqrt(m)
    assert p_value(*sums(d), 0.02, 0.05) == pytest.approx(expected)
    assert p_value(*sums(-d), 0.02, 0.05) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rule", "least"),
    [
        (ONE, 149),
        (PairedEquivalence(), 245),
        (PairedEquivalence(lag=3, max_rounds=10, looks=7), 245),
        (PairedEquivalence(delta=0.05, looks=1), 59),
    ],
)
def test_items_below_which_nothing_is_decided(rule, least):
    assert rule.least == least
    still = [[7] * (least - 1)] * (rule.lag + 1)
    said = run(rule, still)[-1]
    assert (said.stop, said.reason) == (False, "undecidable")
    assert f"{least} are needed" in said.warnings[-1]
    assert run(rule, [[7] * least] * (rule.lag + 1))[-1].stop


def test_looks_are_spent():
    rule = PairedEquivalence(lag=2, max_rounds=4, delta=0.05)
    moving = [[7 - t % 2] * 300 for t in range(6)]
    rows = [np.where(np.arange(300) < 40 * t, 7, 0) for t in range(4)] + [moving[0]] * 4
    said = run(rule, rows)
    assert rule.n_looks == 2
    assert [d.statistic is None for d in said[:3]] == [True, True, False]
    assert said[2].threshold == pytest.approx(0.025)
    assert not said[-1].stop  # nothing moved any more, but the level is spent
    assert said[-1].statistic < 1e-3
    assert "are spent" in said[-1].warnings[0]


def test_the_comparison_is_over_the_lag():
    rng = np.random.default_rng(2)
    rows = [rng.binomial(7, 0.5, 300) for _ in range(5)]
    said = run(PairedEquivalence(lag=3, looks=1), rows)
    for t in (3, 4):
        d = rows[t] / 7 - rows[t - 3] / 7
        assert said[t].statistic == pytest.approx(p_value(*sums(d), 0.02, 0.05))


def test_what_it_needs():
    plain = Round.from_answers([["A", "B"]] * 200)
    rule = PairedEquivalence(observable="correct")
    with pytest.raises(NeedsAnswersError, match=r"PairedEquivalence\(observable='correct'\) needs"):
        rule.step(rule.start(2), plain)
    with pytest.raises(ScopeError, match="PairedEquivalence"):
        ONE.start(3, n_items=1)
    for reference in ("current", "first", "previous"):
        agreeing = PairedEquivalence(lag=1, looks=1, reference=reference)
        state = agreeing.start(2)
        for _ in range(2):
            state, said = agreeing.step(state, plain)
        assert said.stop
    half = Round.from_answers([["A"]] * 400, correct=[[1]] * 200 + [[-1]] * 200)
    state = ONE.start(1)
    for _ in range(2):
        state, said = ONE.step(state, half)
    assert "200 of 400 items that are not graded" in said.warnings[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delta": 0.0}, "`delta`"),
        ({"delta": 1.0}, "`delta`"),
        ({"lag": 0}, "`lag`"),
        ({"level": 0.5}, "`level`"),
        ({"looks": 0}, "`looks`"),
        ({"looks": "all"}, "`looks` must be one of bonferroni, got 'all'"),
        ({"max_rounds": 3}, "`max_rounds` must be > lag, got max_rounds=3, lag=3"),
        ({"observable": "right"}, "`observable`"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        PairedEquivalence(**parameters)


def all_or_nothing(rng, items, loss=0.02):
    return -(rng.random(items) < loss).astype(float)


def jumps(rng, items):
    small = np.where(rng.random(items) < 0.1, rng.choice([-1, 1], items) / 7, 0.0)
    return np.where(rng.random(items) < 0.02, -1.0, small)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("draw", "items", "limit"),
    [
        (all_or_nothing, 149, 0.05),
        (all_or_nothing, 400, 0.05),
        (lambda rng, items: all_or_nothing(rng, items, 0.05), 149, 0.005),
        (lambda rng, items: all_or_nothing(rng, items, 0.05), 400, 0.005),
        (jumps, 200, 0.05),
        (lambda rng, items: model(rng, items, 0.8, change=0.02), 300, 0.05),
        (lambda rng, items: model(rng, items, 0.0, change=0.02), 1200, 0.05),
    ],
)
def test_size_at_the_margin(draw, items, limit):
    """2,500 runs: the standard error of .05 is .0044; four of them, for seven cases.

    A true change of -.05 of all-or-nothing items is called equivalent to none at .02 almost never.
    """
    rng = np.random.default_rng([17, items])
    stopped = np.mean([p_value(*sums(draw(rng, items)), 0.02, 0.05) <= 0.05 for _ in range(2500)])
    assert stopped <= limit + 4 * sqrt(limit * (1 - limit) / 2500)


@pytest.mark.statistical
def test_many_looks_at_the_nominal_level_cross_too_often():
    """Ten rounds that drift to exactly the margin over each pair of neighbours, eight looks.

    500 runs of a stationary debate seen against a drifted copy: the shares of runs that cross at
    least once at the nominal level are near .3, with Bonferroni below .05 (standard error .0098).
    """
    rng = np.random.default_rng(3)
    runs, looks, items = 500, 8, 300
    once = spent = 0
    for _ in range(runs):
        ps = [
            p_value(*sums(model(rng, items, 0.8, change=0.02)), 0.02, level)
            for level in [0.05] * looks
        ]
        once += min(ps) <= 0.05
        spent += min(ps) <= 0.05 / looks
    assert 0.2 < once / runs < 0.4
    assert spent / runs <= 0.05 + 4 * 0.0098


@pytest.mark.statistical
@pytest.mark.parametrize(("lag", "level", "items"), [(1, 0.05, 243), (3, 0.05 / 7, 918)])
def test_power_at_the_planned_items(lag, level, items):
    """1,500 runs: the standard error of .88 is .0084; of the planned .9 the floor costs some."""
    rng = np.random.default_rng(4)
    power = np.mean(
        [p_value(*sums(model(rng, items, 0.8, lag)), 0.02, level) <= level for _ in range(1500)]
    )
    assert 0.9 - 0.04 - 3 * 0.0084 < power < 0.9 + 3 * 0.0084


def test_least_items():
    for delta, level in ((0.02, 0.05), (0.1, 0.01), (0.5, 0.5), (0.02, 0.05 / 7)):
        m = least_items(delta, level)
        assert (1 - delta) ** m <= level * (1 + 1e-9)
        assert (1 - delta) ** (m - 1) > level
