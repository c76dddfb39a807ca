"""Certifying a rule on 1,000 debates of 5 agents and 5 rounds (asked: at most 1 s).

The rival holds every debate alone, as a live loop would: the rules of one family with a `Monitor`
each, and scipy's binomial law.
"""

import numpy as np
import pytest
from scipy.stats import binom

from stability import DebateLog, Monitor, certify
from stability.evaluate.families import family

ITEMS, ROUNDS, AGENTS = 1000, 5, 5


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(0)
    p = rng.beta(4, 1, ITEMS)[:, None]
    answers = np.empty((ROUNDS, ITEMS, AGENTS), np.int32)
    for t in range(ROUNDS):
        drawn = np.where(rng.random((ITEMS, AGENTS)) < p, 0, rng.integers(1, 4, (ITEMS, AGENTS)))
        keeps = rng.random((ITEMS, AGENTS)) < 0.9
        answers[t] = drawn if t == 0 else np.where(keeps, answers[t - 1], drawn)
    return DebateLog(answers, "ABCD")


@pytest.mark.benchmark(group="certify on 1,000 debates")
def test_certify(benchmark, log):
    found = benchmark.pedantic(certify, (log,), rounds=5, warmup_rounds=1)
    benchmark.extra_info.update(rules=len(found.tested), seconds=benchmark.stats.stats.median)


def one_by_one(log):
    labels = np.array(log.labels)[log.answers]
    p_values = []
    for rule in family("margin", AGENTS, ROUNDS):
        losses = 0
        for item in range(ITEMS):
            monitor = Monitor(rule)
            for t in range(ROUNDS):
                decision = monitor.update(labels[t, item].tolist())
                if decision.stop:
                    break
            last = np.bincount(log.answers[-1, item])
            now = np.bincount(log.answers[decision.round, item])
            leaders = (np.flatnonzero(votes == votes.max()).tolist() for votes in (now, last))
            losses += len({tuple(found) for found in leaders}) > 1
        p_values.append(binom.cdf(losses, ITEMS, 0.05))
    return p_values


@pytest.mark.benchmark(group="certify on 1,000 debates")
def test_one_family_debate_by_debate(benchmark, log):
    found = certify(log, families=["margin"])
    p_values = benchmark.pedantic(one_by_one, (log,), rounds=1)
    benchmark.extra_info.update(rules=len(p_values), seconds=benchmark.stats.stats.median)
    assert np.allclose(p_values, [one.p_value for one in found.tested])
