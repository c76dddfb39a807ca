"""Random models, for property tests and for the search of counterexamples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from theory._check import check_int
from theory.model.concepts import AgentType, DebateModel


def random_model(
    rng: np.random.Generator,
    *,
    n: int | tuple[int, int] = (1, 7),
    concepts: int | tuple[int, int] = (2, 4),
    answers: int | tuple[int, int] = (2, 4),
    types: int | tuple[int, int] = (1, 2),
    common_kernel: bool = False,
    concentration: float = 1.0,
) -> DebateModel:
    """Return a random model: Dirichlet priors, task weights and kernel rows.

    Parameters
    ----------
    rng : numpy.random.Generator
    n, concepts, answers, types : int or (low, high)
        Fixed, or drawn evenly from low..high; never more types than agents.
    common_kernel : bool
        Whether all types share one kernel.
    concentration : float
        > 0, of the Dirichlet laws; small values give sure agents.

    Examples
    --------
    >>> model = random_model(np.random.default_rng(0), n=5, concepts=3)
    >>> model.n_agents, model.n_concepts
    (5, 3)
    """
    size = _drawn(rng, "n", n, 1)
    k = _drawn(rng, "concepts", concepts, 1)
    width = _drawn(rng, "answers", answers, 1)
    kinds = min(_drawn(rng, "types", types, 1), size)
    # sizes: cut a row of agents at different places
    cuts = np.sort(rng.choice(np.arange(1, size), kinds - 1, replace=False))
    sizes = np.diff([0, *cuts.tolist(), size]).tolist()
    shared = _law(rng, (k, width), concentration)
    made = tuple(
        AgentType(
            _law(rng, (k,), concentration),
            _law(rng, (k,), concentration),
            shared if common_kernel else _law(rng, (k, width), concentration),
        )
        for _ in range(kinds)
    )
    return DebateModel(
        made, tuple(sizes), truth=int(rng.integers(k)), correct=int(rng.integers(width))
    )


def model_within(
    rng: np.random.Generator, space: Mapping[str, Any], **defaults: Any
) -> DebateModel:
    """Return a random model whose ranges are those of ``space``, else the defaults."""
    return random_model(rng, **(defaults | dict(space)))


def _drawn(rng: np.random.Generator, name: str, value: int | tuple[int, int], least: int) -> int:
    if isinstance(value, tuple):
        low, high = (check_int(name, end, minimum=least) for end in value)
        if low > high:
            raise ValueError(f"`{name}` must be (low, high) with low <= high, got {value}")
        return int(rng.integers(low, high + 1))
    return check_int(name, value, minimum=least)


def _law(
    rng: np.random.Generator, shape: tuple[int, ...], concentration: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    drawn = rng.gamma(concentration, size=shape) + 1e-3
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))
