"""EM: the trace never falls, a step is the textbook step, and the end is the Newton maximum."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from stability.fit import BetaBinomial, count_table, fit_mixture
from stability.fit.em import em_trace

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "betabinom.json").read_text())


def rows(name):
    return np.array(REFERENCE["datasets"][name]["rows"]).T


def assert_monotone(trace):
    assert np.isfinite(trace).all()
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all()


def random_table(seed):
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(60) < 0.4, rng.beta(2, 6, 60), rng.beta(12, 2, 60))
    return rng.binomial(7, p), 7, np.ones(60, int)


@pytest.mark.parametrize("source", ["alcohol_week1", "lirat_grp1", 11])
def test_em_and_newton_report_one_maximum(source):
    k, n, freq = rows(source) if isinstance(source, str) else random_table(source)
    newton = fit_mixture(k, n, freq=freq)
    em = fit_mixture(k, n, freq=freq, method="em")
    assert em.loglik == pytest.approx(newton.loglik, rel=1e-12, abs=1e-8)
    np.testing.assert_allclose(em.pmf(k, n), newton.pmf(k, n), atol=1e-4)
    assert em.status is newton.status
    assert em.converged
    assert_monotone(em.loglik_trace)
    assert em.loglik_trace.size > 5
    # the trace is that of EM alone; the polish comes on top
    assert em.loglik_trace[-1] <= em.loglik + 1e-9


@pytest.mark.parametrize("size", [1, 3])
def test_other_numbers_of_components(size):
    k, n, freq = random_table(13)
    newton = fit_mixture(k, n, freq=freq, n_components=size)
    em = fit_mixture(k, n, freq=freq, n_components=size, method="em")
    assert em.loglik == pytest.approx(newton.loglik, rel=1e-12, abs=1e-8)
    assert_monotone(em.loglik_trace)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_trace_never_falls_from_random_starts(size):
    rng = np.random.default_rng(31)
    for table in (count_table(*random_table(14)), count_table(*rows("weil_treated"))):
        for _ in range(3):
            start = rng.random(3 * size - 1)
            start[rng.random(start.size) < 0.15] = 0.0  # bounds are starts, too
            start[: size - 1] = rng.uniform(0.1, 0.9, size - 1)
            trace = em_trace(table, start, 8)
            assert_monotone(trace)
            assert trace.size >= 2


def test_one_step_equals_the_textbook():
    k, n, freq = (np.asarray(a) for a in rows("alcohol_week1"))
    start = np.array([0.4, 0.3, 0.2, 0.8, 0.1])
    laws = [BetaBinomial.from_mean(0.3, 0.2), BetaBinomial.from_mean(0.8, 0.1)]
    joint = np.array([w * law.pmf(k, n) for w, law in zip([0.4, 0.6], laws, strict=True)])
    trace = em_trace(count_table(k, n, freq), start, 1)
    assert trace[0] == pytest.approx(freq @ np.log(joint.sum(axis=0)), rel=1e-14)

    resp = joint / joint.sum(axis=0)
    weights = resp @ freq / freq.sum()
    p = np.zeros(k.size)
    for c, part in enumerate([(0.3, 0.2), (0.8, 0.1)]):

        def loss(x, weight=freq * resp[c]):
            return -weight @ BetaBinomial.from_mean(*x).logpmf(k, n)

        end = minimize(
            loss, part, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}
        )  # no gradient: an independent maximiser
        p += weights[c] * BetaBinomial.from_mean(*end.x).pmf(k, n)
    assert trace[1] == pytest.approx(freq @ np.log(p), rel=1e-9)


def test_em_does_not_leave_the_one_component_saddle_by_itself():
    # why a search needs unlike starts: from equal components EM goes to the K = 1 fit and stays
    k, n, freq = rows("alcohol_week1")
    single = fit_mixture(k, n, freq=freq, n_components=1)
    trace = em_trace(count_table(k, n, freq), np.array([0.5, 0.5, 0.3, 0.5, 0.3]), 40)
    assert trace[-1] == pytest.approx(single.loglik, abs=1e-6)
    assert fit_mixture(k, n, freq=freq, method="em").loglik > single.loglik + 4
