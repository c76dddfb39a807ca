"""Simulated debates: known answers of the generator, laws against the exact chain, determinism.

Every comparison with a law is a chi-square test of the counts of one round. The level is 1e-6 a
comparison, some 60 of them: a false alarm once in 16,000 choices of seeds, and the seeds are fixed.
"""

import numpy as np
import pytest
from scipy.stats import chi2

import sims.debates.simulate as module
from sims import simulate
from sims._kernels.debates import alias_tables, philox
from theory import (
    AgentType,
    CountChain,
    DebateModel,
    DiversityPruning,
    QualityPruning,
    Refutation,
    random_model,
)

LEVEL = 1e-6


def words(*values):
    return [int(word) for word in philox(*(np.uint32(value) for value in values))]


def test_known_answers_of_philox():
    """The vectors of the reference implementation (Random123, kat_vectors)."""
    assert words(0, 0, 0, 0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = 0xFFFFFFFF
    assert words(*[ones] * 6) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert words(0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0) == [
        0xD16CFE09,
        0x94FDCCEB,
        0x5001E420,
        0x24126EA1,
    ]


def test_debates_side_by_side_draw_the_same_words():
    from sims._kernels.debates import uniforms

    first, second = np.empty(50), np.empty(50)
    uniforms(123_456, 7, 5, 99, 3, first, second)
    for i in range(50):
        w = words(123_456 + i, 7, 5, 0, 99, 3)
        assert first[i] == ((w[0] << 21) | (w[1] >> 11)) / 2**53
        assert second[i] == ((w[2] << 21) | (w[3] >> 11)) / 2**53


def p_value(counts, chain, t):
    """Chi-square test of the counts of round t, cells with fewer than 5 expected joined."""
    law = chain.law(t)
    place = {tuple(state): i for i, state in enumerate(chain.states.tolist())}
    seen = np.bincount([place[tuple(row)] for row in counts[:, t].tolist()], minlength=len(law))
    expected = law * len(counts)
    small = expected < 5
    observed = np.append(seen[~small], seen[small].sum())
    wanted = np.append(expected[~small], expected[small].sum())
    kept = wanted > 0
    assert observed[~kept].sum() == 0
    statistic = float(((observed - wanted)[kept] ** 2 / wanted[kept]).sum())
    return float(chi2.sf(statistic, max(int(kept.sum()) - 1, 1)))


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["direct", "tabulated"])
@pytest.mark.parametrize("seed", range(6))
def test_laws_are_those_of_the_chain(method, seed):
    model = random_model(np.random.default_rng([31, seed]), n=(1, 6))
    model = model.with_(tempering=1.0 if seed % 2 else 0.5)
    found = simulate(model, debates=20_000, rounds=4, seed=seed, method=method)
    chain = CountChain(model)
    assert found.method == method
    for t in (0, 1, 3):
        assert p_value(found.counts, chain, t) > LEVEL


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(3))
def test_interventions_have_their_laws(seed):
    rng = np.random.default_rng([32, seed])
    model = random_model(rng, n=(3, 6), answers=(2, 3))
    matrix = Refutation(rng.dirichlet(np.ones(model.n_answers), model.n_answers))
    by_type = Refutation(
        rng.dirichlet(np.ones(model.n_answers), (len(model.types), model.n_answers))
    )
    for changes, method in (
        ({"view": DiversityPruning(2)}, "tabulated"),
        ({"view": (QualityPruning(3), DiversityPruning(2)), "rewrite": matrix}, "tabulated"),
        ({"rewrite": matrix}, "direct"),
        ({"rewrite": by_type}, "direct"),
    ):
        one = model.with_(**changes)
        found = simulate(one, debates=20_000, rounds=3, seed=seed)
        assert found.method == method
        for t in (1, 2):
            assert p_value(found.counts, CountChain(one), t) > LEVEL


@pytest.mark.statistical
def test_a_wrong_kernel_is_found_out():
    """The negative control: the same test against the chain of a slightly different kernel."""
    found = simulate(DebateModel.binary(7, 0.6, 0.75), debates=20_000, rounds=4)
    assert p_value(found.counts, CountChain(DebateModel.binary(7, 0.6, 0.77)), 3) < LEVEL


