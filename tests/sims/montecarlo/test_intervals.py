"""Intervals: reference values, and coverage by simulation with stated error."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from sims.montecarlo import intervals


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (3, 10), (10, 10), (1, 1), (499, 1000)])
def test_clopper_pearson_is_that_of_scipy(hits, n):
    exact = binomtest(hits, n).proportion_ci(0.99, method="exact")
    assert intervals.clopper_pearson(hits, n, 0.99) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("n", [1, 5, 200])
def test_anytime_share_holds_where_the_ratio_is_small(n):
    """The ends are where the mixed likelihood ratio is 1 / alpha; written out with scipy."""
    from scipy.stats import betabinom

    for hits in range(0, n + 1, max(n // 7, 1)):
        low, high = intervals.anytime_share(hits, n, 0.9)
        assert 0.0 <= low <= hits / n <= high <= 1.0
        for p in (low, high):
            if 1e-12 < p < 1 - 1e-12:
                ratio = betabinom.pmf(hits, n, 0.5, 0.5) / binom.pmf(hits, n, p)
                assert ratio == pytest.approx(10.0, rel=1e-6)


def ever_missed(p, low_of, runs=2000, steps=400, seed=0):
    """Share of runs in which an interval at some n leaves out p."""
    rng = np.random.default_rng(seed)
    sums = np.cumsum(rng.random((runs, steps)) < p, axis=1)
    cache = {}
    missed = np.zeros(runs, bool)
    for n in range(1, steps + 1):
        for hits in np.unique(sums[:, n - 1]):
            low, high = cache.setdefault((hits, n), low_of(int(hits), n))
            if not low <= p <= high:
                missed |= sums[:, n - 1] == hits
    return missed.mean()


@pytest.mark.statistical
@pytest.mark.parametrize("p", [0.02, 0.5])
def test_anytime_intervals_miss_seldom_whenever_one_stops(p):
    """Level .10; 2,000 runs, so that .10 + 5 standard errors is .134."""
    share = ever_missed(p, lambda hits, n: intervals.anytime_share(hits, n, 0.9))
    assert share < 0.10 + 5 * np.sqrt(0.09 / 2000)


@pytest.mark.statistical
def test_fixed_intervals_miss_more_often_when_one_stops():
    """The negative control: the same looks at Clopper-Pearson intervals lose the level."""
    share = ever_missed(0.5, lambda hits, n: intervals.clopper_pearson(hits, n, 0.9))
    assert share > 0.10 + 5 * np.sqrt(0.09 / 2000)


@pytest.mark.statistical
def test_anytime_normal_misses_seldom_from_its_first_look_on():
    """Exponential draws, looks at n = 500, 1000, ..., 8000; level .10 of 2,000 runs."""
    rng = np.random.default_rng(5)
    draws = rng.exponential(size=(2000, 8000))
    missed = np.zeros(2000, bool)
    for n in range(500, 8001, 500):
        mean, spread = draws[:, :n].mean(axis=1), draws[:, :n].std(axis=1, ddof=1)
        for i in range(2000):
            low, high = intervals.anytime_normal(mean[i], spread[i], n, 0.9, 500)
            missed[i] |= not low <= 1.0 <= high
    assert missed.mean() < 0.10 + 5 * np.sqrt(0.09 / 2000)


def test_bounded_intervals_are_shares_on_another_scale():
    low, high = intervals.anytime_share(30, 100, 0.95)
    found = intervals.anytime_bounded(-0.4, 100, (-1.0, 1.0), 0.95)
    assert found == pytest.approx((2 * low - 1, 2 * high - 1))
