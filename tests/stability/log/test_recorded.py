"""Every recorded source loads, and the figures of its README are reproduced."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from stability.log import DebateLog, read_log


@pytest.fixture(scope="module")
def load(recorded):
    return cache(lambda source: read_log(recorded / f"{source}.csv.gz"))


# file: debates, agents, rounds, debates that end early, graded
SOURCES = {
    "cmd_llm_discussion": (126, 6, 3, 10, True),
    "diverse_minds_arithmetic": (600, 3, 2, 0, True),
    "diversity_mmlu_5round": (100, 3, 5, 0, True),
    "du_format_forks": (318, 3, 3, 218, True),
    "dylan_mmlu": (12437, 7, 3, 10938, True),
    "llm_agora": (600, 3, 3, 0, True),
    "madam_rag_ramdocs": (500, 12, 3, 239, True),
    "moral_dilemma_pairs": (3600, 2, 10, 774, False),
    "smollm2-local": (72, 5, 4, 0, True),
}
UNREAD = {
    "cmd_llm_discussion": 16,
    "diverse_minds_arithmetic": 0,
    "diversity_mmlu_5round": 170,
    "du_format_forks": 4,
    "dylan_mmlu": 4776,
    "llm_agora": 1113,
    "madam_rag_ramdocs": 704,
    "moral_dilemma_pairs": 347,
    "smollm2-local": 0,
}


@pytest.mark.parametrize("source", SOURCES)
def test_source_loads_whole(load, source):
    log = load(source)
    assert (
        log.n_items,
        log.n_agents,
        log.n_rounds,
        int(log.carried[-1].sum()),
        log.is_graded,
    ) == SOURCES[source]
    counts = log.state_counts()
    assert counts["unread"].sum() == UNREAD[source]
    # A row of the file is an answer that was read or an unread one: none is lost.
    assert counts["read"].sum() + counts["unread"].sum() == len(log.to_frame())
    if source in ("dylan_mmlu", "moral_dilemma_pairs"):
        return
    assert DebateLog.from_frame(log.to_frame()) == log


def histograms(log, *, full):
    """Counts of the items in which every agent spoke (full), or of all items."""
    k, n, graded = log.correct_counts()
    assert graded.all()
    hold = n == log.n_agents if full else np.ones_like(log.carried)
    size = log.n_agents + 1
    return [np.bincount(k[t][hold[t]], minlength=size) for t in range(log.n_rounds)]


def distances(rows):
    cdfs = [np.cumsum(row) / row.sum() for row in rows]
    return [round(float(np.abs(b - a).max()), 3) for a, b in pairwise(cdfs)]


def test_counts_of_cmd(load):
    log = load("cmd_llm_discussion")
    main = log.select(items=[run == "main" for run in log.keys["run"]])
    assert main.n_items == 100
    rows = histograms(main, full=True)
    assert [row.tolist() for row in rows] == [
        [16, 3, 8, 5, 7, 17, 44],
        [16, 7, 1, 5, 6, 4, 61],
        [17, 2, 3, 7, 4, 4, 62],
    ]
    assert distances(rows) == [0.170, 0.038]
    # In one debate an agent is silent in the third round: it is right 5 of 5 times.
    whole = histograms(main, full=False)
    assert whole[2].tolist() == [17, 2, 3, 7, 4, 5, 62]
    assert distances(whole) == [0.170, 0.040]


def test_counts_of_diversity(load):
    rows = histograms(load("diversity_mmlu_5round"), full=False)
    assert [row.tolist() for row in rows] == [
        [11, 18, 29, 42],
        [14, 15, 26, 45],
        [20, 7, 22, 51],
        [17, 10, 21, 52],
        [20, 5, 21, 54],
    ]
    assert distances(rows) == [0.030, 0.060, 0.030, 0.030]


ACCURACY = {
    # first -> last accuracy of the plurality, as listed with the sources
    "diversity_mmlu_5round": (0.747, 0.763),
    "diverse_minds_arithmetic": (0.744, 0.879),
    "llm_agora": (0.164, 0.239),
}


def shared_credit(log, t):
    """Accuracy of the plurality with the credit of a tie shared among its leaders."""
    total = 0.0
    for i in range(log.n_items):
        codes, correct = log.answers[t, i], log.correct[t, i]
        votes = {c: int((codes == c).sum()) for c in set(codes.tolist()) if c >= 0}
        if not votes:
            continue
        leaders = [c for c, v in votes.items() if v == max(votes.values())]
        total += sum(correct[codes == c].max() == 1 for c in leaders) / len(leaders)
    return total / log.n_items


@pytest.mark.parametrize("source", ACCURACY)
def test_plurality_accuracy(load, source):
    log = load(source)
    found = (shared_credit(log, 0), shared_credit(log, log.n_rounds - 1))
    assert found == pytest.approx(ACCURACY[source], abs=6e-4)


def test_partly_graded_source(load):
    log = load("dylan_mmlu")
    _, n, graded = log.correct_counts()
    # 137 debates hold no grade at all; 64 hold some without: unread there, or read and unknown.
    assert ((log.correct < 0) | (log.answers == -2)).all(axis=(0, 2)).sum() == 137
    assert (~graded[0]).sum() >= 137
    assert (n[0] == log.n_present()[0]).all()
    assert len(np.unique(log.cluster)) < log.n_items
    assert log.one_per_cluster(seed=3).n_items == len(np.unique(log.cluster))


def test_source_without_gold(load):
    log = load("moral_dilemma_pairs")
    assert not log.is_graded
    k, n = log.agreement_counts()
    assert k.shape == (10, 3600)
    assert (k <= n).all()
