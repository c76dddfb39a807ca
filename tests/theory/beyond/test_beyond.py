"""Urns, juries, opinions and weakened evidence: exact figures, other libraries, limits."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from theory import (
    CountChain,
    DebateModel,
    UrnDebate,
    critical_strength,
    degroot,
    degroot_limit,
    disagreement_rate,
    effective_votes,
    friedkin_johnsen,
    friedkin_johnsen_limit,
    gated_jury_accuracy,
    jury_accuracy,
    jury_limit,
    with_strength,
)

# --- urns -----------------------------------------------------------------------------------------


def test_identical_urns_are_a_martingale():
    for urn in ((3, 2), (0.6, 0.4), (1, 2, 2)):
        debate = UrnDebate([urn] * 3)
        first = debate.beliefs(0)
        for t in range(1, 4):
            assert debate.beliefs(t) == first
            assert sum(debate.law(t).values()) == 1


def test_equal_concentrations_conserve_the_mean_and_not_the_agents():
    debate = UrnDebate([(1, 4), (3, 2), (4, 1)])
    assert debate.beliefs(1) == [Fraction(13, 40), Fraction(23, 40), Fraction(7, 10)]
    assert [debate.mean_belief(t) for t in range(4)] == [Fraction(8, 15)] * 4


def test_unequal_concentrations_move_the_mean():
    debate = UrnDebate([(1, 1), (3, 2), (40, 10)])
    assert float(debate.mean_belief(0)) == pytest.approx(0.6333, abs=5e-5)
    assert float(debate.mean_belief(1)) == pytest.approx(0.6610, abs=5e-5)


@pytest.mark.parametrize("urn", [(3, 2), (0.6, 0.4)])
def test_the_vote_gets_worse_while_the_belief_stands_still(urn):
    debate = UrnDebate([urn] * 5)
    votes = [debate.majority_accuracy(t) for t in range(4)]
    assert votes == sorted(votes, reverse=True)
    assert len(set(votes)) == len(votes)
    assert float(votes[0]) == pytest.approx(binom.sf(2, 5, 0.6), abs=1e-12)
    assert debate.mean_belief(3) == Fraction(3, 5)


def test_one_round_of_identical_urns_is_binomial():
    """Before round 1 the counts are those of n independent votes."""
    debate = UrnDebate([(3, 2)] * 4)
    law = {counts[0]: float(p) for counts, p in debate.law(1).items()}
    assert [law[k] for k in range(5)] == pytest.approx(binom.pmf(range(5), 4, 0.6))


def test_a_latent_chain_is_no_martingale():
    chain = CountChain(DebateModel.binary(7, 0.6, 0.75))
    drift = chain.response()[:, 0] - chain.states[:, 0] / 7
    assert drift.max() > 0.05
    assert drift.min() < -0.04


@pytest.mark.parametrize(
    ("urns", "correct"), [([], 0), ([(1, 0)], 0), ([(1, 2), (1, 2, 3)], 0), ([(1, 2)], 2)]
)
def test_urns_refuse(urns, correct):
    with pytest.raises(ValueError, match=r"`urns` must be|`correct` must be"):
        UrnDebate(urns, correct)


# --- juries ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 50, 501])
@pytest.mark.parametrize("p", [0.0, 0.3, 0.6, 1.0])
def test_correlated_juries_are_beta_binomial(n, p):
    for rho in (0.0, 1e-6, 0.2, 0.9, 1.0):
        k = np.arange(n + 1)
        if rho in (0.0, 1.0) or p in (0.0, 1.0):
            law = binom.pmf(k, n, p) if rho == 0.0 or p in (0.0, 1.0) else None
            if law is None:
                assert jury_accuracy(n, p, rho) == pytest.approx(p)
                continue
        else:
            s = 1.0 / rho - 1.0
            law = betabinom.pmf(k, n, p * s, (1 - p) * s)
        expected = law[2 * k > n].sum() + 0.5 * law[2 * k == n].sum()
        # scipy's law is off by some 1e-9 where both shapes are large
        assert jury_accuracy(n, p, rho) == pytest.approx(expected, abs=1e-8)


def test_the_limit_is_no_certainty():
    assert jury_limit(0.6, 0.2) == pytest.approx(jury_accuracy(20_001, 0.6, 0.2), abs=2e-4)
    assert jury_limit(0.6, 0.2) < 0.7
    assert (jury_limit(0.6, 0.0), jury_limit(0.4, 0.0), jury_limit(0.5, 0.0)) == (1.0, 0.0, 0.5)
    assert jury_limit(0.6, 1.0) == 0.6
    # as many votes as are effective would be worth more than the correlated ones
    assert effective_votes(101, 0.2) == pytest.approx(101 / 21)
    assert jury_accuracy(5, 0.6) > jury_accuracy(101, 0.6, 0.2)


def test_gates_by_enumeration():
    n, speaks, right = 5, 0.4, 0.8
    expected = 0.0
    for said in range(n + 1):
        inner = 0.5
        if said:
            k = np.arange(said + 1)
            law = binom.pmf(k, said, right)
            inner = law[2 * k > said].sum() + 0.5 * law[2 * k == said].sum()
        expected += binom.pmf(said, n, speaks) * inner
    assert gated_jury_accuracy(n, speaks, right) == pytest.approx(expected, abs=1e-14)
    assert gated_jury_accuracy(n, 0.0, right) == 0.5
    assert gated_jury_accuracy(n, 1.0, right) == pytest.approx(jury_accuracy(n, right))
    with pytest.raises(ValueError, match="`rho` must lie in"):
        jury_accuracy(3, 0.5, 1.5)


# --- opinions -------------------------------------------------------------------------------------


def test_degroot_tends_to_its_consensus_at_the_second_eigenvalue():
    rng = np.random.default_rng(0)
    w = rng.dirichlet(np.ones(5), 5)
    start = rng.random(5)
    path = degroot(w, start, 60)
    assert path[-1] == pytest.approx(np.full(5, degroot_limit(w) @ start), abs=1e-12)
    spread = np.ptp(path, axis=1)
    assert (spread[21] / spread[11]) ** 0.1 == pytest.approx(disagreement_rate(w), rel=0.1)


def test_friedkin_johnsen_stays_in_the_hull():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        w, start, openness = rng.dirichlet(np.ones(4), 4), rng.random(4), rng.random(4)
        limit = friedkin_johnsen_limit(w, start, openness)
        assert friedkin_johnsen(w, start, 400, openness)[-1] == pytest.approx(limit, abs=1e-9)
        assert start.min() - 1e-12 <= limit.min() <= limit.max() <= start.max() + 1e-12
    with pytest.raises(ValueError, match="holds on to its opinion"):
        friedkin_johnsen_limit(w, start, np.ones(4))
    with pytest.raises(ValueError, match="square"):
        degroot([[0.5, 0.5]], [0, 1], 2)
    with pytest.raises(ValueError, match="`start` must hold 2"):
        degroot(np.eye(2), [0, 1, 2], 2)
    with pytest.raises(ValueError, match="irreducible"):
        degroot_limit(np.eye(2))


def test_latent_debates_leave_the_hull():
    """First answers are right with .70, later ones with up to .80."""
    chain = CountChain(DebateModel.binary(101, 0.8, 0.8, 0.3))
    assert chain.accuracy(0) == pytest.approx(0.7)
    assert 0.79 < chain.accuracy(5) <= 0.8


# --- weakened evidence ----------------------------------------------------------------------------


def test_the_gap_below_the_critical_strength():
    """The limit 1 - kappa / kappa_c = .176 at kappa = 3, from above, and decay beyond kappa_c."""
    limit = 1.0 - 3.0 / critical_strength(0.75)
    assert limit == pytest.approx(0.176, abs=5e-4)
    below = [
        CountChain(with_strength(DebateModel.binary(n), 3.0)).spectral_gap() for n in (100, 400)
    ]
    assert limit < below[1] < below[0]
    above = [
        CountChain(with_strength(DebateModel.binary(n), 5.0)).spectral_gap() for n in (100, 400)
    ]
    assert above[1] < 0.01 * above[0]
    with pytest.raises(ValueError, match="`right`"):
        critical_strength(0.5)
