"""Definition 5.3: when does an agent have a misconception?

Prose: some theta' exists that the model believes explains the task better than the true theta*.
Three readings are not the same:

    lik    P(x | theta', phi) > P(x | theta*, phi)          the task is likelier under theta'
    post   P(theta' | x, phi) > P(theta* | x, phi)          w(theta') > w(theta*)
    avg    either of them on average over tasks x; with one task, as in a finite model, the same

Here a misconception is ``post``, with the margin mu = log w(theta') / w(theta*). The two differ by
the prior: mu_post = mu_lik + log pi(theta') / pi(theta*), an identity, so that a prior in favour of
theta* by a larger factor undoes a likelihood against it.

Printed check: the readings agree on theta* against its likeliest rival, for every type; the margin
is the least of sign(mu_lik mu_post) min(|mu_lik|, |mu_post|). Repaired check: the identity.
"""

from typing import Any

import numpy as np

from theory.model.concepts import DebateModel
from theory.model.random_models import model_within
from theory.theorems.base import TOLERANCE, Counterexample, Margin
from theory.theorems.conditions import rival

ID = "EL-D5.3"
TITLE = "What a misconception is: likelihood or posterior"
SOURCE = "Estornell and Liu, NeurIPS 2024, Definition 5.3"
PRINTED = (
    "Agent i has a misconception about theta* if, on tasks x from D(theta*), it believes that some "
    "theta' explains x better than theta*."
)
REPAIRED = (
    "w_i(theta') > w_i(theta*), with margin mu_i = log w_i(theta') / w_i(theta*) = log "
    "P(x | theta') / P(x | theta*) + log pi(theta') / pi(theta*)."
)
PROOF = "a definition; the identity is proved"


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:  # noqa: ARG001
    """Two concepts or more, all of them possible."""
    return {
        "two concepts or more": model.n_concepts > 1,
        "all concepts have weight": all(bool((one.weight > 0).all()) for one in model.types),
    }


def margins(model: DebateModel, reader: int = 0) -> dict[str, float]:
    """Return mu of each reading for a type, against the likeliest wrong concept."""
    kind, truth = model.types[reader], model.truth
    other = rival(model, kind)
    lik = float(np.log(kind.likelihood[other] / kind.likelihood[truth]))
    return {"lik": lik, "post": kind.misconception(truth, other)}


def margin(model: DebateModel, statement: str) -> Margin:
    """Return the agreement of the readings, or the slack of the identity."""
    worst, evidence = np.inf, {}
    for reader, kind in enumerate(model.types):
        mu = margins(model, reader)
        other = rival(model, kind)
        prior = float(np.log(kind.prior[other] / kind.prior[model.truth]))
        if statement == "printed":
            agrees = np.sign(mu["lik"]) == np.sign(mu["post"])
            slack = (1 if agrees else -1) * min(abs(mu["lik"]), abs(mu["post"]))
        else:
            slack = TOLERANCE - abs(mu["post"] - mu["lik"] - prior)
        if slack < worst:
            worst, evidence = slack, {"reader": reader, "rival": other, **mu, "log prior": prior}
    return Margin(float(worst), evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:  # noqa: ARG001
    """Return any small model."""
    return model_within(rng, space, n=(1, 4))


def counterexamples() -> tuple[Counterexample, ...]:
    """The task speaks for theta', the prior for theta* by more."""
    from theory.model.concepts import AgentType

    kernel = np.array([[0.8, 0.2], [0.2, 0.8]])
    kind = AgentType(np.array([0.8, 0.2]), np.array([1.0, 2.0]), kernel)
    model = DebateModel((kind,), (1,))
    return (Counterexample("the prior undoes it", model, -float(np.log(2.0)), 6),)