@pytest.mark.statistical
def test_standard_errors_cover():
    """Accuracy within 1.96 standard errors in 95 % of 400 simulations, within 4.5 of its own."""
    model = DebateModel.shared_misconception(5, 2)
    exact = CountChain(model).accuracy(2)
    inside = 0
    for seed in range(400):
        found = simulate(model, debates=400, rounds=3, seed=seed, record="accuracy", threads=1)
        inside += abs(found.accuracy[2] - exact) < 1.96 * found.standard_error[2]
    assert abs(inside / 400 - 0.95) < 4.5 * np.sqrt(0.95 * 0.05 / 400)


@pytest.mark.parametrize("method", ["direct", "tabulated"])
def test_threads_and_blocks_change_nothing(method, monkeypatch):
    model = random_model(np.random.default_rng(33), n=5, types=2)
    one = simulate(model, debates=1000, rounds=3, seed=9, method=method, threads=1)
    monkeypatch.setattr(module, "_BLOCK", 37)
    for threads in (1, 2, 5):
        two = simulate(model, debates=1000, rounds=3, seed=9, method=method, threads=threads)
        assert np.array_equal(one.counts, two.counts)
        assert np.array_equal(one.right, two.right)
    more = simulate(model, debates=1500, rounds=3, seed=9, method=method)
    assert np.array_equal(more.counts[:1000], one.counts)
    other = simulate(model, debates=1000, rounds=3, seed=10, method=method)
    assert not np.array_equal(other.counts, one.counts)


@pytest.mark.parametrize("seed", range(5))
def test_looked_up_laws_draw_the_same_answers(seed, monkeypatch):
    """The two ways of the direct path: one debate in a million may differ, by rounding."""
    model = random_model(np.random.default_rng([36, seed]), n=(1, 6))
    quick = simulate(model, debates=3000, rounds=4, seed=seed, record="answers")
    monkeypatch.setattr(module, "_MOST_KEYS", 0)
    slow = simulate(model, debates=3000, rounds=4, seed=seed, record="answers")
    assert np.array_equal(quick.answers, slow.answers)


def test_seeds_of_64_bits_differ():
    model = DebateModel.binary(5)
    found = [
        simulate(model, debates=50, rounds=2, seed=seed).counts.tobytes()
        for seed in (0, 1, 2**32, 2**63, 2**64 - 1)
    ]
    assert len(set(found)) == 5


def test_common_random_numbers():
    """Two kernels that hardly differ give nearly the same debates, draw by draw."""
    runs = [
        simulate(DebateModel.binary(5, 0.6, r), debates=2000, rounds=3, record="answers")
        for r in (0.75, 0.7500001)
    ]
    assert np.mean(runs[0].answers == runs[1].answers) > 0.999


def test_what_is_recorded_agrees():
    model = random_model(np.random.default_rng(34), n=4, answers=3)
    kinds = {
        record: simulate(model, debates=300, rounds=3, seed=2, record=record, method="direct")
        for record in ("accuracy", "counts", "answers")
    }
    counts, answers = kinds["counts"].counts, kinds["answers"].answers
    for a in range(3):
        assert np.array_equal((answers == a).sum(axis=2), counts[:, :, a])
    right = counts[:, :, model.correct]
    for one in kinds.values():
        assert np.array_equal(one.right, right.sum(axis=0))
        assert np.array_equal(one.moments[0], (right.astype(np.int64) ** 2).sum(axis=0))
        assert np.array_equal(one.moments[1], 4 * right.sum(axis=0))
        assert one.spoke.tolist() == [1200] * 3
    assert kinds["accuracy"].counts is None
    assert not counts.flags.writeable


