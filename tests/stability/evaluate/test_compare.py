"""Two rounds compared: clusters whole, the same items in both, and what no change looks like."""

import numpy as np
import pytest

from stability import (
    DebateLog,
    bootstrap_distance,
    compare_rounds,
    fit_mixture,
    ks_distance,
    load_smollm_debates,
)
from stability.evaluate.compare import _cluster_weights, _clustered_mean


def drawn(rng, items, n=7, change=0.0, kept=0.5, cluster=None):
    """Two rounds of graded answers of items of differing difficulty."""
    p = rng.beta(2, 2, items)
    first = rng.random((items, n)) < p[:, None]
    later = np.clip(p + change, 0, 1)
    second = np.where(rng.random((items, n)) < kept, first, rng.random((items, n)) < later[:, None])
    answers = np.stack([first, second]).astype(np.int32)
    gold = ["b"] * items
    return DebateLog(answers, ["a", "b"], gold=gold, cluster=cluster)


def test_the_distance_is_that_of_the_fits():
    log = load_smollm_debates()
    k, n, _ = log.correct_counts()
    fits = [fit_mixture(k[t], n[t]) for t in (0, 2)]
    found = bootstrap_distance(log, 0, 2, replicates=50)
    assert found.distance == pytest.approx(ks_distance(*fits), abs=1e-12)
    exact = bootstrap_distance(log, 0, 2, space="empirical", replicates=50)
    assert exact.distance == pytest.approx(ks_distance(k[0], k[2], space="empirical"), abs=1e-12)
    assert (found.n_items, found.n_clusters, found.excluded) == (72, 72, 0)
    assert found.lower <= found.distance <= found.upper
    again = bootstrap_distance(log, 2, 0, replicates=50)
    assert again.distance == pytest.approx(found.distance, abs=1e-12)
    np.testing.assert_allclose(again.sup, found.sup, atol=1e-12)


def test_an_unchanged_round_has_no_distance_and_no_doubt_about_it():
    log = load_smollm_debates()
    same = DebateLog(log.answers[[1, 1]], log.labels, correct=log.correct[[1, 1]])
    for space in ("predictive", "empirical"):
        found = bootstrap_distance(same, 0, 1, space=space, replicates=20)
        assert found.distance == found.upper == 0.0
    compared = compare_rounds(same, 0, 1, replicates=20)
    assert (compared.change, compared.low, compared.high) == (0.0, 0.0, 0.0)
    # that nothing was seen to change is not that nothing does
    assert compared.changed == 0.0
    assert compared.changed_upper == pytest.approx(1 - 0.05 ** (1 / 72))
    assert compared.majority.p == 1.0


def test_clusters_are_drawn_whole():
    cluster = np.array([0, 0, 1, 2, 2, 2])
    weight = _cluster_weights(cluster, 500, np.random.default_rng(0))
    for group in range(3):
        same = weight[:, cluster == group]
        assert (same == same[:, :1]).all()
    assert (weight[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_copies_of_items_in_one_cluster_do_not_narrow_the_interval():
    rng = np.random.default_rng(3)
    log = drawn(rng, 60, change=-0.1)
    five = DebateLog(
        np.repeat(log.answers, 5, axis=1),
        log.labels,
        gold=["b"] * 300,
        cluster=np.repeat(np.arange(60), 5),
    )
    one, many = (compare_rounds(each, 0, 1, replicates=400) for each in (log, five))
    assert many.change == pytest.approx(one.change)
    assert (many.low, many.high) == pytest.approx((one.low, one.high))
    assert many.distance.n_clusters == 60
    assert many.distance.upper == pytest.approx(one.distance.upper, abs=0.04)
    careless = compare_rounds(DebateLog(five.answers, five.labels, gold=["b"] * 300), 0, 1)
    assert careless.high - careless.low < 0.6 * (many.high - many.low)
    assert np.isnan(many.swap_p)


def test_a_student_interval_where_items_are_their_own_clusters():
    from scipy import stats

    values = np.random.default_rng(1).normal(size=30)
    mean, low, high = _clustered_mean(values, np.arange(30), 0.9)
    ends = stats.t.interval(0.9, 29, mean, stats.sem(values))
    assert (low, high) == pytest.approx(ends)
    assert np.isnan(_clustered_mean(values, np.zeros(30, int), 0.9)[1])


@pytest.mark.statistical
def test_the_upper_limit_covers(seeded):
    """D of the law is known: 150 pairs of 150 items, 95 % nominal, allowed down to 89 %.

    A limit that covers in 95 % of pairs falls below 89 % in 150 with probability .002; the limit is
    conservative, since sup |d* - d| bounds more than the error of D.
    """
    rng = seeded(7)
    n, change = 5, 0.15
    grid = (np.arange(2000) + 0.5) / 2000
    density = 6 * grid * (1 - grid) / 2000
    from scipy import stats

    k = np.arange(n + 1)
    laws = [
        (stats.binom.cdf(k[:, None], n, np.clip(grid + move, 0, 1)) * density).sum(axis=1)
        for move in (0.0, change)
    ]
    truth = np.abs(laws[0] - laws[1]).max()
    covered, below = 0, 0
    for _ in range(150):
        log = drawn(rng, 150, n=n, change=change, kept=0.0)
        found = bootstrap_distance(log, 0, 1, space="empirical", replicates=200)
        covered += found.lower <= truth <= found.upper
        below += found.lower > 0
    assert covered / 150 > 0.89
    # and the change is seen
    assert below > 100


def test_ungraded_logs_are_compared_by_agreement():
    rng = np.random.default_rng(5)
    log = DebateLog(rng.integers(0, 3, (2, 40, 5)).astype(np.int32), ["a", "b", "c"])
    found = compare_rounds(log, 0, 1, replicates=30)
    assert (found.observable, found.majority) == ("agreement", None)
    assert "leading answers" not in found.summary()
    assert found.to_frame()["figure"].tolist()[0] == "mean share agreement"


def test_items_without_a_count_are_left_out_and_counted():
    log = drawn(np.random.default_rng(6), 20)
    answers = log.answers.copy()
    answers[1, :3] = -2
    answers[0, 4, 0] = -2
    gaps = DebateLog(answers, log.labels, gold=["b"] * 20)
    found = compare_rounds(gaps, 0, 1, replicates=30)
    assert (found.distance.n_items, found.distance.excluded) == (17, 3)
    assert np.isnan(found.swap_p)
    equal = bootstrap_distance(gaps, 0, 1, space="empirical", replicates=30)
    assert (equal.n_items, equal.excluded) == (16, 4)


def test_the_smallest_logs():
    log = DebateLog([[[0, 0]], [[1, 0]]], ["a", "b"], gold=["a"])
    found = compare_rounds(log, 0, 1, replicates=5)
    assert found.change == -0.5
    assert np.isnan(found.low)
    assert "Rounds 0 and 1, 1 items" in found.summary()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 0), "must be different rounds, got 0 twice"),
        ((0, 9), "`t2` must be >= 0 and <= 3, got 9"),
        ((0, 1, "latent"), "`space` must be one of"),
    ],
)
def test_refusals(arguments, said):
    t1, t2, *space = arguments
    with pytest.raises(ValueError, match=said):
        bootstrap_distance(load_smollm_debates(), t1, t2, **({"space": space[0]} if space else {}))
    silent = DebateLog([[[-2, -2]], [[0, 0]]], ["a"])
    with pytest.raises(ValueError, match="counted in rounds 0 and 1"):
        compare_rounds(silent, 0, 1)
