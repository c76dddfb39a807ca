"""Fits of mixtures beside what a user would write with scipy; time and log-likelihood reached.

Everything is called once before the clock starts; ``test_cold_start`` times the compilation
apart, in a fresh interpreter with an empty cache. ``extra_info`` holds the time of one unit of
work (fit, call) in microseconds by the median, and the quality beside it.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from benchmarks.rivals import scipy_minimize, textbook_em
from benchmarks.tables import OVERLAPPING, SEPARATED, TRUTHS, simulate
from stability.fit import fit_mixture, fit_mixtures, histogram
from stability.fit.mixture import fit_table
from stability.fit.search import search
from stability.fit.table import count_table
from stability.log import Round
from stability.rules import KSRule

N = 7


def report(benchmark, units, **more):
    benchmark.extra_info["us_per_unit"] = benchmark.stats.stats.median / units * 1e6
    benchmark.extra_info.update(more)


@pytest.mark.benchmark(group="K = 1, inside a batch of 10^4")
def test_single_component_in_a_batch(benchmark):
    hist = simulate(10_000, 200, N, SEPARATED, 1).astype(float)
    k, n = np.arange(N + 1), np.full(N + 1, N)
    benchmark(search, k, n, hist, 1)
    report(benchmark, 10_000)


@pytest.mark.benchmark(group="K = 2, inside a batch of 10^4")
@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("threads", [1, 2])
def test_batch(benchmark, truth, threads):
    hist = simulate(10_000, 200, N, TRUTHS[truth], 1)
    fits = benchmark.pedantic(
        fit_mixtures, (hist, N), {"threads": threads}, rounds=5, warmup_rounds=1
    )
    report(benchmark, 10_000, mean_loglik=float(fits.loglik.mean()))


@pytest.mark.benchmark(group="K = 2, inside a batch of 10^4")
@pytest.mark.parametrize("truth", TRUTHS)
def test_search_alone(benchmark, truth):
    hist = simulate(10_000, 200, N, TRUTHS[truth], 1).astype(float)
    k, n = np.arange(N + 1), np.full(N + 1, N)
    _x, info = benchmark.pedantic(search, (k, n, hist, 2), rounds=5, warmup_rounds=1)
    report(benchmark, 10_000, mean_loglik=float(info[:, 0].mean()), steps=float(info[:, 1].mean()))
    # seven starts at n = 7: the cost of one is the cost of a fit over seven
    benchmark.extra_info["us_per_start"] = benchmark.extra_info["us_per_unit"] / 7


TABLE = simulate(1, 200, N, SEPARATED, 3)[0]
COUNTS = np.repeat(np.arange(N + 1), TABLE)


@pytest.mark.benchmark(group="one table, K = 2, M = 200")
def test_public_call(benchmark):
    fit = benchmark(fit_mixture, np.arange(N + 1), N, freq=TABLE)
    report(benchmark, 1, loglik=fit.loglik)


@pytest.mark.benchmark(group="one table, K = 2, M = 200")
def test_our_em(benchmark):
    fit = benchmark.pedantic(fit_mixture, (COUNTS, N), {"method": "em"}, rounds=3, warmup_rounds=1)
    report(benchmark, 1, loglik=fit.loglik)


@pytest.mark.benchmark(group="one table, K = 2, M = 200")
@pytest.mark.parametrize("rival", [textbook_em, scipy_minimize])
def test_rivals(benchmark, rival):
    loglik = benchmark.pedantic(rival, (COUNTS, N), rounds=3, warmup_rounds=1)
    report(benchmark, 1, loglik=float(loglik))


@pytest.mark.benchmark(group="histogram of 10^7 counts")
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64"])
def test_histogram(benchmark, dtype):
    k = np.random.default_rng(0).integers(0, N + 1, 10_000_000).astype(dtype)
    benchmark(histogram, k, N)


@pytest.mark.benchmark(group="histogram of 10^7 counts")
def test_bincount(benchmark):
    k = np.random.default_rng(0).integers(0, N + 1, 10_000_000)
    benchmark(np.bincount, k)


@pytest.mark.benchmark(group="one fit by number of items")
@pytest.mark.parametrize("items", [10**3, 10**5, 10**7])
def test_fit_does_not_depend_on_items(benchmark, items):
    hist = np.round(simulate(1, 1000, N, SEPARATED, 3)[0] * (items / 1000)).astype(np.int64)
    table = count_table(np.arange(N + 1), N, hist)
    benchmark(fit_table, *table, 2)


@pytest.mark.benchmark(group="KSRule.step, M = 2000, n = 15")
@pytest.mark.parametrize("truth", [SEPARATED, OVERLAPPING], ids=["separated", "overlapping"])
def test_ks_step(benchmark, truth):
    rng = np.random.default_rng(0)
    items, agents = 2000, 15
    weight, first, second = truth
    p = np.where(rng.random(items) < weight, rng.beta(*first, items), rng.beta(*second, items))

    def recorded(t):
        right = rng.random((items, agents)) < p[:, None]
        codes = np.where(right, 0, rng.integers(1, 4, (items, agents))).astype(np.int32)
        return Round.from_codes(codes, ("A", "B", "C", "D"), correct=right.astype(np.int8), index=t)

    rule = KSRule()
    state, _ = rule.step(rule.start(agents), recorded(0))
    benchmark(rule.step, state, recorded(1))


@pytest.mark.benchmark(group="cold start")
def test_cold_start(benchmark):
    code = "from stability import fit_mixture; fit_mixture([0, 3, 7], 7)"

    def run(cache):
        start = time.perf_counter()
        env = {**os.environ, "NUMBA_CACHE_DIR": cache}
        subprocess.run([sys.executable, "-c", code], check=True, env=env)
        return time.perf_counter() - start

    with tempfile.TemporaryDirectory() as cache:
        benchmark.extra_info["seconds_compiling"] = run(cache)
        benchmark.pedantic(run, (cache,), rounds=3)
