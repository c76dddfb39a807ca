"""The Beta-Binomial law against exact arithmetic, against itself and against chance."""

import math
import pickle
from fractions import Fraction

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability._kernels import betabinom as kernels
from stability.fit.betabinom import BetaBinomial

few = settings(max_examples=40, deadline=None)
shapes = st.floats(-12, 150).map(lambda x: 10.0**x)
mild_shapes = st.floats(-3, 4).map(lambda x: 10.0**x)
shares = st.floats(0, 1)
sizes = st.integers(0, 60)


# uncompiled, the same checks run with fewer agents
MANY = 1_000 if numba.config.DISABLE_JIT else 100_000


def exact_law(a, b, n):
    """P(0), ..., P(n) by the definition, in the arithmetic of ``a`` and ``b``."""
    first = a / a
    for j in range(n):
        first *= (b + j) / (a + b + j)
    law = [first]
    for k in range(n):
        law.append(law[-1] * ((n - k) * (a + k)) / ((k + 1) * (b + n - k - 1)))
    return law


def exact_mean_law(mu, rho, n):
    """The same from (mu, rho) in fractions, limits included."""
    mu, rho = Fraction(mu), Fraction(rho)
    if rho == 1 or mu in (0, 1):
        law = [Fraction(0)] * (n + 1)
        law[0] += 1 - mu
        law[n] += mu
        return law
    if rho == 0:
        return [math.comb(n, k) * mu**k * (1 - mu) ** (n - k) for k in range(n + 1)]
    return exact_law(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, n)


def twin_logpmf(a, b, k, n):
    """NumPy twin of the kernels, as the sum of logarithms of the definition."""
    i, j, m = np.arange(k), np.arange(n - k), np.arange(n)
    return (
        math.log(math.comb(n, k))
        + np.log(a + i).sum()
        + np.log(b + j).sum()
        - np.log((a + b) + m).sum()
    )


# -- reference values ----------------------------------------------------------------------------


def test_tiny_shapes_have_their_mass_at_both_ends():
    logp = BetaBinomial(1e-100, 1e-100).logpmf(np.arange(8), 7)
    assert logp[[0, 7]] == pytest.approx(-math.log(2.0), abs=1e-15)
    inside = [math.log(1e-100 / 2 * 7 / (k * (7 - k))) for k in range(1, 7)]
    np.testing.assert_allclose(logp[1:7], inside, rtol=1e-15)


def test_large_shapes_are_the_binomial_law():
    assert BetaBinomial(0.5e15, 0.5e15).logpmf(500, 1000) == pytest.approx(-3.679919, abs=5e-7)
    for exponent in range(10, 151):
        s = 10.0**exponent
        exact = mpmath.log(exact_law(mpmath.mpf(s) / 2, mpmath.mpf(s) / 2, 7)[3])
        assert BetaBinomial(s / 2, s / 2).logpmf(3, 7) == pytest.approx(float(exact), abs=4e-16)
    assert BetaBinomial(5e149, 5e149).logpmf(3, 7) == pytest.approx(-1.2966822024302034, abs=1e-15)


def test_pmf_of_many_agents_sums_to_one():
    assert BetaBinomial(2, 2).pmf(np.arange(1031), 1030).sum() == pytest.approx(1.0, abs=1e-12)


def test_cdf_at_a_million_agents():
    n = MANY * 10
    k = n // 2
    # P(j) = 6 (j + 1) (n - j + 1) / ((n + 1) (n + 2) (n + 3)), summed by hand over 0..k
    below = (
        (k + 1) * (n + 1) + Fraction(k * (k + 1) * n, 2) - Fraction(k * (k + 1) * (2 * k + 1), 6)
    )
    exact = Fraction(6 * below, (n + 1) * (n + 2) * (n + 3))
    law = BetaBinomial(2, 2)
    assert float(exact) == pytest.approx(0.5 + 0.75 / n, abs=5e-3 / n)
    assert law.cdf(k, n) == pytest.approx(float(exact), rel=1e-15)
    assert law.sf(k, n) == pytest.approx(float(1 - exact), rel=1e-15)


