"""The count chain: against the chain on vectors, invariances, pinned figures."""

import numpy as np
import pytest
from scipy.stats import binom

from theory import (
    AgentType,
    ChainTooLargeError,
    CountChain,
    CumulativeChain,
    DebateModel,
    DiversityPruning,
    OthersChain,
    QualityPruning,
    Refutation,
    VectorChain,
    random_model,
)
from theory.model.states import count_states

SMALL = {"n": (2, 4), "concepts": (2, 3), "answers": (2, 3), "types": (1, 2)}


def views(rng, n):
    k = int(rng.integers(1, n + 1))
    ties = str(rng.choice(["share", "majority", "minority", "first"]))
    spread = str(rng.choice(["kl", "symmetric-kl", "sqrt-js"]))
    evaluator = "reader" if rng.random() < 0.5 else 0
    diversity = DiversityPruning(k, ties, evaluator, spread)
    larger = int(rng.integers(k, n + 1))
    return [
        diversity,
        QualityPruning(k, ties, evaluator),
        (QualityPruning(larger, ties, evaluator), diversity),
    ]


def assert_equal_laws(model, rounds=3):
    counts, vectors = CountChain(model), VectorChain(model)
    for t in range(rounds):
        expected = vectors.count_law(t)
        law = counts.law(t)
        assert law.sum() == pytest.approx(1.0, abs=1e-12)
        for state, p in zip(counts.states.tolist(), law.tolist(), strict=True):
            assert p == pytest.approx(expected[tuple(state)], abs=1e-12)
        assert counts.accuracy(t) == pytest.approx(vectors.accuracy(t), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_count_chain_is_the_vector_chain(seed):
    rng = np.random.default_rng([1, seed])
    model = random_model(rng, **SMALL)
    assert_equal_laws(model)
    assert_equal_laws(model.with_(tempering=float(rng.uniform(0.2, 2.0))))


@pytest.mark.parametrize("seed", range(12))
def test_count_chain_is_the_vector_chain_with_interventions(seed):
    rng = np.random.default_rng([2, seed])
    model = random_model(rng, **SMALL)
    answers = model.n_answers
    matrix = rng.dirichlet(np.ones(answers), answers)
    by_type = rng.dirichlet(np.ones(answers), (len(model.types), answers))
    for view in views(rng, model.n_agents):
        assert_equal_laws(model.with_(view=view))
        assert_equal_laws(model.with_(view=view, rewrite=Refutation(matrix)), rounds=2)
    assert_equal_laws(model.with_(rewrite=Refutation(matrix)))
    assert_equal_laws(model.with_(rewrite=Refutation(by_type)))


@pytest.mark.parametrize("seed", range(6))
def test_splitting_a_type_changes_nothing(seed):
    rng = np.random.default_rng([3, seed])
    model = random_model(rng, n=4, types=1)
    kind = model.types[0]
    twin = AgentType(kind.prior, kind.likelihood, kind.kernel)
    split = DebateModel(
        (kind, twin), (1, 3), truth=model.truth, correct=model.correct, view=model.view
    )
    one, two = CountChain(model), CountChain(split)
    for t in range(4):
        assert np.abs(one.law(t) - two.law(t)).max() < 1e-13
        assert one.majority_accuracy(t) == pytest.approx(two.majority_accuracy(t), abs=1e-12)
    assert one.spectral_gap() == pytest.approx(two.spectral_gap(), abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_names_of_answers_and_concepts_do_not_matter(seed):
    rng = np.random.default_rng([4, seed])
    model = random_model(rng, n=4)
    answers, concepts = rng.permutation(model.n_answers), rng.permutation(model.n_concepts)
    moved = DebateModel(
        tuple(
            AgentType(
                one.prior[concepts], one.likelihood[concepts], one.kernel[concepts][:, answers]
            )
            for one in model.types
        ),
        model.sizes,
        truth=int(np.flatnonzero(concepts == model.truth)[0]),
        correct=int(np.flatnonzero(answers == model.correct)[0]),
    )
    for view in (None, QualityPruning(2), DiversityPruning(3)):
        one, two = CountChain(model.with_(view=view)), CountChain(moved.with_(view=view))
        for t in range(3):
            assert one.accuracy(t) == pytest.approx(two.accuracy(t), abs=1e-12)
            for ties in ("share", "previous"):
                assert one.majority_accuracy(t, ties) == pytest.approx(
                    two.majority_accuracy(t, ties), abs=1e-12
                )
        assert one.echo(1) == pytest.approx(two.echo(1), abs=1e-12)


def test_rows_and_laws_sum_to_one():
    for seed in range(8):
        model = random_model(np.random.default_rng([5, seed]), n=(1, 6))
        chain = CountChain(model)
        assert np.abs(chain.transition().sum(axis=1) - 1.0).max() < 1e-12
        assert abs(chain.law(10).sum() - 1.0) < 1e-12


def test_five_hundred_agents_do_not_underflow():
    chain = CountChain(DebateModel.binary(n=500, weight=0.6, right=0.75))
    assert abs(chain.law(5).sum() - 1.0) < 1e-12
    # from round 1 on each debate stays in the basin in which round 0 left it
    wrong = binom.cdf(249, 500, 0.55) + binom.pmf(250, 500, 0.55) * 0.4
    assert chain.accuracy(5) == pytest.approx(0.75 - 0.5 * wrong, abs=2e-3)
    assert chain.law(0) @ chain.states[:, 0] / 500 == pytest.approx(0.55, abs=1e-12)


def test_previous_ties_keep_the_plurality():
    """By hand: two agents, and the joint law of counts and leader over two rounds."""
    model = DebateModel.binary(n=2, weight=0.7, right=0.8)
    chain = CountChain(model)
    first = chain.law(0)
    lead = np.array([0.0, 0.5, 1.0])
    joint = np.stack([first * lead, first * (1 - lead)], axis=1)
    p = chain.transition()
    right = 0.0
    for old in range(2):
        law = joint[:, old] @ p
        right += law[2] + (law[1] if old == 0 else 0.0)
    assert chain.majority_accuracy(1, "previous") == pytest.approx(right, abs=1e-14)
    assert chain.majority_accuracy(1) == pytest.approx(chain.law(1) @ lead, abs=1e-14)
    assert chain.majority_accuracy(1, "first") == chain.majority_accuracy(1, "random")


def test_a_chain_without_a_matrix_has_the_same_laws():
    for model in (
        DebateModel.echo_chamber(9, 3),
        DebateModel.echo_chamber(9, 3, view=DiversityPruning(3)),
        DebateModel.echo_chamber(6, 3, rewrite=Refutation(np.full((3, 3), 1 / 3))),
        DebateModel.diverse(7, 3, view=QualityPruning(3)),
    ):
        whole, parts = CountChain(model), CountChain(model, memory=8000)
        for t in range(4):
            assert np.abs(whole.law(t) - parts.law(t)).max() < 1e-14
        assert whole.majority_accuracy(2) == pytest.approx(parts.majority_accuracy(2), abs=1e-13)
        if parts.states.shape[0] ** 2 * 8 > 8000:
            with pytest.raises(ChainTooLargeError, match="`memory` allows 8000"):
                parts.transition()
    with pytest.raises(ChainTooLargeError, match="states"):
        CountChain(DebateModel.echo_chamber(60, 3), memory=100_000)


def test_what_is_not_defined_is_refused():
    with pytest.raises(ValueError, match="`model` must be a DebateModel"):
        CountChain("model")
    chain = CountChain(DebateModel.binary(3, rewrite=Refutation.binary(0.2)))
    with pytest.raises(ValueError, match="'previous'"):
        chain.majority_accuracy(1, "previous")
    with pytest.raises(ValueError, match="without view"):
        chain.switch(0)
    with pytest.raises(ValueError, match="`t` must be >= 0"):
        chain.law(-1)
    with pytest.raises(ValueError, match="`reader`"):
        chain.response(1)
    with pytest.raises(ValueError, match="`ties` must be one of"):
        chain.majority_accuracy(0, "lead")


# --- pinned: exact figures of the audit of the two papers ----------------------------------------


def settled_odds(model):
    """Odds of the two concepts in the long run."""
    chain = CountChain(model)
    law, best = chain.stationary(), chain.leading_concept()
    return law[best == 0].sum() / law[best == 1].sum()


def test_gap_and_stationary_odds():
    gaps = {10: 1.16e-1, 20: 1.93e-2, 40: 7.57e-4, 80: 1.73e-6, 150: 5.43e-11}
    for n, gap in gaps.items():
        found = CountChain(DebateModel.binary(n, 0.5, 0.75)).spectral_gap()
        assert found == pytest.approx(gap, rel=5e-3)
    odds = [settled_odds(DebateModel.binary(n, 0.7, 0.75)) for n in (10, 20, 40, 60, 80, 100, 150)]
    assert odds == pytest.approx([3.61, 3.23, 2.92, 2.91, 2.95, 2.99, 3.04], abs=6e-3)
    # an asymmetric kernel: the odds move with the lattice of the counts
    moving = [settled_odds(DebateModel.binary(n, 0.7, 0.8, 0.3)) for n in (20, 40, 60, 80, 100)]
    assert min(moving) == pytest.approx(1.96, abs=0.01)
    assert 1.95 < min(moving) < max(moving) < 3.73


def test_stationary_law_is_stationary():
    for model in (
        DebateModel.echo_chamber(8, 3),
        DebateModel.diverse(6, 3),
        DebateModel.binary(7, 0.6, view=DiversityPruning(4)),
    ):
        chain = CountChain(model)
        law = chain.stationary()
        assert np.abs(law @ chain.transition() - law).max() < 1e-13
    hidden = CountChain(DebateModel.binary(7, 0.6, rewrite=Refutation.binary(0.3, 0.1)))
    assert np.abs(hidden.law(400) - hidden.stationary()).max() < 1e-12


def test_figures_of_figure_one():
    """P(an agent echoes the answer that m of 6 hold), r = .75: without and with pruning to 5."""
    held = [3, 4, 5, 6]
    plain = CountChain(DebateModel.binary(6, 0.5, 0.75)).response()[held, 0]
    assert plain == pytest.approx([0.500, 0.700, 0.744, 0.749], abs=5e-4)
    view = DiversityPruning(5, ties="majority")
    kept = CountChain(DebateModel.binary(6, 0.5, 0.75, view=view)).response()[held, 0]
    assert kept[1:] == pytest.approx([0.625, 0.732, 0.748], abs=5e-4)
    against = CountChain(DebateModel.binary(6, 0.2, 0.75)).response()[held, 0]
    assert against == pytest.approx([0.350, 0.596, 0.726, 0.747], abs=5e-4)


def test_information_decays():
    """A round cannot add information on the concept: nats at t = 0..4, n = 5."""
    kind = AgentType([0.5, 0.5], [1, 1], [[0.8, 0.2], [0.3, 0.7]])
    chain = CountChain(DebateModel((kind,), (5,)))
    found = [chain.information(t) for t in range(5)]
    assert found == pytest.approx([0.4297, 0.2017, 0.0929, 0.0434, 0.0205], abs=5e-5)
    for seed in range(10):
        model = random_model(np.random.default_rng([6, seed]), n=(1, 5))
        chain = CountChain(model)
        values = [chain.information(t) for t in range(5)]
        assert (np.diff(values) <= 1e-12).all()


def test_full_history_bayes():
    table = {
        (7, 0.8, 0.4): (0.3706, 0.3575, 0.3565, 0.4400, 0.4078),
        (7, 0.8, 0.5): (0.5, 0.5, 0.5, 0.5, 0.5),
        (7, 0.8, 0.6): (0.6294, 0.6425, 0.6435, 0.5600, 0.5922),
        (25, 0.6, 0.9): (0.7920, 0.7983, 0.8021, 0.5800, 0.5872),
        (1, 0.8, 0.6): (0.5600, 0.5600, 0.5600, 0.5600, 0.5600),
    }
    for (n, a, weight), expected in table.items():
        chain = CumulativeChain(DebateModel.binary(n, weight, a))
        found = [chain.majority_accuracy(t) for t in (0, 1, 7)]
        found += [chain.accuracy(t) for t in (0, 7)]
        assert found == pytest.approx(expected, abs=5e-5)


def test_cumulative_counts_by_enumeration():
    """Two rounds of a random model, all pairs of counts written out."""
    from theory.model.response import next_law
    from theory.model.states import multinomial

    model = random_model(np.random.default_rng(9), n=3, types=1, answers=3)
    chain, kind = CumulativeChain(model), model.types[0]
    states = count_states(3, 3)
    second = np.zeros(len(states))
    for c, p in zip(states, multinomial(3, kind.first_law[None, :])[0], strict=True):
        for d, q in zip(states, multinomial(3, next_law(kind, c)[None, :])[0], strict=True):
            third = multinomial(3, next_law(kind, c + d)[None, :])[0]
            second += p * q * third
    assert np.abs(chain.round_law(2) - second).max() < 1e-14
    assert chain.law(1).sum() == pytest.approx(1.0, abs=1e-12)


def test_ignoring_the_own_answer_by_vectors():
    """Against a chain on the vectors of answers, written out here."""
    from itertools import product

    from theory.model.response import next_law

    for seed in range(5):
        rng = np.random.default_rng([7, seed])
        model = random_model(rng, n=(2, 4), answers=(2, 3))
        chain = OthersChain(model)
        owner = [e for e, size in enumerate(model.sizes) for _ in range(size)]
        vectors = list(product(range(model.n_answers), repeat=model.n_agents))
        first = [model.types[e].first_law for e in owner]
        law = {v: np.prod([own[a] for own, a in zip(first, v, strict=True)]) for v in vectors}
        for t in range(3):
            right = sum(p * v.count(model.correct) for v, p in law.items()) / model.n_agents
            assert chain.accuracy(t) == pytest.approx(right, abs=1e-12)
            after = dict.fromkeys(vectors, 0.0)
            for v, p in law.items():
                laws = []
                for i, e in enumerate(owner):
                    counts = np.bincount(v[:i] + v[i + 1 :], minlength=model.n_answers)
                    laws.append(next_law(model.types[e], counts))
                for w in vectors:
                    after[w] += p * np.prod([own[a] for own, a in zip(laws, w, strict=True)])
            law = after
    with pytest.raises(ValueError, match="two agents"):
        OthersChain(DebateModel.binary(1))
    with pytest.raises(ValueError, match="neither view"):
        OthersChain(DebateModel.binary(3, view=QualityPruning(1)))


def test_hull():
    """The share of an answer stays between its least and its largest probability in a concept."""
    for seed in range(10):
        model = random_model(np.random.default_rng([8, seed]), common_kernel=True)
        chain, column = CountChain(model), model.types[0].kernel[:, model.correct]
        for t in range(5):
            assert column.min() - 1e-12 <= chain.accuracy(t) <= column.max() + 1e-12
