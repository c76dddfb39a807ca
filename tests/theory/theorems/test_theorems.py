"""Every theorem: its counterexamples, its repaired statement on random models, and its refusals."""

import json

import numpy as np
import pytest

from theory import (
    THEOREMS,
    AgentType,
    CountChain,
    DebateModel,
    DiversityPruning,
    QualityPruning,
    VectorChain,
    check,
    random_model,
    search_counterexample,
)
from theory.theorems import diversity_pruning, quality_pruning, refutation, shared_misconception
from theory.theorems.conditions import named_answer, rival, truth_gives_correct

IDS = list(THEOREMS)
# Statements that are right as printed: no model may violate them.
RIGHT = {"EL-A4.1", "EL-L4.2"}
CASES = [(name, one) for name in IDS for one in THEOREMS[name].counterexamples()]


def test_the_theorems_are_those_of_the_two_papers():
    assert IDS == [
        "EL-A4.1",
        "EL-L4.2",
        "EL-OBJ",
        "EL-5.1",
        "EL-5.2",
        "EL-D5.3",
        "EL-5.4",
        "EL-6.1",
        "EL-6.2",
        "EL-R6.3",
        "EL-6.4",
        "HT-1",
        "HT-2",
    ]
    for name in IDS:
        one = THEOREMS[name]
        assert one.printed
        assert one.repaired
        assert one.proof
        assert bool(one.counterexamples()) == (name not in RIGHT)


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{n}: {c.name}" for n, c in CASES])
def test_counterexamples_violate_the_printed_statement(name, case):
    verdict = check(name, case.model, statement="printed", **case.options)
    assert all(verdict.assumptions.values())
    assert verdict.holds is False
    assert verdict.margin == pytest.approx(case.margin, abs=0.51 * 10.0**-case.digits)
    assert "violated" in verdict.sentence
    data = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert data["margin"] == verdict.margin


@pytest.mark.parametrize("name", IDS)
def test_repaired_statements_hold_on_random_models(name):
    one = THEOREMS[name]
    for seed in range(40):
        model = one.sample(np.random.default_rng([11, seed]), "repaired")
        verdict = one.check(model)
        assert verdict.holds is True, (seed, verdict)


@pytest.mark.parametrize("name", [name for name in IDS if name not in RIGHT | {"EL-5.1"}])
def test_printed_statements_are_violated_by_random_models(name):
    """The negative control: the same checks do find violations where there are some."""
    one = THEOREMS[name]
    if name in ("EL-6.4", "HT-1"):  # rare in random models: they are searched for
        space = {"concepts": 3} if name == "HT-1" else {}
        assert search_counterexample(name, space, budget=400, seed=0).found
        return
    models = [one.sample(np.random.default_rng([12, seed]), "printed") for seed in range(40)]
    assert any(one.check(model, statement="printed").holds is False for model in models)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right_statements_hold_as_printed(name):
    one = THEOREMS[name]
    for seed in range(20):
        model = one.sample(np.random.default_rng([13, seed]), "printed")
        assert one.check(model, statement="printed").holds is True


def test_margins_by_the_chain_on_vectors():
    """The violations again, by an oracle that knows nothing of counts."""
    for case in THEOREMS["EL-6.1"].counterexamples():
        answer = 1
        pruned = case.model.with_(view=DiversityPruning(case.options["k"]))
        shares = []
        for model in (case.model, pruned):
            chain = VectorChain(model)
            counts = [state.count(answer) for state in chain.states]
            shares.append(float(chain.law(5) @ np.array(counts)) / model.n_agents)
        assert shares[0] - shares[1] == pytest.approx(case.margin, abs=6e-5)
    case = THEOREMS["EL-6.2"].counterexamples()[0]
    accuracy = [
        VectorChain(case.model.with_(view=view)).accuracy(5) for view in (None, QualityPruning(3))
    ]
    assert accuracy == pytest.approx([0.365, 0.304], abs=5e-4)
    for case in THEOREMS["EL-6.4"].counterexamples():
        without = VectorChain(case.model.with_(rewrite=None)).accuracy(5)
        found = VectorChain(case.model).accuracy(5) - without
        assert found == pytest.approx(case.margin, abs=6e-4)
    case = THEOREMS["EL-5.4"].counterexamples()[0]
    values = [
        VectorChain(shared_misconception.with_misled(case.model, m)).accuracy(3) for m in range(6)
    ]
    assert values == pytest.approx([0.630, 0.638, 0.646, 0.654, 0.662, 0.670], abs=5e-4)


