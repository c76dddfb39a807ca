"""States, multinomials, responses, selections, the stationary law: by hand and by brute force."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial as scipy_multinomial

from theory import (
    AgentType,
    DiversityPruning,
    QualityPruning,
    divergence,
    diversity_subset,
    expected_rounds,
    next_law,
    posterior,
    quality_subset,
    random_model,
    stationary_law,
)
from theory.model.interventions import subset_law
from theory.model.states import (
    convolve,
    count_states,
    log_coefficients,
    multinomial,
    n_states,
    state_index,
)

sizes = st.tuples(st.integers(1, 9), st.integers(1, 5))


@given(sizes)
def test_states_are_all_counts_in_order(size):
    n, answers = size
    states = count_states(n, answers)
    expected = [c for c in product(range(n + 1), repeat=answers) if sum(c) == n]
    assert states.tolist() == [list(c) for c in expected]
    assert len(states) == n_states(n, answers)
    assert state_index(states).tolist() == list(range(len(states)))


@given(sizes, st.integers(0, 10**6))
@settings(max_examples=30)
def test_multinomial_is_scipys(size, seed):
    n, answers = size
    law = np.random.default_rng(seed).dirichlet(np.ones(answers))
    expected = scipy_multinomial.pmf(count_states(n, answers), n, law)
    assert multinomial(n, law[None, :])[0] == pytest.approx(expected, abs=1e-13)


def test_multinomial_with_an_answer_never_given():
    found = multinomial(3, np.array([[0.0, 0.25, 0.75]]))[0]
    states = count_states(3, 3)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    assert (found[states[:, 0] > 0] == 0.0).all()


def test_coefficients_of_many_agents_are_exact():
    import math

    states = count_states(2000, 2)
    values = log_coefficients(2000, 2)
    for place in (0, 1, 700, 1000):
        exact = math.comb(2000, int(states[place, 0]))
        assert values[place] == pytest.approx(math.log(exact), rel=1e-15)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6))
@settings(max_examples=30)
def test_convolution_is_that_of_counts(a, b, answers, seed):
    rng = np.random.default_rng(seed)
    laws = rng.dirichlet(np.ones(answers), 2)
    found = convolve(multinomial(a, laws[:1]), a, multinomial(b, laws[1:]), b, answers)[0]
    expected = np.zeros(n_states(a + b, answers))
    for x, p in zip(count_states(a, answers), multinomial(a, laws[:1])[0], strict=True):
        for y, q in zip(count_states(b, answers), multinomial(b, laws[1:])[0], strict=True):
            expected[state_index(x + y)] += p * q
    assert found == pytest.approx(expected, abs=1e-14)


# --- one round: Lemma 4.2 ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_the_law_of_an_answer_is_the_product_formula(seed):
    rng = np.random.default_rng([1, seed])
    kind = random_model(rng, n=1).types[0]
    counts = rng.integers(0, 5, kind.n_answers)
    skew = np.prod(kind.kernel**counts, axis=1)
    joint = kind.weight * skew
    expected = joint / joint.sum() @ kind.kernel
    assert next_law(kind, counts) == pytest.approx(expected, abs=1e-14)
    assert next_law(kind, np.zeros(kind.n_answers)) == pytest.approx(kind.first_law, abs=1e-15)
    flat = AgentType(kind.prior, kind.likelihood, np.tile(kind.kernel[0], (kind.n_concepts, 1)))
    assert next_law(flat, counts) == pytest.approx(flat.first_law, abs=1e-15)
    # the log-odds are linear in the counts, with the log-ratio of the kernel as their slope
    more = counts.copy()
    more[0] += 1
    odds = [np.log(p[0] / p[1]) for p in (posterior(kind, counts), posterior(kind, more))]
    assert odds[1] - odds[0] == pytest.approx(
        np.log(kind.kernel[0, 0] / kind.kernel[1, 0]), abs=1e-9
    )


def test_answers_that_exclude_concepts_are_refused_or_smoothed():
    with pytest.raises(ValueError, match=r"kernel\[0, 1\]=0; give `smoothing`"):
        AgentType([0.5, 0.5], [1, 1], [[1.0, 0.0], [0.5, 0.5]])
    kind = AgentType([0.5, 0.5], [1, 1], [[1.0, 0.0], [0.5, 0.5]], smoothing=1e-3)
    assert kind.kernel[0].tolist() == pytest.approx([0.9995, 0.0005])
    assert AgentType.from_dict(kind.to_dict()) == kind
    # a concept without weight stays without
    sure = AgentType([1.0, 0.0], [1, 1], [[0.9, 0.1], [0.1, 0.9]])
    assert posterior(sure, [0, 50]).tolist() == [1.0, 0.0]


# --- selections -----------------------------------------------------------------------------------


@given(st.integers(2, 7), st.integers(0, 10**6))
@settings(max_examples=40)
def test_exact_diversity_is_the_largest_sum(n, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, n)) * (1 - np.eye(n))
    for k in range(1, n + 1):
        found = diversity_subset(matrix, k)
        sums = {c: sum(matrix[i, j] for i in c for j in c) for c in combinations(range(n), k)}
        assert sums[found] == pytest.approx(max(sums.values()), abs=1e-12)
        greedy = diversity_subset(matrix, k, "greedy")
        assert len(set(greedy)) == k


def test_greedy_on_laws_is_hardly_worse():
    """At least .85 of the best on these seeds, for symmetrised KL: measured, not promised."""
    for seed in range(300):
        rng = np.random.default_rng([2, seed])
        laws = rng.dirichlet(np.ones(int(rng.integers(2, 5))), int(rng.integers(3, 8))) + 1e-3
        matrix = divergence(laws / laws.sum(axis=1, keepdims=True), "symmetric-kl")
        k = int(rng.integers(2, len(matrix)))
        exact, greedy = (diversity_subset(matrix, k, how) for how in ("exact", "greedy"))
        sums = [matrix[np.ix_(one, one)].sum() for one in (exact, greedy)]
        assert sums[1] >= 0.85 * sums[0]


def test_greedy_on_a_metric_has_half_of_the_best():
    for seed in range(200):
        rng = np.random.default_rng([3, seed])
        laws = rng.dirichlet(np.full(3, 0.3), 8)
        matrix = divergence(laws, "sqrt-js")
        assert (matrix[:, None, :] <= matrix[:, :, None] + matrix[None, :, :] + 1e-12).all()
        for k in (2, 4, 6):
            exact, greedy = (diversity_subset(matrix, k, how) for how in ("exact", "greedy"))
            sums = [matrix[np.ix_(one, one)].sum() for one in (exact, greedy)]
            assert sums[1] >= 0.5 * sums[0]


def test_selections_refuse_what_they_cannot_rank():
    with pytest.raises(ValueError, match="square"):
        diversity_subset([[0, 1]], 1)
    with pytest.raises(ValueError, match="zero diagonal"):
        diversity_subset([[1, 1], [1, 0]], 1)
    with pytest.raises(ValueError, match="smooth it first"):
        diversity_subset([[0, np.inf], [1, 0]], 1)
    with pytest.raises(ValueError, match="`k` must be >= 1 and <= 2"):
        diversity_subset([[0, 1], [1, 0]], 3)
    with pytest.raises(ValueError, match="'greedy'"):
        diversity_subset(np.ones((40, 40)) - np.eye(40), 20)
    with pytest.raises(ValueError, match="finite"):
        quality_subset([1.0, np.nan], 1)
    with pytest.raises(ValueError, match="smooth them first"):
        divergence([[1.0, 0.0], [0.5, 0.5]])
    assert divergence([[1.0, 0.0], [0.0, 1.0]], "sqrt-js")[0, 1] == pytest.approx(np.log(2) ** 0.5)


def test_pruning_of_counts_and_of_things_agree():
    """On the answers one by one, the reusable selection keeps a set of the same worth."""
    for seed in range(40):
        rng = np.random.default_rng([4, seed])
        kind = random_model(rng, n=1, answers=3).types[0]
        counts = rng.multinomial(6, np.ones(3) / 3)
        given = np.repeat(np.arange(3), counts)
        spoken = kind.prior[:, None] * kind.kernel
        laws = (spoken / spoken.sum(axis=0)).T
        matrix = divergence(laws[given])
        k = int(rng.integers(1, 6))
        for pruning, chosen in (
            (DiversityPruning(k), diversity_subset(matrix, k)),
            (QualityPruning(k), quality_subset(QualityPruning(k).scores(kind)[given], k)),
        ):
            kept = np.bincount(given[list(chosen)], minlength=3)[None, :]
            sub = count_states(k, 3)
            law = subset_law(pruning, kind, 6)[state_index(counts)]
            best = pruning.values(kind, sub[law > 0])
            assert best == pytest.approx(pruning.values(kind, kept)[0], abs=1e-9)


def test_ties_of_two_answers():
    kind = AgentType([0.5, 0.5], [1, 1], [[0.8, 0.2], [0.2, 0.8]])
    at = int(state_index([4, 3]))
    sub = count_states(3, 2).tolist()
    for ties, expected in {
        "share": {(1, 2): 12 / 30, (2, 1): 18 / 30},
        "majority": {(2, 1): 1.0},
        "minority": {(1, 2): 1.0},
        "first": {(2, 1): 1.0},
    }.items():
        law = subset_law(DiversityPruning(3, ties=ties), kind, 7)[at]
        found = {tuple(s): p for s, p in zip(sub, law.tolist(), strict=True) if p > 0}
        assert found == pytest.approx(expected)


# --- the long run ---------------------------------------------------------------------------------


@given(st.integers(1, 70), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_stationary_law_by_powers(n, seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(n), n)
    law = stationary_law(p)
    assert law @ p == pytest.approx(law, abs=1e-14)
    assert law.sum() == pytest.approx(1.0, abs=1e-14)


def test_stationary_law_keeps_the_digits_of_a_nearly_decoupled_chain():
    """Two blocks that exchange 1e-14 and 3e-14 a round: 3 to 1, with all digits."""
    a, b = 1e-14, 3e-14
    p = np.array([[0.5, 0.5, 0, 0], [0.5 - a, 0.5, a, 0], [0, b, 0.5, 0.5 - b], [0, 0, 0.5, 0.5]])
    law = stationary_law(p)
    assert law[:2].sum() / law[2:].sum() == pytest.approx(3.0, rel=1e-12)


def test_long_run_refuses_what_has_none():
    with pytest.raises(ValueError, match="irreducible"):
        stationary_law(np.eye(3))
    with pytest.raises(ValueError, match="square"):
        stationary_law(np.ones((2, 3)))
    with pytest.raises(ValueError, match="at least one"):
        expected_rounds(np.eye(2), [False, False])
    assert expected_rounds([[0.5, 0.5], [0.25, 0.75]], [True, True]).tolist() == [0.0, 0.0]
