"""Pruning by embeddings: subsets against `theory`, laws at both ends against enumeration."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import chi2

from sims import Embedding, Scenario, simulate
from sims._kernels import debates as kernels
from theory import DebateModel, diversity_subset, next_law, quality_subset

LEVEL = 1e-6


def subsets(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    points = rng.normal(size=(n, 3))
    points[rng.random(n) < 0.3] = points[0]
    heard = rng.random(n) < 0.8
    heard[0] = True
    apart, near = np.empty((n, n)), np.empty(n)
    kernels.distances(points, 1, apart, near)
    return points, heard, apart, near, int(rng.integers(1, 6))


@pytest.mark.parametrize("seed", range(60))
def test_subsets_are_those_of_theory(seed):
    points, heard, apart, near, keep = subsets(seed)
    np.testing.assert_allclose(
        apart, np.linalg.norm(points[:, None] - points[None], axis=2), atol=1e-12
    )
    np.testing.assert_allclose(near, np.linalg.norm(points - [0, 1, 0], axis=1), atol=1e-12)
    at = np.flatnonzero(heard)
    kept = np.zeros(len(heard), np.bool_)
    k = min(keep, len(at))
    kernels.keep_diverse(apart, heard, keep, kept)
    expected = (
        at if k == len(at) else at[list(diversity_subset(apart[np.ix_(at, at)], k, "greedy"))]
    )
    assert np.flatnonzero(kept).tolist() == sorted(expected)
    kernels.keep_near(near, heard, keep, kept)
    assert np.flatnonzero(kept).tolist() == sorted(at[list(quality_subset(near[at], k))])


def law_after(scenario, kept_sets):
    """Law of all answers of round 1, where ``kept_sets`` gives equally likely subsets read."""
    model = scenario.model
    owner = [e for e, size in enumerate(model.sizes) for _ in range(size)]
    vectors = list(product(range(model.n_answers), repeat=model.n_agents))
    first = [model.types[e].first_law for e in owner]
    after = np.zeros(len(vectors))
    for v in vectors:
        p = np.prod([q[a] for q, a in zip(first, v, strict=True)])
        sets = kept_sets(v)
        for kept in sets:
            counts = np.bincount([v[j] for j in kept], minlength=model.n_answers)
            laws = [next_law(model.types[e], counts, model.tempering) for e in owner]
            after += (
                p
                / len(sets)
                * np.array([np.prod([q[a] for q, a in zip(laws, w, strict=True)]) for w in vectors])
            )
    return vectors, after


def p_value(scenario, vectors, law, debates=40_000):
    found = simulate(scenario, debates=debates, rounds=2, seed=4, record="answers")
    place = {v: i for i, v in enumerate(vectors)}
    seen = np.bincount([place[tuple(a)] for a in found.answers[:, 1].tolist()], minlength=len(law))
    return chi2.sf(((seen - debates * law) ** 2 / (debates * law)).sum(), len(law) - 1)


def scenario(**options):
    model = DebateModel.binary(4, weight=0.6, right=0.85)
    return Scenario(model, embedding=Embedding(keep=2, dimension=3, **options))


@pytest.mark.statistical
def test_without_spread_the_answers_are_pruned():
    def kept(v):
        apart = 1.0 * (np.array(v)[:, None] != np.array(v)[None])
        return [diversity_subset(apart, 2, "greedy")]

    one = scenario(spread=0.0)
    assert p_value(one, *law_after(one, kept)) > LEVEL
    # with noise it is another debate
    assert p_value(scenario(spread=2.0), *law_after(one, kept)) < LEVEL


@pytest.mark.statistical
def test_points_that_say_nothing_are_a_random_subset():
    one = scenario(spread=1e6)
    every = list(combinations(range(4), 2))
    assert p_value(one, *law_after(one, lambda _: every)) > LEVEL


@pytest.mark.statistical
def test_quality_without_spread_keeps_right_answers():
    one = scenario(spread=0.0, method="quality")
    right = one.model.correct

    def kept(v):
        return [sorted(range(4), key=lambda j: v[j] != right)[:2]]

    assert p_value(one, *law_after(one, kept)) > LEVEL


def test_keeping_all_changes_nothing():
    one = scenario()
    every = replace(one, embedding=Embedding(keep=4))
    plain = replace(one, embedding=None, stickiness=1e-12)
    options = {"debates": 500, "rounds": 4, "seed": 3, "record": "answers"}
    assert (simulate(every, **options).answers == simulate(plain, **options).answers).all()


def test_points_are_normal_around_their_answers():
    points = np.zeros((2, 5))
    sums = []
    for debate in range(4000):
        kernels._place(debate, 1, np.array([2, 0], np.int32), 7, 0, 0.5, points)
        sums.append(points.copy())
    z = (np.array(sums) - np.eye(5)[[2, 0]]) / 0.5
    flat = z.reshape(len(z), -1)
    assert np.abs(flat.mean(axis=0)).max() < 5 / np.sqrt(4000)
    assert np.abs(np.cov(flat.T) - np.eye(10)).max() < 5 * np.sqrt(2 / 4000)


def test_json_comes_back_and_bad_ones_are_refused():
    one = scenario(spread=0.25)
    assert Scenario.from_json(one.to_json()) == one
    for options, said in (
        ({"keep": 0}, "`keep` must be a whole number in 1..2147483647, got 0"),
        ({"keep": 2, "spread": -1.0}, "`spread` must lie in"),
        ({"keep": 2, "dimension": 0}, "`dimension`"),
        ({"keep": 2, "method": "best"}, "`method` must be 'diversity' or 'quality'"),
    ):
        with pytest.raises(ValueError, match=said):
            Embedding(**options)
    with pytest.raises(ValueError, match="`dimension` of the embedding must be >= 2"):
        replace(one, embedding=Embedding(keep=2, dimension=1))
    with pytest.raises(ValueError, match="`embedding` must be an Embedding"):
        replace(one, embedding=3)
    with pytest.raises(ValueError, match="an `embedding` must have `keep`"):
        Scenario.from_dict(one.to_dict() | {"embedding": {"spread": 1.0}})
