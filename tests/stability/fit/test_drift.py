"""The extrapolated drift: exact cases, Fieller's interval, and its coverage."""

import numpy as np
import pytest

from stability.fit.drift import drift


def shrinking(rng, items, ratio, n=7, wrong=0.3):
    """Wrong answers turn right with probability 1 - ratio in each step; and what is left."""
    right = rng.random((items, n)) < 1 - wrong
    shares = [right.mean(1)]
    for _ in range(2):
        right = right | (rng.random((items, n)) < 1 - ratio)
        shares.append(right.mean(1))
    return shares, wrong * ratio**2


def test_a_geometric_series_is_summed():
    rng = np.random.default_rng(0)
    (a, b, c), _ = shrinking(rng, 3000, 0.5)
    found = drift(a, b, c)
    first, second = (b - a).mean(), (c - b).mean()
    assert found.change == pytest.approx(second)
    assert found.ratio == pytest.approx(second / first)
    steps = second * found.ratio ** np.arange(1, 60)
    assert found.remaining == pytest.approx(steps.sum())
    mirrored = drift(1 - a, 1 - b, 1 - c)
    assert mirrored.remaining == pytest.approx(-found.remaining)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))


def test_interval_of_the_ratio_is_fiellers():
    rng = np.random.default_rng(1)
    (a, b, c), _ = shrinking(rng, 800, 0.6)
    found = drift(a, b, c)
    d = np.stack([b - a, c - b])
    m, v = d.mean(1), np.cov(d) / 800
    z = 1.959963984540054
    # (m2 - r m1)^2 = z^2 (v22 - 2 r v12 + r^2 v11)
    roots = np.roots(
        [
            m[0] ** 2 - z**2 * v[0, 0],
            -2 * (m[0] * m[1] - z**2 * v[0, 1]),
            m[1] ** 2 - z**2 * v[1, 1],
        ]
    )
    assert sorted(roots.real) == pytest.approx([found.ratio_low, found.ratio_high], rel=1e-4)


@pytest.mark.parametrize(
    "shares",
    [
        np.zeros((3, 50)),  # nothing ever moved
        np.array([[0.0] * 50, [0.0] * 50, [0.5] * 50]),  # it began to move
        np.array([[0.0] * 50, [0.2] * 50, [0.4] * 50]),  # it goes on as it did
        np.array([[0.0] * 50, [0.2] * 50, [0.0] * 50]),  # there and back
        np.array([[0.5], [0.6], [0.65]]),  # one item
        np.zeros((3, 0)),
    ],
)
def test_nothing_is_given_where_the_ratio_says_nothing(shares):
    assert drift(*shares) is None


def test_sure_changes_have_intervals_of_no_width():
    found = drift(np.zeros(9), np.full(9, 0.4), np.full(9, 0.6))
    assert (found.ratio, found.low, found.high) == pytest.approx((0.5, 0.2, 0.2))
    stood = drift(np.zeros(9), np.full(9, 0.4), np.full(9, 0.4))
    assert (stood.ratio, stood.remaining) == (0.0, 0.0)
    assert "+0.0 points" in stood.sentence


@pytest.mark.statistical
@pytest.mark.parametrize(("items", "ratio"), [(200, 0.5), (1000, 0.7), (4000, 0.8)])
def test_the_interval_is_given_and_wrong_in_at_most_five_per_cent(items, ratio):
    """1,000 debates: the standard error of .05 is .0069; four of them."""
    rng = np.random.default_rng([5, items])
    given = wrong = 0
    for _ in range(1000):
        shares, rest = shrinking(rng, items, ratio)
        found = drift(*shares)
        if found is not None:
            given += 1
            wrong += not found.low <= rest <= found.high
    assert given > 900
    assert wrong / 1000 <= 0.05 + 4 * 0.0069
