"""Remark 6.3: the two prunings can be used together.

Diversity pruning keeps answers that differ, quality pruning keeps answers that agree with the task:
they pull in different directions, and no guarantee for their composition follows from one for each.
The composition is a view like any other (quality first, then diversity, the published order), with
an exact law.

Printed check, reading the remark as a promise: the accuracy in round ``t`` with both less the
larger one with either alone, k' = (n + k + 1) // 2 answers kept by quality and k of them by
diversity; a negative margin says that the composition is worse than its better part.

Repaired check: the composed view on counts equals the view composed agent by agent, for small
models; the margin is 1e-9 less the largest difference of a law over three rounds.
"""

from typing import Any

import numpy as np

from theory._check import check_int
from theory.model.chain import CountChain
from theory.model.concepts import DebateModel
from theory.model.interventions import DiversityPruning, QualityPruning
from theory.model.random_models import model_within
from theory.model.vectors import VectorChain
from theory.theorems.base import TOLERANCE, Counterexample, Margin
from theory.theorems.conditions import likeliest_under_truth

ID = "EL-R6.3"
TITLE = "Both prunings together"
SOURCE = "Estornell and Liu, NeurIPS 2024, Remark 6.3"
PRINTED = (
    "Both prunings can be used at the same time, to steer a debate away from wrong answers and "
    "towards right ones."
)
REPAIRED = (
    "Their composition is a view with an exact law. Effects need not add: the composition may be "
    "worse than its better part, and than no pruning."
)
PROOF = "an identity, checked by enumeration; no guarantee exists"


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """A model without interventions of its own."""
    met = {"no view and no refutation": model.view is None and model.rewrite is None}
    if statement == "printed":
        met["y is the likeliest answer under theta*"] = likeliest_under_truth(model)
    else:
        met["at most 4,096 vectors of answers"] = model.n_answers**model.n_agents <= 4096
    return met


def views(n: int, k: int | None = None) -> tuple[QualityPruning, DiversityPruning]:
    """Return the two stages, quality first."""
    last = (n + 1) // 2 if k is None else check_int("k", k, minimum=1, maximum=n)
    return QualityPruning((n + last + 1) // 2), DiversityPruning(last)


def margin(model: DebateModel, statement: str, *, k: int | None = None, t: int = 5) -> Margin:
    """Return what the composition gains over its better part, or the slack of the identity."""
    check_int("t", t, minimum=1)
    quality, diversity = views(model.n_agents, k)
    both = model.with_(view=(quality, diversity))
    if statement == "printed":
        found = {
            "none": CountChain(model).accuracy(t),
            "quality": CountChain(model.with_(view=QualityPruning(diversity.k))).accuracy(t),
            "diversity": CountChain(model.with_(view=diversity)).accuracy(t),
            "both": CountChain(both).accuracy(t),
        }
        best = max(found["quality"], found["diversity"])
        return Margin(found["both"] - best, {"t": t, "k": diversity.k, **found})
    counts, vectors = CountChain(both), VectorChain(both)
    worst = 0.0
    for at in range(3):
        law = vectors.count_law(at)
        for state, p in zip(counts.states.tolist(), counts.law(at).tolist(), strict=True):
            worst = max(worst, abs(p - law[tuple(state)]))
    return Margin(TOLERANCE - worst, {"largest difference": worst})


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:  # noqa: ARG001
    """Return a small model in which y is the likeliest answer under theta*."""
    model = model_within(rng, space, n=(2, 4), answers=(2, 3), common_kernel=True)
    return model.with_(correct=int(model.types[0].kernel[model.truth].argmax()))


def counterexamples() -> tuple[Counterexample, ...]:
    """A misled majority: quality pruning keeps its answers, and diversity cannot bring others."""
    model = DebateModel.shared_misconception(7, 5, weight=0.8, misled=0.2, right=0.8, wrong=0.3)
    return (Counterexample("worse than its better part", model, -0.0188, 4, {"k": 3}),)
