"""Lemma 4.2: the law of an answer, with the skew that the other answers put on it.

Given Assumption 4.1 with H1 and H2 (`theory.theorems.assumption_4_1`), Bayes' rule gives

    P(z | x, Z, phi) = sum_theta R(theta, z) P(x | theta) pi(theta) prod_j R(theta, z_j) / D(x, Z),
    D(x, Z)          = sum_theta P(x | theta) pi(theta) prod_j R(theta, z_j).

Derivation. P(theta | x, Z) is proportional to P(x, Z | theta) pi(theta) = P(x | theta) prod_j
R(theta, z_j) pi(theta) by H1 and H2, with the sum over theta as its normaliser; Assumption 4.1 then
gives P(z | x, Z) = sum_theta R(theta, z) P(theta | x, Z). The skew stands inside the sum: it is no
factor of the whole. D does not depend on z, so that "proportional to" is right for one Z; but it
varies from one Z to another by orders of magnitude, and the form without it must not be compared
across Z (`theory.theorems.objective`).

Check: on every vector of answers (at most 4,096) the formula, multiplied out answer by answer, sums
to 1, does not depend on the order of the answers, and equals the law that the chain on counts uses.
The margin is 1e-12 less the largest deviation.
"""

from itertools import product
from typing import Any

import numpy as np

from theory.model.concepts import DebateModel
from theory.model.random_models import model_within
from theory.model.response import next_law
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import plain

ID = "EL-L4.2"
TITLE = "The law of an answer is skewed by the answers of the others"
SOURCE = "Estornell and Liu, NeurIPS 2024, Lemma 4.2"
PRINTED = (
    "P(z_i(t+1) | x, Z(t), phi_i) is proportional to sum_theta P(z_i(t+1) | theta, phi_i) "
    "P(x | theta, phi_i) P(theta | phi_i) prod_j P(z_j(t) | theta, phi_i)."
)
REPAIRED = (
    "Under Assumption 4.1, H1 and H2, with equality after division by D(x, Z) = sum_theta "
    "P(x | theta) P(theta) prod_j P(z_j | theta), which depends on Z and not on z_i(t+1)."
)
PROOF = "proved"


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:  # noqa: ARG001
    """A model whose agents read plain answers, small enough to write out."""
    return {
        "agents read all answers, as given, with full weight": plain(model),
        "at most 4,096 vectors of answers": model.n_answers**model.n_agents <= 4096,
    }


def margin(model: DebateModel, statement: str) -> Margin:  # noqa: ARG001
    """1e-12 less the largest deviation; the range of D as evidence."""
    worst, low, high = 0.0, np.inf, 0.0
    seen: dict[tuple[int, ...], np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for vector in product(range(model.n_answers), repeat=model.n_agents):
        for e, kind in enumerate(model.types):
            joint = kind.weight.copy()
            for answer in vector:
                joint = joint * kind.kernel[:, answer]
            normaliser = float(joint.sum())
            low, high = min(low, normaliser), max(high, normaliser)
            law = joint @ kind.kernel / normaliser
            counts = np.bincount(vector, minlength=model.n_answers)
            first = seen.setdefault((e, *counts.tolist()), law)
            worst = max(
                worst,
                abs(float(law.sum()) - 1.0),
                float(np.abs(law - first).max()),
                float(np.abs(law - next_law(kind, counts)).max()),
            )
    evidence = {"largest deviation": worst, "smallest D": low, "largest D": high}
    return Margin(1e-12 - worst, evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:  # noqa: ARG001
    """Return any small model."""
    return model_within(rng, space, n=(1, 4), answers=(2, 3))


def counterexamples() -> tuple[Counterexample, ...]:
    """None: as a proportionality for one Z the lemma is right."""
    return ()
