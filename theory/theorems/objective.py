"""The objective of debate: which answers would make the next answers right?

Printed, the objective maximises over Z the sum over agents of the *unnormalised* formula of Lemma
4.2. Its normaliser D(x, Z) depends on Z, so that leaving it out changes the maximiser.

Printed check: the probability of the correct answer at the printed maximiser less the largest one
over all Z, with all agents summed; negative when the printed form points elsewhere.

Repaired check: with two concepts, one kernel and R(theta*, y) > R(theta', y), the normalised form
is largest where all give the answer a with the largest log R(theta*, a) / R(theta', a). Derivation:
the law q(y | Z) = R(theta', y) + p(theta* | Z) (R(theta*, y) - R(theta', y)) increases in the
posterior, whose log-odds are a constant plus the sum over the answers of that log-ratio. That
answer need not be y. The margin is the value there less the largest one over all counts.
"""

from typing import Any

import numpy as np

from theory.model.chain import CountChain
from theory.model.concepts import AgentType, DebateModel
from theory.model.random_models import model_within
from theory.model.response import log_evidence
from theory.model.states import state_index
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import common_kernel, plain

ID = "EL-OBJ"
TITLE = "The answers that make the next answers right"
SOURCE = "Estornell and Liu, NeurIPS 2024, section 4.1"
PRINTED = (
    "Debate seeks the Z(t) that maximises sum_i sum_theta P(a(z_i) = y | theta, phi_i) "
    "P(x | theta, phi_i) P(theta | phi_i) prod_j P(z_j(t) | theta, phi_i)."
)
REPAIRED = (
    "Divide each term by its D(x, Z). With K = 2, one kernel and R(theta*, y) > R(theta', y) the "
    "maximum is where all agents give the answer with the largest R(theta*, a) / R(theta', a)."
)
PROOF = "proved for K = 2 and one kernel"


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """For the repaired statement two concepts and one kernel, in favour of the truth."""
    met = {"agents read all answers, as given, with full weight": plain(model)}
    if statement == "repaired":
        y, one = model.correct, model.types[0]
        met["K = 2"] = model.n_concepts == 2
        met["one kernel"] = common_kernel(model)
        met["R(theta*, y) > R(theta', y)"] = bool(
            (np.delete(one.kernel[:, y], model.truth) < one.kernel[model.truth, y]).all()
        )
    return met


def margin(model: DebateModel, statement: str) -> Margin:
    """Return the value at the maximiser that the statement names, less the largest value."""
    chain = CountChain(model)
    y = model.correct
    sizes = np.array(model.sizes)
    value = sum(n * chain.response(e)[:, y] for e, n in enumerate(sizes)) / model.n_agents
    if statement == "printed":
        form = np.zeros(len(chain.states))
        for n, kind in zip(sizes, model.types, strict=True):
            form += n * (np.exp(log_evidence(kind, chain.states)) @ kind.kernel[:, y])
        named = int(form.argmax())
    else:
        kernel = model.types[0].kernel
        ratio = np.log(kernel[model.truth] / kernel[1 - model.truth])
        counts = np.zeros(model.n_answers, np.int64)
        counts[int(ratio.argmax())] = model.n_agents
        named = int(state_index(counts))
    best = int(np.argmax(value))
    evidence = {
        "counts named": chain.states[named],
        "P(correct) there": float(value[named]),
        "best counts": chain.states[best],
        "P(correct) at best": float(value[best]),
    }
    return Margin(float(value[named] - value[best]), evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return a small model; for the repaired statement with K = 2 and one kernel."""
    if statement == "printed":
        return model_within(rng, space, n=(1, 5), types=1)
    while True:
        model = model_within(rng, space, n=(1, 6), concepts=2, common_kernel=True)
        if all(assumptions(model, statement).values()):
            return model


def counterexamples() -> tuple[Counterexample, ...]:
    """The printed form takes three wrong answers where three right ones are best."""
    kind = AgentType(np.array([0.03, 0.97]), np.ones(2), np.array([[0.98, 0.02], [0.08, 0.92]]))
    model = DebateModel((kind,), (3,))
    return (Counterexample("wrong answers score higher", model, -0.8844, 4),)
