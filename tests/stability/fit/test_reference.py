"""Fits against maxima found elsewhere: two 50- to 60-digit solvers, and closed forms.

The values of tests/reference/betabinom.json come from Newton iterations on rational tail sums
checked by a log-gamma solve (one component), and from 150 random starts finished by two 50-digit
solvers (two components); each table names its source there.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.special import xlogy

from stability.fit import BetaBinomial, FitStatus, fit_mixture

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "betabinom.json").read_text())
TABLES = REFERENCE["datasets"]
ONE = [name for name, table in TABLES.items() if "one_component" in table]
INTERIOR = [name for name in ONE if TABLES[name]["one_component"]["status"] == "interior"]
TWO = [name for name, table in TABLES.items() if "two_components" in table]


def fit_of(name, size, **options):
    k, n, freq = np.array(TABLES[name]["rows"]).T
    return fit_mixture(k, n, freq=freq, n_components=size, **options)


def listed_laws(solution):
    """Components of a listed solution: shapes, one mean (binomial), or a point mass at 0 or n."""
    makers = {
        "bb": lambda a, b: BetaBinomial(a, b),
        "bin": lambda mean: BetaBinomial.from_mean(mean, 0.0),
        "pt0": lambda: BetaBinomial.from_mean(0.0, 0.0),
        "pt1": lambda: BetaBinomial.from_mean(1.0, 0.0),
    }
    pairs = zip(solution["component_kinds"], solution["params"], strict=True)
    return [makers[kind](*params) for kind, params in pairs]


def test_the_file_lists_what_is_tested():
    assert len(TABLES) == 14
    assert len(INTERIOR) == len(ONE) - 1 == 12
    assert len(TWO) == 8
    assert len(REFERENCE["exact_cases"]) == 5


@pytest.mark.parametrize("name", INTERIOR)
def test_one_component(name):
    listed = TABLES[name]["one_component"]
    fit = fit_of(name, 1)
    assert fit.status is FitStatus.INTERIOR
    assert fit.converged
    assert fit.n_items == listed["n_items"]
    assert fit.mean[0] == pytest.approx(listed["mu"], rel=1e-9, abs=0)
    assert fit.rho[0] == pytest.approx(listed["rho"], rel=1e-9, abs=0)
    assert fit.loglik == pytest.approx(listed["loglik"], rel=0, abs=1e-8)
    assert fit.alpha[0] == pytest.approx(listed["alpha"], rel=1e-9, abs=0)
    assert fit.beta[0] == pytest.approx(listed["beta"], rel=1e-9, abs=0)


def test_one_component_at_the_binomial_limit():
    listed = TABLES["cold_father"]["one_component"]
    fit = fit_of("cold_father", 1)
    assert fit.status is FitStatus.BINOMIAL_LIMIT
    assert fit.rho[0] == 0.0
    assert fit.alpha[0] == fit.beta[0] == math.inf
    assert fit.mean[0] == pytest.approx(listed["p_binom"], rel=1e-15)
    assert fit.loglik == pytest.approx(listed["loglik_binom"], abs=1e-8)


@pytest.mark.parametrize("case", REFERENCE["exact_cases"], ids=lambda c: str(c["freq"]))
def test_tables_with_rational_shapes(case):
    alpha, beta = Fraction(case["alpha"]), Fraction(case["beta"])
    counts = np.arange(case["n"] + 1)
    fit = fit_mixture(counts, case["n"], freq=case["freq"], n_components=1)
    assert fit.alpha[0] == pytest.approx(float(alpha), rel=1e-13)
    assert fit.beta[0] == pytest.approx(float(beta), rel=1e-13)
    # these tables are proportional to their law, so that the fit is saturated
    freq = np.array(case["freq"])
    level = xlogy(freq, freq / freq.sum()).sum()
    assert fit.loglik == pytest.approx(level, rel=1e-14)
    if "note" in case:
        assert level == pytest.approx(-80 * math.log(8), rel=1e-15)


@pytest.mark.parametrize("name", TWO)
def test_two_components(name):
    listed = TABLES[name]["two_components"]
    best = max(solution["loglik"] for solution in listed)
    fit = fit_of(name, 2)
    tolerance = 1e-8 if abs(best) <= 1e4 else 1e-12 * abs(best)
    above = fit.loglik - best
    assert above >= -tolerance, f"{name}: {-above:.3g} below the listed log-likelihood {best}"
    assert above <= tolerance, f"{name}: a find, {above:.3g} above the listed {best}: report it"
    assert fit.converged
    assert fit.grad_norm < 1e-6

    solution = max(listed, key=lambda s: s["loglik"])
    weight = solution["weight_component1"]
    k, n, freq = np.array(TABLES[name]["rows"]).T
    modal = int(np.argmax(np.bincount(n, weights=freq)))
    counts = np.arange(modal + 1)
    first, second = (law.cdf(counts, modal) for law in listed_laws(solution))
    np.testing.assert_allclose(
        fit.cdf(counts, modal), weight * first + (1 - weight) * second, rtol=0, atol=1e-5
    )
    laws = [law.pmf(k, n) for law in listed_laws(solution)]
    level = freq @ np.log(weight * laws[0] + (1 - weight) * laws[1])
    assert level == pytest.approx(fit.loglik, rel=1e-12), "the listed parameters as read here"


@pytest.mark.parametrize("name", TWO)
def test_two_components_end_on_the_listed_bound(name):
    solution = max(TABLES[name]["two_components"], key=lambda s: s["loglik"])
    kinds = set(solution["component_kinds"])
    fit = fit_of(name, 2)
    assert (FitStatus.BINOMIAL_LIMIT in fit.flags) == ("bin" in kinds)
    assert (FitStatus.POINT_MASS in fit.flags) == bool(kinds & {"pt0", "pt1"})
    assert (fit.status is FitStatus.INTERIOR) == (kinds == {"bb"})


def test_alcohol_has_two_interior_modes():
    listed = sorted(s["loglik"] for s in TABLES["alcohol_week1"]["two_components"])
    assert listed == pytest.approx([-809.3276080813, -809.3253127206], abs=1e-9)
    fit = fit_of("alcohol_week1", 2)
    assert fit.modes >= 2
    assert fit.loglik == pytest.approx(listed[1], abs=1e-10)
    assert fit.status is FitStatus.INTERIOR


def test_recovers_well_separated_parameters_of_a_million_items():
    fit = fit_of("synth_n7_M1e6", 2)
    solution = TABLES["synth_n7_M1e6"]["two_components"][0]
    assert fit.weights[0] == pytest.approx(solution["weight_component1"], rel=1e-7)
    params = np.array(solution["params"])
    np.testing.assert_allclose(fit.alpha, params[:, 0], rtol=1e-7)
    np.testing.assert_allclose(fit.beta, params[:, 1], rtol=1e-7)
