"""Batches of histograms: each row as if alone, bad rows named, threads without influence."""

import numpy as np
import pytest

from stability.fit import FitStatus, fit_mixture, fit_mixtures


def histograms(rows, n, seed):
    """Rows of every kind: mixtures, one cell, two ends, under-dispersed, few items."""
    rng = np.random.default_rng(seed)
    out = []
    for row in range(rows):
        items = int(rng.choice([1, 3, 20, 200]))
        p = rng.dirichlet(np.full(n + 1, 0.4 if row % 2 else 3.0))
        if row % 5 == 0:
            p = np.eye(n + 1)[rng.integers(n + 1)]
        if row % 7 == 0:
            p = np.zeros(n + 1)
            p[[0, -1]] = 0.5
        out.append(rng.multinomial(items, p))
    return np.array(out)


@pytest.mark.parametrize(("n", "size"), [(7, 1), (7, 2), (7, 3), (1, 2), (4, 2), (15, 2)])
def test_each_row_is_the_fit_of_the_row_alone(n, size):
    hist = histograms(20, n, 100 + n)
    fits = fit_mixtures(hist, n, n_components=size)
    assert len(fits) == 20
    for row, freq in enumerate(hist):
        alone = fit_mixture(np.arange(n + 1), n, freq=freq, n_components=size)
        one = fits[row]
        for name in ("weights", "mean", "rho", "alpha", "beta"):
            np.testing.assert_array_equal(getattr(fits, name)[row], getattr(one, name))
            np.testing.assert_allclose(getattr(one, name), getattr(alone, name), rtol=1e-4)
        assert one.loglik == fits.loglik[row] == pytest.approx(alone.loglik, rel=1e-13, abs=1e-13)
        assert one.status is fits.status[row] is alone.status
        assert one.flags == fits.flags[row] == alone.flags
        assert (one.n_items, one.converged) == (alone.n_items, alone.converged)
        for a, b in zip(one.counts, alone.counts, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_threads_and_neighbours_change_nothing(size):
    hist = histograms(60, 7, 5)
    one = fit_mixtures(hist, 7, n_components=size, threads=1)
    names = ("weights", "mean", "rho", "loglik", "n_iter", "grad_norm")
    for threads in (2, 7, 100, None):
        many = fit_mixtures(hist, 7, n_components=size, threads=threads)
        for name in names:
            np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    backwards = fit_mixtures(hist[::-1], 7, n_components=size, threads=1)
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(backwards, name)[::-1])


def test_bad_rows_are_named_and_the_others_fitted():
    good = [3, 1, 0, 2]
    hist = [good, [3, -1, 0, 2], [1, 2, np.nan, 0], [1, 0.5, 2, 0], [0, 0, 0, 0], [np.inf, 0, 0, 1]]
    fits = fit_mixtures([*hist, good], 3)
    assert [status is None for status in fits.status] == [
        False,
        True,
        True,
        True,
        True,
        True,
        False,
    ]
    assert fits.problems[0] is fits.problems[6] is None
    for row, text in enumerate(
        ("hist[1, 1]=-1.0 is", "hist[2, 2]=nan is", "hist[3, 1]=0.5 is", "hist[4] holds no item",
         "hist[5, 0]=inf is"), start=1,
    ):  # fmt: skip
        assert fits.problems[row].startswith(text)
        for name in ("weights", "mean", "rho", "alpha", "beta"):
            assert np.isnan(getattr(fits, name)[row]).all()
        for name in ("loglik", "n_iter", "grad_norm"):
            assert np.isnan(getattr(fits, name)[row])
        assert fits.flags[row] == ()
        with pytest.raises(ValueError, match=f"row {row} was not fitted: hist"):
            fits[row]
    assert fits.loglik[0] == fits.loglik[6]
    assert fits[0].to_dict() == fits[6].to_dict()


def test_all_rows_bad_or_no_row():
    fits = fit_mixtures([[0, 0], [-1, 2]], 1)
    assert fits.status == (None, None)
    none = fit_mixtures(np.empty((0, 4), int), 3)
    assert len(none) == 0
    assert none.mean.shape == (0, 2)


def test_rows_from_the_end_and_beyond():
    fits = fit_mixtures([[3, 1, 0, 2], [0, 0, 0, 9]], 3, n_components=1)
    assert fits[-1].mean[0] == fits[1].mean[0] == 1.0
    assert fits[-1].status is FitStatus.POINT_MASS
    with pytest.raises(IndexError):
        fits[2]
    assert [fit.n_items for fit in fits] == [6, 9]


def test_arrays_are_read_only_and_the_input_is_copied():
    hist = np.array([[3.0, 1.0, 0.0, 2.0]])
    fits = fit_mixtures(hist, 3)
    hist[:] = 9
    assert fits.hist.tolist() == [[3, 1, 0, 2]]
    for name in (
        "hist",
        "weights",
        "mean",
        "rho",
        "alpha",
        "beta",
        "loglik",
        "n_iter",
        "grad_norm",
    ):
        assert not getattr(fits, name).flags.writeable
    assert not fits[0].mean.flags.writeable


@pytest.mark.parametrize(
    ("hist", "n", "options", "message"),
    [
        ([[1, 2, 3]], 3, {}, r"`hist` must be .* \(B, n \+ 1\) = \(B, 4\), got shape \(1, 3\)"),
        ([1, 2, 3, 4], 3, {}, r"`hist` must be .* got shape \(4,\)"),
        ([["a", "b"]], 1, {}, r"`hist` must be a numeric array"),
        ([[True, False]], 1, {}, r"`hist` must be a numeric array"),
        ([[1]], 0, {}, "`n` must be >= 1, got 0"),
        ([[1, 2]], 1, {"n_components": 5}, "`n_components` must be >= 1 and <= 3, got 5"),
        ([[1, 2]], 1, {"threads": 0}, "`threads` must be >= 1, got 0"),
        ([[1, 2]], 1, {"threads": 1.5}, "`threads` must be an integer, got 1.5"),
    ],
)
def test_bad_arguments(hist, n, options, message):
    with pytest.raises(ValueError, match=message):
        fit_mixtures(hist, n, **options)
