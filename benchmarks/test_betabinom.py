"""BetaBinomial beside scipy.stats.betabinom: time, and the largest error against mpmath.

Both are called once before the clock starts, so compilation and imports are not in the figures.
``extra_info`` holds the largest absolute error of the logarithms on a fixed sample of the cells
timed (relative error for the cdf). scipy is the rival that a user would take.
"""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats

from stability.fit.betabinom import BetaBinomial

VALUES = 100_000

# shapes and the number of agents: one n for all, or (low, high) for an n of its own per value
CASES = {
    "2, 6, n = 7": (2.0, 6.0, (7, 7)),
    "2, 6, n in 1..100": (2.0, 6.0, (1, 100)),
    "0.01, 0.03, n in 1..100": (0.01, 0.03, (1, 100)),
    "5e11, 5e11, n in 1..100": (5e11, 5e11, (1, 100)),
}


def ours(a: float, b: float, k: Any, n: Any) -> Any:
    return BetaBinomial(a, b).logpmf(k, n)


def scipys(a: float, b: float, k: Any, n: Any) -> Any:
    return scipy.stats.betabinom.logpmf(k, n, a, b)


def exact_logpmf(a: float, b: float, k: int, n: int) -> mpmath.mpf:
    top, bottom = mpmath.mpf(1), mpmath.mpf(1)
    for j in range(k):
        top *= mpmath.mpf(a) + j
    for j in range(n - k):
        top *= mpmath.mpf(b) + j
    for j in range(n):
        bottom *= mpmath.mpf(a) + b + j
    return mpmath.log(mpmath.binomial(n, k) * top / bottom)


@pytest.mark.parametrize("logpmf", [ours, scipys], ids=["stability", "scipy"])
@pytest.mark.parametrize("case", CASES)
def test_logpmf(benchmark: Any, case: str, logpmf: Callable[..., Any]) -> None:
    a, b, (low, high) = CASES[case]
    rng = np.random.default_rng(7)
    n = rng.integers(low, high + 1, size=VALUES)
    k = rng.integers(0, n + 1)
    logpmf(a, b, k, n)
    benchmark.group = f"logpmf of 1e5 values, shapes {case}"
    values = benchmark(logpmf, a, b, k, n)
    with mpmath.workdps(60):
        errors = [
            abs(float(values[i] - exact_logpmf(a, b, int(k[i]), int(n[i])))) for i in range(500)
        ]
    benchmark.extra_info["max_abs_error"] = max(errors)


@pytest.mark.parametrize("logpmf", [ours, scipys], ids=["stability", "scipy"])
def test_logpmf_of_one_value(benchmark: Any, logpmf: Callable[..., Any]) -> None:
    logpmf(2.0, 6.0, 3, 7)
    benchmark.group = "logpmf of one value, object made anew"
    value = benchmark(logpmf, 2.0, 6.0, 3, 7)
    with mpmath.workdps(60):
        benchmark.extra_info["max_abs_error"] = abs(float(value - exact_logpmf(2, 6, 3, 7)))


@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.parametrize("cdf", ["stability", "scipy"])
def test_cdf_of_many_agents(benchmark: Any, cdf: str, n: int) -> None:
    law = BetaBinomial(2.0, 2.0)
    run = law.cdf if cdf == "stability" else lambda k, n: scipy.stats.betabinom.cdf(k, n, 2.0, 2.0)
    k = n // 2
    run(k, n)
    benchmark.group = f"cdf at n/2, shapes 2, 2, n = {n}"
    value = float(benchmark(run, k, n))
    # P(j) = 6 (j + 1) (n - j + 1) / ((n + 1) (n + 2) (n + 3)), summed over 0..k
    twelfths = 6 * (2 * (k + 1) * (n + 1) + k * (k + 1) * n) - 2 * k * (k + 1) * (2 * k + 1)
    exact = twelfths / (2 * (n + 1) * (n + 2) * (n + 3))
    benchmark.extra_info["relative_error"] = abs(value / exact - 1)