def test_closed_forms():
    np.testing.assert_allclose(BetaBinomial(1, 1).pmf(np.arange(10), 9), 0.1, rtol=2e-16)
    # P(K = k) for n = 2 and shapes 1, 3: 3/5, 3/10, 1/10
    np.testing.assert_allclose(BetaBinomial(1, 3).pmf([0, 1, 2], 2), [0.6, 0.3, 0.1], rtol=2e-16)


# -- accuracy ------------------------------------------------------------------------------------


def check_logpmf(law, a, b, n):
    counts = np.arange(n + 1)
    logp, p = law.logpmf(counts, n), law.pmf(counts, n)
    for k, exact in enumerate(exact_law(a, b, n)):
        log_exact = mpmath.log(exact)
        error = abs(float(logp[k] - log_exact))
        assert error <= 1e-13 + 2.3e-16 * abs(float(log_exact)), (law, k, n)
        if exact > 1e-300:
            assert abs(float(p[k] / exact - 1)) <= 2.3e-16, (law, k, n)


EDGES = [10.0**e for e in (-12, -8, 0, 8, 15, 16, 17, 150)]


@pytest.mark.parametrize("a", EDGES)
def test_logpmf_at_the_edges_of_the_shapes(a):
    with mpmath.workdps(400):
        for b in EDGES:
            for n in (1, 2, 7, 29):
                check_logpmf(BetaBinomial(a, b), mpmath.mpf(a), mpmath.mpf(b), n)


def test_logpmf_on_a_random_grid_of_shapes():
    rng = np.random.default_rng(20240607)
    with mpmath.workdps(400):
        for trial in range(70):
            low, high = ((-12, 150), (-12, 20), (-3, 5))[trial % 3]
            a, b = 10.0 ** rng.uniform(low, high, size=2)
            n = 100 if trial % 10 == 0 else int(rng.integers(1, 101))
            check_logpmf(BetaBinomial(a, b), mpmath.mpf(a), mpmath.mpf(b), n)


def test_logpmf_on_a_random_grid_of_means_and_correlations():
    rng = np.random.default_rng(20240608)
    with mpmath.workdps(400):
        for trial in range(45):
            mu, rho = rng.random(2) if trial % 3 else 10.0 ** rng.uniform(-150, 0, size=2)
            exact_mu, exact_rho = mpmath.mpf(mu), mpmath.mpf(rho)
            total = (1 - exact_rho) / exact_rho
            n = 100 if trial % 10 == 0 else int(rng.integers(1, 101))
            law = BetaBinomial.from_mean(mu, rho)
            check_logpmf(law, exact_mu * total, (1 - exact_mu) * total, n)


