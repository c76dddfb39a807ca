"""Noise floor and stickiness: closed cases, and debates simulated with a known stickiness."""

import numpy as np
import pytest

from stability.fit import fit_mixture, noise_floor, stickiness
from stability.fit.null import detection_power, null_distances


def test_listed_constants():
    for space, constants in (
        ("empirical", (1.09, 0.87, 0.63, 0.35)),
        ("predictive", (1.01, 0.80, 0.54, 0.30)),
    ):
        for held, constant in zip((0.0, 0.5, 0.8, 0.95), constants, strict=True):
            floor = noise_floor(400, space=space, stickiness=held)
            assert floor == pytest.approx(constant / 20, rel=1e-15)
    assert noise_floor(100) == noise_floor(100, space="predictive")


def test_between_the_constants_and_at_the_ends():
    assert noise_floor(100, stickiness=0.25) == pytest.approx((1.01 + 0.80) / 20, rel=1e-15)
    assert noise_floor(1) == noise_floor(1, space="empirical") == 1.0
    floors = [noise_floor(500, stickiness=s) for s in np.linspace(0, 0.95, 20)]
    assert floors == sorted(floors, reverse=True)
    assert noise_floor(4 * 900) == pytest.approx(noise_floor(900) / 2, rel=1e-15)


def test_the_latent_floor_is_of_another_kind():
    floor = [noise_floor(m, space="latent") for m in (100, 200, 500, 1000, 2000)]
    assert floor == pytest.approx([0.45, 0.40, 0.29, 0.24, 0.18], rel=1e-15)
    assert noise_floor(26_000, space="latent") < 0.05 < noise_floor(25_000, space="latent")
    assert noise_floor(8000, space="latent") == pytest.approx(0.09, rel=1e-15)
    assert noise_floor(100, space="latent", stickiness=0.9) == 0.45
    assert noise_floor(2, space="latent") == 0.45


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_items": 0}, "`n_items` must be >= 1, got 0"),
        ({"n_items": 2.5}, "`n_items` must be an integer, got 2.5"),
        ({"n_items": 9, "space": "other"}, "`space` must be one of predictive, latent, empirical"),
        ({"n_items": 9, "stickiness": 0.96}, r"`stickiness` must lie in \[0.0, 0.95\], got 0.96"),
        ({"n_items": 9, "stickiness": -0.1}, r"`stickiness` must lie in"),
        ({"n_items": 9, "stickiness": np.nan}, r"`stickiness` must lie in"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        noise_floor(**options)


def grades(*rows):
    return np.array(rows, np.int8)


def twin(before, after):
    """The definition, pair by pair."""
    kept = pairs = same = cross = 0
    for x, y in zip(before.tolist(), after.tolist(), strict=True):
        for i, a in enumerate(x):
            for j, b in enumerate(y):
                if a < 0 or b < 0:
                    continue
                if i == j:
                    kept, pairs = kept + (a == b), pairs + 1
                else:
                    same, cross = same + (a == b), cross + 1
    if pairs == 0 or cross == 0 or same == cross:
        return 0.0
    a, b = kept / pairs, same / cross
    return min(0.95, max(0.0, (a - b) / (1 - b)))


def test_equals_the_definition():
    rng = np.random.default_rng(8)
    for _ in range(30):
        m, n = rng.integers(1, 6), rng.integers(1, 5)
        before, after = rng.integers(-1, 2, (2, m, n)).astype(np.int8)
        assert stickiness(before, after) == pytest.approx(twin(before, after), abs=1e-15)


def test_closed_cases():
    split = grades([1, 0], [0, 1])
    assert stickiness(split, split) == 0.95  # kept all, no agreement across agents
    assert stickiness(split, 1 - split) == 0.0  # changed all: clipped at 0
    assert stickiness(grades([1, 1], [1, 1]), grades([1, 1], [1, 1])) == 0.0
    assert stickiness(grades([1], [0]), grades([1], [0])) == 0.0  # one agent: nothing to tell
    # a = 3/4; across agents 4 of 8 pairs agree: s = (3/4 - 1/2) / (1/2)
    before, after = grades([1, 0], [1, 1], [0, 0], [0, 1]), grades([1, 0], [1, 0], [0, 0], [0, 0])
    assert stickiness(before, after) == 0.5
    # a = 5/6, b = 6/12
    before, after = grades([1, 1, 0], [1, 1, 1]), grades([1, 1, 0], [1, 1, 0])
    assert stickiness(before, after) == pytest.approx(2 / 3, rel=1e-15)


def test_unknown_grades_are_left_out():
    before, after = grades([1, 0, 1, 1], [0, 1, 1, 0]), grades([1, 0, 0, 1], [0, 1, 1, 1])
    known = stickiness(before, after)
    wider = [np.hstack([x, np.full((2, 1), -1, np.int8)]) for x in (before, after)]
    assert stickiness(*wider) == known
    longer = [np.vstack([x, np.full((1, 4), -1, np.int8)]) for x in (before, after)]
    assert stickiness(*longer) == known
    nothing = np.full((2, 3), -1, np.int8)
    assert stickiness(nothing, nothing) == 0.0


@pytest.mark.parametrize("shape", [((2, 3), (3, 2)), ((6,), (6,))])
def test_bad_shapes(shape):
    before, after = (np.zeros(s, np.int8) for s in shape)
    with pytest.raises(ValueError, match=r"must both be \(M, n\), got shapes"):
        stickiness(before, after)


def simulated(s, items, n, rng):
    """Two rounds in which each agent keeps its answer with probability s, else draws anew."""
    p = rng.beta(1.5, 1.0, (items, 1))
    before = (rng.random((items, n)) < p).astype(np.int8)
    fresh = (rng.random((items, n)) < p).astype(np.int8)
    return before, np.where(rng.random((items, n)) < s, before, fresh)


@pytest.mark.statistical
@pytest.mark.parametrize("s", [0.0, 0.5, 0.9])
def test_recovers_the_stickiness(s):
    """The mean of 40 estimates lies within 5 of its standard errors: 2e-6 under a new seed."""
    rng = np.random.default_rng(20240701)
    found = np.array([stickiness(*simulated(s, 1000, 7, rng)) for _ in range(40)])
    clipped = s == 0.0
    error = found.std(ddof=1) / np.sqrt(found.size)
    # at s = 0 negative estimates are cut off, which lifts the mean by less than one deviation
    assert abs(found.mean() - s) < 5 * error + clipped * 0.02
    assert found.std(ddof=1) < 0.03
    assert ((found >= 0) & (found <= 0.95)).all()


@pytest.mark.statistical
def test_the_stickiness_check_can_fail():
    rng = np.random.default_rng(20240702)
    found = np.array([stickiness(*simulated(0.55, 1000, 7, rng)) for _ in range(40)])
    assert abs(found.mean() - 0.5) > 5 * found.std(ddof=1) / np.sqrt(found.size)


@pytest.mark.statistical
def test_the_floor_is_a_95_percent_quantile_of_the_empirical_distance():
    """Share of 400 unchanged debates above the floor, .05: within 4.5 standard errors."""
    rng = np.random.default_rng(20240703)
    n, items, runs = 7, 500, 400
    shape = (runs, items)
    p = np.where(rng.random(shape) < 0.65, rng.beta(8, 2, shape), rng.beta(2, 5, shape))
    first, second = rng.binomial(n, p), rng.binomial(n, p)
    below = [np.stack([(k <= j).mean(axis=1) for j in range(n)]) for k in (first, second)]
    share = (np.abs(below[0] - below[1]).max(axis=0) > noise_floor(items, space="empirical")).mean()
    assert abs(share - 0.05) < 4.5 * np.sqrt(0.05 * 0.95 / runs)


# P(D < .05) of one pair by stickiness and M, listed; the measured one (40,000 pairs) beside it.
BELOW = [
    (0.8, 50, 0.44, 0.432),
    (0.8, 100, 0.67, 0.694),
    (0.8, 200, 0.96, 0.965),
    (0.0, 50, 0.06, 0.065),
    (0.0, 100, 0.17, 0.173),
    (0.0, 200, 0.55, 0.553),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("held", "items", "listed", "measured"), BELOW)
def test_how_often_an_unchanged_pair_is_below_the_threshold(held, items, listed, measured):
    """The standard error of 20,000 pairs is at most .0035; .02 are 5.7 of them."""
    share = (null_distances(items, 7, stickiness=held, pairs=20_000, seed=5) < 0.05).mean()
    assert abs(share - measured) < 0.02
    assert abs(share - listed) < 0.03


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("held", "low", "high"),
    [(0.0, 0.08, 0.08), (0.5, 0.06, 0.065), (0.8, 0.04, 0.045), (0.95, 0.02, 0.03)],
)
def test_quantiles_of_an_unchanged_pair(held, low, high):
    found = np.quantile(null_distances(200, 7, stickiness=held, pairs=6000, seed=2), 0.95)
    assert low - 0.0051 <= found <= high + 0.0051  # D is a multiple of .005


