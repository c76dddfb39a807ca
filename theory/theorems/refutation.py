"""Theorem 6.4: refuting misconceptions makes the correct answer more likely.

A refutation rewrites every answer before it is read, a into b with probability M[a, b]; read out
are the raw answers.

**Repaired** (proved). K = 2, one kernel, R(theta*, y) >= R(theta', y), and M *upward*: M[a, b] > 0
only where s(b) >= s(a), s(z) = log R(theta*, z) / R(theta', z). Derivation: rewriting can only
raise s(z_j), so that the evidence S that is read rises stochastically in every round. By steps 2 to
5 of the proof of Theorem 5.4 (`theory.theorems.shared_misconception`) all later evidence rises with
it, and so does P(y) in every round t >= 1.

Printed it is false: a refuter that makes mistakes can do harm, and even one that only ever rewrites
wrong answers into the right one can, when the wrong one was the stronger evidence for theta*. The
order that counts is that of the likelihood ratios, not that of correctness.

Check: the least gain of accuracy over rounds 1 to ``rounds``. M is the model's own, else the
refuter that mends three wrong answers in ten.
"""

from typing import Any

import numpy as np

from theory._check import check_int
from theory.model.chain import CountChain
from theory.model.concepts import AgentType, DebateModel
from theory.model.interventions import Refutation
from theory.model.random_models import model_within
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import common_kernel, likeliest_under_truth, truth_gives_correct

ID = "EL-6.4"
TITLE = "Refuting misconceptions"
SOURCE = "Estornell and Liu, NeurIPS 2024, Theorem 6.4"
PRINTED = (
    "Misconception refutation raises the probability of the correct answer: P(a(z_i(t+1)) = y | x, "
    "Z*(t)) >= P(a(z_i(t+1)) = y | x, Z(t))."
)
REPAIRED = (
    "For K = 2, one kernel with R(theta*, y) >= R(theta', y), and a refuter that rewrites answers "
    "upward in the likelihood ratio R(theta*, .) / R(theta', .): accuracy does not fall in any "
    "round."
)
PROOF = "proved (coupling)"


def refuter_of(model: DebateModel) -> Refutation:
    """Return the model's own refutation, else one that mends three wrong answers in ten."""
    if model.rewrite is not None:
        return model.rewrite
    matrix = 0.7 * np.eye(model.n_answers)
    matrix[:, model.correct] += 0.3
    return Refutation(matrix)


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """No view; for the repaired statement two concepts, one ordered kernel, an upward refuter."""
    met = {"no view": model.view is None}
    if statement == "printed":
        met["y is the likeliest answer under theta*"] = likeliest_under_truth(model)
    else:
        met["K = 2"] = model.n_concepts == 2
        met["one kernel"] = common_kernel(model)
        met["R(theta*, y) >= R(theta', y)"] = truth_gives_correct(model)
        met["the refuter rewrites upward"] = met["K = 2"] and _upward(model)
    return met


def _upward(model: DebateModel) -> bool:
    kernel, truth = model.types[0].kernel, model.truth
    ratio = np.log(kernel[truth] / kernel[1 - truth])
    moves = refuter_of(model).matrix > 0.0
    rises = ratio[None, :] >= ratio[:, None] - 1e-12
    return bool((~moves | rises).all())


def margin(model: DebateModel, statement: str, *, rounds: int = 5) -> Margin:  # noqa: ARG001
    """Return the least gain of accuracy in rounds 1..rounds."""
    check_int("rounds", rounds, minimum=1)
    before = CountChain(model.with_(rewrite=None))
    after = CountChain(model.with_(rewrite=refuter_of(model)))
    gains = [after.accuracy(t) - before.accuracy(t) for t in range(1, rounds + 1)]
    at = int(np.argmin(gains))
    evidence = {
        "t": at + 1,
        "without": before.accuracy(at + 1),
        "with": after.accuracy(at + 1),
        "gain by round": gains,
    }
    return Margin(float(gains[at]), evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return a random refuter, upward for the repaired statement."""
    while True:
        common = statement == "repaired"
        model = model_within(rng, space, n=(1, 6), concepts=2, answers=(2, 3), common_kernel=common)
        width = model.n_answers
        matrix = rng.dirichlet(np.ones(width), width)
        if statement == "repaired":
            kernel, truth = model.types[0].kernel, model.truth
            ratio = kernel[truth] / kernel[1 - truth]
            matrix = matrix * (ratio[None, :] >= ratio[:, None])
            matrix = matrix / matrix.sum(axis=1, keepdims=True)
        else:
            # a refuter that only mends
            y = model.correct
            matrix = np.eye(width) * (1.0 - rng.random(width)[:, None])
            matrix[:, y] += 1.0 - matrix.sum(axis=1)
        model = model.with_(rewrite=Refutation(matrix))
        if all(assumptions(model, statement).values()):
            return model


def counterexamples() -> tuple[Counterexample, ...]:
    """A refuter that mends what was stronger evidence; refuters that make mistakes."""
    kernel = np.array([[0.55, 0.43, 0.02], [0.30, 0.005, 0.695]])
    kind = AgentType(np.array([0.3, 0.7]), np.ones(2), kernel)
    mends = np.eye(3)
    mends[1] = [1.0, 0.0, 0.0]
    stronger = DebateModel((kind,), (3,), rewrite=Refutation(mends))
    base = DebateModel.shared_misconception(7, 4, weight=0.8, misled=0.2, right=0.75)
    return (
        Counterexample("the mended answer was stronger evidence", stronger, -0.0494),
        Counterexample(
            "a refuter with a misconception",
            base.with_(rewrite=Refutation.binary(0.1, 0.3)),
            -0.118,
            3,
        ),
    )
