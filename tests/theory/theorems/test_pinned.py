"""Figures of the audit of the two papers: exact enumerations, to the digits given there."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from theory import AgentType, CountChain, DebateModel, DiversityPruning, QualityPruning, Refutation
from theory.model.response import next_law, posterior
from theory.theorems.amplification import gain
from theory.theorems.assumption_4_1 import copying_law
from theory.theorems.diversity_pruning import helps_in_large_debates
from theory.theorems.diversity_pruning import margin as diversity_margin
from theory.theorems.echo_chamber import chernoff_information, starting_exponent
from theory.theorems.shared_misconception import critical_share, tie_fraction, wrong_side


def kind(weight, kernel):
    """A type with a uniform prior and this task weight."""
    w = np.array(weight)
    return AgentType(np.full(len(w), 1 / len(w)), w, np.array(kernel))


def test_copies_are_over_counted():
    one = kind([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]])
    found = [float(copying_law(one, 0, rho)[0]) for rho in (0.0, 0.5, 1.0)]
    assert found == pytest.approx([0.7384, 0.6934, 0.6636], abs=5e-5)
    assert next_law(one, [2, 0])[0] == pytest.approx(found[0], abs=1e-15)


def test_a_round_adds_no_information():
    """Expected log-score of the concept: prior, after round 0, the rule applied to round 1."""
    one = kind([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]])
    chain = CountChain(DebateModel((one,), (5,)))
    logs = np.log(posterior(one, chain.states))
    scores = []
    for t in (0, 1):
        total = 0.0
        for theta in range(2):
            law = CountChain(DebateModel((kind(np.eye(2)[theta], one.kernel),), (5,))).law(0)
            for _ in range(t):
                law = law @ chain.transition()
            total += 0.5 * float(law @ logs[:, theta])
        scores.append(total)
    assert [np.log(0.5), *scores] == pytest.approx([-0.6931, -0.2635, -0.5740], abs=5e-5)


def test_prior_reading_of_the_echo_chamber():
    """The first change from the prior concept becomes certain as n grows."""
    one = kind([0.4, 0.3, 0.3], [[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]])
    assert one.first_law[0] == pytest.approx(0.51)
    changes = []
    for n in (20, 80, 320, 640):
        chain = CountChain(DebateModel((one,), (n,)))
        changes.append(float(chain.law(0)[chain.leading_concept() != 0].sum()))
    assert (np.diff(changes) > 0).all()
    assert changes[-1] > 0.999


def test_chernoff_information_and_the_gap():
    assert chernoff_information([0.75, 0.25], [0.25, 0.75]) == pytest.approx(0.14384, abs=5e-6)
    assert chernoff_information([0.8, 0.2], [0.3, 0.7]) == pytest.approx(0.1462, abs=5e-5)
    gaps = {
        n: -np.log(CountChain(DebateModel.binary(n, 0.5, 0.75)).spectral_gap())
        for n in (10, 20, 40, 60, 80, 100, 150)
    }
    pairs = [(10, 20), (20, 40), (60, 80), (100, 150)]
    slopes = [(gaps[b] - gaps[a]) / (b - a) for a, b in pairs]
    assert slopes == pytest.approx([0.1798, 0.1619, 0.1506, 0.1477], abs=5e-5)


def test_slopes_of_the_gap_lie_near_the_chernoff_information():
    """Between successive n of 40..150, in [.99 C, 1.2 C], while n C <= 25."""
    for r in (0.75, 0.8):
        c = chernoff_information([r, 1 - r], [1 - r, r])
        sizes = [n for n in (40, 60, 80, 100, 120, 150) if n * c <= 25]
        gaps = [-np.log(CountChain(DebateModel.binary(n, 0.5, r)).spectral_gap()) for n in sizes]
        slopes = np.diff(gaps) / np.diff(sizes)
        assert len(slopes) >= 3
        assert (slopes >= 0.99 * c).all()
        assert (slopes <= 1.2 * c).all()


def test_switch_rate_once_settled():
    """From the law of R_1 itself: P(change) at n = 10..150."""
    rates = {10: 9.6e-2, 20: 1.5e-2, 40: 5.8e-4, 80: 1.3e-6, 150: 4.1e-11}
    for n, rate in rates.items():
        chain = CountChain(DebateModel.binary(n, 0.5, 0.75))
        best = chain.leading_concept()
        law = chain.stationary()
        inside = best == 0
        settled = np.where(inside, law, 0.0)
        leaves = float((settled @ chain.transition())[~inside].sum() / settled.sum())
        assert leaves == pytest.approx(rate, rel=0.25)


def test_ties_decay_by_powers():
    """Log-log slopes of P(change t -> t+1) between the even n = 320 and 640: -(t + 1) / 2."""
    values = {}
    for n in (320, 640):
        chain = CountChain(DebateModel.binary(n, 0.5, 0.75))
        values[n] = [chain.switch(t) for t in range(4)]
    slopes = np.log2(np.array(values[640]) / np.array(values[320]))
    assert slopes == pytest.approx([-0.5, -1.0, -1.5, -2.0], abs=0.05)


def test_an_irreducible_chain_whose_concept_never_changes():
    """n = 3, r = .75, w = .97: no count makes the other concept lead."""
    chain = CountChain(DebateModel.binary(3, 0.97, 0.75))
    assert (chain.leading_concept() == 0).all()
    assert (chain.transition() > 0).all()


def test_tempering_has_a_phase_transition():
    """kappa = n beta below and above 2 / ((2r-1) log(r/(1-r))) = 3.641."""
    r = 0.75
    kappa_c = 2 / ((2 * r - 1) * np.log(r / (1 - r)))
    assert kappa_c == pytest.approx(3.641, abs=5e-4)
    gaps = {}
    for kappa in (3.0, 5.0):
        gaps[kappa] = [
            CountChain(DebateModel.binary(n, 0.5, r, tempering=kappa / n)).spectral_gap()
            for n in (25, 50, 100, 200, 400)
        ]
    assert gaps[3.0] == pytest.approx([0.285, 0.247, 0.220, 0.202, 0.191], abs=6e-4)
    assert gaps[5.0] == pytest.approx([9.0e-2, 3.6e-2, 8.1e-3, 5.3e-4, 2.3e-6], rel=0.02)
    assert gaps[3.0][4] / gaps[3.0][2] > 0.8
    assert gaps[5.0][4] / gaps[5.0][2] < 0.01


def test_copies_turn_against_the_concept_that_one_copy_names():
    one = AgentType(np.array([0.9, 0.1]), np.ones(2), np.array([[0.5, 0.5], [0.6, 0.4]]))
    found = [float(posterior(one, [m, 0])[0]) for m in (1, 5, 12, 13, 20, 40, 80)]
    assert found[:6] == pytest.approx([0.882, 0.783, 0.502, 0.457, 0.190, 0.006], abs=5e-4)
    assert found[6] == pytest.approx(4e-6, rel=0.1)
    mirrored = kind([0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]])
    found = [float(posterior(mirrored, [m, 2 * m])[0]) for m in (5, 20, 80)]
    assert found[0] == pytest.approx(0.116, abs=5e-4)
    assert found[1] == pytest.approx(3e-4, rel=0.05)
    assert found[2] == pytest.approx(8e-15, rel=0.05)


def test_critical_share():
    kernel = np.array([[0.8, 0.2], [0.3, 0.7]])
    assert tie_fraction(kernel) == pytest.approx(0.561, abs=5e-4)
    options = {"weight": 0.9, "misled": 0.2, "right": 0.8, "wrong": 0.3}
    model = DebateModel.shared_misconception(10, 5, **options)
    assert critical_share(*model.types) == pytest.approx(0.540, abs=5e-4)
    shares = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
    for n, expected in (
        (20, [0.788, 0.761, 0.671, 0.594, 0.510, 0.437, 0.384, 0.330]),
        (200, [0.800, 0.800, 0.772, 0.635, 0.426, 0.322, 0.302, 0.300]),
    ):
        found = [
            CountChain(DebateModel.shared_misconception(n, round(mu * n), **options)).accuracy(10)
            for mu in shares
        ]
        assert found == pytest.approx(expected, abs=5.1e-4)


def test_the_wrong_side_at_round_zero():
    """mu = .25: exact and by the KL bound, at n = 50, 100 and 200; always below both bounds."""
    options = {"weight": 0.9, "misled": 0.2, "right": 0.8, "wrong": 0.3}
    for n, exact, bound in ((50, 0.0665, 0.304), (100, 0.0160, 0.109), (200, 0.00096, 0.0118)):
        found = wrong_side(DebateModel.shared_misconception(n, n // 4, **options))
        assert found["exact"] == pytest.approx(exact, rel=0.01)
        assert found["KL"] == pytest.approx(bound, rel=0.01)
        assert found["exact"] <= found["KL"] <= found["Hoeffding"] + 1e-12


def test_strict_rise_with_three_concepts():
    from theory import THEOREMS
    from theory.theorems.shared_misconception import accuracies

    case = THEOREMS["EL-5.4"].counterexamples()[2]
    expected = [0.4410, 0.4141, 0.3924, 0.3790, 0.3741, 0.3766, 0.3846, 0.3949, 0.4032]
    assert accuracies(case.model, 2) == pytest.approx(expected, abs=5.1e-5)


def test_diversity_pruning_figures():
    weak = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    shares = [CountChain(weak.with_(view=view)).share(5, 1) for view in (None, DiversityPruning(4))]
    assert shares == pytest.approx([0.302, 0.369], abs=5e-4)
    strong = DebateModel.shared_misconception(7, 5, weight=0.8, misled=0.2, right=0.8, wrong=0.3)
    plain, k3, k4, k5 = (
        CountChain(strong.with_(view=None if k is None else DiversityPruning(k))).share(5, 1)
        for k in (None, 3, 4, 5)
    )
    assert k3 < plain < k4 < k5
    mirrored = DebateModel.shared_misconception(5, 4, weight=0.74, misled=0.26, right=0.95)
    signs = [
        CountChain(mirrored).share(t, 1)
        - CountChain(mirrored.with_(view=DiversityPruning(4))).share(t, 1)
        for t in (1, 5, 20)
    ]
    assert signs[0] > 0 > max(signs[1:])
    cost = DebateModel.binary(7, 0.8, 0.8, 0.3)
    found = [CountChain(cost.with_(view=v)).accuracy(5) for v in (None, DiversityPruning(4))]
    assert found == pytest.approx([0.729, 0.692], abs=5e-4)


def test_the_limit_of_diversity_pruning():
    """Predicted .4703 and .6128 (right answers), at n = 10, 40, 120."""
    options = {"weight": 0.9, "misled": 0.2, "right": 0.8, "wrong": 0.3}
    for share, expected in ((0.7, [0.4697, 0.4703, 0.4703]), (0.3, [0.6191, 0.6128, 0.6128])):
        found = []
        for n in (10, 40, 120):
            model = DebateModel.shared_misconception(n, round(share * n), **options)
            found.append(CountChain(model.with_(view=DiversityPruning(4))).accuracy(10))
            slack = diversity_margin(model, "repaired", k=4, rounds=10)
            assert slack.value >= -1e-12
            assert 1 - slack.evidence["limit"] == pytest.approx(
                0.4703 if share > 0.5 else 0.6128, abs=5e-5
            )
        assert found == pytest.approx(expected, abs=5.1e-5)


def test_quality_pruning_figures():
    for weight, expected in ((0.2, [0.365, 0.304]), (0.8, [0.729, 0.793])):
        model = DebateModel.binary(7, weight, 0.8, 0.3)
        found = [CountChain(model.with_(view=v)).accuracy(5) for v in (None, QualityPruning(3))]
        assert found == pytest.approx(expected, abs=5e-4)
    one = DebateModel.binary(7, 0.6, 0.8, 0.3).types[0]
    assert next_law(one, [7, 0])[0] == pytest.approx(0.79965, abs=5e-6)
    assert next_law(one, [3, 0])[0] == pytest.approx(0.78302, abs=5e-6)


def test_refutation_figures():
    base = DebateModel.shared_misconception(7, 4, weight=0.8, misled=0.2, right=0.75)
    plain = CountChain(base).accuracy(5)
    for repaired, spoiled, change in (
        (0.3, 0.0, 0.221),
        (0.3, 0.1, 0.156),
        (0.3, 0.3, 0.017),
        (0.1, 0.3, -0.118),
        (0.0, 0.3, -0.173),
    ):
        model = base.with_(rewrite=Refutation.binary(repaired, spoiled))
        assert CountChain(model).accuracy(5) - plain == pytest.approx(change, abs=5.1e-4)
    one = kind([0.3, 0.7], [[0.55, 0.43, 0.02], [0.30, 0.005, 0.695]])
    assert next_law(one, [2, 1, 0])[0] == pytest.approx(0.548, abs=5e-4)
    assert next_law(one, [3, 0, 0])[0] == pytest.approx(0.481, abs=5e-4)


def test_amplification_figures():
    before = 0.01 * 0.9 + 0.49 * 0.8
    assert before == pytest.approx(0.401)
    after = before + gain([0.01, 0.49, 0.50], [0.5, 0.01, 0.49], [0.9, 0.8, 0.0])
    assert after == pytest.approx(0.033, abs=5e-4)
    one = kind([0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]])
    assert next_law(one, [0, 0])[0] == pytest.approx(0.5)
    assert next_law(one, [1, 6])[0] == pytest.approx(0.423, abs=5e-4)


def test_a_single_agent_is_a_martingale():
    from theory import CumulativeChain

    for seed in range(5):
        rng = np.random.default_rng(seed)
        chain = CumulativeChain(DebateModel.binary(1, float(rng.uniform(0.1, 0.9)), 0.8))
        values = [chain.accuracy(t) for t in range(6)]
        assert values == pytest.approx([values[0]] * 6, abs=1e-13)


def test_the_rate_of_change_at_a_fixed_round():
    """r = .8 / .3, w = .8: C = .1462, E0 = .0430; -log P / n = .0736 at n = 640."""
    model = DebateModel.binary(640, 0.8, 0.8, 0.3)
    one = model.types[0]
    c, start = chernoff_information(*one.kernel), starting_exponent(one)
    assert (c, start) == pytest.approx((0.1462, 0.0430), abs=5e-5)
    chain = CountChain(model)
    best = chain.leading_concept()
    # P(change) itself, without the cancellation of 1 - P(stays)
    law, matrix = chain.law(0), chain.transition()
    changes = sum(
        float(law[best == a] @ matrix[np.ix_(best == a, best == b)].sum(axis=1))
        for a, b in ((0, 1), (1, 0))
    )
    assert -np.log(changes) / 640 == pytest.approx(0.0736, abs=5e-4)
    assert -np.log(changes) / 640 >= min(c, start)


def test_the_bound_holds_for_many_agents():
    """All counts of n = 160 with two answers, and of n = 24 with three."""
    from theory import check

    for model in (
        DebateModel.binary(160, 0.5, 0.75),
        DebateModel.binary(160, 0.8, 0.8, 0.3),
        DebateModel.shared_misconception(60, 25, right=0.8, wrong=0.3),
        DebateModel.echo_chamber(24, 3),
        DebateModel.diverse(15, 3),
    ):
        assert check("EL-5.1", model).holds


def test_when_pruning_helps_in_large_debates():
    """The predicted sign is that of the chain at n = 100, where the two shares lie apart."""
    checked = 0
    for seed in range(200):
        rng = np.random.default_rng([21, seed])
        r1, r2 = np.sort(rng.uniform(0.1, 0.9, 2))[::-1]
        m = int(rng.integers(10, 90))
        model = DebateModel.shared_misconception(
            100,
            m,
            weight=float(rng.uniform(0.5, 0.95)),
            misled=float(rng.uniform(0.05, 0.5)),
            right=float(r1),
            wrong=float(r2),
        )
        even = tie_fraction(model.types[0].kernel)
        if r1 - r2 < 0.25 or abs(model.first_law[0] - even) < 0.12 or r2 > 0.5 or r1 < 0.5:
            continue
        plain = CountChain(model).share(5, 1)
        pruned = CountChain(model.with_(view=DiversityPruning(4))).share(5, 1)
        if abs(plain - pruned) < 0.03:
            continue
        assert helps_in_large_debates(model, 4) == (pruned < plain), seed
        checked += 1
    assert checked >= 10


def test_violations_of_amplification_by_the_number_of_concepts():
    """theta* maximises both: 0 % of random models for K = 2, then about 10, 18 and 26 %."""
    rng = np.random.default_rng(0)
    for concepts, expected in ((2, 0.0), (3, 0.10), (5, 0.18), (10, 0.26)):
        negative = 0
        for _ in range(3000):
            weight, like, correct = rng.dirichlet(np.ones(concepts)), *rng.random((2, concepts))
            for column in (like, correct):
                top = column.argmax()
                column[[0, top]] = column[[top, 0]]
            negative += gain(weight, like, correct) < -1e-15
        # four comparisons at five standard errors
        assert negative / 3000 == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 3000) * 0.9)


def test_debate_falls_below_the_vote_where_agents_are_all_but_certain():
    """n = 3, a = .89, w = .999, in exact fractions: why the repaired HT-2 bounds w."""
    from theory import CumulativeChain, check

    a, w = Fraction("0.89"), Fraction("0.999")

    def predictive(right, wrong):
        x = w * a**right * (1 - a) ** wrong
        y = (1 - w) * (1 - a) ** right * a**wrong
        return (x * a + y * (1 - a)) / (x + y)

    def majority(q):
        return q**3 + 3 * q**2 * (1 - q)

    q = predictive(0, 0)
    first = [comb(3, k) * q**k * (1 - q) ** (3 - k) for k in range(4)]
    after = sum(p * majority(predictive(k, 3 - k)) for k, p in enumerate(first))
    fall = float(after - majority(q))
    assert fall == pytest.approx(-7.39e-5, rel=1e-3)
    model = DebateModel.binary(3, 0.999, 0.89)
    chain = CumulativeChain(model)
    found = chain.majority_accuracy(1) - chain.majority_accuracy(0)
    assert found == pytest.approx(fall, abs=1e-14)
    assert check("HT-2", model).holds is None
    assert check("HT-2", DebateModel.binary(3, 0.99, 0.89)).holds
