"""Refits a second of the parametric bootstrap, beside refits by scipy.

Asked: 10,000 refits of n = 7, M = 200, K = 2 in a few seconds on one core. ``mean_loglik`` is the
mean log-likelihood that the refits of the same tables reach.
"""

import numpy as np
import pytest

from benchmarks.rivals import scipy_minimize
from stability import fit_mixture
from stability.fit.bootstrap import bootstrap, refit, resample

FIT = fit_mixture(range(8), 7, freq=[23, 27, 23, 16, 13, 17, 30, 51])
_K, _N, TABLES = resample(FIT, "parametric", 50, np.random.default_rng(1))


@pytest.mark.benchmark(group="bootstrap refits, n = 7, M = 200, K = 2")
@pytest.mark.parametrize("threads", [1, 2])
def test_bootstrap(benchmark, threads):
    options = {"replicates": 10_000, "threads": threads}
    benchmark.pedantic(bootstrap, (FIT,), options, rounds=3, warmup_rounds=1)
    benchmark.extra_info["us_per_refit"] = benchmark.stats.stats.median / 10_000 * 1e6
    benchmark.extra_info["mean_loglik"] = float(refit(_K, _N, TABLES, 2)[1].mean())


@pytest.mark.benchmark(group="bootstrap refits, n = 7, M = 200, K = 2")
def test_scipy(benchmark):
    tables = [np.repeat(np.arange(8), row.astype(int)) for row in TABLES]

    def refits():
        return [scipy_minimize(k, 7) for k in tables]

    found = benchmark.pedantic(refits, rounds=2, warmup_rounds=0)
    benchmark.extra_info["us_per_refit"] = benchmark.stats.stats.median / len(tables) * 1e6
    benchmark.extra_info["mean_loglik"] = float(np.mean(found))
