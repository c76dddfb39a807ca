"""The theorems of two published theories of debate, as printed and as repaired, with checks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from theory.model.concepts import DebateModel
from theory.theorems import (
    against_vote,
    amplification,
    assumption_4_1,
    both_prunings,
    diversity_pruning,
    echo_chamber,
    lemma_4_2,
    misconception,
    objective,
    quality_pruning,
    refutation,
    shared_misconception,
    similar_opinions,
)
from theory.theorems.base import Counterexample, Theorem, Verdict, theorem

_MODULES = (
    assumption_4_1,
    lemma_4_2,
    objective,
    echo_chamber,
    similar_opinions,
    misconception,
    shared_misconception,
    diversity_pruning,
    quality_pruning,
    both_prunings,
    refutation,
    amplification,
    against_vote,
)
THEOREMS: Mapping[str, Theorem] = MappingProxyType({one.ID: theorem(one) for one in _MODULES})


def check(
    theorem_id: str, model: DebateModel, *, statement: str = "repaired", **options: Any
) -> Verdict:
    """Check the printed or the repaired statement of a theorem on a model.

    Parameters
    ----------
    theorem_id : str
        A key of ``THEOREMS``.
    model : DebateModel
    statement : {"repaired", "printed"}
    **options
        Of the theorem; see the docstring of its module (``theory show``).

    Raises
    ------
    ValueError
        For an unknown theorem, statement or option value.

    Examples
    --------
    >>> model = DebateModel.shared_misconception(7, 4, weight=.95, misled=.49, right=.8, wrong=.3)
    >>> check("EL-6.1", model, statement="printed", k=4).sentence
    'EL-6.1, printed: violated on this model, by 0.0667.'
    """
    if theorem_id not in THEOREMS:
        raise ValueError(f"`theorem_id` must be one of {', '.join(THEOREMS)}, got {theorem_id!r}")
    return THEOREMS[theorem_id].check(model, statement=statement, **options)


__all__ = ["THEOREMS", "Counterexample", "Theorem", "Verdict", "check"]
