"""Theorem 2 of Hu et al.: the outcome of debate beats the initial majority vote.

Claim: the final debated outcome is strictly more accurate than the majority vote of round 0, given
a correct initial response. The debate is that of agents that read the whole history
(`theory.model.cumulative`), the outcome the majority of the last round.

Printed it is false: with a shared misconception (w(theta*) < 1/2) debate lowers accuracy, and
nothing changes at n = 1 or w = 1/2. The per-agent accuracy stays below the majority vote of round 0
wherever it was checked: voting already takes what there is to take.

**Repaired**, verified on grids and not proved: K = L = 2 with a symmetric kernel P(y | theta*) = a,
identical agents, n >= 3 odd, 1/2 < a < 1, 1/2 < w(theta*) <= .99: the majority after T >= 1 rounds
is more accurate than that of round 0. The grid: n = 3, 5, 7, 9, a = .51 to .99, T = 1 to 3. The
bound on w is needed: for agents that are all but certain the spread of beliefs that a round brings
costs more than its drift gains. At n = 3, a = .89, w = .999 the majority falls by 7.4e-5 in the
first round (in exact fractions); on the grid nothing falls below w = .9955.

Check: the least of majority_accuracy(T) - majority_accuracy(0) over T = 1..``rounds``.
"""

from typing import Any

import numpy as np

from theory._check import check_int
from theory.model.concepts import AgentType, DebateModel
from theory.model.cumulative import CumulativeChain
from theory.model.random_models import model_within
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import paper_assumptions

ID = "HT-2"
TITLE = "Debate against the initial majority vote"
SOURCE = "Hu et al., arXiv 2510.12697, theorem on debate against the majority vote"
PRINTED = (
    "Given a correct initial response, the outcome of debate is strictly more accurate than the "
    "majority vote of round 0."
)
REPAIRED = (
    "For K = L = 2, a symmetric kernel with 1/2 < a < 1, identical agents, n >= 3 odd and "
    "1/2 < w(theta*) <= .99: the majority after T >= 1 rounds beats that of round 0. Nearer to 1 "
    "it may fall."
)
PROOF = "verified on grids, not proved"
STRICT = True


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """No interventions; for the repaired statement the symmetric binary case."""
    met = {"no view and no refutation": model.view is None and model.rewrite is None}
    if statement == "printed":
        met |= paper_assumptions(model)
    else:
        kernel, one = model.types[0].kernel, model.types[0]
        small = kernel.shape == (2, 2)
        t, y = model.truth, model.correct
        met["K = L = 2"] = small
        met["a symmetric kernel, 1/2 < a < 1"] = small and bool(
            np.isclose(kernel[t, y], kernel[1 - t, 1 - y], atol=1e-12) and kernel[t, y] > 0.5
        )
        met["identical agents"] = len(set(model.types)) == 1
        met["n >= 3, odd"] = model.n_agents >= 3 and model.n_agents % 2 == 1
        met["1/2 < w(theta*) <= .99"] = bool(0.5 < one.weight[t] <= 0.99)
        met["full evidence"] = model.tempering == 1.0
    return met


def margin(model: DebateModel, statement: str, *, rounds: int = 3) -> Margin:  # noqa: ARG001
    """Return the least gain of the majority over that of round 0."""
    check_int("rounds", rounds, minimum=1)
    chain = CumulativeChain(model)
    first = chain.majority_accuracy(0)
    gains = [chain.majority_accuracy(t) - first for t in range(1, rounds + 1)]
    at = int(np.argmin(gains))
    evidence = {
        "t": at + 1,
        "majority of round 0": first,
        "majority of round t": first + gains[at],
        "accuracy of an agent": chain.accuracy(at + 1),
    }
    return Margin(float(gains[at]), evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return a small model; for the repaired statement the symmetric binary case."""
    if statement == "printed":
        model = model_within(rng, space, n=(1, 6), concepts=(2, 3), answers=2, types=1)
        # the assumptions of the paper are met by ordering what was drawn
        one, y = model.types[0], model.correct
        task, kernel = one.likelihood.copy(), one.kernel.copy()
        truth, top = int(kernel[:, y].argmax()), int(task.argmax())
        task[[truth, top]] = task[[top, truth]]
        return model.with_(types=(AgentType(one.prior, task, kernel),), truth=truth)
    sizes = [n for n in (3, 5, 7) if _inside(n, space.get("n", (3, 7)))]
    n = int(rng.choice(sizes))
    return DebateModel.binary(n, float(rng.uniform(0.501, 0.99)), float(rng.uniform(0.501, 0.999)))


def counterexamples() -> tuple[Counterexample, ...]:
    """A misconception that all share in their prior."""
    kernel = np.array([[0.8, 0.2], [0.2, 0.8]])
    kind = AgentType(np.array([0.4, 0.6]), np.ones(2), kernel)
    return (Counterexample("a shared misconception", DebateModel((kind,), (7,)), -0.0141, 4),)


def _inside(n: int, bounds: int | tuple[int, int]) -> bool:
    low, high = bounds if isinstance(bounds, tuple) else (bounds, bounds)
    return low <= n <= high
