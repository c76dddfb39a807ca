"""Theorem 6.2: quality pruning makes the correct answer more likely.

Claim: with Z' the k answers whose concepts lie closest to those of the task, the probability of the
correct answer given Z' is at least that given Z. False as stated: the reference is what the
evaluator believes about the task, which may be wrong; closeness is not correctness; and fewer right
answers are less evidence.

Printed check: accuracy in round ``t`` with `QualityPruning(k)` less that without (``k`` that of the
model's view, else (n + 1) // 2); with ``reading="state"`` the least gain of P(correct) over all
counts of one round, which is negative for nearly every model: at unanimous right answers k of them
say less than n.

**Repaired** (K = L = 2, one type; s the counts that are kept). q(y | s) > q(y | c) if and only if

    (s_y - c_y) lambda_y > (s_y' - c_y') lambda_y',

that is if more wrong evidence than right evidence was removed. Derivation: q(y | c) = R(theta', y)
+ p(theta* | c) (R(theta*, y) - R(theta', y)), and the log-odds of theta* are a constant plus c_y
lambda_y - c_y' lambda_y'. For R(theta*, y) > R(theta', y) both grow together. Nothing follows for
several rounds: the sign there is that of the chain.

Repaired check: over all counts the least product of sign(gain) and the kept evidence.
"""

from typing import Any

import numpy as np

from theory._check import check_choice, check_int
from theory.model.chain import CountChain
from theory.model.concepts import AgentType, DebateModel
from theory.model.interventions import QualityPruning
from theory.model.random_models import model_within
from theory.model.response import next_law
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import truth_gives_correct

ID = "EL-6.2"
TITLE = "Quality pruning towards the correct answer"
SOURCE = "Estornell and Liu, NeurIPS 2024, Theorem 6.2"
PRINTED = (
    "Quality pruning raises the probability of the correct answer: P(a(z_i(t+1)) = y | x, Z'(t)) "
    ">= P(a(z_i(t+1)) = y | x, Z(t))."
)
REPAIRED = (
    "For K = L = 2 and R(theta*, y) > R(theta', y): it rises for the answers at hand iff the wrong "
    "evidence removed exceeds the right evidence removed, (s_y - c_y) lambda_y >= (s_y' - c_y') "
    "lambda_y'. The effect on later rounds has no sign of its own."
)
PROOF = "proved"


def pruning_of(model: DebateModel, k: int | None = None) -> QualityPruning:
    """Return the pruning that is checked: of size k, that of the view, or the default."""
    if k is not None:
        return QualityPruning(check_int("k", k, minimum=1, maximum=model.n_agents))
    if model.view is not None and isinstance(model.view[0], QualityPruning):
        return model.view[0]
    return QualityPruning((model.n_agents + 1) // 2)


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """A quality pruning or none; for the repaired statement two concepts and answers, one type."""
    met = {
        "the view is a quality pruning, or none": model.view is None
        or (len(model.view) == 1 and isinstance(model.view[0], QualityPruning)),
        "no refutation": model.rewrite is None,
    }
    if statement == "printed":
        met["R(theta*, y) >= R(theta, y)"] = truth_gives_correct(model)
    else:
        y, kernel = model.correct, model.types[0].kernel
        met["K = L = 2"] = kernel.shape == (2, 2)
        met["one type"] = len(model.types) == 1
        met["R(theta*, y) > R(theta', y)"] = met["K = L = 2"] and bool(
            kernel[model.truth, y] > kernel[1 - model.truth, y]
        )
    return met


def margin(
    model: DebateModel,
    statement: str,
    *,
    k: int | None = None,
    t: int = 5,
    reading: str = "rounds",
) -> Margin:
    """Return the gain of accuracy (printed), or the least agreement of signs (repaired)."""
    check_choice("reading", reading, ("rounds", "state"))
    pruning = pruning_of(model, k)
    viewed = model.with_(view=pruning)
    if statement == "printed" and reading == "rounds":
        check_int("t", t, minimum=1)
        without = CountChain(model.with_(view=None)).accuracy(t)
        pruned = CountChain(viewed).accuracy(t)
        return Margin(
            pruned - without, {"t": t, "k": pruning.k, "without": without, "with": pruned}
        )
    plain, seen = CountChain(model.with_(view=None)), CountChain(viewed)
    if statement == "printed":
        sizes = np.array(model.sizes) / model.n_agents
        gain = sum(
            share * (seen.response(e) - plain.response(e))[:, model.correct]
            for e, share in enumerate(sizes)
        )
        at = int(np.argmin(gain))
        return Margin(
            float(np.min(gain)), {"counts": plain.states[at], "gain": float(np.min(gain))}
        )
    law = pruning.prepare(model)
    kind, y = model.types[0], model.correct
    kernel = kind.kernel
    up = float(np.log(kernel[model.truth, y] / kernel[1 - model.truth, y]))
    down = float(np.log(kernel[1 - model.truth, 1 - y] / kernel[model.truth, 1 - y]))
    worst, evidence = np.inf, {}
    before = next_law(kind, plain.states, model.tempering)[:, y]
    after = next_law(kind, law.states, model.tempering)[:, y]
    for i, c in enumerate(plain.states):
        for j in law.kept(i):
            s = law.states[j]
            kept = (s[y] - c[y]) * up - (s[1 - y] - c[1 - y]) * down
            gain = float(after[j] - before[i])
            # both are zero together, up to rounding
            agrees = float(np.sign(gain) * kept) if abs(gain) > 1e-13 else 0.0
            if agrees < worst:
                worst, evidence = agrees, {"counts": c, "kept": s, "gain": gain, "evidence": kept}
    return Margin(float(worst), evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return a small model of one type; for the repaired statement with K = L = 2."""
    while True:
        if statement == "printed":
            model = model_within(rng, space, n=(2, 7), types=1)
            model = model.with_(truth=int(model.types[0].kernel[:, model.correct].argmax()))
        else:
            model = model_within(rng, space, n=(2, 8), concepts=2, answers=2, types=1)
        model = model.with_(view=QualityPruning(int(rng.integers(1, model.n_agents + 1))))
        if all(assumptions(model, statement).values()):
            return model


def counterexamples() -> tuple[Counterexample, ...]:
    """An evaluator with a misconception; a hedging kernel; unanimous right answers."""
    misled = DebateModel.binary(7, 0.2, 0.8, 0.3)
    hedging = DebateModel(
        (
            AgentType(
                np.array([0.5, 0.5]), np.array([0.6, 0.4]), np.array([[0.30, 0.70], [0.01, 0.99]])
            ),
        ),
        (7,),
    )
    good = DebateModel.binary(7, 0.8, 0.8, 0.3)
    return (
        Counterexample("an evaluator with a misconception", misled, -0.0610, 4, {"k": 3}),
        Counterexample("close is not correct", hedging, -0.1103, 4, {"k": 3}),
        Counterexample("fewer right answers", good, -0.0064, 4, {"k": 3, "reading": "state"}),
    )
