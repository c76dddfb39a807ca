"""Theorems by simulation: agreement with the exact checks, and what they say when in doubt."""

import numpy as np
import pytest

from sims import check_by_simulation
from sims.checks import SIMULATED, decide
from theory import THEOREMS, DebateModel, DiversityPruning, QualityPruning

CASES = [
    (name, case)
    for name in SIMULATED
    for case in THEOREMS[name].counterexamples()
    if "reading" not in case.options
]


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{n}: {c.name}" for n, c in CASES])
def test_counterexamples_are_violated_by_simulation_too(name, case):
    """The violations are many standard errors wide, so that the verdict is decided."""
    found = check_by_simulation(
        name, case.model, statement="printed", debates=60_000, seed=1, **case.options
    )
    exact = THEOREMS[name].check(case.model, statement="printed", **case.options)
    assert found.holds == exact.holds
    assert found.method == "monte-carlo"
    # the least of up to eight estimates lies below its mean: six standard errors
    assert abs(found.margin - exact.margin) < 6 * found.evidence["standard error"] + 1e-12


@pytest.mark.statistical
@pytest.mark.parametrize("name", [one for one in SIMULATED if one not in ("EL-6.1", "EL-6.2")])
def test_repaired_statements_are_not_refuted(name):
    """24 models a theorem at confidence .9999: a false alarm once in some 100 choices of seeds."""
    decided = 0
    for seed in range(6):
        model = THEOREMS[name].sample(np.random.default_rng([51, seed]), "repaired")
        # what a debate of full history gains on the vote is small
        debates = 60_000 if name == "HT-2" else 4000
        found = check_by_simulation(name, model, debates=debates, seed=seed, confidence=0.9999)
        assert found.holds is not False, (seed, found)
        decided += found.holds is True
    assert decided > 0


@pytest.mark.statistical
def test_the_margin_is_that_of_the_model_and_of_no_other():
    """The negative control: the exact margin of a slightly different kernel does not fit."""
    model = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    other = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.86, wrong=0.3)
    found = check_by_simulation("EL-6.1", model, statement="printed", k=4, debates=100_000)
    own, wrong = (
        THEOREMS["EL-6.1"].check(one, statement="printed", k=4).margin for one in (model, other)
    )
    error = found.evidence["standard error"]
    assert abs(found.margin - own) < 5 * error
    assert abs(found.margin - wrong) > 8 * error


def test_views_of_the_model_are_used():
    base = DebateModel.binary(7, 0.2, 0.8, 0.3)
    for view, name in ((QualityPruning(3), "EL-6.2"),):
        own = check_by_simulation(
            name, base.with_(view=view), statement="printed", debates=2000, seed=2
        )
        given = check_by_simulation(name, base, statement="printed", k=3, debates=2000, seed=2)
        assert own.margin == given.margin
    weak = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    own = check_by_simulation(
        "EL-6.1", weak.with_(view=DiversityPruning(4)), statement="printed", debates=2000
    )
    given = check_by_simulation("EL-6.1", weak, statement="printed", k=4, debates=2000)
    assert own.margin == given.margin


def test_decisions():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(10_000)
    assert decide({"a": noise + 1.0, "b": noise + 2.0}, 0.99)[0] is True
    assert decide({"a": noise + 1.0, "b": noise - 1.0}, 0.99)[0] is False
    assert decide({"a": noise - noise.mean()}, 0.99)[0] is None
    assert decide({"a": np.zeros(5)}, 0.99)[0] is True
    holds, margin, evidence = decide({"a": noise + 1.0, "b": noise + 2.0}, 0.99)
    assert margin == pytest.approx(noise.mean() + 1.0)
    assert evidence["least"] == "a"
    assert evidence["z"] == pytest.approx(2.5758, abs=1e-4)
    assert holds


def test_the_level_is_kept():
    """Means of exactly zero are called negative in at most 5 % of 2,000 cases, plus 4.5 errors."""
    rng = np.random.default_rng(52)
    wrong = sum(
        decide({name: rng.standard_normal(400) for name in "abc"}, 0.95)[0] is False
        for _ in range(2000)
    )
    assert wrong / 2000 < 0.05 + 4.5 * np.sqrt(0.05 * 0.95 / 2000)
    assert wrong > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"theorem_id": "HT-1"}, "`theorem_id` must be one of EL-5.1"),
        ({"statement": "proved"}, "`statement` must be"),
        ({"theorem_id": "EL-6.1"}, "'printed' for EL-6.1"),
        ({"confidence": 1.0}, "`confidence` must lie in"),
        ({"debates": 1}, "`debates` must be >= 2"),
        ({"t": -1}, "`t` must be an integer >= 0"),
        ({"depth": 3}, "no option depth"),
    ],
)
def test_refusals(arguments, words):
    given = {"theorem_id": "EL-5.4", "debates": 10} | arguments
    with pytest.raises(ValueError, match=words):
        check_by_simulation(
            given.pop("theorem_id"), DebateModel.shared_misconception(3, 1), **given
        )


def test_assumptions_that_fail_leave_it_open():
    found = check_by_simulation("EL-5.4", DebateModel.binary(3), debates=10)
    assert (found.holds, found.margin) == (None, None)
