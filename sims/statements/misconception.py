"""EL-5.4: accuracy falls with the number m of agents that share a misconception."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from sims.debates.scenario import Scenario
from sims.statements.means import Means, What, mean_of, model_of, option, shares
from theory import DebateModel


def shared_misconception(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """The fall of the accuracy of round t from m to m + 1, with common random numbers."""
    del statement  # both name the same differences
    t, model = option(options, "t", 3), model_of(what)
    by_m = [
        shares(with_misled(what, m), model.correct, t + 1, debates, seed, True)[:, t]
        for m in range(model.n_agents + 1)
    ]
    return {f"m={m}": mean_of(before - after) for m, (before, after) in enumerate(pairwise(by_m))}


def with_misled(what: What, m: int) -> What:
    """Return the debate with m of its n agents of the second type.

    Examples
    --------
    >>> with_misled(DebateModel.shared_misconception(7, 3), 5).sizes
    (2, 5)
    """
    if isinstance(what, Scenario):
        return replace(what, model=_with_misled(what.model, m))
    return _with_misled(what, m)


def _with_misled(model: DebateModel, m: int) -> DebateModel:
    sizes = (model.n_agents - m, m)
    kept = [(kind, size) for kind, size in zip(model.types, sizes, strict=True) if size]
    return model.with_(types=tuple(kind for kind, _ in kept), sizes=tuple(size for _, size in kept))