def test_assumptions_that_fail_are_named():
    verdict = check("EL-5.4", DebateModel.binary(5))
    assert (verdict.holds, verdict.margin) == (None, None)
    assert "two types" in verdict.sentence
    verdict = check("EL-5.2", DebateModel.binary(5, view=QualityPruning(2)))
    assert verdict.holds is None
    with pytest.raises(ValueError, match="`theorem_id` must be one of"):
        check("EL-9.9", DebateModel.binary(3))
    with pytest.raises(ValueError, match="`statement` must be one of"):
        check("EL-5.1", DebateModel.binary(3), statement="proved")
    with pytest.raises(ValueError, match="`model` must be a DebateModel"):
        THEOREMS["EL-5.1"].check("model")
    with pytest.raises(ValueError, match="`reading`"):
        check("EL-5.1", DebateModel.binary(3), statement="printed", reading="late")
    with pytest.raises(ValueError, match="`rounds`"):
        check("EL-6.4", DebateModel.binary(3), rounds=0)


@pytest.mark.parametrize(
    "model",
    [
        DebateModel((AgentType([1.0], [1], [[1.0]]),), (3,)),
        DebateModel((AgentType([1.0], [1], [[0.3, 0.7]]),), (4,)),
        DebateModel((AgentType([0.5, 0.5], [1, 1], [[1.0], [1.0]]),), (4,)),
        DebateModel((AgentType([1.0, 0.0], [1, 1], [[0.8, 0.2], [0.2, 0.8]]),), (4,)),
        DebateModel.binary(1),
        DebateModel.binary(3, 0.0),
        DebateModel.binary(5, 0.3, 0.6, 0.6),
        DebateModel.binary(20, 0.5, 1 - 1e-12, 1e-12),
    ],
    ids=["one of each", "one concept", "one answer", "sure", "alone", "wrong", "alike", "extreme"],
)
def test_degenerate_models_are_checked_or_say_why_not(model):
    for name in IDS:
        for statement in ("printed", "repaired"):
            verdict = check(name, model, statement=statement)
            assert (verdict.margin is None) == (verdict.holds is None)
            if statement == "repaired":
                assert verdict.holds is not False, verdict


def test_checks_take_the_models_own_interventions():
    base = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    own = base.with_(view=DiversityPruning(4))
    assert diversity_pruning.pruning_of(own).k == 4
    assert diversity_pruning.pruning_of(base).k == 4
    assert quality_pruning.pruning_of(base.with_(view=QualityPruning(2))).k == 2
    one = check("EL-6.1", own, statement="printed")
    two = check("EL-6.1", base, statement="printed", k=4)
    assert one.margin == two.margin
    assert refutation.refuter_of(base).matrix.tolist() == [[1.0, 0.0], [0.3, 0.7]]


# --- the search -----------------------------------------------------------------------------------


def test_the_search_finds_violations_from_scratch():
    """Of the printed 5.4 with three concepts, and of the printed 6.1."""
    found = search_counterexample("EL-5.4", {"concepts": 3, "n": (2, 4)}, budget=120, seed=3)
    assert found.found
    assert found.model.n_concepts == 3
    found = search_counterexample("EL-6.1", {"n": (3, 5)}, budget=120, seed=3)
    assert found.found
    again = search_counterexample("EL-6.1", {"n": (3, 5)}, budget=120, seed=3)
    assert again.model == found.model


@pytest.mark.parametrize("name", ["EL-5.2", "EL-5.4", "EL-6.1", "EL-6.2", "EL-6.4", "HT-1"])
def test_the_search_finds_no_violation_of_repaired_statements(name):
    found = search_counterexample(name, budget=100, seed=4, statement="repaired")
    assert not found.found
    assert found.checked == 100


def test_the_search_refuses():
    with pytest.raises(ValueError, match="`theorem` must be one of"):
        search_counterexample("EL-9")
    with pytest.raises(ValueError, match="`budget`"):
        search_counterexample("EL-5.4", budget=1)
    with pytest.raises(ValueError, match="`statement`"):
        search_counterexample("EL-5.4", statement="true")


def test_found_models_are_new():
    """Three found models, smaller or worse than the listed ones; the seeds give them."""
    listed = {name: [c.model for c in THEOREMS[name].counterexamples()] for name in IDS}

    def honest(model):
        """The right answer for the right reason, and a misconception with another answer."""
        answer = named_answer(model, rival(model, model.types[1]))
        return truth_gives_correct(model) and answer != model.correct

    for name, space, where, most in (
        ("EL-5.4", {"n": 2, "answers": 3}, honest, -2 * 0.0384),
        ("EL-6.1", {"n": 3}, None, -2 * 0.0927),
        ("EL-6.2", {"n": 2}, None, -2 * 0.1103),
    ):
        found = search_counterexample(
            name, space, budget=400, seed=1, exclude=listed[name], where=where
        )
        assert found.model not in listed[name]
        assert found.model.n_agents < min(model.n_agents for model in listed[name])
        assert found.verdict.margin < most
        assert where is None or where(found.model)


def test_random_models_that_are_plain_meet_lemma_and_bound():
    for seed in range(10):
        model = random_model(np.random.default_rng([14, seed]), n=(1, 4), answers=2)
        assert check("EL-L4.2", model).holds
        assert check("EL-5.1", model).holds
        assert CountChain(model).law(0).sum() == pytest.approx(1.0, abs=1e-13)
