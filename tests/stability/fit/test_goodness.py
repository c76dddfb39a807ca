"""Goodness of fit and overdispersion: reference values, size, and power."""

import json

import numpy as np
import pytest
from scipy import stats

from stability import BetaBinomial, fit_mixture, goodness_of_fit, overdispersion


def test_the_statistics_by_hand():
    freq = np.array([4, 9, 12, 11, 9, 7, 5, 3])
    fit = fit_mixture(range(8), 7, freq=freq, n_components=1)
    expected = fit.law(7) * freq.sum()
    found = goodness_of_fit(fit, replicates=19)
    assert found.pearson == pytest.approx(stats.chisquare(freq, expected).statistic)
    gap = np.abs(np.cumsum(freq - expected)).max() / freq.sum()
    assert found.distance == pytest.approx(gap)
    assert found.pearson_p > 0.05


def test_items_of_several_n():
    k, n = [0, 1, 2, 2, 3, 4, 1], [2, 2, 2, 4, 4, 4, 4]
    fit = fit_mixture(k, n, freq=[5, 9, 6, 8, 9, 3, 4], n_components=1)
    found = goodness_of_fit(fit, replicates=19)
    total = 0.0
    for size in (2, 4):
        own = np.bincount(
            fit.counts.k[fit.counts.n == size],
            weights=fit.counts.freq[fit.counts.n == size],
            minlength=size + 1,
        )
        expected = fit.law(size) * own.sum()
        total += float(((own - expected) ** 2 / expected).sum())
    assert found.pearson == pytest.approx(total)


@pytest.mark.statistical
def test_p_values_of_a_true_model_are_uniform_enough(seeded):
    """200 tables, B = 39: rejections at .05 have mean 10; 22 lie 3.9 standard errors above."""
    rng = seeded(3)
    law = BetaBinomial.from_mean(0.5, 0.25).pmf(np.arange(8), 7)
    low = np.zeros(2)
    for i in range(200):
        fit = fit_mixture(range(8), 7, freq=rng.multinomial(120, law), n_components=1)
        found = goodness_of_fit(fit, replicates=39, seed=i)
        low += [found.pearson_p <= 0.05, found.distance_p <= 0.05]
    assert (low < 22).all()


def test_a_wrong_model_is_seen():
    counts = [0, 30, 0, 30, 0, 30, 0, 30]
    found = goodness_of_fit(fit_mixture(range(8), 7, freq=counts), replicates=99)
    assert found.pearson_p == found.distance_p == 0.01


def test_tarone_and_the_score_are_those_of_the_reference(root):
    path = root / "tests" / "reference" / "betabinom.json"
    compared = 0
    for name, entry in json.loads(path.read_text("utf-8"))["datasets"].items():
        known = entry.get("one_component", {})
        if "tarone_z" not in known:
            continue
        rows = np.array(entry["rows"])
        found = overdispersion(rows[:, 0], rows[:, 1], freq=rows[:, 2])
        assert found.z == pytest.approx(float(known["tarone_z"]), rel=1e-8), name
        assert found.p == pytest.approx(stats.norm.sf(found.z))
        assert found.low <= found.icc <= found.high
        compared += 1
    assert compared >= 10


@pytest.mark.statistical
def test_tarone_keeps_its_level(seeded):
    """Binomial items: 4,000 tables of 60, level .05 one-sided; within .016, 4.6 standard errors."""
    rng = seeded(4)
    k = rng.binomial(7, 0.4, (4000, 60))
    p = k.mean(axis=1, keepdims=True) / 7
    z = (((k - 7 * p) ** 2 / (p * (1 - p))).sum(axis=1) - 420) / np.sqrt(2 * 60 * 42)
    for row in range(5):
        assert overdispersion(k[row], 7).z == pytest.approx(z[row])
    assert abs((z > stats.norm.isf(0.05)).mean() - 0.05) < 0.016


@pytest.mark.parametrize(("k", "n"), [([7, 7], 7), ([0], 5), ([1, 0, 1], 1)])
def test_nothing_to_test(k, n):
    found = overdispersion(k, n)
    assert (found.z, found.p) == (None, None)
    assert 0.0 <= found.low <= found.icc <= found.high <= 1.0
    fit = fit_mixture(k, n, n_components=1)
    assert goodness_of_fit(fit, replicates=19).pearson_p > 0.05


def test_refusals():
    fit = fit_mixture([1, 2], 3, n_components=1)
    with pytest.raises(ValueError, match="`replicates` must be >= 19"):
        goodness_of_fit(fit, replicates=1)
    with pytest.raises(ValueError, match="`k` must be <= `n`"):
        overdispersion([4], 3)
