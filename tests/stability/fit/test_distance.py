"""Kolmogorov-Smirnov distances: closed forms, twins, exact fractions, refusals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability._kernels.distance import law_distance
from stability.fit import BetaBinomial, MixtureFit, empirical_distance, fit_mixture, ks_distance
from stability.fit.distance import modal_n

few = settings(max_examples=25, deadline=None)
unit = st.floats(0, 1)


def law(*parts):
    """A fit with given components (weight, mean, rho) at one item of 7 agents."""
    weights, mean, rho = zip(*parts, strict=True)
    return MixtureFit.from_dict(
        {
            "weights": weights,
            "mean": mean,
            "rho": rho,
            "loglik": 0.0,
            "n_items": 1,
            "n_iter": 0,
            "grad_norm": 0.0,
            "converged": True,
            "status": "interior",
            "flags": [],
            "loglik_trace": [],
            "counts": [[0], [7], [1]],
        }
    )


def beta(a, b):
    return law((1.0, a / (a + b), 1 / (a + b + 1)))


rhos = st.just(0.0) | st.floats(1e-9, 1)
parts = st.lists(st.tuples(st.integers(1, 9), unit, rhos), min_size=1, max_size=3)
laws = parts.map(
    lambda rows: law(*[(w / sum(r[0] for r in rows), mean, rho) for w, mean, rho in rows])
)


# -- latent --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        (beta(1, 1), beta(2, 1), 1 / 4),  # sup |x - x^2|
        (beta(1, 1), beta(1, 2), 1 / 4),
        (beta(1, 2), beta(2, 1), 1 / 2),  # sup 2x - 2x^2
        (beta(1, 1), beta(3, 1), 2 / 3**1.5),  # x - x^3 at 1 / sqrt 3
        (beta(0.5, 1), beta(1, 1), 1 / 4),
        (law((1, 0.3, 0.0)), law((1, 0.6, 0.0)), 1.0),  # two steps
        (law((1, 0.3, 0.0)), law((1, 0.3, 0.0)), 0.0),
        (law((0.5, 0.3, 0.0), (0.5, 0.6, 0.0)), law((1, 0.6, 0.0)), 0.5),
        (law((1, 0.3, 1.0)), law((1, 0.6, 1.0)), 0.3),  # masses at 0 and 1
        (law((1, 0.0, 0.0)), law((1, 1.0, 0.0)), 1.0),
        (law((1, 0.0, 0.0)), law((1, 0.4, 1.0)), 0.4),
        (law((1, 1.0, 0.0)), law((1, 0.4, 1.0)), 0.6),
        (law((1, 0.4, 0.0)), beta(1, 1), 0.6),  # a step in the uniform law, from above
        (law((1, 0.9, 0.0)), beta(1, 1), 0.9),  # and from below
        (law((1, 0.25, 1.0)), beta(1, 1), 0.75),  # below 1 the law of the ends stays at .75
        (law((0.9, 0.5, 1 / 3), (0.1, 1.0, 0.0)), beta(1, 1), 0.1),
    ],
)
def test_latent_closed_forms(a, b, distance):
    assert ks_distance(a, b, space="latent") == pytest.approx(distance, abs=1e-9)
    assert ks_distance(b, a, space="latent") == ks_distance(a, b, space="latent")


@pytest.mark.parametrize("a", [0.5, 0.1, 0.02, 0.004])
def test_latent_of_laws_that_rise_next_to_an_end(a):
    # sup |x^a - x^2a| = 1/4 at x = 2^(-1/a), down to 1e-75
    assert ks_distance(beta(a, 1), beta(2 * a, 1), space="latent") == pytest.approx(0.25, abs=1e-4)
    assert ks_distance(beta(1, a), beta(1, 2 * a), space="latent") == pytest.approx(0.25, abs=1e-4)


@given(a=laws, b=laws)
@few
def test_latent_properties(a, b):
    distance = ks_distance(a, b, space="latent")
    assert 0.0 <= distance <= 1.0
    assert ks_distance(b, a, space="latent") == distance
    assert ks_distance(a, a, space="latent") == 0.0
    coarse = ks_distance(a, b, space="latent", grid=1000)
    assert coarse <= distance + 1e-9
    # a denser grid must not find more, on a scale that is fine at both ends
    x = 10.0 ** np.linspace(-12, -0.31, 4000)
    found = max(np.abs(a.latent_cdf(p) - b.latent_cdf(p)).max() for p in (x, 1 - x))
    assert found <= distance + 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_latent_equals_the_twin_and_its_grid(seed):
    from scipy.stats import beta as beta_law  # slow to import, and nothing else here needs it

    rng = np.random.default_rng(seed)
    fits = []
    for _ in range(2):
        w, means, rhos = rng.random(), rng.uniform(0.1, 0.9, 2), rng.uniform(0.05, 0.4, 2)
        fits.append(law((w, means[0], rhos[0]), (1 - w, means[1], rhos[1])))
    x = np.linspace(0, 1, 50_001)
    below = [
        sum(
            w * beta_law.cdf(x, m * (1 - r) / r, (1 - m) * (1 - r) / r)
            for w, m, r in zip(fit.weights, fit.mean, fit.rho, strict=True)
        )
        for fit in fits
    ]
    twin = np.abs(below[0] - below[1]).max()
    assert ks_distance(*fits, space="latent") == pytest.approx(twin, abs=1e-6)
    assert ks_distance(*fits, space="latent", grid=1000) == pytest.approx(twin, abs=1e-3)
    assert ks_distance(*fits, space="latent", grid=50_001) == pytest.approx(twin, abs=1e-12)


# -- predictive ----------------------------------------------------------------------------------


@given(a=laws, b=laws, n=st.integers(2, 40))
@few
def test_predictive_equals_the_twin(a, b, n):
    k = np.arange(n)
    below = [
        sum(
            w * BetaBinomial.from_mean(m, r).cdf(k, n)
            for w, m, r in zip(fit.weights, fit.mean, fit.rho, strict=True)
        )
        for fit in (a, b)
    ]
    distance = ks_distance(a, b, n=n)
    assert distance == pytest.approx(np.abs(below[0] - below[1]).max(), abs=1e-12)
    assert ks_distance(b, a, n=n) == distance
    assert ks_distance(a, a, n=n) == 0.0
    assert 0.0 <= distance <= 1.0


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=9))
@few
def test_law_distance_equals_its_twin(rows):
    f, g = np.array(rows).T.copy()
    gap = np.abs(np.cumsum(f) - np.cumsum(g))[:-1]
    assert law_distance(f, g) == min(gap.max(initial=0.0), 1.0)


def test_predictive_closed_forms():
    # uniform counts against the law of k = 7 always
    assert ks_distance(beta(1, 1), law((1, 1.0, 0.0)), n=7) == pytest.approx(7 / 8, abs=1e-14)
    assert ks_distance(law((1, 0.3, 1.0)), law((1, 0.6, 1.0)), n=7) == pytest.approx(0.3, abs=1e-15)
    # one agent sees means only
    assert ks_distance(beta(2, 3), law((1, 0.4, 0.0)), n=1) == pytest.approx(0.0, abs=1e-15)


def test_the_reference_n_is_the_modal_one():
    a = fit_mixture([1, 2, 3, 5], [5, 5, 5, 9])
    b = fit_mixture([1, 8, 3, 9], [9, 9, 9, 9])
    assert modal_n(a) == 5
    assert modal_n(a, b) == 9
    assert ks_distance(a, b) == ks_distance(a, b, n=9) != ks_distance(a, b, n=5)
    tie = fit_mixture([1, 1], [3, 8])
    assert modal_n(tie) == 8  # ties to the larger
    unanswered = fit_mixture([0, 0, 0, 1], [0, 0, 0, 2])
    assert modal_n(unanswered) == 2  # an item that nobody answered is no reference
    assert modal_n(fit_mixture([0], [0])) == 1


# -- empirical -----------------------------------------------------------------------------------


def brute_force(k_a, n_a, k_b, n_b):
    same = [(a, b) for a, n, b, m in zip(k_a, n_a, k_b, n_b, strict=True) if n == m]
    top = max(n for n, m in zip(n_a, n_b, strict=True) if n == m)
    gaps = [
        abs(sum(a <= x for a, _ in same) - sum(b <= x for _, b in same)) for x in range(top + 1)
    ]
    return max(gaps), len(same), len(k_a) - len(same)


items = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=25,
)


@given(items)
@few
def test_numerators_equal_brute_force(rows):
    k_a, n_a, k_b, n_b = zip(*[(min(a, n), n, min(b, m), m) for a, n, b, m in rows], strict=True)
    if all(n != m for n, m in zip(n_a, n_b, strict=True)):
        with pytest.raises(ValueError, match=r"equal on at least one item, got none of \d+"):
            empirical_distance(k_a, n_a, k_b, n_b)
        return
    found = empirical_distance(k_a, n_a, k_b, n_b)
    assert (found.numerator, found.n_items, found.excluded) == brute_force(k_a, n_a, k_b, n_b)
    assert found.value == found.numerator / found.n_items
    swapped = empirical_distance(k_b, n_b, k_a, n_a)
    assert swapped == found
    if n_a == n_b:
        assert ks_distance(k_a, k_b, space="empirical", n=n_a) == found.value
        assert ks_distance(k_a, k_a, space="empirical", n=n_a) == 0.0


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n), st.integers(0, n)), min_size=1, max_size=40),
        )
    )
)
@few
def test_the_accuracy_moves_by_at_most_the_empirical_distance(case):
    n, rows = case
    k_a, k_b = np.array(rows).T
    d = empirical_distance(k_a, n, k_b, n)
    change = Fraction(int(k_a.sum() - k_b.sum()), n * len(rows))
    assert abs(change) <= Fraction(d.numerator, d.n_items)


def test_thresholds_are_compared_as_decimals():
    k = np.zeros(20, int)
    moved = k.copy()
    moved[0] = 1
    d = empirical_distance(k, 3, moved, 3)
    assert (d.numerator, d.n_items, d.value) == (1, 20, 0.05)
    assert not d.below(0.05)
    assert d.below(0.050001)
    assert d.below(0.1)
    # 3/60 and 15/300 are 1/20 as well; 0.15 is no float, and 3/20 is not below it
    for numerator, many, threshold in ((3, 60, 0.05), (15, 300, 0.05), (3, 20, 0.15), (7, 70, 0.1)):
        k = np.zeros(many, int)
        moved = (np.arange(many) < numerator).astype(int)
        d = empirical_distance(k, 1, moved, 1)
        assert not d.below(threshold)
        assert d.below(threshold + 1e-12)
    assert empirical_distance([1], 1, [1], 1).below(1e-300)
    assert not empirical_distance([1], 1, [1], 1).below(0.0)


def test_empirical_without_n_takes_one_n_for_all():
    assert ks_distance([0, 5, 5], [5, 5, 5], space="empirical") == pytest.approx(1 / 3)
    assert ks_distance([0, 0], [0, 0], space="empirical") == 0.0
    assert ks_distance([0, 0], [1, 1], space="empirical", n=9) == 1.0


# -- refusals ------------------------------------------------------------------------------------

FIT = beta(1, 1)


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (FIT, FIT, {"space": "observed"}, "`space` must be one of predictive, latent, empirical"),
        (FIT, [1, 2], {}, "`a` and `b` must be MixtureFit when space='predictive'"),
        ([1, 2], [1, 2], {"space": "latent"}, "`a` and `b` must be MixtureFit"),
        (FIT, FIT, {"space": "empirical"}, "`a` and `b` must be arrays of counts"),
        (FIT, FIT, {"n": 0}, "`n` must be >= 1, got 0"),
        (FIT, FIT, {"n": 7.0}, "`n` must be an integer, got 7.0"),
        (FIT, FIT, {"space": "latent", "n": 7}, "`n` does not enter space='latent', got n=7"),
        (FIT, FIT, {"grid": 1000}, "`grid` belongs to space='latent', got grid=1000"),
        (FIT, FIT, {"space": "latent", "grid": 1}, "`grid` must be >= 2, got 1"),
        ([1, 2], [1], {"space": "empirical"}, "must hold the same items: lengths 2 and 1"),
        ([1, 8], [1, 2], {"space": "empirical", "n": 7}, r"k_a\[1\]=8, n_a\[1\]=7"),
        ([1, 2], [1, -2], {"space": "empirical", "n": 7}, r"k_b\[1\]=-2, n_b\[1\]=7"),
        ([1, 2], [1, 0.5], {"space": "empirical"}, r"`k_b` must hold integers: k_b\[1\]=0.5"),
        ([[1, 2]], [[1, 2]], {"space": "empirical"}, r"`k_a` must be \(M,\)"),
        ([1, 2], [1, 2], {"space": "empirical", "n": [3, 3, 3]}, r"`n_a` a number or \(M,\)"),
        ([1, 2], [1, 2], {"space": "empirical", "n": -1}, "`n` must be >= 0: n=-1"),
        ([], [], {"space": "empirical"}, "must be equal on at least one item, got none of 0"),
    ],
)
def test_bad_arguments(a, b, options, message):
    with pytest.raises(ValueError, match=message):
        ks_distance(a, b, **options)
