"""The posterior: against numerical integration, calibrated, and loud when its chains are bad."""

import warnings

import numpy as np
import pytest
from scipy import stats

from stability import BetaBinomial, Priors, SamplingWarning, posterior
from stability._kernels import inference as kernels
from stability.fit.inference import cells_of
from stability.fit.table import count_table

COUNTS = [23, 27, 23, 16, 13, 17, 30, 51]


def quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        return posterior(*arguments, **options)


@pytest.mark.statistical
def test_one_component_against_numerical_integration():
    """Mean and sd of mu and rho on a grid of 120 x 120, within five Monte Carlo errors."""
    freq = np.array([2, 5, 9, 8, 6, 4, 4, 2])
    found = posterior(range(8), 7, freq=freq, n_components=1, seed=1)
    grid = (np.arange(120) + 0.5) / 120
    log = np.empty((120, 120))
    for i, mu in enumerate(grid):
        for j, rho in enumerate(grid):
            parts = [kernels._cell_log(k, 7, mu, rho) for k in range(8)]
            log[i, j] = freq @ parts
    log += stats.beta.logpdf(grid, 1, 4)[None, :]
    density = np.exp(log - log.max())
    density /= density.sum()
    for name, axis in (("mean", 1), ("rho", 0)):
        marginal = density.sum(axis=axis)
        mean = marginal @ grid
        sd = np.sqrt(marginal @ grid**2 - mean**2)
        row = found.summary().loc[f"{name}[0]"]
        assert abs(row["mean"] - mean) < 5 * row["mcse"]
        assert row["sd"] == pytest.approx(sd, rel=0.08)
        assert found.warnings == ()


def test_the_law_twin():
    for k, n, mu, rho in (
        (0, 3, 0.2, 0.4),
        (2, 40, 0.1, 0.01),
        (40, 40, 0.9, 0.3),
        (17, 40, 0.5, 0.0),
    ):
        lead = cells_of(count_table([k], n)).lead[0]
        exact = BetaBinomial.from_mean(mu, rho).logpmf(k, n)
        assert kernels._cell_log(k, n, mu, rho) + lead == pytest.approx(exact, rel=1e-10)
    assert kernels._cell_log(1, 2, 0.5, 1.0) == -np.inf


