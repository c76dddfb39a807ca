"""The paired change: exact where it can be, and the interval against its own distribution."""

from itertools import product

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar

from stability.evaluate.paired import paired_change


def grades(*values):
    return np.array(values, np.int8)


def test_change_is_that_of_the_items_graded_at_both_ends():
    found = paired_change(grades(1, 0, -1, 1, 0), grades(0, 1, 1, -1, 0))
    assert (found.change, found.n_items, found.n_clusters) == (0.0, 3, 3)
    nothing = paired_change(grades(-1, 1), grades(1, -1))
    assert np.isnan(nothing[:4]).all()
    assert nothing[4:] == (0, 0)


@pytest.mark.parametrize(("gains", "losses"), [(0, 0), (1, 0), (3, 3), (2, 9), (14, 5), (0, 40)])
def test_test_is_mcnemar_where_items_are_independent(gains, losses):
    before = grades(*[0] * gains, *[1] * losses, 1, 0)
    after = grades(*[1] * gains, *[0] * losses, 1, 0)
    expected = mcnemar([[1, gains], [losses, 1]], exact=True).pvalue
    assert paired_change(before, after).p == pytest.approx(expected, rel=1e-12)


def test_a_cluster_counts_once():
    # gains of 2 and 1 in two clusters, a loss of 1 in a third, a draw in the fourth
    before = grades(0, 0, 0, 1, 1, 0)
    after = grades(1, 1, 1, 0, 0, 1)
    found = paired_change(before, after, np.array([7, 7, 3, 5, 9, 9]))
    assert found.change == pytest.approx(2 / 6)
    assert found.p == pytest.approx(scipy.stats.binomtest(2, 3).pvalue)
    assert found.n_clusters == 4


def test_interval_is_that_of_all_resamples():
    # four clusters of unlike sizes: 4^4 equally likely resamples, all of them written out
    cluster = np.array([0, 0, 0, 1, 2, 2, 3])
    before, after = grades(0, 1, 0, 1, 0, 0, 1), grades(1, 1, 0, 0, 1, 0, 1)
    gain = after.astype(int) - before
    sums, sizes = np.bincount(cluster, gain), np.bincount(cluster)
    all_ = [
        sums[list(drawn)].sum() / sizes[list(drawn)].sum() for drawn in product(range(4), repeat=4)
    ]
    found = paired_change(before, after, cluster, confidence=0.8, resamples=40_000)
    # The quantiles of the exact distribution at .1 and .9, each with 5 standard errors of the
    # simulated order.
    error = 5 * np.sqrt(0.1 * 0.9 / 40_000)
    for end, tail in ((found.low, 0.1), (found.high, 0.9)):
        assert np.quantile(all_, tail - error) - 1e-12 <= end
        assert end <= np.quantile(all_, tail + error) + 1e-12


def test_the_interval_depends_on_the_seed_alone():
    rng = np.random.default_rng(4)
    before, after = (rng.integers(0, 2, 60).astype(np.int8) for _ in range(2))
    cluster = rng.integers(0, 20, 60)
    found = paired_change(before, after, cluster, seed=3)
    assert paired_change(before, after, cluster, seed=3) == found
    # The order of the items and the names of the clusters do not matter.
    order = rng.permutation(60)
    assert paired_change(before[order], after[order], 100 - cluster[order], seed=3)[1:] == found[1:]
    assert paired_change(before, after, cluster, seed=4)[1:3] != found[1:3]


def test_one_cluster_has_no_interval():
    found = paired_change(grades(0, 0), grades(1, 1), np.array([5, 5]))
    assert np.isnan([found.low, found.high]).all()
    assert (found.change, found.p) == (1.0, 1.0)


@pytest.mark.statistical
def test_interval_covers_where_runs_of_a_question_go_together():
    # Clusters of 1 to 5 items that gain with one probability; the true change is .1. The same
    # items taken as independent cover too little: the negative control.
    rng = np.random.default_rng(11)
    hit = {"clusters": 0, "items": 0}
    logs = 400
    for _ in range(logs):
        cluster = np.repeat(np.arange(120), rng.integers(1, 6, 120))
        moved = rng.choice([-1, 0, 1], p=[0.1, 0.7, 0.2], size=120)[cluster]
        before = np.where(moved == 0, 1, moved < 0).astype(np.int8)
        after = (before + moved).astype(np.int8)
        for name, groups in (("clusters", cluster), ("items", None)):
            found = paired_change(before, after, groups, resamples=500)
            hit[name] += found.low <= 0.1 <= found.high
    # Nominal .95; 4 standard errors of 400 logs are .044.
    assert hit["clusters"] / logs >= 0.95 - 0.045
    assert hit["items"] / logs < 0.85
