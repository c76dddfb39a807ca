"""Simulated debates a second, beside the same debate in vectorised NumPy and in Mesa.

n = 7 agents, 3 concepts, 4 answers, 10 rounds. Asked: tabulated 5 M debates a second on one core
and 10 M on two, direct 600 k on one core and 7 times NumPy. ``error`` is the deviation of the
accuracy of the last round from the exact chain, in standard errors.
"""

import numpy as np
import pytest

from benchmarks.mesa_debate import by_mesa
from sims import simulate
from theory import CountChain, next_law, random_model

MODEL = random_model(np.random.default_rng(0), n=7, concepts=3, answers=4, types=1)
ROUNDS = 10


def by_numpy(debates, seed=0):
    """All debates of a round at once: posterior of each, then one uniform number an answer."""
    rng, kind = np.random.default_rng(seed), MODEL.types[0]
    law = np.tile(kind.first_law, (debates, 1))
    counts = np.zeros((debates, 4), int)
    for t in range(ROUNDS):
        if t:
            law = next_law(kind, counts)
        u = rng.random((debates, 7, 1))
        answers = (u >= np.cumsum(law, axis=1)[:, None, :-1]).sum(axis=2)
        counts = (answers[:, :, None] == np.arange(4)).sum(axis=1)
    return counts[:, MODEL.correct].mean() / 7


CASES = {
    "tabulated, 1 thread": ("tabulated", 1, 4_000_000),
    "tabulated, 2 threads": ("tabulated", 2, 4_000_000),
    "direct, 1 thread": ("direct", 1, 400_000),
    "direct, 2 threads": ("direct", 2, 400_000),
}


@pytest.mark.benchmark(group="debates of 7 agents and 10 rounds")
@pytest.mark.parametrize("case", CASES)
def test_simulate(benchmark, case):
    method, threads, debates = CASES[case]
    options = {"rounds": ROUNDS, "record": "accuracy", "method": method, "threads": threads}
    found = benchmark.pedantic(
        lambda: simulate(MODEL, debates=debates, **options), rounds=5, warmup_rounds=1
    )
    exact = CountChain(MODEL).accuracy(ROUNDS - 1)
    error = (found.accuracy[-1] - exact) / found.standard_error[-1]
    rate = debates / benchmark.stats.stats.median
    benchmark.extra_info.update(million_a_second=rate / 1e6, error=float(error))


@pytest.mark.benchmark(group="debates of 7 agents and 10 rounds")
def test_numpy(benchmark):
    accuracy = benchmark.pedantic(by_numpy, (50_000,), rounds=3)
    rate = 50_000 / benchmark.stats.stats.median
    benchmark.extra_info.update(million_a_second=rate / 1e6, accuracy=float(accuracy))


@pytest.mark.benchmark(group="debates of 7 agents and 10 rounds")
def test_mesa(benchmark):
    accuracy = benchmark.pedantic(by_mesa, (MODEL, 200, ROUNDS), rounds=3)
    rate = 200 / benchmark.stats.stats.median
    error = (accuracy - CountChain(MODEL).accuracy(ROUNDS - 1)) / (0.5 / np.sqrt(200))
    benchmark.extra_info.update(million_a_second=rate / 1e6, error=float(error))
