"""What holds for the maximum-likelihood fit of every table, whatever the counts."""

import json
import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.fit import BetaBinomial, FitStatus, MixtureFit, fit_mixture

# uncompiled, the same properties on fewer tables
few = settings(max_examples=4 if numba.config.DISABLE_JIT else 30, deadline=None)
sizes = st.integers(1, 3)
frequencies = st.integers(0, 12) | st.integers(0, 200)


@st.composite
def tables(draw):
    """Cells (k, n, freq): one n or several, dense or sparse, at least one item."""
    if draw(st.booleans()):
        n = draw(st.integers(1, 9))
        freq = draw(st.lists(frequencies, min_size=n + 1, max_size=n + 1))
        cells = [(k, n, f) for k, f in enumerate(freq)]
    else:
        pair = st.integers(0, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
        cells = [(*draw(pair), draw(frequencies)) for _ in range(draw(st.integers(1, 6)))]
    k, n, freq = np.array(cells).T
    freq[0] += not freq.any()
    return k, n, freq


def fit_of(table, size):
    k, n, freq = table
    return fit_mixture(k, n, freq=freq, n_components=size)


def saturated(fit):
    """Log-likelihood of the observed shares of each n."""
    k, n, freq = fit.counts
    assert k.size == freq.size
    return sum(f * math.log(f / freq[n == m].sum()) for f, m in zip(freq, n, strict=True))


def laws_equal(a, b, atol):
    """Whether two fits give every cell of every n of theirs the same probability."""
    for n in {*a.counts.n.tolist(), *b.counts.n.tolist()}:
        k = np.arange(n + 1)
        np.testing.assert_allclose(a.pmf(k, n), b.pmf(k, n), atol=atol)


@given(table=tables(), size=sizes)
@few
def test_results_are_numbers_in_their_ranges(table, size):
    fit = fit_of(table, size)
    assert fit.weights.sum() == pytest.approx(1.0, abs=1e-14)
    for values in (fit.weights, fit.mean, fit.rho):
        assert ((values >= 0) & (values <= 1)).all()
    assert not np.isnan([fit.alpha, fit.beta]).any()
    assert math.isfinite(fit.loglik)
    assert fit.loglik <= 0.0
    order = list(zip(fit.mean.tolist(), fit.rho.tolist(), strict=True))
    assert order == sorted(order)
    k, n, freq = fit.counts
    assert fit.loglik == pytest.approx(freq @ np.log(fit.pmf(k, n)), rel=1e-11, abs=1e-11)
    for m in {*n.tolist()}:
        assert fit.pmf(np.arange(m + 1), m).sum() == pytest.approx(1.0, abs=1e-13)


@given(table=tables(), size=sizes)
@few
def test_the_projected_gradient_vanishes(table, size):
    fit = fit_of(table, size)
    assert fit.converged == (FitStatus.ITERATION_CAP not in fit.flags)
    assert fit.grad_norm < (1e-5 if fit.converged else 1e-2)


@given(table=tables(), size=sizes)
@few
def test_statuses_agree_with_the_parameters(table, size):
    fit = fit_of(table, size)
    flags, top = set(fit.flags), fit.counts.n.max()
    live = fit.weights > 0
    mean, rho = fit.mean[live], fit.rho[live]
    inside = (mean > 0) & (mean < 1)
    assert fit.flags[0] is fit.status
    assert (FitStatus.COLLAPSED in flags) == (not live.all())
    assert (FitStatus.POINT_MASS in flags) == (not inside.all())
    assert (FitStatus.ALL_OR_NOTHING in flags) == (rho == 1).any()
    assert (FitStatus.BINOMIAL_LIMIT in flags) == (top > 1 and bool((inside & (rho == 0)).any()))
    assert (FitStatus.NOT_IDENTIFIABLE in flags) == (top < 3 * size - 1)
    # an item that nobody answered tells nothing and does not count
    told = fit.counts.freq[fit.counts.n > 0].sum()
    assert (FitStatus.SINGLE_ITEM in flags) == (told == 1)
    assert (FitStatus.INTERIOR in flags) == (len(flags) == 1 and fit.status is FitStatus.INTERIOR)
    # what is arbitrary is fixed: equal fits have equal parameters
    heaviest = fit.weights == fit.weights.max()
    pairs = {*zip(fit.mean[heaviest], fit.rho[heaviest], strict=True)}
    assert {*zip(fit.mean[~live], fit.rho[~live], strict=True)} <= pairs
    assert (rho[~inside] == 0).all()


@given(table=tables(), size=sizes)
@few
def test_mirrored_counts_give_the_mirrored_fit(table, size):
    k, n, freq = table
    fit, mirror = fit_of(table, size), fit_of((n - k, n, freq), size)
    assert mirror.loglik == pytest.approx(fit.loglik, rel=4e-16, abs=0)
    assert (mirror.status, mirror.flags) == (fit.status, fit.flags)
    if np.array_equal(fit.counts, mirror.counts):
        return  # its own mirror image: one of the two equal maxima is reported
    parts = sorted(zip(fit.weights, fit.mean, fit.rho, strict=True))
    back = sorted(zip(mirror.weights, 1.0 - mirror.mean, mirror.rho, strict=True))
    twice = sorted(zip(mirror.weights, mirror.mean, mirror.rho, strict=True))
    there = sorted(zip(fit.weights, 1.0 - fit.mean, fit.rho, strict=True))
    # 1 - mean is exact in the direction in which the fit was mirrored
    assert parts == back or there == twice
    for m in {*n.tolist()}:
        np.testing.assert_allclose(
            mirror.pmf(np.arange(m + 1), m), fit.pmf(np.arange(m + 1), m)[::-1], atol=1e-14
        )


@given(table=tables(), size=sizes, times=st.integers(2, 50))
@few
def test_frequencies_times_c(table, size, times):
    k, n, freq = table
    fit, many = fit_of(table, size), fit_of((k, n, freq * times), size)
    assert many.loglik == pytest.approx(times * fit.loglik, rel=1e-9, abs=1e-9)
    assert many.n_items == times * fit.n_items
    if size == 1 and fit.n_items > 1:
        np.testing.assert_allclose([many.mean, many.rho], [fit.mean, fit.rho], atol=1e-6)


@given(table=tables(), size=sizes, seed=st.integers(0, 99))
@few
def test_order_and_splitting_of_rows_do_not_matter(table, size, seed):
    k, n, freq = table
    whole = fit_of(table, size).to_dict()
    order = np.random.default_rng(seed).permutation(k.size)
    assert fit_of((k[order], n[order], freq[order]), size).to_dict() == whole
    split = np.minimum(freq, seed % 7)
    rows = [np.concatenate(pair) for pair in ((k, k), (n, n), (split, freq - split))]
    assert fit_of(rows, size).to_dict() == whole
    single = fit_mixture(np.repeat(k, freq), np.repeat(n, freq), n_components=size)
    assert single.to_dict() == whole


@given(table=tables())
@few
def test_more_components_never_fit_worse_and_never_beat_the_shares(table):
    one, two, three = (fit_of(table, size) for size in (1, 2, 3))
    slack = 1e-13 * abs(one.loglik)
    assert one.loglik <= two.loglik + slack
    assert two.loglik <= three.loglik + slack
    assert three.loglik <= saturated(three) + slack


@given(table=tables())
@few
def test_one_component_is_never_worse_than_the_binomial(table):
    fit = fit_of(table, 1)
    k, n, freq = fit.counts
    share = (freq @ k) / max(1, freq @ n)
    level = freq @ BetaBinomial.from_mean(share, 0.0).logpmf(k, n)
    assert fit.loglik >= level - 1e-12 * abs(level)


@given(table=tables(), size=sizes)
@few
def test_json_round_trip(table, size):
    fit = fit_of(table, size)
    back = MixtureFit.from_dict(json.loads(json.dumps(fit.to_dict(), allow_nan=False)))
    assert back.to_dict() == fit.to_dict()
    laws_equal(fit, back, atol=0)


@given(a=st.floats(1e-3, 1e3), b=st.floats(1e-3, 1e3), n=st.integers(0, 40))
@few
def test_a_component_is_a_mixture_of_its_neighbours(a, b, n):
    # BB(a, b) = a / (a + b) BB(a + 1, b) + b / (a + b) BB(a, b + 1): parameters are no identity
    k = np.arange(n + 1)
    blend = a * BetaBinomial(a + 1, b).pmf(k, n) + b * BetaBinomial(a, b + 1).pmf(k, n)
    np.testing.assert_allclose(blend / (a + b), BetaBinomial(a, b).pmf(k, n), rtol=1e-12)