def test_a_log_of_simulated_debates():
    model = DebateModel.binary(4, 0.7)
    found = simulate(model, debates=60, rounds=3, record="answers")
    log = found.to_log()
    assert (log.n_rounds, log.n_items, log.n_agents) == (3, 60, 4)
    k, n, graded = log.correct_counts()
    assert graded.all()
    assert (n == 4).all()
    assert np.array_equal(k.sum(axis=1), found.right)
    with pytest.raises(ValueError, match="`record` must be 'answers'"):
        simulate(model, debates=2, rounds=1).to_log()


def test_frames_and_summaries():
    found = simulate(DebateModel.binary(3), debates=1, rounds=2)
    frame = found.to_frame()
    assert frame.columns.tolist() == ["t", "accuracy", "standard_error"]
    assert frame["accuracy"].tolist() == found.accuracy.tolist()
    assert str(found).startswith("1 debate of 3 agents, seed 0\nt = 0: accuracy")
    assert found.to_dict()["rounds"] == 2


def test_alias_tables_hold_their_laws():
    rng = np.random.default_rng(35)
    for n in (1, 2, 7, 100):
        law = rng.dirichlet(np.full(n, 0.3), 5)
        threshold, alias = np.empty((5, n)), np.empty((5, n), np.int32)
        alias_tables(law.copy(), threshold, alias)
        for row in range(5):
            back = threshold[row] / n
            np.add.at(back, alias[row], (1.0 - threshold[row]) / n)
            assert back == pytest.approx(law[row], abs=1e-14)


def test_sure_agents_and_one_answer():
    sure = AgentType([1.0, 0.0], [1, 1], [[0.9, 0.1], [0.1, 0.9]])
    for method in ("direct", "tabulated"):
        found = simulate(DebateModel((sure,), (3,)), debates=5000, rounds=2, method=method)
        assert found.accuracy == pytest.approx([0.9, 0.9], abs=5 * 0.3 / np.sqrt(15_000))
        alone = simulate(
            DebateModel((AgentType([1.0], [1], [[1.0]]),), (2,)), debates=3, rounds=2, method=method
        )
        assert alone.accuracy.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("changes", "words_"),
    [
        ({"model": "binary"}, "`model` must be a theory.DebateModel, a Scenario or a Panel"),
        ({"debates": 0}, "`debates` must be a whole number in 1..4294967296, got 0"),
        ({"debates": 2**32 + 1}, "`debates` must be a whole number in"),
        ({"debates": 1.5}, "`debates` must be a whole number"),
        ({"rounds": 0}, "`rounds` must be a whole number in"),
        ({"seed": -1}, "`seed` must be a whole number in"),
        ({"seed": 2**64}, "`seed` must be a whole number in"),
        ({"seed": True}, "`seed` must be a whole number"),
        ({"record": "all"}, "`record` must be one of"),
        ({"method": "fast"}, "`method` must be one of"),
        ({"threads": 0}, "`threads` must be a whole number in"),
        ({"record": "answers", "method": "tabulated"}, "needs every agent"),
        (
            {"model": DebateModel.binary(3, rewrite=Refutation.binary(0.2)), "method": "tabulated"},
            "chain on the rewritten ones",
        ),
        (
            {"model": DebateModel.binary(3, view=QualityPruning(2)), "record": "answers"},
            "'tabulated' for a model with a view, and cannot be",
        ),
        (
            {"model": DebateModel.binary(3, view=QualityPruning(2)), "method": "direct"},
            "must be 'tabulated' for a model with a view",
        ),
    ],
)
def test_refusals(changes, words_):
    arguments = {"model": DebateModel.binary(3), "debates": 5, "rounds": 2} | changes
    with pytest.raises(ValueError, match=words_):
        simulate(arguments.pop("model"), **arguments)


def test_many_counts_are_drawn_directly():
    found = simulate(DebateModel.echo_chamber(30, 5), debates=50, rounds=2, record="accuracy")
    assert found.method == "direct"
    with pytest.raises(ValueError, match="counts are more than 2000"):
        simulate(DebateModel.echo_chamber(30, 5), debates=5, rounds=2, method="tabulated")


def test_whole_floats_are_numbers_of_debates():
    assert simulate(DebateModel.binary(3), debates=1e2, rounds=1).debates == 100
