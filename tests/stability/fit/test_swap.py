"""The swap test: against plain loops, all patterns, its size and what it can detect."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from stability._kernels.swap import pair_table, swapped
from stability.fit.distance import empirical_distance
from stability.fit.swap import swap_test, swaps

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9)


def of(before, after, n=5):
    before, after = np.asarray(before), np.asarray(after)
    agents, used = np.full(before.size, n), np.ones(before.size, bool)
    return swaps((before, agents, used), (after, agents, used), n)


def by_loop(before, after, signs):
    """M D and |sum of changes| after swapping the items whose sign is -1."""
    x = [a if s > 0 else b for a, b, s in zip(before, after, signs, strict=True)]
    y = [b if s > 0 else a for a, b, s in zip(before, after, signs, strict=True)]
    worst = max(abs(sum(v <= k for v in x) - sum(v <= k for v in y)) for k in range(7))
    return worst, abs(sum(y) - sum(x))


@settings(max_examples=80, deadline=None)
@given(pairs)
def test_observed_statistics(items):
    before, after = zip(*items, strict=True)
    pair = of(before, after)
    assert (pair.distance, pair.shift) == by_loop(before, after, [1] * len(items))
    measured = empirical_distance(before, 5, after, 5)
    assert (pair.distance, pair.n_items) == (measured.numerator, measured.n_items)
    assert pair.discordant == sum(a != b for a, b in items)


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_all_patterns_are_counted_once_twin(items):
    before, after = zip(*items, strict=True)
    pair = of(before, after)
    moved = [(a, b) for a, b in items if a != b]
    xs, ys = (tuple(part) for part in zip(*moved, strict=True)) if moved else ((), ())
    expected = [by_loop(xs, ys, signs) for signs in product((1, -1), repeat=len(moved))]
    for place, statistic in enumerate(("D", "mean")):
        null, exact = pair.null(statistic, 999, (0, 0))
        assert exact
        assert sorted(null.tolist()) == sorted(value[place] for value in expected)
        hits = sum(value[place] >= pair.observed(statistic) for value in expected)
        assert pair.p_value(statistic, 999, (0, 0)) == hits / len(expected)


def test_drawn_patterns_twin():
    """The kernel on words of random bits against a loop over the same bits."""
    rng = np.random.default_rng(3)
    before, after = rng.binomial(7, 0.6, 400), rng.binomial(7, 0.6, 400)
    pair = of(before, after, 7)
    size = pair.up + pair.down
    width = int(((size + 63) // 64).sum())
    assert (size > 64).any() or width == size.size
    words = rng.integers(0, 2**64, (50, width), dtype=np.uint64)
    distance, shift = np.empty(50, np.int64), np.empty(50, np.int64)
    swapped(words, pair.low, pair.high, size, pair.levels, distance, shift)
    for b in range(50):
        line, total, at = np.zeros(9, int), 0, 0
        for low, high, m in zip(pair.low, pair.high, size, strict=True):
            bits = "".join(f"{int(word):064b}"[::-1] for word in words[b, at : at + -(-m // 64)])
            at += -(-m // 64)
            net = 2 * bits[:m].count("1") - m
            line[low] += net
            line[high] -= net
            total += net * (high - low)
        assert (distance[b], shift[b]) == (np.abs(np.cumsum(line)).max(), abs(total))


def test_a_group_of_more_than_a_word_is_binomial():
    """200 items that all went up: the number that still go up after swaps is Bin(200, 1/2)."""
    pair = of([0] * 200, [1] * 200)
    null, exact = pair.null("mean", 4000, (1, 2))
    assert not exact
    ups = (null + 200) // 2  # |2 up - 200|, so that ups >= 100
    expected = binom.pmf(np.arange(201), 200, 0.5)
    for limit in (104, 108, 112):
        share = expected[limit:].sum() * 2
        error = np.sqrt(share * (1 - share) / 4000)
        assert abs((ups >= limit).mean() - share) < 4.5 * error


def test_items_that_cannot_be_compared_are_left_out():
    k, n = np.array([1, 2, 3, 0]), np.array([3, 3, 3, 0])
    used = np.array([True, True, False, True])
    table = np.zeros((4, 4), np.int64)
    assert pair_table(k, n, used, k, np.array([3, 2, 3, 0]), np.ones(4, bool), table) == (2, 1)
    assert table.sum() == 2


def test_large_counts_are_ranked():
    rng = np.random.default_rng(5)
    before, after = rng.integers(0, 900, 60), rng.integers(0, 900, 60)
    large = swaps(
        (before, np.full(60, 900), np.ones(60, bool)),
        (after, np.full(60, 900), np.ones(60, bool)),
        900,
    )
    assert large.shift == abs(int((after - before).sum()))
    assert large.distance == empirical_distance(before, 900, after, 900).numerator


def test_nothing_moved():
    pair = of([3, 4], [3, 4])
    assert (pair.p_value("D", 99, (0, 0)), pair.quantile(0.95, 99, (0, 0))) == (1.0, 0)
    assert 0 < pair.detectable(0.0) <= 1


def test_the_same_seed_gives_the_same_p():
    rng = np.random.default_rng(8)
    x, y = rng.binomial(5, 0.5, 300), rng.binomial(5, 0.5, 300)
    assert swap_test(x, y, seed=4) == swap_test(x, y, seed=4)
    assert swap_test(x, y, seed=4) != swap_test(x, y, seed=5)
    assert swap_test(x, y) == swap_test(y, x)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1]), {}, "must hold the same items"),
        (([], []), {}, "at least one"),
        (([1, -2], [1, 1]), {}, r"`k_before` must be >= 0: k_before\[1\]=-2"),
        (([1.5], [1]), {}, "`k_before`"),
        (([1], [1]), {"statistic": "d"}, "`statistic` must be one of D, mean"),
        (([1], [1]), {"permutations": 0}, "`permutations`"),
        (([1], [1]), {"seed": -1}, "`seed`"),
    ],
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        swap_test(*arguments, **options)


def sticky(rng, items, stick, change=0.0, n=7):
    easy = rng.random(items) < 0.65
    p = np.where(easy, rng.beta(8, 2, items), rng.beta(2, 5, items))[:, None]
    first = rng.random((items, n)) < p
    again = np.where(rng.random((items, n)) < stick, first, rng.random((items, n)) < p)
    again |= rng.random((items, n)) < change
    return first.sum(1), again.sum(1)


@pytest.mark.statistical
@pytest.mark.parametrize("stick", [0.0, 0.8])
def test_size_of_the_test_and_of_the_threshold(stick):
    """1,500 unchanged pairs: p <= .05, and D above the calibrated threshold, in at most 5 %.

    The standard error of a share of .05 is .0056; 3.9 of them for eight assertions in all.
    """
    rng = np.random.default_rng([9, int(10 * stick)])
    rejected = {"D": 0, "mean": 0}
    above = 0
    trials = 1500
    for trial in range(trials):
        pair = of(*sticky(rng, 120, stick), 7)
        for statistic in rejected:
            rejected[statistic] += pair.p_value(statistic, 199, (0, trial)) <= 0.05
        above += pair.distance > pair.quantile(0.95, 199, (0, trial))
    for hits in (*rejected.values(), above):
        assert hits / trials <= 0.05 + 0.022
    assert rejected["mean"] / trials >= 0.05 - 0.022  # and the test is not idle


@pytest.mark.statistical
@pytest.mark.parametrize("stick", [0.0, 0.8])
def test_detectable_changes_are_seen_in_nine_of_ten_cases(stick):
    """Items that cross one count in one direction more often, by the detectable change.

    600 pairs: the standard error of .9 is .012; the approximation may cost .03 more.
    """
    rng = np.random.default_rng([11, int(10 * stick)])
    seen = 0
    trials, items = 600, 300
    for trial in range(trials):
        before, after = sticky(rng, items, stick)
        pair = of(before, after, 7)
        threshold = pair.quantile(0.95, 199, (0, trial)) / items
        change = pair.detectable(threshold)
        # a share ``change`` of the items jumps from below 4 to above, or from 0..6 to 7
        jump = rng.random(items) < change / (after < 7).mean()
        moved = np.where(jump, 7, after)
        other = of(before, moved, 7)
        again = other.quantile(0.95, 199, (1, trial)) / items
        seen += other.distance / items > again
    assert seen / trials > 0.9 - 0.03 - 4 * 0.012
