"""Theorem 1 of Hu et al.: one consistent response raises the expected correctness.

A response z is strongly consistent when P(z | theta*) > P(z | theta) for all other theta. With
weights w over the concepts before z, L(theta) = P(z | theta) and p(theta) = P(y | theta),

    P(y | after z) - P(y | before z) = Cov_w(L, p) / E_w[L],                              (identity)

since P(y | after) = E[L p] / E[L]. So P(theta*) rises with every strongly consistent z, and P(y)
rises exactly when the covariance is positive: always for K = 2, for p constant off theta*, for L
constant off theta*, for L and p similarly ordered, for L = p; not in general for K >= 3, where a
response may take more weight from other concepts that give y than it gives to theta*.

Printed check: over all answers z that are strongly consistent, for each type, the least gain. The
assumptions are those of the paper (4.1: y is likeliest under theta*; 4.2: so is the task; 4.3:
positive priors). Repaired check: the identity, over all answers: 1e-9 less the largest deviation,
and the sign of the gain that of the covariance.
"""

from typing import Any

import numpy as np

from theory.model.concepts import AgentType, DebateModel
from theory.model.random_models import model_within
from theory.model.response import next_law
from theory.theorems.base import TOLERANCE, Counterexample, Margin
from theory.theorems.conditions import paper_assumptions, plain

ID = "HT-1"
TITLE = "One consistent response raises expected correctness"
SOURCE = "Hu et al., arXiv 2510.12697, theorem on consistent response amplification"
PRINTED = (
    "One strongly consistent response in round t, P(z | theta*) > P(z | theta) for all theta, "
    "raises the expected correctness of round t + 1."
)
REPAIRED = (
    "P(y | after z) - P(y | before z) = Cov_w(L, p) / E_w[L]: it rises iff Cov_w(L, p) > 0, so "
    "always for K = 2, for p or L constant off theta*, and for L and p similarly ordered."
)
PROOF = "proved (an identity)"


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """Plain answers; for the printed statement those of the paper."""
    met = {"agents read all answers, as given, with full weight": plain(model)}
    if statement == "printed":
        met |= paper_assumptions(model)
        met["some response is strongly consistent"] = any(
            _consistent(model, one) for one in model.types
        )
    return met


def _consistent(model: DebateModel, kind: AgentType) -> list[int]:
    """Answers that are likeliest under theta*."""
    others = [theta for theta in range(model.n_concepts) if theta != model.truth]
    return [
        z
        for z in range(kind.n_answers)
        if bool((kind.kernel[others, z] < kind.kernel[model.truth, z]).all())
    ]


def gain(weight: object, likelihood: object, correct: object) -> float:
    """Return P(y | after z) - P(y | before z) = Cov_w(L, p) / E_w[L], arrays of shape (K,).

    Examples
    --------
    >>> round(.401 + gain([.01, .49, .50], [.5, .01, .49], [.9, .8, 0]), 3)
    0.033
    """
    w, like, p = (np.asarray(one, float) for one in (weight, likelihood, correct))
    mean = float(w @ like)
    return float(w @ (like * p) - mean * (w @ p)) / mean


def margin(model: DebateModel, statement: str) -> Margin:
    """Return the least gain of a consistent response, or the slack of the identity."""
    worst, evidence = np.inf, {}
    for reader, kind in enumerate(model.types):
        p = kind.kernel[:, model.correct]
        answers = _consistent(model, kind) if statement == "printed" else range(kind.n_answers)
        for z in answers:
            one = np.zeros(kind.n_answers)
            one[z] = 1.0
            before = float(kind.first_law[model.correct])
            seen = float(next_law(kind, one)[model.correct]) - before
            found = gain(kind.weight, kind.kernel[:, z], p)
            slack = seen if statement == "printed" else TOLERANCE - abs(seen - found)
            if slack < worst:
                worst = slack
                evidence = {"reader": reader, "response": z, "before": before, "gain": seen}
    return Margin(float(worst), evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return a small model; for the printed statement one that meets the paper's assumptions."""
    while True:
        model = model_within(rng, space, n=1, concepts=(2, 4), answers=(2, 4))
        if statement == "printed":
            one = model.types[0]
            task = np.sort(one.likelihood)
            task[[model.truth, -1]] = task[[-1, model.truth]]
            model = model.with_(types=(AgentType(one.prior, task, one.kernel),))
        if all(assumptions(model, statement).values()):
            return model


def counterexamples() -> tuple[Counterexample, ...]:
    """The response takes weight from a concept that gives y, for one that does not."""
    kernel = np.array([[0.45, 0.50, 0.05], [0.40, 0.01, 0.59], [0.001, 0.49, 0.509]])
    kind = AgentType(np.array([0.01, 0.49, 0.50]), np.ones(3), kernel)
    return (Counterexample("weight from one that gives y", DebateModel((kind,), (1,)), -0.1835),)
