"""Theorem 5.2: many similar answers overwhelm the task and the other answers.

Printed, theta' maximises the *posterior* P(theta | z_j) of each of m answers. That counts the prior
once for each answer, while the posterior of all of them counts it once altogether: the statement is
false. With the maximiser of the *likelihood* and a margin it is true:

    gamma = min_{j <= m, theta != theta'} log R(theta', z_j) / R(theta, z_j) > 0,
    G     = max_{theta, a} log R(theta, a) / R(theta', a),   rho = max_theta w(theta) / w(theta'),
    P(theta' | x, Z) >= 1 / (1 + (K - 1) rho exp(-m gamma + (n - m) G)),

and the law of the next answer is within 1 - P(theta' | x, Z) of R_theta' in total variation.
Derivation: P(theta | x, Z) / P(theta' | x, Z) = w(theta) / w(theta') prod_j R(theta, z_j) /
R(theta', z_j) <= rho exp(-m gamma + (n - m) G) for each of the K - 1 others.

Printed check: for every answer a the concept theta'(a) that maximises P(theta | a) must win after
arbitrarily many copies of a, so that it must maximise R(., a) too; the margin is the least
log R(theta'(a), a) - max over the others, and a negative one is a violation in the limit.

Repaired check: every answer a with a likelihood maximiser, every count c with m = c_a; the margin
is the least slack of the bound.
"""

from typing import Any

import numpy as np

from theory.model.concepts import AgentType, DebateModel
from theory.model.random_models import model_within
from theory.model.response import posterior
from theory.model.states import count_states, n_states
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import plain

ID = "EL-5.2"
TITLE = "Many similar answers overwhelm the task"
SOURCE = "Estornell and Liu, NeurIPS 2024, Theorem 5.2"
PRINTED = (
    "If theta' maximises P(theta | z_j, phi_i) for all j <= m, then for large m the repeated "
    "answers overwhelm the other answers and the task: P(theta' | x, Z, phi_i) -> 1."
)
REPAIRED = (
    "If theta' maximises P(z_j | theta, phi_i) for all j <= m by a margin gamma > 0, then "
    "P(theta' | x, Z) >= 1 / (1 + (K-1) rho exp(-m gamma + (n-m) G)); it is at least 1 - delta "
    "once m >= (log((K-1) rho (1-delta)/delta) + (n-m) G) / gamma."
)
PROOF = "proved"


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:  # noqa: ARG001
    """Plain answers, two concepts or more, every concept possible."""
    return {
        "agents read all answers, as given, with full weight": plain(model),
        "two concepts or more": model.n_concepts > 1,
        "all concepts have weight": all(bool((one.weight > 0).all()) for one in model.types),
        "at most 20,000 counts": n_states(model.n_agents, model.n_answers) <= 20_000,
    }


def margin(model: DebateModel, statement: str) -> Margin:
    """Return the least slack over answers, readers and counts."""
    worst, evidence = np.inf, {}
    states = count_states(model.n_agents, model.n_answers)
    for reader, kind in enumerate(model.types):
        belief = posterior(kind, states)
        for a in range(kind.n_answers):
            column = np.log(kind.kernel[:, a])
            if statement == "printed":
                # rho does not count: it is the posterior of one copy that names the concept
                named = int((kind.prior * kind.kernel[:, a]).argmax())
                slack = float(column[named] - np.delete(column, named).max())
                if slack < worst:
                    worst, evidence = slack, {"answer": a, "concept": named, "reader": reader}
                continue
            named = int(column.argmax())
            gamma = float(column[named] - np.delete(column, named).max())
            if not gamma > 0.0:
                continue
            others = model.n_agents - states[:, a]
            g = float((np.log(kind.kernel) - np.log(kind.kernel[named])).max())
            rho = float((kind.weight / kind.weight[named]).max())
            # beyond e^700 the bound is 0 to all digits
            exponent = np.minimum(-gamma * states[:, a] + g * others, 700.0)
            bound = 1.0 / (1.0 + (kind.n_concepts - 1) * rho * np.exp(exponent))
            slacks = belief[:, named] - bound
            at = int(slacks.argmin())
            if slacks[at] < worst:
                worst = float(slacks[at])
                evidence = {"answer": a, "concept": named, "counts": states[at], "reader": reader}
    # where no answer tells concepts apart the statement asks for nothing
    return Margin(worst if np.isfinite(worst) else 0.0, evidence)


def copies_needed(kind: AgentType, answer: int, others: int, delta: float) -> float:
    """Return the m from which P(theta' | x, Z) >= 1 - delta whatever ``others`` answers say.

    Examples
    --------
    >>> kind = AgentType([.5, .5], [1, 1], [[.8, .2], [.3, .7]])
    >>> round(copies_needed(kind, 0, 2, .05), 2)
    5.56
    """
    column = np.log(kind.kernel[:, answer])
    named = int(column.argmax())
    gamma = float(column[named] - np.delete(column, named).max())
    g = float((np.log(kind.kernel) - np.log(kind.kernel[named])).max())
    rho = float((kind.weight / kind.weight[named]).max())
    head = np.log((kind.n_concepts - 1) * rho * (1.0 - delta) / delta)
    return float((head + others * g) / gamma) if gamma > 0.0 else float("inf")


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:  # noqa: ARG001
    """Return a small model."""
    return model_within(rng, space, n=(1, 6), concepts=(2, 4), answers=(2, 3))


def counterexamples() -> tuple[Counterexample, ...]:
    """The prior outweighs one answer, and not forty."""
    kind = AgentType(np.array([0.9, 0.1]), np.ones(2), np.array([[0.5, 0.5], [0.6, 0.4]]))
    model = DebateModel((kind,), (40,))
    return (Counterexample("the prior is counted once", model, float(np.log(0.5 / 0.6)), 6),)
