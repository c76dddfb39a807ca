"""Means over debates with their standard errors, and what they are taken of."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sims._check import check_whole
from sims.debates.scenario import Scenario
from sims.debates.simulate import simulate
from theory import DebateModel

Float64 = npt.NDArray[np.float64]
What = DebateModel | Scenario


class Mean(NamedTuple):
    """A mean over ``draws`` debates and its standard error."""

    value: float
    error: float
    draws: int


Means = dict[str, Mean]
Statement = Callable[[What, int, int, str, dict[str, Any]], Means]


def mean_of(values: Float64) -> Mean:
    """Return the mean of numbers in [-1, 1] or so, a number a debate.

    The error is at least 1 / N: of what happens in fewer than one of N debates, N debates say
    nothing, and three such errors are the rule of three.

    Examples
    --------
    >>> mean_of(np.array([0.0, 1.0, 1.0, 0.0]))
    Mean(value=0.5, error=0.28867513459481287, draws=4)
    >>> mean_of(np.zeros(100)).error
    0.01
    """
    draws = len(values)
    if draws < 2:
        return Mean(float(values.sum()), np.inf, draws)
    spread = float(values.std(ddof=1)) / draws**0.5
    return Mean(float(values.mean()), max(spread, 1.0 / draws), draws)


def apart(first: Mean, second: Mean, factor: float = 1.0) -> Mean:
    """Return the difference of two means of separate debates, the second times a factor."""
    return Mean(
        first.value - factor * second.value,
        float(np.hypot(first.error, factor * second.error)),
        min(first.draws, second.draws),
    )


def model_of(what: What) -> DebateModel:
    """Return the model, of a scenario its own."""
    return what.model if isinstance(what, Scenario) else what


def shares(what: What, answer: int, rounds: int, debates: int, seed: int, direct: bool) -> Float64:
    """Return the share of an answer in each debate and round, shape (debates, rounds).

    ``direct`` draws agent by agent, so that two models share their draws.
    """
    found = simulate(
        what,
        debates=debates,
        rounds=rounds,
        seed=seed,
        record="counts",
        method="direct" if direct else "auto",
    )
    assert found.counts is not None
    return np.asarray(found.counts[:, :, answer] / found.model.n_agents)


def option(options: dict[str, Any], name: str, usual: int, least: int = 0) -> int:
    """Take a whole number out of the options."""
    value = options.pop(name, usual)
    return check_whole(name, value, least)


def choice(options: dict[str, Any], name: str, usual: str, known: tuple[str, ...]) -> str:
    """Take a word out of the options."""
    value = options.pop(name, usual)
    if value not in known:
        raise ValueError(f"`{name}` must be one of {', '.join(known)}, got {value!r}")
    return str(value)


def model_only(what: What, theorem_id: str) -> DebateModel:
    """Refuse a scenario where the statement is of the model's own debate."""
    if isinstance(what, Scenario):
        raise ValueError(
            f"`what` must be a theory.DebateModel for {theorem_id}, which speaks of its own "
            "debate, got a Scenario"
        )
    return what


def exactly(theorem_id: str, statement: str, why: str) -> ValueError:
    """Return the refusal of a statement that draws do not reach."""
    other = "printed" if statement == "repaired" else "repaired"
    return ValueError(
        f"`statement` must be {other!r} for {theorem_id}: the {statement} one {why}, and is "
        "checked exactly"
    )