def test_null_of_other_laws():
    assert not null_distances(30, 3, stickiness=1.0, pairs=20).any()
    still = fit_mixture([0, 5], 5, n_components=1)  # all or nothing: no answer ever changes
    assert null_distances(40, 5, model=still, pairs=50).max() < 0.05
    coin = fit_mixture([2, 3], 5, n_components=1)
    assert null_distances(1, 1, model=coin, pairs=200).mean() == pytest.approx(0.5, abs=0.15)
    one = null_distances(50, 4, pairs=7, seed=3)
    assert np.array_equal(one, null_distances(50, 4, pairs=7, seed=3))
    assert one.shape == (7,)


@pytest.mark.parametrize("change", [0.06, -0.06])
def test_power_grows_with_items_and_with_stickiness(change):
    options = {"pairs": 600, "seed": 1}
    few, many = (detection_power(items, 7, change, **options) for items in (60, 240))
    sticky = detection_power(60, 7, change, stickiness=0.8, **options)
    assert few + 0.1 < many
    assert few + 0.1 < sticky
    assert detection_power(60, 7, 0.0, **options) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 600)


@pytest.mark.parametrize("change", [0.06, -0.06])
def test_a_change_moves_the_mean_share_by_as_much(change):
    # with one agent D is the change of the share itself
    found = null_distances(4000, 1, stickiness=1.0, change=change, pairs=100, seed=4)
    assert found.mean() == pytest.approx(0.06, abs=4 * np.sqrt(0.06 / 4000 / 100))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_items": 0}, "`n_items`"),
        ({"n_agents": 0}, "`n_agents`"),
        ({"stickiness": 1.5}, "`stickiness`"),
        ({"change": 0.9}, r"`change` must lie in \[-0.62, 0.38\], got 0.9"),
        ({"pairs": 0}, "`pairs`"),
        ({"seed": -1}, "`seed`"),
    ],
)
def test_bad_arguments_of_the_simulation(options, message):
    with pytest.raises(ValueError, match=message):
        null_distances(**({"n_items": 5, "n_agents": 3} | options))
