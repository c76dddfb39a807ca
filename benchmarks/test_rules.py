"""One step of every rule at M = 2,000 items and n = 15 agents, beside the usual way to compute it.

The step is the second of a debate of four labels in which an agent repeats its answer in four cases
of five. The vote of the first round has been taken. Asked, in us: 30 for rules that count, 300 for
KSRule, 5,000 for SwapTest with 999 swaps, 100 for PairedEquivalence. ``MaxRounds`` looks at no
answer: its time is the overhead of a step (checks, latch, decision, state).
"""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial.distance import jensenshannon

from benchmarks.rivals import textbook_em
from stability import Round
from stability.rules import (
    SPRT,
    BetaPosterior,
    EntropyBelow,
    FlipRateBelow,
    JensenShannonBelow,
    KSRule,
    MaxRounds,
    NoAnswerChanged,
    PairedEquivalence,
    PluralityShare,
    PluralityUnchanged,
    StableMargin,
    SwapTest,
    Unanimity,
    rule_to_text,
)

M, N, LABELS = 2000, 15, ("A", "B", "C", "D")
RULES = [
    MaxRounds(9),
    Unanimity(),
    PluralityShare(),
    PluralityUnchanged(),
    NoAnswerChanged(),
    EntropyBelow(bits=0.5),
    JensenShannonBelow(),
    StableMargin(margin=14, held=2),
    BetaPosterior(confidence=0.99999),
    BetaPosterior(confidence=0.99999, pool="all"),
    SPRT(p1=0.99),
    FlipRateBelow(),
    PairedEquivalence(lag=1),
    SwapTest(),
    SwapTest(statistic="mean"),
    KSRule(),
    KSRule(space="empirical"),
    KSRule(epsilon="calibrated"),
]


def two_rounds():
    rng = np.random.default_rng(0)
    p = rng.beta(4, 2, M)[:, None]

    def drawn():
        return np.where(rng.random((M, N)) < p, 0, rng.integers(1, 4, (M, N))).astype(np.int32)

    first = drawn()
    second = np.where(rng.random((M, N)) < 0.8, first, drawn())
    return first, second.astype(np.int32)


FIRST, SECOND = two_rounds()


@pytest.mark.benchmark(group="one step of a rule, M = 2,000, n = 15")
@pytest.mark.parametrize("rule", RULES, ids=rule_to_text)
def test_step(benchmark, rule):
    one, two = (
        Round.from_codes(codes, LABELS, correct=(codes == 0).astype(np.int8))
        for codes in (FIRST, SECOND)
    )
    state, _ = rule.step(rule.start(N), one)
    assert state.winner is not None
    _, decision = benchmark.pedantic(
        rule.step, (state, two), rounds=300, iterations=1, warmup_rounds=5
    )
    benchmark.extra_info["us"] = round(1e6 * benchmark.stats.stats.median, 1)
    assert decision.round == 1


# --- rivals ---------------------------------------------------------------------------------------


def votes(codes):
    """Votes (M, labels), as one writes it in NumPy."""
    return (codes[:, :, None] == np.arange(len(LABELS))).sum(axis=1)


def unanimity():
    return votes(SECOND).max(axis=1) == N


def plurality_unchanged():
    return votes(SECOND).argmax(axis=1) == votes(FIRST).argmax(axis=1)


def entropy():
    return stats.entropy(votes(SECOND), base=2, axis=1) < 0.5


def divergence():
    return jensenshannon(votes(FIRST), votes(SECOND), base=2, axis=1) ** 2 < 0.05


def flip_rate():
    flips = (~plurality_unchanged()).sum()
    return stats.binomtest(int(flips), M).proportion_ci(0.9).high < 0.05


def by_quadrature(a, b):
    """P(p > 1/2) of a against b votes by two integrals, the published way."""

    def likelihood(p):
        return p**a * (1 - p) ** b

    return integrate.quad(likelihood, 0.5, 1)[0] / integrate.quad(likelihood, 0, 1)[0]


def posterior():
    ordered = np.sort(votes(SECOND), axis=1)
    return [by_quadrature(a, b) > 0.99999 for b, a in ordered[:, -2:].tolist()]


def counts():
    return (FIRST == 0).sum(axis=1), (SECOND == 0).sum(axis=1)


def paired_equivalence():
    from statsmodels.stats.weightstats import ttost_paired

    before, after = counts()
    return ttost_paired(after / N, before / N, -0.02, 0.02)[0] < 0.05


def swap_test():
    before, after = counts()
    return stats.permutation_test(
        (after, before),
        lambda x, y, axis: np.abs((x - y).mean(axis=axis)),
        permutation_type="samples",
        n_resamples=999,
        vectorized=True,
        alternative="greater",
        rng=np.random.default_rng(0),
    ).pvalue


def ks_two_sample():
    return stats.ks_2samp(*counts()).statistic < 0.05


def ks_textbook():
    return [textbook_em(k, N) for k in counts()]


RIVALS = {
    "Unanimity: NumPy": unanimity,
    "PluralityUnchanged: NumPy": plurality_unchanged,
    "EntropyBelow: scipy.stats.entropy": entropy,
    "JensenShannonBelow: scipy jensenshannon": divergence,
    "FlipRateBelow: NumPy and scipy binomtest": flip_rate,
    "BetaPosterior: quadrature": posterior,
    "PairedEquivalence: statsmodels ttost_paired": paired_equivalence,
    "SwapTest('mean'): scipy permutation_test": swap_test,
    "KSRule: scipy ks_2samp (no model)": ks_two_sample,
    "KSRule: textbook EM, two fits": ks_textbook,
}


@pytest.mark.benchmark(group="one step of a rule, M = 2,000, n = 15")
@pytest.mark.parametrize("name", RIVALS)
def test_rival(benchmark, name):
    rounds = 1 if name in ("KSRule: textbook EM, two fits", "BetaPosterior: quadrature") else 20
    benchmark.pedantic(RIVALS[name], rounds=rounds, warmup_rounds=rounds > 1)
    benchmark.extra_info["us"] = round(1e6 * benchmark.stats.stats.median, 1)


@pytest.mark.benchmark(group="posterior of 700 against 600 votes")
@pytest.mark.parametrize("how", ["betainc", "quadrature"])
def test_many_votes(benchmark, how):
    """The closed form gives .9972; the quadrature of the powers gives no number."""
    from scipy.special import betainc

    if how == "betainc":
        value = benchmark(betainc, 601, 701, 0.5)
        assert 0.997 < value < 0.998
    else:
        with np.errstate(all="ignore"):
            value = benchmark.pedantic(_quadrature_or_nan, rounds=3)
    benchmark.extra_info["value"] = float(value)


def _quadrature_or_nan():
    try:
        return by_quadrature(700, 600)
    except ZeroDivisionError:
        return float("nan")
