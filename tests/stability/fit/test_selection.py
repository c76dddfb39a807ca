"""Numbers of components: criteria, the bootstrap test and its size, the bound of n."""

import numpy as np
import pytest
from scipy import special

from stability import BetaBinomial, fit_mixture, select_components
from stability.fit.selection import ratio_null

TWO = [40, 20, 5, 2, 2, 4, 30, 110]


def test_criteria_are_those_of_the_fits():
    found = select_components(TWO, 7, replicates=19)
    for size, fit in found.fits.items():
        own = fit_mixture(range(8), 7, freq=TWO, n_components=size)
        assert fit.loglik == own.loglik
        shares = own.responsibilities(own.counts.k, own.counts.n)
        entropy = float(own.counts.freq @ special.entr(shares).sum(axis=1))
        assert found.icl[size] == pytest.approx(own.bic + 2 * entropy)
    assert found.best == {"aic": 2, "bic": 2, "icl": 2, "lrt": 2}
    (one,) = found.tests
    assert one.statistic == pytest.approx(2 * (found.fits[2].loglik - found.fits[1].loglik))
    assert one.p == 1 / 20
    frame = found.to_frame()
    assert frame["n_components"].tolist() == [1, 2]
    assert "chosen by AIC 2" in found.summary()
    assert "n is too small for them: K = 3" in found.summary()


@pytest.mark.parametrize(
    ("n", "sizes"), [(1, [1]), (4, [1]), (5, [1, 2]), (7, [1, 2]), (8, [1, 2, 3])]
)
def test_components_beyond_the_bound_are_not_compared(n, sizes):
    found = select_components(np.arange(1, n + 2), n, replicates=19)
    assert list(found.fits) == sizes
    assert found.not_identifiable == tuple({1, 2, 3} - set(sizes))
    assert [one.null for one in found.tests] == sizes[:-1]


@pytest.mark.statistical
def test_the_size_inside_the_parameter_space(seeded):
    """One component, mu = .6 and rho = .2: 300 tables of 100 items, B = 39, level .05.

    The exact size of a valid test is 2 / 40 = .05; .094 lies 3.5 standard errors above.
    """
    rng = seeded(8)
    law = BetaBinomial.from_mean(0.6, 0.2).pmf(np.arange(8), 7)
    rejected = sum(
        select_components(
            rng.multinomial(100, law), 7, max_components=2, replicates=39, seed=i
        ).tests[0].p <= 0.05
        for i in range(300)
    )  # fmt: skip
    assert rejected / 300 < 0.094


@pytest.mark.statistical
def test_the_chi_square_null_is_wrong(seeded):
    """The negative control: the 95 % quantile of the statistic is nowhere near that of chi2_3."""
    null = fit_mixture(range(8), 7, freq=[5, 9, 14, 19, 20, 17, 11, 5], n_components=1)
    drawn = ratio_null(null, 2000, seeded(9))
    assert (drawn >= 0).all()
    # 7.81 for three parameters more; a share of .05 would have the standard error .005
    assert (drawn > 7.81).mean() < 0.02


def test_two_groups_are_found_and_one_is_kept():
    rng = np.random.default_rng(10)
    one = rng.multinomial(400, BetaBinomial.from_mean(0.6, 0.1).pmf(np.arange(8), 7))
    assert select_components(one, 7, replicates=19).best["bic"] == 1
    law = 0.5 * BetaBinomial.from_mean(0.15, 0.02).pmf(np.arange(11), 10)
    law = law + 0.5 * BetaBinomial.from_mean(0.85, 0.02).pmf(np.arange(11), 10)
    found = select_components(rng.multinomial(400, law), 10, replicates=99, seed=1)
    assert found.best["bic"] == found.best["lrt"] == 2


@pytest.mark.parametrize(
    "hist", [[0] * 7 + [9], [9] + [0] * 7, [5] + [0] * 6 + [5], [0, 1] + [0] * 6]
)
def test_degenerate_tables_have_one_component(hist):
    found = select_components(hist, 7, replicates=19)
    assert found.best["bic"] == 1
    assert found.tests[0].statistic >= 0.0
    assert found.tests[0].p > 0.05


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([1, 2, 3], 7), {}, r"shape \(n \+ 1,\) = \(8,\), got \(3,\)"),
        ((TWO, 7), {"replicates": 5}, "`replicates` must be >= 19"),
        ((TWO, 7), {"max_components": 4}, "`max_components` must be >= 1 and <= 3"),
        ((TWO, 7), {"level": 0.0}, "`level` must lie in"),
        (([0] * 8, 7), {}, "`freq` must hold at least one item"),
    ],
)
def test_refusals(arguments, options, said):
    with pytest.raises(ValueError, match=said):
        select_components(*arguments, **options)
