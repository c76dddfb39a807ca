"""Looking for models that violate a statement: random search, then local refinement.

Models are drawn as the theorem draws them (its assumptions met); the worst are moved by log-normal
steps in priors, task likelihoods, kernels and refutation, which shrink while nothing is found. What
is minimised is the margin. The result is rounded to a few digits, so that it can be written down,
as long as it stays a violation.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from theory._check import check_choice, check_int
from theory.model.concepts import AgentType, DebateModel
from theory.model.interventions import Refutation
from theory.theorems import THEOREMS
from theory.theorems.base import STATEMENTS, TOLERANCE, Verdict

Float64 = npt.NDArray[np.float64]
Margins = Callable[[DebateModel], float | None]
_KEPT = 6  # starts of the refinement
_FIRST = 0.5  # share of the budget for random models


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    theorem, statement : str
    model : DebateModel
        The model with the smallest margin, violation or not.
    verdict : Verdict
        Its verdict.
    checked : int
        Models that were checked.
    seed : int
    """

    theorem: str
    statement: str
    model: DebateModel
    verdict: Verdict
    checked: int
    seed: int

    @property
    def found(self) -> bool:
        """Whether the model violates the statement."""
        return self.verdict.holds is False


def search_counterexample(
    theorem: str,
    space: Mapping[str, Any] | None = None,
    *,
    budget: int = 2000,
    seed: int = 0,
    statement: str = "printed",
    exclude: Iterable[DebateModel] = (),
    where: Callable[[DebateModel], bool] | None = None,
    **options: Any,
) -> Search:
    """Search for a model that violates a statement.

    Parameters
    ----------
    theorem : str
        A key of ``THEOREMS``.
    space : mapping, optional
        Ranges of `random_model` (n, concepts, answers, types, ...) instead of the theorem's own.
    budget : int
        >= 2; models to check.
    seed : int
        >= 0; the same seed finds the same model.
    statement : {"printed", "repaired"}
    exclude : iterable of DebateModel
        Models that do not count, such as those already known.
    where : callable, optional
        A condition on the model besides the assumptions.
    **options
        Of the check.

    Raises
    ------
    ValueError
        For an unknown theorem or statement, or a budget below 2.

    Examples
    --------
    >>> found = search_counterexample("EL-5.4", {"n": 2, "answers": 2}, budget=60, seed=1)
    >>> found.found, found.model.n_agents, found.model.n_answers
    (True, 2, 2)
    """
    if theorem not in THEOREMS:
        raise ValueError(f"`theorem` must be one of {', '.join(THEOREMS)}, got {theorem!r}")
    check_choice("statement", statement, STATEMENTS)
    check_int("budget", budget, minimum=2)
    rng = np.random.default_rng(check_int("seed", seed, minimum=0))
    one, known, bounds = THEOREMS[theorem], set(exclude), dict(space or {})

    def margin_of(model: DebateModel) -> float | None:
        """Return the margin, or None for a model that does not count."""
        if model in known or not (where is None or where(model)):
            return None
        return one.check(model, statement=statement, **options).margin

    drawn: list[tuple[float, DebateModel]] = []
    first = max(1, int(budget * _FIRST))
    for _ in range(first):
        model = one.sample(rng, statement, **bounds)
        margin = margin_of(model)
        if margin is not None:
            drawn.append((margin, model))
    if not drawn:
        raise ValueError(f"`space` must hold models that meet the assumptions of {theorem}")
    # the worst of each shape, so that one shape in which nothing is to be found takes not all
    worst: dict[tuple[int, ...], tuple[float, DebateModel]] = {}
    for margin, model in sorted(drawn, key=lambda pair: pair[0]):
        worst.setdefault((model.n_concepts, model.n_answers), (margin, model))
    starts = list(worst.values())[:_KEPT]
    steps = (budget - first) // len(starts)
    refined = [_refined(model, margin, rng, steps, margin_of) for margin, model in starts]
    margin, best = min(refined, key=lambda pair: pair[0])
    best = _rounded(best, margin, margin_of)
    verdict = one.check(best, statement=statement, **options)
    return Search(theorem, statement, best, verdict, budget, seed)


def _refined(
    model: DebateModel,
    margin: float,
    rng: np.random.Generator,
    steps: int,
    margin_of: Margins,
) -> tuple[float, DebateModel]:
    scale = 0.5
    for _ in range(steps):
        moved = _moved(model, rng, scale)
        found = margin_of(moved)
        if found is not None and found < margin:
            margin, model, scale = found, moved, min(1.0, scale * 1.5)
        else:
            scale = max(0.02, scale * 0.97)
    return margin, model


def _moved(model: DebateModel, rng: np.random.Generator, scale: float) -> DebateModel:
    """Multiply all probabilities by log-normal factors; equal kernels stay equal."""
    kernels: dict[bytes, Float64] = {}
    types = []
    for one in model.types:
        key = one.kernel.tobytes()
        if key not in kernels:
            kernels[key] = _jittered(one.kernel, rng, scale)
        prior = _jittered(one.prior, rng, scale)
        task = _jittered(one.likelihood / one.likelihood.sum(), rng, scale)
        types.append(AgentType(prior, task, kernels[key]))
    rewrite = model.rewrite
    if rewrite is not None:
        rewrite = Refutation(_jittered(rewrite.matrix, rng, scale))
    return model.with_(types=tuple(types), rewrite=rewrite)


def _jittered(law: Float64, rng: np.random.Generator, scale: float) -> Float64:
    moved = law * np.exp(scale * rng.standard_normal(law.shape))
    moved = moved / moved.sum(axis=-1, keepdims=True)
    # not below one in a hundred, where a model would be hard to believe
    moved = np.where(law > 0.0, np.maximum(moved, 0.01), 0.0)
    found: Float64 = moved / moved.sum(axis=-1, keepdims=True)
    return found


def _rounded(model: DebateModel, margin: float, margin_of: Margins) -> DebateModel:
    """Return the model to as few digits as leave nine tenths of the violation."""
    for digits in (2, 3, 4):
        try:
            types = tuple(
                AgentType(
                    _digits(one.prior, digits),
                    _digits(one.likelihood / one.likelihood.sum(), digits),
                    _digits(one.kernel, digits),
                )
                for one in model.types
            )
            rewrite = model.rewrite
            if rewrite is not None:
                rewrite = Refutation(_digits(rewrite.matrix, digits))
            short = model.with_(types=types, rewrite=rewrite)
        except ValueError:  # a probability was rounded to nothing
            continue
        found = margin_of(short)
        if found is not None and found < min(0.9 * margin, -TOLERANCE):
            return short
    return model


def _digits(law: Float64, digits: int) -> Float64:
    """Round to digits, the largest entry taking what is left to 1."""
    short = np.where(law > 0.0, np.maximum(np.round(law, digits), 10.0**-digits), 0.0)
    rows = np.atleast_2d(short) if law.ndim < 3 else short.reshape(-1, law.shape[-1])
    for row in rows:
        row[row.argmax()] += 1.0 - row.sum()
    found: Float64 = np.round(rows, digits).reshape(law.shape)
    return found
