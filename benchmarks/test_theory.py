"""Exact chains: time, beside a plain double loop over states in NumPy.

Asked: build and laws of 11 rounds for L = 2, n = 500 (501 states) 20 ms; L = 3, n = 60 (1,891
states) .7 s; L = 4, n = 20 (1,771) .5 s; 16,000 states without the matrix 120 s and 1 GB; GTH at
1,000 states 1 s; diversity pruning for every state of L = 4, n = 20, k = 5 1 s. The caches of
states and coefficients are emptied before each run: a first build is timed. ``peak`` is the largest
resident size of a process of its own that does nothing else. ``error`` is |1 - sum of the law|.
"""

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import gammaln

from theory import CountChain, DebateModel, DiversityPruning, next_law, stationary_law
from theory.model import states

CASES = {"L = 2, n = 500": (2, 500), "L = 3, n = 60": (3, 60), "L = 4, n = 20": (4, 20)}


def forget():
    for cached in (states.count_states, states.log_coefficients, states._below):
        cached.cache_clear()


def ours(model):
    chain = CountChain(model)
    return chain.law(10)


def double_loop(model, rounds=10):
    """Every entry of the matrix by itself, as one writes the formula down."""
    n, kind = model.n_agents, model.types[0]
    counts = states.count_states(n, model.n_answers)

    def pmf(c, law):
        return np.exp(gammaln(n + 1) - gammaln(c + 1).sum() + c @ np.log(law))

    law = np.array([pmf(c, kind.first_law) for c in counts])
    matrix = np.empty((len(counts), len(counts)))
    for i, c in enumerate(counts):
        answer = next_law(kind, c)
        for j, d in enumerate(counts):
            matrix[i, j] = pmf(d, answer)
    for _ in range(rounds):
        law = law @ matrix
    return law


@pytest.mark.parametrize("case", CASES)
def test_laws(benchmark, case):
    answers, n = CASES[case]
    model = DebateModel.echo_chamber(n, answers)
    benchmark.group = f"build and laws of 11 rounds, {case}"
    law = benchmark.pedantic(ours, (model,), setup=forget, rounds=7)
    benchmark.extra_info["error"] = abs(1.0 - float(law.sum()))


@pytest.mark.parametrize("case", list(CASES)[:1])
def test_double_loop(benchmark, case):
    answers, n = CASES[case]
    model = DebateModel.echo_chamber(n, answers)
    benchmark.group = f"build and laws of 11 rounds, {case}"
    law = benchmark.pedantic(double_loop, (model,), rounds=1)
    benchmark.extra_info["error"] = abs(1.0 - float(law.sum()))
    assert np.abs(law - ours(model)).max() < 1e-12


@pytest.mark.benchmark(group="two types, L = 3, n = 20 + 20: laws of 11 rounds")
def test_two_types(benchmark):
    model = DebateModel.diverse(40, 2)
    kinds = DebateModel.diverse(40, 3).types[:2]
    model = DebateModel(kinds, (20, 20))
    benchmark.pedantic(ours, (model,), setup=forget, rounds=3)


LARGE = """
import resource, time
from theory import CountChain, DebateModel
begun = time.perf_counter()
chain = CountChain(DebateModel.echo_chamber(n=178, concepts=3))
law = chain.law(10)
seconds = time.perf_counter() - begun
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(len(law), seconds, peak, abs(1 - law.sum()))
"""


@pytest.mark.benchmark(group="16,110 states without the matrix: laws of 11 rounds")
def test_large_chain(benchmark):
    def run():
        done = subprocess.run(
            [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True
        )
        return [float(word) for word in done.stdout.split()]

    size, seconds, peak, error = benchmark.pedantic(run, rounds=1)
    benchmark.extra_info.update(states=size, seconds=seconds, peak_gb=peak, error=error)


@pytest.mark.benchmark(group="stationary law of 1,000 states")
@pytest.mark.parametrize("how", ["ours", "textbook GTH"])
def test_stationary(benchmark, how):
    matrix = CountChain(DebateModel.binary(999, 0.5, 0.55)).transition()
    call = stationary_law if how == "ours" else textbook_gth
    law = benchmark.pedantic(call, (matrix,), rounds=3, warmup_rounds=1)
    benchmark.extra_info["residual"] = float(np.abs(law @ matrix - law).max())


def textbook_gth(matrix):
    """The elimination with one outer product a state."""
    work = matrix.copy()
    for s in range(len(work) - 1, 0, -1):
        work[:s, s] /= work[s, :s].sum()
        work[:s, :s] += np.outer(work[:s, s], work[s, :s])
    law = np.ones(len(work))
    for s in range(1, len(work)):
        law[s] = law[:s] @ work[:s, s]
    return law / law.sum()


@pytest.mark.benchmark(group="diversity pruning of all states, L = 4, n = 20, k = 5")
def test_diversity(benchmark):
    model = DebateModel.echo_chamber(20, 4)
    benchmark.pedantic(DiversityPruning(5).prepare, (model,), setup=forget, rounds=7)