def test_logpmf_of_a_hundred_thousand_agents():
    n = MANY
    with mpmath.workdps(60):
        for a, b in ((2.0, 2.0), (0.3, 7.1), (1e12 / 3, 2e12 / 3), (1e-9, 1e3)):
            a_, b_ = mpmath.mpf(a), mpmath.mpf(b)
            for k in (0, 1, n // 3, n):
                exact = mpmath.log(mpmath.binomial(n, k))
                exact += mpmath.loggamma(k + a_) + mpmath.loggamma(n - k + b_)
                exact += mpmath.loggamma(a_ + b_) - mpmath.loggamma(n + a_ + b_)
                exact -= mpmath.loggamma(a_) + mpmath.loggamma(b_)
                error = abs(float(BetaBinomial(a, b).logpmf(k, n) - exact))
                assert error <= 1e-15 + 2.3e-16 * abs(float(exact))


def test_logpmf_next_to_zero_keeps_its_relative_accuracy():
    # P(0) = b / (a + b) at n = 1
    assert BetaBinomial(1e-20, 1.0).logpmf(0, 1) == pytest.approx(-1e-20, rel=1e-11)
    assert BetaBinomial(1e-9, 1.0).logpmf(0, 1) == pytest.approx(-math.log1p(1e-9), rel=1e-15)


@pytest.mark.parametrize(
    "law",
    [
        BetaBinomial(5e-324, 1.7e308),
        BetaBinomial(1.7e308, 1.7e308),
        BetaBinomial(5e-324, 5e-324),
        BetaBinomial.from_mean(5e-324, 5e-324),
        BetaBinomial.from_mean(1 - 2.0**-53, 5e-324),
        BetaBinomial.from_mean(5e-324, 1 - 2.0**-53),
        BetaBinomial.from_mean(0.5, 0.95),
    ],
)
def test_the_ends_of_the_floats(law):
    for n in (1, 5, 3000):
        counts = np.arange(n + 1)
        assert law.pmf(counts, n).sum() == pytest.approx(1.0, abs=1e-13)
        assert (law.logpmf(counts, n) <= 0).all()
        assert np.isfinite(law.cdf(counts, n)).all()
    form, x, y = law._given
    law5 = exact_law(Fraction(x), Fraction(y), 5) if form == "shapes" else exact_mean_law(x, y, 5)
    np.testing.assert_allclose(
        law.pmf(np.arange(6), 5), [float(p) for p in law5], rtol=3e-16, atol=5e-324
    )


# -- the limits are ordinary values --------------------------------------------------------------


@given(mu=shares, n=sizes)
@few
def test_rho_zero_is_the_binomial_law(mu, n):
    law = BetaBinomial.from_mean(mu, 0.0)
    exact = [float(p) for p in exact_mean_law(mu, 0, n)]
    np.testing.assert_allclose(law.pmf(np.arange(n + 1), n), exact, rtol=2.3e-16, atol=5e-324)


@given(mu=shares, n=st.integers(1, 60))
@few
def test_rho_one_has_all_mass_on_the_ends(mu, n):
    law = BetaBinomial.from_mean(mu, 1.0)
    p = law.pmf(np.arange(n + 1), n)
    assert p[n] == mu
    assert p[0] == float(1 - Fraction(mu))
    assert not p[1:n].any()
    assert (law.logpmf(np.arange(1, n), n) == -math.inf).all()
    assert law.cdf(n - 1, n) == pytest.approx(float(1 - Fraction(mu)), abs=2e-16)


@given(rho=shares, n=st.integers(1, 60))
@few
def test_mu_zero_and_one_are_point_masses(rho, n):
    counts = np.arange(n + 1)
    none, all_ = BetaBinomial.from_mean(0.0, rho), BetaBinomial.from_mean(1.0, rho)
    np.testing.assert_array_equal(none.pmf(counts, n), (counts == 0).astype(float))
    np.testing.assert_array_equal(all_.pmf(counts, n), (counts == n).astype(float))
    assert none.logpmf(0, n) == 0.0
    assert all_.logpmf(n, n) == 0.0
    assert none.var(n) == all_.var(n) == 0.0
    assert none.cdf(0, n) == 1.0
    assert all_.cdf(n - 1, n) == 0.0


def test_nobody_answered():
    for law in (BetaBinomial(2, 3), BetaBinomial.from_mean(0.0, 0.0), BetaBinomial(1e-12, 1e150)):
        assert law.pmf(0, 0) == law.cdf(0, 0) == 1.0
        assert law.logpmf(0, 0) == law.sf(0, 0) == law.mean(0) == law.var(0) == 0.0
        np.testing.assert_array_equal(law.pmf([0, 1, 0], [0, 0, 1])[:2], [1.0, 0.0])
        assert law.rvs(0, rng=np.random.default_rng(1)) == 0


def test_derived_parameters():
    law = BetaBinomial(1.0, 3.0)
    assert (law.alpha, law.beta, law.mu, law.rho) == (1.0, 3.0, 0.25, 0.2)
    law = BetaBinomial.from_mean(0.25, 0.2)
    assert (law.mu, law.rho) == (0.25, 0.2)
    assert (law.alpha, law.beta) == pytest.approx((1.0, 3.0), rel=1e-15)
    binomial = BetaBinomial.from_mean(0.25, 0.0)
    assert (binomial.alpha, binomial.beta) == (math.inf, math.inf)
    ends = BetaBinomial.from_mean(0.25, 1.0)
    assert (ends.alpha, ends.beta, ends.mu) == (0.0, 0.0, 0.25)
    point = BetaBinomial.from_mean(0.0, 0.0)
    assert (point.alpha, point.beta) == (0.0, math.inf)
    wide = BetaBinomial(1e150, 1e-12)
    assert (wide.alpha, wide.beta, wide.mu) == (1e150, 1e-12, 1.0)
    assert BetaBinomial.from_mean(0.5, 5e-324).alpha == math.inf
    assert BetaBinomial(1.7e308, 1.7e308).rho == pytest.approx(1 / 1.7e308 / 2)


def test_value_semantics():
    law = BetaBinomial(2, 3)
    assert law == BetaBinomial(2.0, 3.0)
    assert hash(law) == hash(BetaBinomial(2.0, 3.0))
    assert law != BetaBinomial(3, 2)
    law.pmf(1, 2)
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law
    assert not copy._law.flags.writeable
    assert copy.pmf(1, 2) == law.pmf(1, 2)
    for value in (law, BetaBinomial.from_mean(0.1, 1.0)):
        assert eval(repr(value)) == value
    with pytest.raises(AttributeError):
        law.alpha = 3.0


# -- kernels against their twins -----------------------------------------------------------------


@given(a=shapes, b=shapes, n=sizes, data=st.data())
@few
def test_logpmf_equals_the_numpy_twin(a, b, n, data):
    k = data.draw(st.integers(0, n))
    exact = twin_logpmf(a, b, k, n)
    scale = (n + 1) * max(5.0, abs(math.log(a)), abs(math.log(b)))
    assert BetaBinomial(a, b).logpmf(k, n) == pytest.approx(exact, abs=1e-14 * scale)


@given(mu=shares, rho=shares, n=sizes)
@few
def test_pmf_equals_exact_fractions(mu, rho, n):
    exact = [float(p) for p in exact_mean_law(mu, rho, n)]
    p = BetaBinomial.from_mean(mu, rho).pmf(np.arange(n + 1), n)
    np.testing.assert_allclose(p, exact, rtol=2.3e-16, atol=5e-324)


@given(
    a=shapes,
    b=shapes,
    cells=st.lists(st.tuples(st.integers(-2, 60), st.integers(0, 50)), min_size=1, max_size=80),
)
@few
def test_arrays_equal_single_values_to_the_last_bit(a, b, cells):
    law = BetaBinomial(a, b)
    k, n = (np.array(x) for x in zip(*cells, strict=True))
    for method in (law.pmf, law.logpmf, law.cdf, law.sf):
        np.testing.assert_array_equal(method(k, n), [method(*cell) for cell in cells])
        # more counts than there are distinct values: a path of its own
        few_n = n % 4 + 1
        many = method(np.tile(k, 20), np.tile(few_n, 20))
        single = [method(*cell) for cell in zip(k.tolist(), few_n.tolist(), strict=True)]
        np.testing.assert_array_equal(many, single * 20)


@given(mu=shares, rho=shares, n=st.integers(0, 8))
@few
def test_tails_equal_exact_sums(mu, rho, n):
    law = BetaBinomial.from_mean(mu, rho)
    exact = exact_mean_law(mu, rho, n)
    below = [float(sum(exact[: k + 1])) for k in range(n + 1)]
    above = [float(sum(exact[k + 1 :])) for k in range(n + 1)]
    counts = np.arange(n + 1)
    np.testing.assert_allclose(law.cdf(counts, n), below, rtol=2e-15, atol=1e-322)
    np.testing.assert_allclose(law.sf(counts, n), above, rtol=2e-15, atol=1e-322)


@given(a=shapes, b=shapes, n=st.integers(0, 200))
@few
def test_tails_equal_the_fsum_twin(a, b, n):
    law = BetaBinomial(a, b)
    counts = np.arange(n + 1)
    p = law.pmf(counts, n).tolist()
    below = [math.fsum(p[: k + 1]) for k in range(n + 1)]
    above = [math.fsum(p[k + 1 :]) for k in range(n + 1)]
    np.testing.assert_allclose(law.cdf(counts, n), below, rtol=2e-15, atol=1e-320)
    np.testing.assert_allclose(law.sf(counts, n), above, rtol=2e-15, atol=1e-320)


@given(a=mild_shapes, b=mild_shapes, n=st.lists(st.integers(0, 20), min_size=1, max_size=9))
@few
def test_draws_equal_the_searchsorted_twin(a, b, n):
    law = BetaBinomial(a, b)
    u = np.random.default_rng(5).random(len(n))
    twin = [
        np.searchsorted(law.cdf(np.arange(m + 1), m), x, side="right")
        for m, x in zip(n, u, strict=True)
    ]
    np.testing.assert_array_equal(law.rvs(n, rng=np.random.default_rng(5)), twin)


def test_the_smallest_quantile_with_mass_is_drawn():
    law = BetaBinomial.from_mean(1.0, 0.3)
    parts = law._tables((6, 6, 6))
    out = np.full(2, -1, dtype=np.int64)
    n, order = np.array([5, 5]), np.array([0, 1])
    scratch = np.empty(6), np.empty(6)
    u = np.array([0.0, 1 - 2.0**-53])
    kernels.quantile_array(law._law, u, n, order, *parts, *scratch, out)
    assert out.tolist() == [5, 5]  # a value of probability 0 is never drawn, not even at u = 0


# -- laws of the law -----------------------------------------------------------------------------


@given(a=shapes, b=shapes, n=sizes)
@few
def test_mirror_is_exact(a, b, n):
    counts = np.arange(n + 1)
    law, mirror = BetaBinomial(a, b), BetaBinomial(b, a)
    np.testing.assert_array_equal(law.pmf(counts, n), mirror.pmf(n - counts, n))
    np.testing.assert_array_equal(law.logpmf(counts, n), mirror.logpmf(n - counts, n))


@given(a=shapes, b=shapes, n=sizes)
@few
def test_pmf_sums_to_one(a, b, n):
    counts = np.arange(n + 1)
    law = BetaBinomial(a, b)
    assert law.pmf(counts, n).sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(
        np.exp(law.logpmf(counts, n)), law.pmf(counts, n), rtol=3e-13, atol=1e-300
    )


@given(a=mild_shapes, b=mild_shapes, n=sizes)
@few
def test_mixture_identity(a, b, n):
    counts = np.arange(n + 1)
    right = a / (a + b) * BetaBinomial(a + 1, b).pmf(counts, n)
    wrong = b / (a + b) * BetaBinomial(a, b + 1).pmf(counts, n)
    np.testing.assert_allclose(
        BetaBinomial(a, b).pmf(counts, n), right + wrong, rtol=1e-10, atol=1e-300
    )


@given(a=shapes, b=shapes, n=st.integers(1, 200))
@few
def test_tails_are_monotone_and_complementary(a, b, n):
    counts = np.arange(-1, n + 2)
    law = BetaBinomial(a, b)
    cdf, sf = law.cdf(counts, n), law.sf(counts, n)
    assert cdf[0] == 0.0
    assert sf[0] == 1.0
    assert (cdf[-2:] == 1.0).all()
    assert (sf[-2:] == 0.0).all()
    assert (np.diff(cdf) >= 0).all()
    assert (np.diff(sf) <= 0).all()
    np.testing.assert_array_equal(cdf + sf, 1.0)


@given(mu=shares, rho=shares, n=sizes)
@few
def test_moments(mu, rho, n):
    law = BetaBinomial.from_mean(mu, rho)
    counts = np.arange(n + 1)
    p = law.pmf(counts, n)
    mean = (p * counts).sum()
    assert law.mean(n) == pytest.approx(mean, rel=1e-13, abs=1e-300)
    assert law.var(n) == pytest.approx((p * (counts - mean) ** 2).sum(), rel=1e-9, abs=1e-13)


def test_a_small_upper_tail_keeps_its_digits():
    # n = 3, shapes 1 and b: P(K > 1) = 6 (b + 3) / ((b + 1) (b + 2) (b + 3))
    b = 1e20
    exact = Fraction(6) / ((Fraction(b) + 1) * (Fraction(b) + 2))
    assert BetaBinomial(1.0, b).sf(1, 3) == pytest.approx(float(exact), rel=1e-15)
    assert BetaBinomial(b, 1.0).cdf(1, 3) == pytest.approx(float(exact), rel=1e-15)


# -- broadcasting and what is refused ------------------------------------------------------------


def test_broadcasting_and_types():
    law = BetaBinomial(2, 3)
    table = law.pmf(np.arange(4)[:, None], np.array([3, 5]))
    assert table.shape == (4, 2)
    assert table[2, 1] == law.pmf(2, 5)
    assert isinstance(law.pmf(1, 3), float)
    assert isinstance(law.pmf(np.int32(1), np.float32(3)), float)
    assert isinstance(law.mean(3), float)
    assert law.mean([3, 5]).dtype == np.float64
    assert law.pmf([], 3).shape == (0,)
    assert law.pmf([], []).shape == law.cdf([], 3).shape == law.rvs([], rng=make_rng()).shape
    assert law.pmf(2.0, 3.0) == law.pmf(2, 3)
    for kind in ("float16", "float32", "longdouble", "int8", "uint8", "uint64"):
        counts = np.array([0, 2], dtype=kind)
        np.testing.assert_array_equal(law.pmf(counts, np.array(3, kind)), law.pmf([0, 2], 3))
    np.testing.assert_array_equal(law.pmf([-5, 4, 2**50], 3), 0.0)
    np.testing.assert_array_equal(law.logpmf([-5, 4], 3), -math.inf)
    read_only = np.arange(4)
    read_only.setflags(write=False)
    np.testing.assert_array_equal(law.cdf(read_only, 3), law.cdf(np.arange(4), 3))


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "2", None, True])
def test_bad_shapes(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must .*got {value!r}"):
        BetaBinomial(**({"alpha": 1.0, "beta": 1.0} | {name: value}))


@pytest.mark.parametrize("name", ["mu", "rho"])
@pytest.mark.parametrize("value", [-0.1, 1.0001, math.nan, math.inf, "0.5"])
def test_bad_means(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must .*got {value!r}"):
        BetaBinomial.from_mean(**({"mu": 0.5, "rho": 0.5} | {name: value}))


@pytest.mark.parametrize(
    ("k", "n", "message"),
    [
        (2.5, 7, r"`k` must hold integers: k=2\.5"),
        (0.43, 1, r"k=0\.43 \(was a proportion passed as a count\?\)"),
        ([3, math.nan], 7, r"`k` must hold integers: k\[1\]=nan"),
        (3, math.inf, r"`n` must hold integers: n=inf"),
        ([[1, 2], [3, 4.5]], 7, r"k\[1, 1\]=4\.5"),
        (3, [7, -1], r"`n` must be >= 0: n\[1\]=-1"),
        ("3", 7, r"`k` must hold integers, got '3'"),
        (True, 7, r"`k` must hold integers, got True"),
        (3, None, r"`n` must hold integers, got None"),
        (10**20, 7, r"`k` must hold integers"),
        (2**60, 7, r"`k` must lie within \+-2\*\*53: k=1152921504606846976"),
        ([1, 2], [1, 2, 3], r"`k` and `n` must broadcast .*\(2,\) and \(3,\)"),
    ],
)
@pytest.mark.parametrize("method", ["pmf", "logpmf", "cdf", "sf"])
def test_bad_counts(method, k, n, message):
    with pytest.raises(ValueError, match=message):
        getattr(BetaBinomial(2, 2), method)(k, n)


def test_bad_draws():
    law = BetaBinomial(2, 2)
    with pytest.raises(ValueError, match=r"`rng` must be a numpy.random.Generator, got 7"):
        law.rvs(7, rng=7)
    with pytest.raises(ValueError, match=r"`size` must be an integer >= 0 .* got -1"):
        law.rvs(7, -1, rng=make_rng())
    with pytest.raises(ValueError, match=r"`n` must broadcast to `size`: shape \(2,\)"):
        law.rvs([7, 8], 3, rng=make_rng())
    with pytest.raises(ValueError, match=r"`n` must be >= 0: n=-1"):
        law.rvs(-1, rng=make_rng())


# -- draws ---------------------------------------------------------------------------------------


def make_rng():
    return np.random.default_rng(20240609)


def chi_square(draws, law, n):
    """Upper tail probability of Pearson's statistic; cells of fewer than 5 expected are pooled."""
    from scipy.special import chdtrc

    expected = law.pmf(np.arange(n + 1), n) * len(draws)
    observed = np.bincount(draws, minlength=n + 1)
    rare = expected < 5
    if rare.any():
        expected = np.append(expected[~rare], expected[rare].sum())
        observed = np.append(observed[~rare], observed[rare].sum())
    if expected[-1] == 0:
        assert observed[-1] == 0
        expected, observed = expected[:-1], observed[:-1]
    return chdtrc(len(expected) - 1, ((observed - expected) ** 2 / expected).sum())


LAWS = [
    BetaBinomial(2, 6),
    BetaBinomial(0.05, 0.02),
    BetaBinomial(1e-5, 1e-6),
    BetaBinomial(1e200, 3e200),
    BetaBinomial.from_mean(0.3, 0.0),
    BetaBinomial.from_mean(0.3, 1.0),
]


@pytest.mark.statistical
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_draws_follow_the_law(law):
    """Fails with probability 1e-6 a law under a new seed, 6e-6 in all."""
    draws = law.rvs(7, 50_000, rng=make_rng())
    assert draws.dtype == np.int64
    assert chi_square(draws, law, 7) > 1e-6


@pytest.mark.statistical
def test_the_chi_square_check_can_fail():
    draws = BetaBinomial(2, 6).rvs(7, 50_000, rng=make_rng())
    assert chi_square(draws, BetaBinomial(2.2, 6.6), 7) < 1e-6


@pytest.mark.statistical
def test_draws_with_a_size_for_each_item():
    """Means of 20,000 draws at three sizes within 5 standard errors: 2e-6 under a new seed."""
    law = BetaBinomial(0.5, 1.5)
    n = np.array([3, 40, 1000])
    draws = law.rvs(n, (20_000, 3), rng=make_rng())
    assert draws.shape == (20_000, 3)
    z = (draws.mean(axis=0) - law.mean(n)) / np.sqrt(law.var(n) / 20_000)
    assert (np.abs(z) < 5).all()
    np.testing.assert_array_equal(draws, law.rvs(n, (20_000, 3), rng=make_rng()))


def test_draws_of_shapes_without_a_beta_variate():
    ends = BetaBinomial(1e-320, 1e-320).rvs(7, 1000, rng=make_rng())
    assert set(ends.tolist()) == {0, 7}
    assert isinstance(BetaBinomial(2, 2).rvs(7, rng=make_rng()), int)
