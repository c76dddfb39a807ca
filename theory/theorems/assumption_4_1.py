"""Assumption 4.1: given the concept, an answer depends neither on the task nor on what was read.

In a finite model this is so by construction: P(z | theta, x, Z, phi) = R(theta, z). It is not
enough for Lemma 4.2, which uses two more assumptions silently:

    H1  the task and the answers are independent given theta, in the reader's eyes;
    H2  the answers are independent of each other given theta, each with the *reader's* kernel.

H2 is false for the process itself: from round 1 on all answers were drawn after reading the same
answers. A reader who knows that answers are copies of each other learns less from them:
`copying_law` gives its law, which the product formula overstates.

Check: every response law must be a mixture of the rows of the kernel, sum_theta p(theta | c)
R(theta, .), with the posterior of the counts; the margin is the tolerance less the largest
deviation over all counts, with the posterior computed answer by answer.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from theory.model.chain import CountChain
from theory.model.concepts import AgentType, DebateModel
from theory.model.random_models import model_within
from theory.theorems.base import TOLERANCE, Counterexample, Margin
from theory.theorems.conditions import plain

ID = "EL-A4.1"
TITLE = "Given the concept, an answer depends on nothing else"
SOURCE = "Estornell and Liu, NeurIPS 2024, Assumption 4.1"
PRINTED = "P(z_i(t+1) | theta, x, Z(t), phi_i) = P(z_i(t+1) | theta, phi_i)."
REPAIRED = (
    "The same, with (H1) x and Z(t) independent given theta, and (H2) z_1..z_n independent given "
    "theta with the reader's kernel; without H2 the product formula counts copies as evidence."
)
PROOF = "an assumption; true in a finite model by construction"


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:  # noqa: ARG001
    """None but a model whose agents read plain answers."""
    return {"agents read all answers, as given, with full weight": plain(model)}


def margin(model: DebateModel, statement: str) -> Margin:  # noqa: ARG001
    """Tolerance less the largest deviation of a response from the mixture of kernel rows."""
    chain = CountChain(model)
    worst = 0.0
    for reader, kind in enumerate(model.types):
        given = chain.response(reader)
        for counts, law in zip(chain.states, given, strict=True):
            belief = kind.weight.copy()
            for answer, number in enumerate(counts.tolist()):
                for _ in range(number):
                    belief = belief * kind.kernel[:, answer]
                    belief = belief / belief.sum()
            worst = max(worst, float(np.abs(belief @ kind.kernel - law).max()))
    return Margin(TOLERANCE - worst, {"largest deviation": worst})


def copying_law(kind: AgentType, answer: int, copying: float) -> npt.NDArray[np.float64]:
    """Return the law of the next answer of a reader of two equal answers, the second a copy.

    The reader believes that the second agent copies the first with probability ``copying`` and
    else answers by itself. At 0 this is the product formula; at 1 the two are one answer.

    Examples
    --------
    >>> kind = AgentType([.5, .5], [1, 1], [[.8, .2], [.3, .7]])
    >>> [round(float(copying_law(kind, 0, rho)[0]), 4) for rho in (0, .5, 1)]
    [0.7384, 0.6934, 0.6636]
    """
    first = kind.kernel[:, answer]
    belief = kind.weight * first * (copying + (1.0 - copying) * first)
    found: npt.NDArray[np.float64] = belief / belief.sum() @ kind.kernel
    return found


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:  # noqa: ARG001
    """Return any small model."""
    return model_within(rng, space, n=(1, 5))


def counterexamples() -> tuple[Counterexample, ...]:
    """None: an assumption is not violated by a model that has it."""
    return ()
