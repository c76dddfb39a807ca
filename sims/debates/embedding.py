"""Responses as points: what an answer says in words, and which responses are read."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, final

from sims._check import check_number, check_whole


@final
@dataclass(frozen=True)
class Embedding:
    """Continuous responses, of which readers keep those that differ most, or are best.

    A response that gives answer a lies at e_a + spread * z in R^dimension: e_a is a unit vector,
    another one for every answer, and z is standard normal. Distances are Euclidean. Every reader
    keeps ``keep`` of the readable responses it hears, all where it hears no more.

    Parameters
    ----------
    keep : int
        >= 1.
    spread : float
        0..1e6. At 0 the points are the answers; where it is large, the points say nothing of them,
        and diversity keeps a subset at random.
    dimension : int
        At least the number of answers.
    method : {"diversity", "quality"}
        The greedy subset of largest total distance (`theory.diversity_subset`: the pair that lies
        furthest apart, then what adds most), or the responses next to the right answer.

    Raises
    ------
    ValueError
        When an argument is out of range.

    Examples
    --------
    >>> Embedding(keep=4, spread=.3).dimension
    8
    """

    keep: int
    spread: float = 0.3
    dimension: int = 8
    method: Literal["diversity", "quality"] = "diversity"

    def __post_init__(self) -> None:
        for name, most in (("keep", 2**31 - 1), ("dimension", 4096)):
            object.__setattr__(self, name, check_whole(name, getattr(self, name), 1, most))
        # beyond that the squares of distances lose the unit that tells answers apart
        object.__setattr__(self, "spread", check_number("spread", self.spread, 0.0, 1e6))
        if self.method not in ("diversity", "quality"):
            raise ValueError(f"`method` must be 'diversity' or 'quality', got {self.method!r}")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Embedding":
        """Build the embedding that ``to_dict`` wrote; what has a default may be missing."""
        known = [field.name for field in fields(cls)]
        if not isinstance(data, Mapping) or "keep" not in data or not set(data) <= set(known):
            raise ValueError(f"an `embedding` must have `keep`, and of {known} only, got {data!r}")
        return cls(**data)
