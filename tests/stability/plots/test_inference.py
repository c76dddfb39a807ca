"""Pictures of what is known of a fit."""

import warnings

import numpy as np
import pytest

from stability import SamplingWarning, bootstrap, fit_mixture, plots, posterior

COUNTS = [92, 108, 92, 66, 52, 67, 119, 204]
FIT = fit_mixture(range(8), 7, freq=COUNTS)


@pytest.fixture(autouse=True)
def _closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_the_profile_has_its_top_at_the_fit():
    ax = plots.profile(FIT, "mean", 1)
    x, y = lines(ax)["profile"].get_data()
    assert x[np.argmax(y)] == pytest.approx(FIT.mean[1], abs=0.01)
    assert "parabola (Wald)" in lines(ax)
    # at a bound there is no parabola
    bound = fit_mixture([3, 4], 7, freq=[10, 10], n_components=1)
    assert "parabola (Wald)" not in lines(plots.profile(bound, "rho"))


def test_intervals_stand_side_by_side():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        sampled = posterior(range(8), 7, freq=COUNTS, draws=20, sweeps=2)
    ax = plots.intervals(FIT, sampled, bootstrap(FIT, replicates=20))
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["Wald", "profile", "bootstrap", "posterior"]
    assert len(ax.get_yticklabels()) == 6
    one = fit_mixture([0, 7, 3], 7, n_components=1)
    assert len(plots.intervals(one).get_yticklabels()) == 2
    with pytest.raises(ValueError, match="`sampled` must have 1 components, got 2"):
        plots.intervals(one, sampled)
    with pytest.raises(ValueError, match="must be a bootstrap of 'params', got 'mean'"):
        plots.intervals(FIT, drawn=bootstrap(FIT, "mean", replicates=5))


def test_the_band_lies_around_the_items():
    ax = plots.cdf_band(FIT, bootstrap(FIT, "cdf", replicates=50))
    np.testing.assert_allclose(lines(ax)["items"].get_ydata(), np.cumsum(COUNTS) / np.sum(COUNTS))
    with pytest.raises(ValueError, match="must be a bootstrap of 'cdf', got 'params'"):
        plots.cdf_band(FIT, bootstrap(FIT, replicates=5))
