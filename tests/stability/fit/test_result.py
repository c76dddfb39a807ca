"""What a fit gives its reader: laws, shares, criteria, words, JSON."""

import dataclasses
import functools
import html
import json
import math

import numpy as np
import pytest

from stability.fit import BetaBinomial, FitStatus, MixtureFit, fit_mixture, fit_mixtures
from stability.fit.result import shapes

TABLES = {
    "interior": (np.arange(8), 7, [47, 54, 43, 40, 40, 41, 39, 95], 2),
    "binomials": (np.arange(8), 7, [2, 40, 8, 1, 1, 8, 40, 2], 2),
    "ends": ([0, 7], 7, [8, 12], 1),
    "point": ([7], 7, [2], 2),
    "unequal": ([0, 3, 2, 9, 1], [1, 5, 2, 9, 7], [3, 4, 1, 8, 2], 2),
    "three": (np.arange(9), 8, [30, 9, 4, 12, 20, 9, 3, 8, 40], 3),
    "single": ([3], 7, [1], 2),
}


@functools.cache
def fit_of(name):
    k, n, freq, size = TABLES[name]
    return fit_mixture(k, n, freq=freq, n_components=size)


@pytest.fixture(params=TABLES)
def fit(request):
    return fit_of(request.param)


def test_to_dict_and_back_through_json(fit):
    text = json.dumps(fit.to_dict(), allow_nan=False)
    back = MixtureFit.from_dict(json.loads(text))
    assert back.to_dict() == fit.to_dict()
    for field in dataclasses.fields(MixtureFit):
        a, b = getattr(fit, field.name), getattr(back, field.name)
        assert type(a) is type(b)
        pairs = zip(a, b, strict=True) if field.name == "counts" else [(a, b)]
        for x, y in pairs:
            np.testing.assert_array_equal(x, y)
    assert back.status is fit.status
    for array in (back.weights, back.mean, back.rho, back.loglik_trace, *back.counts):
        assert not array.flags.writeable


def test_modes_are_counted_when_read():
    fit = fit_of("interior")
    assert "modes" not in vars(fit)
    assert fit.modes == vars(fit)["modes"] >= 2
    assert fit_of("point").modes == 1
    # what is written holds no modes; what was written with them is read
    data = fit.to_dict()
    assert "modes" not in data
    assert MixtureFit.from_dict({**data, "modes": 1}).modes == fit.modes
    (row,) = fit_mixtures([TABLES["interior"][2]], 7)
    assert row.modes == fit.modes


