"""Laws of the leader's count: folded for two answers, cut for more."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stability.fit.distance import latent_below
from stability.fit.mixture import fit_mixture
from stability.fit.plurality import cut_distance, folded_distance, folded_law, folded_table


def folded_fit(k, n):
    table = folded_table(np.asarray(k), np.full(len(k), n))
    return fit_mixture(table.k, table.n, freq=table.freq)


counts = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.integers(0, n), min_size=1, max_size=30),
        st.lists(st.integers(0, n), min_size=1, max_size=30),
    )
)


@settings(max_examples=40, deadline=None)
@example((3, [1], [0, 0, 1]))  # D is 1 and not more
@given(counts)
def test_folding_forgets_the_side(data):
    n, a, b = data
    one, other = folded_fit(a, n), folded_fit([n - k for k in a], n)
    law = folded_law(one, n)
    assert law.shape == (n // 2 + 1,)
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    for space in ("predictive", "latent"):
        assert folded_distance(one, other, space=space, n=n) == 0.0
        gap = folded_distance(one, folded_fit(b, n), space=space, n=n)
        assert 0.0 <= gap <= 1.0
        assert gap == folded_distance(folded_fit(b, n), one, space=space, n=n)


def test_folded_law_by_hand():
    fit = fit_mixture([0, 1, 4, 4], 4)
    law = fit.law(4)
    assert folded_law(fit, 4) == pytest.approx([law[2], law[1] + law[3], law[0] + law[4]])
    fit = fit_mixture([0, 1, 3], 3)
    law = fit.law(3)
    assert folded_law(fit, 3) == pytest.approx([law[1] + law[2], law[0] + law[3]])


def test_folded_latent_distance_on_a_fine_grid():
    """The sup over [1/2, 1] of the difference of P(1 - x <= theta <= x), on a fine grid."""
    rng = np.random.default_rng(0)
    a, b = (folded_fit(rng.binomial(7, rng.beta(*shape, 300)), 7) for shape in ((6, 2), (3, 2)))
    u = np.linspace(0, 0.5, 20_001)[:-1]
    ends = [latent_below(f, u) + latent_below(f, u, mirror=True) for f in (a, b)]
    expected = np.abs(ends[0] - ends[1]).max()
    assert folded_distance(a, b, space="latent", n=7) == pytest.approx(expected, abs=1e-6)
    coarse = folded_distance(a, b, space="latent", n=7, grid=1000)
    assert expected - 5e-3 < coarse <= expected + 1e-9


def test_folded_points_are_steps():
    """All of n agree against a vote that is always 3 to 1: no overlap in either space."""
    sure, split = folded_fit([4] * 50, 4), folded_fit([3] * 50, 4)
    assert folded_distance(sure, split, space="predictive", n=4) > 0.5
    assert 0.5 < folded_distance(sure, split, space="latent", n=4) <= 1.0


def test_cut_law_by_hand():
    a, b = fit_mixture([2, 3, 5], 5), fit_mixture([2, 5, 5], 5)
    laws = [fit.law(5)[2:] / fit.law(5)[2:].sum() for fit in (a, b)]
    expected = np.abs(np.cumsum(laws[0] - laws[1])).max()
    assert cut_distance(a, b, n=5, lowest=2) == pytest.approx(expected)
    assert cut_distance(a, a, n=5, lowest=2) == 0.0