@pytest.mark.statistical
def test_ranks_are_uniform(seeded):
    """Simulation-based calibration of overall mean, P(k <= 2) and D of two rounds.

    60 replicates, 19 thinned draws each: ranks in 0..19, four bins, chi-square at level 1e-4 for
    each of three figures. Talts et al., arXiv 1804.06788.
    """
    rng = seeded(31)
    prior, n, items = Priors(), 7, 40
    ranks = {"overall": [], "below": [], "D": []}
    for replicate in range(60):
        truth, drawn = [], []
        for part in range(2):
            weights, mean, rho = prior.rvs(2, rng)
            law = sum(
                w * BetaBinomial.from_mean(m, r).pmf(np.arange(n + 1), n)
                for w, m, r in zip(weights, mean, rho, strict=True)
            )
            law = np.maximum(law, 0) / law.sum()
            freq = rng.multinomial(items, law)
            found = quiet(
                range(n + 1), n, freq=freq, draws=50, warmup=60, sweeps=10,
                seed=2 * replicate + part,
            )  # fmt: skip
            truth.append((float(weights @ mean), np.cumsum(law)))
            cdf = found.cdf(n).reshape(-1, n + 1)[::10][:19]
            drawn.append((found.draws["overall"].reshape(-1)[::10][:19], cdf))
        ranks["overall"].append(int((drawn[0][0] < truth[0][0]).sum()))
        ranks["below"].append(int((drawn[0][1][:, 2] < truth[0][1][2]).sum()))
        distance = np.abs(truth[0][1] - truth[1][1]).max()
        ranks["D"].append(int((np.abs(drawn[0][1] - drawn[1][1]).max(axis=1) < distance).sum()))
    for name, values in ranks.items():
        bins = np.bincount(np.array(values) // 5, minlength=4)
        assert stats.chisquare(bins).pvalue > 1e-4, (name, bins)


def test_wrong_posteriors_are_seen_by_the_ranks():
    """The negative control: ranks in a posterior of ten times the items lie at both ends."""
    rng = np.random.default_rng(5)
    ranks = []
    for _ in range(300):
        mu = rng.random()
        k = rng.binomial(40, mu)
        draws = rng.beta(10 * k + 1, 10 * (40 - k) + 1, 19)
        ranks.append(int((draws < mu).sum()))
    bins = np.bincount(np.array(ranks) // 5, minlength=4)
    assert stats.chisquare(bins).pvalue < 1e-4


def test_components_stand_in_order_and_weights_sum_to_one():
    found = quiet(range(8), 7, freq=COUNTS, n_components=3, draws=40, sweeps=2)
    assert (np.diff(found.draws["mean"], axis=2) >= 0).all()
    np.testing.assert_allclose(found.draws["weights"].sum(axis=2), 1.0)
    np.testing.assert_allclose(
        (found.draws["weights"] * found.draws["mean"]).sum(axis=2), found.draws["overall"]
    )
    assert found.cdf(7).shape == (4, 40, 8)
    assert (found.cdf(7)[..., -1] == 1.0).all()
    assert not found.draws["mean"].flags.writeable


def test_chains_depend_on_the_seed_alone():
    one, again, other = (quiet(range(8), 7, freq=COUNTS, draws=20, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.draws["mean"], again.draws["mean"])
    assert (one.draws["mean"] != other.draws["mean"]).any()
    # a longer run begins as a shorter one
    assert len({float(chain[0, 0]) for chain in one.draws["mean"]}) == 4


def test_short_chains_say_so():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = posterior(range(8), 7, freq=COUNTS, draws=20, sweeps=1)
    said = [str(one.message) for one in caught if one.category is SamplingWarning]
    assert said == list(found.warnings)
    assert any("ess_bulk of" in one and "< 400: sample longer" in one for one in said)
    assert (found.summary()["ess_bulk"] > 0).all()


def test_pointwise_log_likelihood_is_that_of_the_law():
    k, n = [0, 3, 3, 5, 2], [4, 4, 4, 5, 5]
    found = quiet(k, n, draws=5, sweeps=1)
    logs = found.log_likelihood()
    assert logs.shape == (4, 5, 5)
    w, m, r = (found.draws[name][1, 2] for name in ("weights", "mean", "rho"))
    counts = np.repeat(found.counts.k, found.counts.freq)
    sizes = np.repeat(found.counts.n, found.counts.freq)
    law = sum(w[c] * BetaBinomial.from_mean(m[c], r[c]).pmf(counts, sizes) for c in range(2))
    np.testing.assert_allclose(logs[1, 2], np.log(law), rtol=1e-10)


def test_arviz_ranks_the_number_of_components():
    """Clearly two groups: K = 1 comes last, and K = 2 and 3 are close."""
    law = sum(
        w * BetaBinomial.from_mean(m, 0.05).pmf(np.arange(11), 10)
        for w, m in ((0.5, 0.15), (0.5, 0.85))
    )
    freq = np.rint(200 * law).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

        fits = {
            f"K={size}": quiet(
                range(11), 10, freq=freq, n_components=size, draws=200, sweeps=5
            ).to_arviz()
            for size in (1, 2, 3)
        }
        table = arviz.compare(fits)
        assert table.index[-1] == "K=1"
        loo = {name: arviz.loo(data) for name, data in fits.items()}
    # ArviZ 1 calls it elpd, 0.x elpd_loo
    values = {
        name: float(one.elpd_loo if hasattr(one, "elpd_loo") else one.elpd)
        for name, one in loo.items()
    }
    assert values["K=2"] > values["K=1"] + 10
    assert abs(values["K=2"] - values["K=3"]) < 5
    data = fits["K=2"]
    assert data["log_likelihood"]["k"].shape[:2] == (4, 200)
    assert data["observed_data"]["k"].shape == (int(freq.sum()),)


@pytest.mark.parametrize("counts", [[7] * 20, [0] * 3, [0, 7] * 10, [3]])
def test_degenerate_counts(counts):
    for size in (1, 2, 3):
        found = quiet(counts, 7, n_components=size, draws=10, sweeps=1)
        assert all(np.isfinite(values).all() for values in found.draws.values())
        low, high = found.interval("overall")
        assert 0.0 < low < high < 1.0


def test_a_prior_that_says_more():
    sure = Priors(weight=5.0, mean=(50.0, 50.0), rho=(1.0, 100.0))
    found = quiet([7, 7, 7], 7, n_components=1, priors=sure, draws=100, sweeps=2)
    assert found.interval("mean[0]")[1] < 0.8


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"chains": 3}, "`chains` must be >= 4"),
        ({"draws": 0}, "`draws` must be >= 4"),
        ({"priors": (1, 2)}, "`priors` must be Priors"),
        ({"n_components": 4}, "`n_components` must be >= 1 and <= 3"),
    ],
)
def test_refusals(options, said):
    with pytest.raises(ValueError, match=said):
        posterior([1, 2], 3, **options)
    with pytest.raises(ValueError, match="`mean` must lie in"):
        Priors(mean=(0.0, 1.0))
    with pytest.raises(ValueError, match="`rho` must be two numbers"):
        Priors(rho=(1.0,))
    found = quiet([1, 2], 3, draws=4, sweeps=1)
    with pytest.raises(ValueError, match="`name` must be one of overall"):
        found.interval("median")
