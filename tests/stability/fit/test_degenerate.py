"""Every line of tests/reference/degenerate-inputs.md: inputs that break other fitters.

A check is registered under the text of its line; a line without a check fails, and so does a
check without a line.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from stability.fit import BetaBinomial, FitStatus, fit_mixture, fit_mixtures, ks_distance

ROWS = re.findall(
    r"^\| (?!input|-)(.+?) \| (.+) \|$",
    (Path(__file__).parents[2] / "reference" / "degenerate-inputs.md").read_text(),
    re.MULTILINE,
)
CHECKS = {}
BINARY = -13.460233  # 12 log .6 + 8 log .4
ALCOHOL = [47, 54, 43, 40, 40, 41, 39, 95]


def line(text):
    """Register a check for the line of the file that starts with ``text``."""

    def register(check):
        assert text not in CHECKS
        CHECKS[text] = check
        return check

    return register


@pytest.mark.parametrize("text", [row[0] for row in ROWS])
def test_line(text):
    checks = [check for start, check in CHECKS.items() if text.startswith(start)]
    assert len(checks) == 1, f"no check, or several, for the line {text!r}"
    checks[0]()


def test_every_check_has_a_line():
    assert len(ROWS) == len(CHECKS) == 22
    assert all(any(row[0].startswith(start) for row in ROWS) for start in CHECKS)


def fits(k, n, freq=None):
    """All fits of a valid table; nothing may be NaN, and K must never hurt."""
    found = [fit_mixture(k, n, freq=freq, n_components=size) for size in (1, 2, 3)]
    for fit in found:
        assert not np.isnan(fit.mean).any()
        assert not np.isnan(fit.rho).any()
        assert not np.isnan([fit.alpha, fit.beta]).any()
        assert math.isfinite(fit.loglik)
        assert fit.weights.sum() == pytest.approx(1.0, abs=1e-15)
        assert math.isfinite(fit.grad_norm)
    slack = 1e-13 * abs(found[0].loglik)
    assert found[0].loglik <= found[1].loglik + slack
    assert found[1].loglik <= found[2].loglik + slack
    return found


@line("n=7, k = 3,4 alternating, 20 items")
def under_dispersed():
    single = fits([3, 4] * 10, 7)[0]
    assert single.status is FitStatus.BINOMIAL_LIMIT
    assert (single.mean[0], single.rho[0]) == (0.5, 0.0)
    assert single.loglik == pytest.approx(20 * math.log(35 / 128), rel=1e-14)
    assert single.loglik == pytest.approx(-25.933644, abs=5e-7)


@line("n=4, k=0,1,2 with freq 53,31,4")
def cold_father():
    single = fits([0, 1, 2], 4, [53, 31, 4])[0]
    assert single.status is FitStatus.BINOMIAL_LIMIT
    assert single.mean[0] == pytest.approx(0.1107954545, abs=5e-11)
    assert single.loglik == pytest.approx(-72.415508, abs=5e-7)


@line("n=7, k=7 twenty times")
def all_right():
    for fit in fits([7] * 20, 7):
        np.testing.assert_array_equal(fit.mean, 1.0)
        assert fit.loglik == 0.0
        assert FitStatus.POINT_MASS in fit.flags
        assert np.isfinite(fit.rho).all()
        assert np.isfinite(fit.weights).all()
    assert "dispersion cannot be estimated" in FitStatus.POINT_MASS.sentence
    wrong = fits([0] * 20, 7)[0]
    assert (wrong.mean[0], wrong.loglik, wrong.status) == (0.0, 0.0, FitStatus.POINT_MASS)


@line("n=1, 12 ones and 8 zeros")
def one_agent():
    single, two, three = fits([0, 1], 1, [8, 12])
    assert single.mean[0] == pytest.approx(0.6, rel=1e-15)
    assert single.status is FitStatus.NOT_IDENTIFIABLE
    for fit in (single, two, three):
        assert fit.loglik == pytest.approx(BINARY, abs=5e-7)
        assert fit.weights @ fit.mean == pytest.approx(0.6, abs=1e-7)
        assert FitStatus.NOT_IDENTIFIABLE in fit.flags


@line("n=7, 8 zeros and 12 sevens")
def all_or_nothing():
    single, two, three = fits([0, 7], 7, [8, 12])
    assert single.status is FitStatus.ALL_OR_NOTHING
    assert (single.mean[0], single.rho[0]) == (pytest.approx(0.6, rel=1e-15), 1.0)
    assert (single.alpha[0], single.beta[0]) == (0.0, 0.0)
    for fit in (single, two, three):
        assert fit.loglik == pytest.approx(BINARY, abs=5e-7)
        np.testing.assert_allclose(fit.pmf([0, 3, 7], 7), [0.4, 0.0, 0.6], atol=1e-7)


@line("logpmf(k; 7, 1e-100, 1e-100)")
def tiny_shapes():
    logp = BetaBinomial(1e-100, 1e-100).logpmf(np.arange(8), 7)
    np.testing.assert_allclose(logp[[0, 7]], -0.6931, atol=5e-5)
    assert ((logp[1:7] > -232) & (logp[1:7] < -229)).all()


@line("logpmf(500; 1000, .5e15, .5e15)")
def large_shapes():
    assert BetaBinomial(0.5e15, 0.5e15).logpmf(500, 1000) == pytest.approx(-3.679919, abs=5e-7)


@line("logpmf(3; 7, s/2, s/2)")
def growing_shapes():
    for exponent in range(10, 151, 10):
        s = 10.0**exponent
        # a + j over a + b + j, in exact integers
        half, whole = int(s / 2), 2 * int(s / 2)
        top = math.prod(half + j for j in range(3)) * math.prod(half + j for j in range(4)) * 35
        exact = math.log(top / math.prod(whole + j for j in range(7)))
        error = abs(BetaBinomial(s / 2, s / 2).logpmf(3, 7) - exact)
        assert error <= 1e-13 + 2.3e-16 * abs(exact)
    assert BetaBinomial(5e149, 5e149).logpmf(3, 7) == pytest.approx(-1.2966822024, abs=5e-11)


@line("pmf of BB(1030; 2, 2)")
def sums_to_one():
    assert BetaBinomial(2, 2).pmf(np.arange(1031), 1030).sum() == pytest.approx(1.0, abs=1e-12)


@line("cdf(5e5; 10^6, 2, 2)")
def a_million_agents():
    law = BetaBinomial(2, 2)
    assert law.cdf(500_000, 10**6) == pytest.approx(0.50000075, abs=5e-9)
    # a tail of 1e-13 keeps its digits, which 1 - cdf would lose
    tail = law.sf(10**6 - 1, 10**6)
    assert tail == pytest.approx(law.pmf(10**6, 10**6), rel=1e-12)
    assert tail != 1.0 - law.cdf(10**6 - 1, 10**6)


@line("k = 0.43, n = 1")
def a_proportion():
    message = r"`k` must hold integers.*0.43 \(was a proportion passed as a count\?\)"
    for call in (fit_mixture, BetaBinomial(2, 2).pmf):
        with pytest.raises(ValueError, match=message):
            call(0.43, 1)


@line("k = 2.0 / 2.5")
def whole_floats():
    assert fit_mixture([2.0, 3.0], 7.0).loglik == fit_mixture([2, 3], 7).loglik
    with pytest.raises(ValueError, match=r"`k` must hold integers: k\[1\]=2\.5"):
        fit_mixture([2.0, 2.5], 7)


@line("k=[3], n=7, freq=10")
def ten_copies():
    for size in (1, 2, 3):
        short = fit_mixture([3], 7, freq=10, n_components=size)
        long = fit_mixture([3] * 10, 7, n_components=size)
        assert short.to_dict() == long.to_dict()
        assert short.n_items == 10


@line("k=8, n=7")
def too_many():
    with pytest.raises(ValueError, match=r"`k` must be <= `n`: k\[3\]=8, n\[3\]=7"):
        fit_mixture([1, 2, 3, 8], 7)
    with pytest.raises(ValueError, match=r"`k` must be <= `n`: k\[1\]=8, n\[1\]=7"):
        fit_mixture([1, 8], [9, 7])


@line("k=[3, nan]")
def not_a_number():
    with pytest.raises(ValueError, match=r"`k` must hold integers: k\[1\]=nan"):
        fit_mixture([3, math.nan], 7)


@line("one row of a batch bad")
def bad_row():
    good = [3, 0, 1, 5]
    batch = fit_mixtures([good, [3, math.nan, 1, 5], good], 3, n_components=1)
    assert batch.status[1] is None
    assert "hist[1, 1]=nan" in batch.problems[1]
    alone = fit_mixture(np.arange(4), 3, freq=good, n_components=1)
    assert batch.loglik[0] == batch.loglik[2] == alone.loglik


@line("K=2 started symmetric")
def not_the_saddle():
    # tables that equal their mirror image: where both components are alike the gradient vanishes
    for method, hist in (
        ("auto", [2, 40, 8, 1, 1, 8, 40, 2]),
        ("auto", [0, 9, 40, 10, 10, 40, 9, 0]),
        ("em", [2, 40, 8, 1, 1, 8, 40, 2]),
    ):
        single = fit_mixture(np.arange(8), 7, freq=hist, n_components=1)
        fit = fit_mixture(np.arange(8), 7, freq=hist, method=method)
        assert fit.loglik > single.loglik + 3
        assert fit.mean[1] - fit.mean[0] > 0.2
        assert fit.mean.sum() == pytest.approx(1.0, abs=1e-6)


@line("n=3 or 4, K=2; n=7, K=3")
def not_identifiable():
    rng = np.random.default_rng(3)
    for n, size in ((3, 2), (4, 2), (7, 3)):
        for _ in range(5):
            freq = rng.integers(0, 40, n + 1) + (np.arange(n + 1) == 0)
            fit = fit_mixture(np.arange(n + 1), n, freq=freq, n_components=size)
            assert FitStatus.NOT_IDENTIFIABLE in fit.flags
            held = freq[freq > 0]
            assert fit.loglik <= (held * np.log(held / held.sum())).sum()
    enough = fit_mixture(np.arange(6), 5, freq=[40, 10, 20, 5, 20, 80])
    assert FitStatus.NOT_IDENTIFIABLE not in enough.flags


@line("single item k=3, n=7")
def single_item():
    single, *more = fits([3], 7)
    assert single.status is FitStatus.SINGLE_ITEM
    assert single.mean[0] == pytest.approx(3 / 7, rel=1e-15)
    assert single.loglik == pytest.approx(-1.225009, abs=5e-7)
    assert all(FitStatus.SINGLE_ITEM in fit.flags for fit in more)


@line("the same fit twice")
def same_twice():
    one, again = (fit_mixture(np.arange(8), 7, freq=ALCOHOL) for _ in range(2))
    assert one.to_dict() == again.to_dict()
    for space in ("predictive", "latent"):
        assert ks_distance(one, again, space=space) == 0.0
    assert ks_distance([3, 4, 4], [3, 4, 4], space="empirical") == 0.0


@line("alcohol_week1, K=2")
def two_modes():
    fit = fit_mixture(np.arange(8), 7, freq=ALCOHOL)
    assert fit.loglik == pytest.approx(-809.3253127206, abs=1e-8)
    assert fit.modes >= 2


@line("float32 input")
def single_precision():
    k = np.array([0, 3, 5, 7, 7, 2], np.float32)
    freq = np.array([4, 30, 20, 50, 1, 9], np.float32)
    fit = fit_mixture(k, np.float32(7), freq=freq)
    assert fit.to_dict() == fit_mixture(k.astype(int), 7, freq=freq.astype(int)).to_dict()
    assert fit.mean.dtype == fit.weights.dtype == np.float64
    hist = np.array([[3, 0, 1, 5]], np.float32)
    assert fit_mixtures(hist, 3).mean.dtype == np.float64


@pytest.mark.parametrize("method", ["auto", "em"])
@pytest.mark.parametrize(
    ("k", "n", "freq"),
    [
        ([3], [7], [1]),
        ([0], [1], [5]),
        ([0, 1], [1, 1], [8, 12]),
        ([7], [7], [20]),
        ([0, 7], [7, 7], [8, 12]),
        ([0, 0], [0, 3], [2, 4]),
        ([0], [0], [3]),
        ([0, 1, 2], [0, 1, 2], [1, 1, 1]),
        ([1, 1], [1, 7], [3, 3]),
    ],
)
def test_degenerate_tables_fit_by_both_methods(k, n, freq, method):
    for size in (1, 2):
        fit = fit_mixture(k, n, freq=freq, n_components=size, method=method)
        newton = fit_mixture(k, n, freq=freq, n_components=size)
        assert not np.isnan([fit.mean, fit.rho, fit.alpha, fit.beta]).any()
        assert fit.loglik == pytest.approx(newton.loglik, abs=1e-8)
        assert fit.converged