def test_frozen(fit):
    for array in (
        fit.weights, fit.mean, fit.rho, fit.alpha, fit.beta, fit.loglik_trace, *fit.counts,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.loglik = 0.0


@pytest.mark.parametrize("n", [1, 7, 60])
def test_laws_agree_with_each_other(fit, n):
    k = np.arange(n + 1)
    p = fit.pmf(k, n)
    parts = [BetaBinomial.from_mean(m, r) for m, r in zip(fit.mean, fit.rho, strict=True)]
    twin = sum(w * part.pmf(k, n) for w, part in zip(fit.weights, parts, strict=True))
    np.testing.assert_allclose(p, twin, rtol=1e-15, atol=1e-300)
    np.testing.assert_allclose(fit.law(n), p, rtol=1e-12, atol=1e-97)
    assert fit.law(n).sum() == pytest.approx(1.0, abs=1e-15)
    below = fit.cdf(k, n)
    np.testing.assert_allclose(below, np.cumsum(p), atol=1e-14)
    assert below[-1] == 1.0
    assert fit.cdf([n + 1, -1], n).tolist() == [1.0, 0.0]
    assert (np.diff(below) >= 0).all()
    assert isinstance(fit.pmf(0, n), float)
    assert isinstance(fit.cdf(0, n), float)
    assert fit.cdf(0, n) == below[0]


def test_loglik_is_that_of_the_parameters(fit):
    k, n, freq = fit.counts
    assert fit.loglik == pytest.approx(freq @ np.log(fit.pmf(k, n)), rel=1e-12, abs=1e-12)
    assert fit.loglik <= 0.0
    assert fit.n_items == freq.sum()


def test_responsibilities(fit):
    k, n, freq = fit.counts
    resp = fit.responsibilities(k, n)
    assert resp.shape == (k.size, fit.n_components)
    np.testing.assert_allclose(resp.sum(axis=1), 1.0, atol=1e-15)
    assert (resp >= 0).all()
    # at a maximum the weights are the mean responsibilities of the components that have weight
    alive = fit.weights > 0
    np.testing.assert_allclose((freq @ resp / freq.sum())[alive], fit.weights[alive], atol=1e-5)
    assert fit.responsibilities(0, 1).shape == (fit.n_components,)
    assert fit.responsibilities([[0, 1]], [[1], [2]]).shape == (2, 2, fit.n_components)


def test_responsibilities_of_an_impossible_count_are_the_weights():
    for name in ("ends", "point"):
        fit = fit_of(name)
        np.testing.assert_array_equal(fit.responsibilities(3, 7), fit.weights)


def test_criteria(fit):
    size = fit.n_components
    assert fit.n_parameters == 3 * size - 1
    assert fit.aic == pytest.approx(2 * (3 * size - 1) - 2 * fit.loglik)
    assert fit.bic == pytest.approx((3 * size - 1) * math.log(fit.n_items) - 2 * fit.loglik)


def test_latent_cdf():
    x = np.linspace(0, 1, 11)
    uniform = fit_mixture(np.arange(8), 7, freq=[10] * 8, n_components=1)
    np.testing.assert_allclose(uniform.latent_cdf(x), x, atol=1e-14)
    ends = fit_of("ends")
    np.testing.assert_allclose(ends.latent_cdf(x), [*[0.4] * 10, 1.0], atol=1e-15)
    assert fit_of("point").latent_cdf([0.0, 0.999, 1.0]).tolist() == [0.0, 0.0, 1.0]
    pair = fit_of("binomials")
    low, high = pair.mean
    assert pair.latent_cdf([low - 1e-9, low, high - 1e-9, high]).tolist() == pytest.approx(
        [0.0, pair.weights[0], pair.weights[0], 1.0]
    )
    for fit in map(fit_of, TABLES):
        values = fit.latent_cdf(x)
        assert (np.diff(values) >= 0).all()
        assert fit.latent_cdf(1.0) == pytest.approx(1.0, abs=1e-15)
        assert isinstance(fit.latent_cdf(0.3), float)
        assert fit.latent_cdf([[0.1, 0.2]]).shape == (1, 2)


@pytest.mark.parametrize("x", [-0.1, 1.1, math.nan])
def test_latent_cdf_refuses_what_is_no_probability(x):
    with pytest.raises(ValueError, match=r"`x` must lie in \[0, 1\]"):
        fit_of("interior").latent_cdf([0.5, x])


def test_summary_says_all_that_applies():
    for fit in map(fit_of, TABLES):
        for flag in fit.flags:
            assert f"{flag.value}: {flag.sentence}" in fit.summary()
            assert flag.sentence in html.unescape(fit._repr_html_())


PINNED = {
    "two": lambda: fit_mixture(range(8), 7, freq=[92, 108, 92, 66, 52, 67, 119, 204]),
    "bounds": lambda: fit_mixture([0, 7, 7, 7, 3], [7, 7, 7, 7, 5]),
    "one": lambda: fit_mixture(range(8), 7, freq=[0, 2, 9, 20, 21, 11, 2, 1], n_components=1),
}


@pytest.mark.parametrize("name", PINNED)
@pytest.mark.parametrize("kind", ["txt", "html", "csv"])
def test_views_are_those_of_the_files(name, kind, root):
    """Text, HTML and table as they were looked at; a change is made in the files."""
    fit = PINNED[name]()
    view = {
        "txt": lambda: fit.summary() + "\n",
        "html": lambda: fit._repr_html_() + "\n",
        "csv": lambda: fit.to_frame().to_csv(index=False, float_format="%.4f"),
    }[kind]()
    path = root / "tests" / "stability" / "fit" / "views" / f"{name}.{kind}"
    assert view == path.read_text("utf-8")


def test_the_level_of_the_intervals():
    fit = PINNED["two"]()
    wide, narrow = (fit.to_frame(level)["high"].to_numpy() for level in (0.99, 0.5))
    assert (wide > narrow).all()
    with pytest.raises(ValueError, match="`level` must lie in"):
        fit.summary(1.0)


def test_statuses_speak():
    for status in FitStatus:
        assert status.sentence.endswith(".")
        assert status.value == str(status)
    at_bound = {status.value for status in FitStatus if status.at_bound}
    assert at_bound == {
        "binomial limit", "all mass on 0 and n", "point mass", "weight collapsed",
    }  # fmt: skip
    assert not fit_of("interior").status.at_bound
    assert fit_of("single").status is FitStatus.SINGLE_ITEM
    assert fit_of("binomials").status is FitStatus.BINOMIAL_LIMIT


def test_shapes_at_the_limits():
    alpha, beta = shapes(
        np.array([0.25, 0.25, 0.25, 0.0, 1.0]), np.array([0.2, 0.0, 1.0, 0.0, 0.0])
    )
    assert alpha.tolist() == [1.0, math.inf, 0.0, 0.0, math.inf]
    assert beta.tolist() == [3.0, math.inf, 0.0, math.inf, 0.0]


@pytest.mark.parametrize("damage", [{}, 3, None, {"weights": [1.0]}])
def test_what_is_no_fit_is_refused(damage):
    with pytest.raises(ValueError, match=r"`data` must be a fit as `to_dict` wrote it, got"):
        MixtureFit.from_dict(damage)
