"""The linked model: independent fits at one end of the penalty, the pooled fit at the other."""

import numpy as np
import pytest

from stability import fit_mixture
from stability.fit.linked import fit_linked

ROUNDS = [[9, 5, 3, 4, 6, 13], [8, 5, 2, 4, 6, 15], [5, 4, 2, 3, 8, 18]]


@pytest.mark.parametrize("size", [1, 2])
def test_both_ends_of_the_penalty(size):
    apart = fit_linked(ROUNDS, 5, n_components=size, penalty=0.0)
    fits = [fit_mixture(range(6), 5, freq=row, n_components=size) for row in ROUNDS]
    assert apart.loglik == pytest.approx([fit.loglik for fit in fits], abs=1e-6)
    np.testing.assert_allclose(apart.laws(), [fit.law(5) for fit in fits], atol=1e-5)
    one = fit_linked(ROUNDS, 5, n_components=size, penalty=1e9)
    pooled = fit_mixture(range(6), 5, freq=np.sum(ROUNDS, axis=0), n_components=size)
    np.testing.assert_allclose(one.laws(), [pooled.law(5)] * 3, atol=2e-3)


def test_the_fit_falls_and_the_rounds_close_up_as_the_penalty_grows():
    fits = [fit_linked(ROUNDS, 5, n_components=1, penalty=p) for p in (0.0, 1.0, 100.0, 1e4)]
    totals = [fit.loglik.sum() for fit in fits]
    spreads = [float(np.ptp(fit.mean)) for fit in fits]
    assert (np.diff(totals) <= 1e-6).all()
    assert (np.diff(spreads) <= 1e-6).all()


def test_the_penalty_is_that_of_the_best_score():
    found = fit_linked(ROUNDS, 5, n_components=1, seed=1)
    assert found.penalty == max(found.scores, key=found.scores.get)
    again = fit_linked(ROUNDS, 5, n_components=1, seed=1)
    assert again.scores == found.scores
    assert found.scores is not None
    assert fit_linked(ROUNDS, 5, n_components=1, penalty=1.0).scores is None


def test_degenerate_rounds():
    for size in (1, 2):
        found = fit_linked([[0, 0, 0, 4], [4, 0, 0, 0], [2, 0, 0, 2]], 3, n_components=size)
        assert np.isfinite(found.loglik).all()
        np.testing.assert_allclose(found.laws().sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("hists", "options", "said"),
    [
        ([1, 2], {}, r"shape \(T, n \+ 1\) = \(T, 2\), got \(2,\)"),
        ([[1, 2]], {"penalty": -1.0}, "`penalty` must be >= 0"),
        ([[1, 2]], {"grid": [float("nan")]}, "`grid` must be >= 0"),
        ([[0, 0]], {}, "at least one item"),
        ([[1, 2]], {"folds": 1}, "`folds` must be >= 2"),
    ],
)
def test_refusals(hists, options, said):
    with pytest.raises(ValueError, match=said):
        fit_linked(hists, 1, **options)
