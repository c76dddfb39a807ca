"""What a theorem is here: a printed statement, a repaired one, and exact checks of both on a model.

A theorem is one module with

    ID, TITLE, SOURCE, PRINTED, REPAIRED     texts
    PROOF                                    where the repaired statement stands: "proved", ...
    assumptions(model, statement)            predicates by name
    margin(model, statement, **options)      signed slack and evidence: negative is a violation
    sample(rng, statement, **space)          a random model that meets the assumptions; ``space``
                                             are ranges of `random_model`
    counterexamples()                        models that violate the printed statement

`check` puts them together. Margins are exact up to rounding: no simulation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from theory._check import check_choice
from theory.model.concepts import DebateModel

STATEMENTS = ("printed", "repaired")
TOLERANCE = 1e-9
"""Slack below which a margin is rounding: exact sums of up to 10^6 terms stay within 1e-12."""


@dataclass(frozen=True)
class Margin:
    """Signed slack of a statement on a model, and what was seen on the way."""

    value: float
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What a check says.

    Attributes
    ----------
    theorem, statement : str
    holds : bool or None
        None when an assumption fails, so that the statement says nothing about the model.
    margin : float or None
        Signed slack: how much the statement holds by, or is violated by when negative.
    assumptions : mapping of str to bool
    evidence : mapping
        The figures behind the margin.
    method : str
    """

    theorem: str
    statement: str
    holds: bool | None
    margin: float | None
    assumptions: Mapping[str, bool]
    evidence: Mapping[str, Any]
    method: str

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        name = f"{self.theorem}, {self.statement}"
        if self.holds is None:
            failed = [one for one, true in self.assumptions.items() if not true]
            return f"{name}: says nothing about this model; not met: {'; '.join(failed)}."
        if self.holds:
            return f"{name}: holds on this model, by {self.margin:.3g}."
        return f"{name}: violated on this model, by {-self.margin if self.margin else 0.0:.3g}."

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "theorem": self.theorem,
            "statement": self.statement,
            "holds": self.holds,
            "margin": self.margin,
            "assumptions": dict(self.assumptions),
            "evidence": _plain(dict(self.evidence)),
            "method": self.method,
        }


@dataclass(frozen=True)
class Counterexample:
    """A model that violates a printed statement.

    ``options`` are those of the check; ``margin`` is the violation to the digits that are known.
    """

    name: str
    model: DebateModel
    margin: float
    digits: int = 4
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Theorem:
    """A theorem with its two statements; from the module that holds it.

    Examples
    --------
    >>> from theory import THEOREMS
    >>> THEOREMS["EL-5.4"].title
    'Accuracy falls with the number of agents that share a misconception'
    """

    id: str
    title: str
    source: str
    printed: str
    repaired: str
    proof: str
    doc: str
    assumptions: Callable[[DebateModel, str], dict[str, bool]]
    margin: Callable[..., Margin]
    sample: Callable[..., DebateModel]
    counterexamples: Callable[[], tuple[Counterexample, ...]]
    strict: bool = False

    def check(self, model: DebateModel, *, statement: str = "repaired", **options: Any) -> Verdict:
        """Check a statement on a model; see the module of the theorem for the options."""
        check_choice("statement", statement, STATEMENTS)
        if not isinstance(model, DebateModel):
            raise ValueError(f"`model` must be a DebateModel, got {model!r}")
        met = self.assumptions(model, statement)
        if not all(met.values()):
            return Verdict(self.id, statement, None, None, met, {}, "exact")
        found = self.margin(model, statement, **options)
        # a strict inequality is violated by equality
        strict = self.strict and statement == "printed"
        holds = found.value > TOLERANCE if strict else found.value >= -TOLERANCE
        return Verdict(self.id, statement, holds, found.value, met, found.evidence, "exact")


def theorem(module: ModuleType) -> Theorem:
    """Return the theorem that a module holds."""
    return Theorem(
        id=module.ID,
        title=module.TITLE,
        source=module.SOURCE,
        printed=module.PRINTED,
        repaired=module.REPAIRED,
        proof=module.PROOF,
        doc=module.__doc__ or "",
        assumptions=module.assumptions,
        margin=module.margin,
        sample=module.sample,
        counterexamples=module.counterexamples,
        strict=getattr(module, "STRICT", False),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
