"""Replaying all rules on many debates: the time, without reading the log; and its parts.

The log is made up like the largest recording: 12,437 debates of 2, 3, 4 or 7 agents and three
rounds, runs of 3,276 questions, of which two thirds end early. With the recordings at hand
(``DEBATE_DATA``) the recording itself is timed too. Asked: at most 10 s on one core. The bootstrap
is set beside one that draws items in a loop, as one would write it.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from stability.evaluate.outcomes import Outcomes
from stability.evaluate.paired import paired_change
from stability.evaluate.replay import RULES, replay
from stability.evaluate.sweep import EPSILONS, PATIENCES, sweep_ks
from stability.log import DebateLog, read_log

ITEMS, ROUNDS, QUESTIONS = 12_437, 3, 3_276
RECORDED = Path(os.environ.get("DEBATE_DATA", Path(__file__).parents[2] / "shared")) / "debates"


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(1)
    agents = rng.choice([2, 3, 4, 7], ITEMS)
    right = rng.beta(2, 1, ITEMS)[:, None]
    answers = np.empty((ROUNDS, ITEMS, 7), np.int32)
    for t in range(ROUNDS):
        drawn = np.where(rng.random((ITEMS, 7)) < right, 0, rng.integers(1, 4, (ITEMS, 7)))
        answers[t] = drawn if t == 0 else np.where(rng.random((ITEMS, 7)) < 0.8, answers[0], drawn)
    answers[:, np.arange(7) >= agents[:, None]] = -2
    carried = np.arange(ROUNDS)[:, None] >= rng.choice([1, 2, 3], ITEMS, p=[0.69, 0.18, 0.13])
    for t in range(1, ROUNDS):
        answers[t][carried[t]] = answers[t - 1][carried[t]]
    return DebateLog(
        answers,
        "ABCD",
        gold=["A"] * ITEMS,
        carried=carried,
        cluster=rng.integers(0, QUESTIONS, ITEMS),
    )


@pytest.mark.benchmark(group="replay of all rules, 12,437 debates")
def test_replay(benchmark, log):
    frame = benchmark.pedantic(replay, (log,), rounds=3, warmup_rounds=1)
    benchmark.extra_info.update(rules=len(RULES), seconds=benchmark.stats.stats.median)
    assert len(frame) == ROUNDS + len(RULES)


@pytest.mark.benchmark(group="replay of all rules, 12,437 debates")
def test_replay_of_the_recording(benchmark):
    path = RECORDED / "dylan_mmlu.csv.gz"
    if not path.exists():
        pytest.skip(f"no recorded debates in {RECORDED}; set DEBATE_DATA to the folder above it")
    benchmark.pedantic(replay, (read_log(path),), rounds=3, warmup_rounds=1)
    benchmark.extra_info["seconds"] = benchmark.stats.stats.median


@pytest.mark.benchmark(group="sweep of epsilon and patience, 12,437 debates")
def test_sweep(benchmark, log):
    benchmark.pedantic(sweep_ks, (log,), rounds=3, warmup_rounds=1)
    benchmark.extra_info["pairs"] = len(EPSILONS) * len(PATIENCES)


def drawn_items(before, after, cluster, resamples):
    """Draw clusters, collect their items, take the mean: once a resample."""
    rng = np.random.default_rng(0)
    gain = after.astype(int) - before
    members = [np.flatnonzero(cluster == name) for name in np.unique(cluster)]
    means = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(members), len(members))
        means.append(gain[np.concatenate([members[place] for place in drawn])].mean())
    return np.quantile(means, [0.025, 0.975])


@pytest.mark.benchmark(group="interval of one change, 200 resamples of 3,276 clusters")
@pytest.mark.parametrize("how", ["ours", "a loop"])
def test_bootstrap(benchmark, log, how):
    right = Outcomes(log)._right
    if how == "ours":
        found = benchmark(paired_change, right[-1], right[0], log.cluster, resamples=200)
        low, high = found.low, found.high
    else:
        arguments = (right[-1], right[0], log.cluster, 200)
        low, high = benchmark.pedantic(drawn_items, arguments, rounds=2)
    benchmark.extra_info.update(low=float(low), high=float(high))
