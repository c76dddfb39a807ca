"""Panels: agents who answer items of differing difficulty, and do not read each other.

What a stopping rule sees of a batch of debates is how many of n agents are right on each of M
items, round by round. A panel states the law of just that, so that the truth is known at every
round: item i has the probability p_i of a right answer, drawn from a mixture of Betas, so that the
counts of round 0 are a mixture of Beta-Binomials.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, final

import numpy as np
import numpy.typing as npt

from sims._check import check_whole
from sims._kernels import debates as kernels

Float64 = npt.NDArray[np.float64]
# the agent whose numbers are those of the item
_ITEM = 0xFFFFFFFE
_REAL = (int, float, np.integer, np.floating)


@final
@dataclass(frozen=True)
class Panel:
    """Agents on items of differing difficulty, still or drifting.

    An agent keeps its answer with probability ``stickiness`` and else answers anew. The probability
    that it is right in round t is exactly

        p_i(t) = p_i + h(t) (1 - p_i)     where drift > 0,     p_i (1 - h(t))     where drift < 0,

    with h(t) proportional to 1 - ratio^t such that the accuracy is E[p] + drift (1 - ratio^t): of
    the whole change, the share ratio^t is still to come after round t. Given the item, agents are
    independent, so that the counts of every round have an exact law (`count_law`).

    Parameters
    ----------
    n_agents : int
        n >= 1.
    items : sequence of (weight, a, b)
        The law of p_i: weights > 0 that sum to 1, and the shapes of the Betas, > 0.
    stickiness : float
        In [0, 1).
    drift : float
        In (-1, 1): how much the accuracy changes in all. 0 is the null: nothing changes.
    ratio : float
        In [0, 1): what of the change is left after one more round.
    n_answers : int
        L >= 2; answer 0 is right, wrong answers are equally likely.

    Raises
    ------
    ValueError
        When an argument is out of range; also when sticky agents could not change so fast: the new
        answers of an item must have a probability, H max(1, (1 - ratio) / (1 - stickiness)) <= 1
        with H = drift / E[1 - p], or -drift / E[p].

    Examples
    --------
    >>> panel = Panel(drift=.1, ratio=.9, stickiness=.8)
    >>> round(panel.accuracy(0), 3), round(panel.to_come(2), 3)
    (0.62, 0.081)
    """

    n_agents: int = 7
    items: tuple[tuple[float, float, float], ...] = ((0.65, 8.0, 2.0), (0.35, 2.0, 5.0))
    stickiness: float = 0.0
    drift: float = 0.0
    ratio: float = 0.9
    n_answers: int = 2

    def __post_init__(self) -> None:
        for name, least in (("n_agents", 1), ("n_answers", 2)):
            object.__setattr__(self, name, check_whole(name, getattr(self, name), least))
        for name, low, closed in (
            ("stickiness", 0.0, True),
            ("drift", -1.0, False),
            ("ratio", 0.0, True),
        ):
            value = getattr(self, name)
            number = isinstance(value, _REAL) and not isinstance(value, bool)
            if not number or not (low < value < 1.0 or (closed and value == low)):
                raise ValueError(
                    f"`{name}` must lie in {'[' if closed else '('}{low:g}, 1), got {value!r}"
                )
            object.__setattr__(self, name, float(value))
        try:
            rows = tuple(tuple(float(x) for x in row) for row in self.items)
        except (TypeError, ValueError):
            rows = ()
        sound = rows and all(
            len(row) == 3 and all(isfinite(x) and x > 0 for x in row) for row in rows
        )
        if not sound or abs(sum(row[0] for row in rows) - 1.0) > 1e-9:
            raise ValueError(
                "`items` must be rows (weight, a, b), all > 0, whose weights sum to 1, "
                f"got {self.items!r}"
            )
        object.__setattr__(self, "items", rows)
        speed = max(1.0, (1.0 - self.ratio) / (1.0 - self.stickiness))
        if self._whole() * speed > 1.0 + 1e-12:
            raise ValueError(
                f"`drift` must lie within {self._room() / speed:.4g} for these items, stickiness "
                f"and ratio, got {self.drift!r}"
            )

    @property
    def correct(self) -> int:
        """The right answer: 0."""
        return 0

    def _mean(self) -> float:
        return sum(weight * a / (a + b) for weight, a, b in self.items)

    def _room(self) -> float:
        return 1.0 - self._mean() if self.drift >= 0 else self._mean()

    def _whole(self) -> float:
        """Return h at infinity."""
        return abs(self.drift) / self._room()

    def accuracy(self, t: int) -> float:
        """Return the accuracy of round t >= 0, exactly."""
        check_whole("t", t, 0)
        return self._mean() + self.drift * (1.0 - self.ratio**t)

    def to_come(self, t: int) -> float:
        """Return the change of accuracy after round t >= 0: drift * ratio^t."""
        check_whole("t", t, 0)
        return self.drift * self.ratio**t

    def count_law(self, t: int) -> Float64:
        """Return the law of how many agents are right in round t, exactly, shape (n + 1,).

        Without drift it is the mixture of Beta-Binomials. An agent is right with probability
        p + h (1 - p) as if it were right with p and a wrong one were set right with h, so that of
        k right agents of round 0, k + Binomial(n - k, h) are right (falling: Binomial(k, 1 - h)).
        """
        check_whole("t", t, 0)
        from scipy.special import bdtr

        from stability import BetaBinomial

        n = self.n_agents
        law: Float64 = np.zeros(n + 1)
        for weight, a, b in self.items:
            law += weight * BetaBinomial(a, b).pmf(np.arange(n + 1), n)
        share = self._whole() * (1.0 - self.ratio**t)
        if share == 0.0:
            return law
        if self.drift < 0:
            law = law[::-1]
        # row k: of n - k wrong agents, j - k are set right
        moved = np.zeros((n + 1, n + 1))
        for k in range(n + 1):
            moved[k, k:] = np.diff(bdtr(np.arange(n - k + 1), n - k, share), prepend=0.0)
        law = law @ moved
        return law[::-1] if self.drift < 0 else law

    def _at(self, p: Float64, share: float) -> Float64:
        return p + share * (1.0 - p) if self.drift >= 0 else p * (1.0 - share)

    def difficulties(self, first: int, items: int, seed: int) -> Float64:
        """Return p_i of items first.., shape (items,), at round 0."""
        from scipy.special import betaincinv

        which, place = np.empty(items), np.empty(items)
        kernels.uniforms(first, 0, _ITEM, seed & 0xFFFFFFFF, seed >> 32, which, place)
        weights, a, b = np.array(self.items).T
        part = np.searchsorted(np.cumsum(weights)[:-1], which, side="right")
        found: Float64 = betaincinv(a[part], b[part], place)
        return found

    def fresh(self, p: Float64, rounds: int) -> Float64:
        """Return the probability that a new answer is right, shape (items, rounds)."""
        left = 1.0 - self.ratio ** np.arange(rounds)
        share = self._whole() * left
        share[1:] = (share[1:] - self.stickiness * share[:-1]) / (1.0 - self.stickiness)
        return np.stack([self._at(p, float(np.clip(one, 0.0, 1.0))) for one in share], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        data["items"] = [list(row) for row in self.items]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Panel":
        """Build the panel that ``to_dict`` wrote; what has a default may be missing.

        Raises
        ------
        ValueError
            Naming the field that is unknown or out of range.
        """
        known = [field.name for field in fields(cls)]
        if not isinstance(data, Mapping) or not set(data) <= set(known):
            raise ValueError(f"a panel must have of {known} only, got {data!r}")
        return cls(**data)

    def to_json(self) -> str:
        """Return the panel as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> "Panel":
        """Build a panel from JSON text."""
        try:
            data = json.loads(text)
        except (TypeError, json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"the panel is not JSON: {error}") from None
        return cls.from_dict(data)
