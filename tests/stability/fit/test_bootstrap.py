"""The bootstrap: what is resampled, what is kept, and its error against theory."""

from functools import cache

import numpy as np
import pytest

from stability import fit_mixture, fit_mixtures
from stability.fit.bootstrap import bootstrap, laws, refit, resample


@cache
def plain():
    return fit_mixture(range(8), 7, freq=[23, 27, 23, 16, 13, 17, 30, 51])


@cache
def mixed():
    return fit_mixture(
        [0, 1, 2, 5, 4, 3, 7, 6], [3, 3, 3, 5, 5, 5, 7, 7], freq=[5, 9, 4, 8, 6, 3, 9, 6]
    )


def test_resamples_keep_the_items_of_every_n():
    rng = np.random.default_rng(1)
    k, n, tables = resample(mixed(), "parametric", 50, rng)
    assert (k <= n).all()
    for size, items in ((3, 18), (5, 17), (7, 15)):
        assert (tables[:, n == size].sum(axis=1) == items).all()
        assert (n == size).sum() == size + 1
    k, n, tables = resample(mixed(), "items", 50, rng)
    assert (k.tolist(), n.tolist()) == (mixed().counts.k.tolist(), mixed().counts.n.tolist())
    assert (tables.sum(axis=1) == mixed().n_items).all()


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["parametric", "items"])
def test_resampled_cells_have_their_probabilities(method, seeded):
    """Means of 4,000 multinomial draws, 32 comparisons at 4.5 standard errors."""
    k, n, tables = resample(plain(), method, 4000, seeded(2))
    expected = plain().law(7) if method == "parametric" else plain().counts.freq / plain().n_items
    share = tables.mean(axis=0) / plain().n_items
    error = np.sqrt(expected * (1 - expected) / plain().n_items / 4000)
    assert (np.abs(share - expected) < 4.5 * error).all()
    assert (k.size, n.size) == (8, 8)


def test_refits_are_the_fits():
    k, n, tables = resample(plain(), "parametric", 20, np.random.default_rng(3))
    parts, loglik, capped = refit(k, n, tables, 2, threads=2)
    fits = fit_mixtures(tables.astype(int), 7)
    for name, part in zip(("weights", "mean", "rho"), parts, strict=True):
        np.testing.assert_array_equal(part, getattr(fits, name))
    np.testing.assert_array_equal(loglik, fits.loglik)
    assert capped == 0
    np.testing.assert_allclose(laws(parts, 7)[4], fits[4].law(7), rtol=1e-12)


def test_draws_depend_on_the_seed_alone():
    first = bootstrap(plain(), "cdf", replicates=60, seed=4, threads=1)
    again = bootstrap(plain(), "cdf", replicates=60, seed=4, threads=2)
    np.testing.assert_array_equal(first.draws["cdf"], again.draws["cdf"])
    other = bootstrap(plain(), "cdf", replicates=60, seed=5)
    assert (first.draws["cdf"] != other.draws["cdf"]).any()
    assert (first.draws["cdf"][:, -1] == 1.0).all()
    assert not first.draws["cdf"].flags.writeable


@pytest.mark.statistical
def test_the_error_of_the_mean_is_that_of_the_counts():
    """sd of k / n over sqrt(M), for either method; 4,000 replicates know it to 1.1 %."""
    counts = np.repeat(plain().counts.k, plain().counts.freq) / 7
    law = plain().law(7)
    places = np.arange(8) / 7
    fitted = np.sqrt(law @ places**2 - (law @ places) ** 2)
    for method, spread in (("items", counts.std()), ("parametric", fitted)):
        found = bootstrap(plain(), "mean", method, replicates=4000, seed=6)
        assert found.standard_error("mean") == pytest.approx(
            spread / np.sqrt(plain().n_items), rel=0.06
        )
        low, high = found.interval("mean")
        assert low < counts.mean() < high
        assert found.interval("mean", kind="basic")[0] == pytest.approx(
            2 * found.estimates["mean"] - high
        )


def test_bands_hold_the_estimate_and_end_at_one():
    found = plain().bootstrap("cdf", replicates=200, seed=7)
    low, high = found.band()
    assert ((low <= found.estimates["cdf"]) & (found.estimates["cdf"] <= high)).all()
    assert (low[-1], high[-1]) == (1.0, 1.0)
    inside = ((found.draws["cdf"] >= low - 1e-12) & (found.draws["cdf"] <= high + 1e-12)).all(
        axis=1
    )
    assert inside.mean() >= 0.95
    assert len(found.to_frame()) == 8
    params = bootstrap(mixed(), replicates=20)
    assert params.draws["mean"].shape == (20, 2)
    assert len(params.to_frame()) == 6
    assert params.replicates == 20


@pytest.mark.parametrize("counts", [[7] * 20, [0, 7] * 10, [3]])
@pytest.mark.parametrize("method", ["parametric", "items"])
@pytest.mark.parametrize("what", ["params", "cdf", "mean"])
def test_degenerate_counts(counts, method, what):
    for size in (1, 2):
        found = bootstrap(fit_mixture(counts, 7, n_components=size), what, method, replicates=10)
        assert all(np.isfinite(values).all() for values in found.draws.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"what": "median"}, "`what` must be one of"),
        ({"method": "jackknife"}, "`method` must be one of"),
        ({"replicates": 1}, "`replicates` must be >= 2, got 1"),
        ({"seed": -1}, "`seed` must be >= 0"),
    ],
)
def test_refusals(arguments, said):
    with pytest.raises(ValueError, match=said):
        bootstrap(plain(), **arguments)
    found = bootstrap(plain(), "mean", replicates=2)
    with pytest.raises(ValueError, match="`name` must be one of mean"):
        found.interval("cdf")
    with pytest.raises(ValueError, match="`level` must lie in"):
        found.interval("mean", 1.5)
