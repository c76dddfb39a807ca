"""What no exact chain covers: who listens to whom, sticky agents, unread and silent answers.

A scenario wraps a model of `theory` and changes how its debate is held. With its defaults it is the
model's own debate, and has its exact law.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

from sims._check import check_flag, check_number
from sims.debates.embedding import Embedding
from theory import DebateModel

GRAPHS = ("complete", "ring", "star", "groups")


@final
@dataclass(frozen=True)
class Scenario:
    """A debate that is held otherwise than a model's own.

    Parameters
    ----------
    model : theory.DebateModel
        Without view and rewriting; agents stand in the order of their types.
    graph : None, str, or sequence of n sequences of bool
        Whom each agent reads: row j marks those whom agent j listens to. None is everybody;
        "ring" oneself and both neighbours; "star" agent 0 reads all, the others itself and agent 0;
        "groups" of three in the order of the agents, the last may be smaller.
    stickiness : float
        In [0, 1): probability that an agent keeps its last answer instead of reading, per round.
    error_correlation : float
        In [0, 1]: probability that an agent takes its first answer from a draw that all share.
    unread, silent : float
        In [0, 1): probability that what an agent says cannot be read, or that it says nothing, in a
        round; nobody reads it then, and the agent still knows what it thought.
    memory : {"last", "all"}
        Whether agents read the round before or all rounds.
    stop_unanimous : bool
        Whether a debate ends when all that spoke gave one readable answer; it is carried on.
    embedding : Embedding, optional
        Answers are said as points of which each agent reads a part.

    Raises
    ------
    ValueError
        When an argument is out of range.

    Examples
    --------
    >>> scenario = Scenario(DebateModel.binary(6), graph="ring", stickiness=.5)
    >>> scenario.listens().sum(axis=1).tolist()
    [3, 3, 3, 3, 3, 3]
    >>> Scenario.from_json(scenario.to_json()) == scenario
    True
    """

    model: DebateModel
    graph: str | tuple[tuple[bool, ...], ...] | None = None
    stickiness: float = 0.0
    error_correlation: float = 0.0
    unread: float = 0.0
    silent: float = 0.0
    memory: Literal["last", "all"] = "last"
    stop_unanimous: bool = False
    embedding: Embedding | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, DebateModel):
            raise ValueError(f"`model` must be a theory.DebateModel, got {self.model!r}")
        if self.model.view is not None or self.model.rewrite is not None:
            raise ValueError("`model` of a scenario must have neither view nor rewrite")
        for name, closed in (
            ("stickiness", False),
            ("error_correlation", True),
            ("unread", False),
            ("silent", False),
        ):
            value = getattr(self, name)
            number = check_number(name, value, 0.0, 1.0, closed=(True, closed))
            object.__setattr__(self, name, number)
        if self.memory not in ("last", "all"):
            raise ValueError(f"`memory` must be 'last' or 'all', got {self.memory!r}")
        ends = check_flag("stop_unanimous", self.stop_unanimous)
        object.__setattr__(self, "stop_unanimous", ends)
        if self.embedding is not None:
            if not isinstance(self.embedding, Embedding):
                raise ValueError(f"`embedding` must be an Embedding, got {self.embedding!r}")
            if self.embedding.dimension < self.model.n_answers:
                raise ValueError(
                    f"`dimension` of the embedding must be >= {self.model.n_answers}, the number "
                    f"of answers, got {self.embedding.dimension}"
                )
        if isinstance(self.graph, str):
            if self.graph not in GRAPHS:
                raise ValueError(
                    f"`graph` must be one of {', '.join(GRAPHS)}, or a matrix, got {self.graph!r}"
                )
        elif self.graph is not None:
            n = self.model.n_agents
            try:
                matrix = np.asarray(self.graph)
                sound = matrix.shape == (n, n) and bool(np.isin(matrix, (0, 1)).all())
            except ValueError:
                sound = False
            if not sound:
                raise ValueError(
                    f"`graph` must be a matrix of {n} x {n} true or false, got {self.graph!r}"
                )
            object.__setattr__(
                self, "graph", tuple(tuple(bool(x) for x in row) for row in matrix.tolist())
            )

    def listens(self) -> npt.NDArray[np.bool_]:
        """Return whom each agent reads, shape (n, n)."""
        n = self.model.n_agents
        if self.graph is None or self.graph == "complete":
            return np.ones((n, n), np.bool_)
        if not isinstance(self.graph, str):
            return np.array(self.graph, np.bool_)
        found = np.eye(n, dtype=np.bool_)
        at = np.arange(n)
        if self.graph == "ring":
            found[at, (at + 1) % n] = found[at, (at - 1) % n] = True
        elif self.graph == "star":
            found[0], found[:, 0] = True, True
        else:
            found = at[:, None] // 3 == at[None, :] // 3
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        data["model"] = self.model.to_dict()
        if isinstance(self.graph, tuple):
            data["graph"] = [list(row) for row in self.graph]
        if self.embedding is not None:
            data["embedding"] = self.embedding.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scenario":
        """Build the scenario that ``to_dict`` wrote; what has a default may be missing.

        Raises
        ------
        ValueError
            Naming the field that is missing, unknown or out of range.
        """
        known = {field.name for field in fields(cls)}
        if not isinstance(data, Mapping) or "model" not in data or not set(data) <= known:
            raise ValueError(f"a scenario must have a `model`, and of {sorted(known)} only")
        values = dict(data)
        values["model"] = DebateModel.from_dict(data["model"])
        if data.get("embedding") is not None:
            values["embedding"] = Embedding.from_dict(data["embedding"])
        return cls(**values)

    def to_json(self) -> str:
        """Return the scenario as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> "Scenario":
        """Build a scenario from JSON text."""
        try:
            data = json.loads(text)
        except (TypeError, json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"the scenario is not JSON: {error}") from None
        return cls.from_dict(data)
