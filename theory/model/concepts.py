"""Agents that answer by latent concepts, and debates of such agents.

Concepts theta in {0..K-1}, answers a in {0..L-1}. An agent of type e has a prior
pi_e(theta) = P(theta | phi_e), a task likelihood l_e(theta) = P(x | theta, phi_e) and a kernel
R_e(theta, a) = P(z = a | theta, phi_e) > 0. Its **task weight** is the posterior of the task alone,

    w_e(theta) = l_e(theta) pi_e(theta) / sum_u l_e(u) pi_e(u).

A debate holds n_e agents of each type, a true concept theta* and a correct answer y. In round 0 an
agent answers from q0_e = sum_theta w_e(theta) R_e(theta, .); in later rounds it reads the answers
of the round before (`theory.model.response`).

Source: A. Estornell and Y. Liu, Multi-LLM Debate: Framework, Principals, and Interventions,
NeurIPS 2024 (the framework, section 4).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from theory._check import check_array, check_fields, check_int, check_real, check_rows
from theory.model.interventions import (
    Pruning,
    Refutation,
    pruning_from_dict,
    view_stages,
)

Float64 = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class AgentType:
    """One type of agent: what it believes, and how it answers under each concept.

    Parameters
    ----------
    prior : array-like, shape (K,)
        P(theta | phi), sums to 1.
    likelihood : array-like, shape (K,)
        P(x | theta, phi) >= 0 of the task, up to a common factor.
    kernel : array-like, shape (K, L)
        P(answer | theta, phi) > 0, rows sum to 1. With a zero in it one answer can exclude a
        concept, and two such answers all of them: it is refused unless ``smoothing`` is given.
    smoothing : float
        eps in [0, 1): the kernel becomes (1 - eps) kernel + eps / L.

    Raises
    ------
    ValueError
        When shapes do not fit, rows do not sum to 1, a kernel has a zero, or prior and likelihood
        exclude every concept.

    Examples
    --------
    >>> judge = AgentType([.5, .5], [.8, .2], [[.9, .1], [.3, .7]])
    >>> judge.weight.round(3).tolist(), judge.first_law.round(3).tolist()
    ([0.8, 0.2], [0.78, 0.22])
    """

    prior: Float64
    likelihood: Float64
    kernel: Float64
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        prior = check_rows("prior", check_array("prior", self.prior, 1))
        likelihood = check_array("likelihood", self.likelihood, 1)
        kernel = check_rows("kernel", check_array("kernel", self.kernel, 2))
        smoothing = check_real("smoothing", self.smoothing, low=0.0, high=1.0)
        if prior.shape != likelihood.shape or len(prior) != len(kernel):
            raise ValueError(
                "`prior`, `likelihood` and the rows of `kernel` must be as many as there are "
                f"concepts, got {len(prior)}, {len(likelihood)} and {len(kernel)}"
            )
        if smoothing == 1.0:
            raise ValueError("`smoothing` must lie in [0, 1), got 1: nothing of the kernel is left")
        if smoothing > 0.0:
            kernel = (1.0 - smoothing) * kernel + smoothing / kernel.shape[1]
            kernel.setflags(write=False)
        zeros = np.argwhere(kernel == 0.0)
        if len(zeros):
            concept, answer = zeros[0].tolist()
            raise ValueError(
                f"`kernel` must be > 0: kernel[{concept}, {answer}]=0; give `smoothing`, such as "
                "1e-6, to allow for answers that a concept never gives"
            )
        if not float(prior @ likelihood) > 0.0:
            raise ValueError(
                "`prior` and `likelihood` must leave a concept: their product is 0 everywhere"
            )
        for name, value in (("prior", prior), ("likelihood", likelihood), ("kernel", kernel)):
            object.__setattr__(self, name, value)
        # the kernel is smoothed once: what is stored needs no more
        object.__setattr__(self, "smoothing", 0.0)

    @property
    def n_concepts(self) -> int:
        """K."""
        return len(self.prior)

    @property
    def n_answers(self) -> int:
        """L."""
        return int(self.kernel.shape[1])

    @cached_property
    def weight(self) -> Float64:
        """Task weight w, shape (K,): the posterior of the concepts given the task alone."""
        product = self.prior * self.likelihood
        weight: Float64 = product / product.sum()
        weight.setflags(write=False)
        return weight

    @cached_property
    def first_law(self) -> Float64:
        """Law q0 of the answer in round 0, shape (L,)."""
        law: Float64 = self.weight @ self.kernel
        law.setflags(write=False)
        return law

    def misconception(self, truth: int, concept: int) -> float:
        """Return the margin log w(concept) / w(truth): positive for a misconception.

        Definition 5.3 of Estornell and Liu, read as a statement on posteriors.
        """
        with np.errstate(divide="ignore"):
            return float(np.log(self.weight[concept]) - np.log(self.weight[truth]))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "prior": self.prior.tolist(),
            "likelihood": self.likelihood.tolist(),
            "kernel": self.kernel.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the type that ``to_dict`` wrote; ``smoothing`` may be given besides."""
        check_fields("type", data, ("prior", "likelihood", "kernel"), ("smoothing",))
        return cls(**data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AgentType) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.prior.tobytes(), self.likelihood.tobytes(), self.kernel.tobytes()))


@final
@dataclass(frozen=True)
class DebateModel:
    """A debate: how many agents of which types, what is true, what the agents read.

    Parameters
    ----------
    types : sequence of AgentType
        All with the same K and L.
    sizes : sequence of int
        n_e >= 1 of each type; n is their sum.
    truth : int
        theta*, the true concept.
    correct : int
        y, the correct answer.
    view : None, a pruning, or a sequence of them
        What every agent reads of the answers of the round before, applied left to right.
    rewrite : Refutation, optional
        How answers are changed before they are read; it acts on what the view keeps.
    tempering : float
        beta > 0: evidence enters as its beta-th power. 1 is Bayes.

    Raises
    ------
    ValueError
        When an argument does not fit the others.

    Examples
    --------
    >>> model = DebateModel.binary(n=7, weight=.6, right=.75)
    >>> model.n_agents, model.n_concepts, model.n_answers
    (7, 2, 2)
    >>> DebateModel.from_json(model.to_json()) == model
    True
    """

    types: tuple[AgentType, ...]
    sizes: tuple[int, ...]
    truth: int = 0
    correct: int = 0
    view: tuple[Pruning, ...] | None = None
    rewrite: Refutation | None = None
    tempering: float = 1.0

    def __post_init__(self) -> None:
        types = tuple(self.types) if isinstance(self.types, Sequence) else (self.types,)
        if not types or not all(isinstance(one, AgentType) for one in types):
            raise ValueError(f"`types` must hold AgentTypes, at least one, got {self.types!r}")
        given = tuple(self.sizes) if isinstance(self.sizes, Sequence) else (self.sizes,)
        sizes = tuple(check_int(f"sizes[{e}]", size, minimum=1) for e, size in enumerate(given))
        if len(sizes) != len(types):
            raise ValueError(f"`sizes` must hold {len(types)} numbers, one a type, got {sizes}")
        shapes = {one.kernel.shape for one in types}
        if len(shapes) > 1:
            raise ValueError(
                f"`types` must have the same concepts and answers, got {sorted(shapes)}"
            )
        concepts, answers = types[0].kernel.shape
        object.__setattr__(self, "types", types)
        object.__setattr__(self, "sizes", sizes)
        check_int("truth", self.truth, minimum=0, maximum=concepts - 1)
        check_int("correct", self.correct, minimum=0, maximum=answers - 1)
        tempering = check_real("tempering", self.tempering, low=0.0, high=np.inf, closed=False)
        object.__setattr__(self, "tempering", tempering)
        stages = view_stages(self.view, sum(sizes), len(types))
        object.__setattr__(self, "view", stages or None)
        if self.rewrite is not None:
            if not isinstance(self.rewrite, Refutation):
                raise ValueError(f"`rewrite` must be a Refutation, got {self.rewrite!r}")
            self.rewrite.check(len(types), answers, bool(stages))

    @property
    def n_agents(self) -> int:
        """n."""
        return sum(self.sizes)

    @property
    def n_concepts(self) -> int:
        """K."""
        return self.types[0].n_concepts

    @property
    def n_answers(self) -> int:
        """L."""
        return self.types[0].n_answers

    @property
    def n_read(self) -> int:
        """How many answers an agent reads."""
        return self.n_agents if self.view is None else self.view[-1].k

    @property
    def first_law(self) -> Float64:
        """Mean law of the answers of round 0, shape (L,): sum_e (n_e / n) q0_e."""
        laws = np.array([one.first_law for one in self.types])
        law: Float64 = np.array(self.sizes) @ laws / self.n_agents
        return law

    def with_(self, **changes: Any) -> "DebateModel":
        """Return the model with some arguments changed."""
        return replace(self, **changes)

    @classmethod
    def binary(
        cls,
        n: int,
        weight: float = 0.5,
        right: float = 0.75,
        wrong: float | None = None,
        **options: Any,
    ) -> "DebateModel":
        """Return n equal agents with two concepts and two answers.

        Parameters
        ----------
        n : int
        weight : float
            w(theta*) in (0, 1): the prior is uniform, the task tells the concepts apart.
        right, wrong : float
            r1 = P(y | theta*) and r2 = P(y | theta'), in (0, 1); r2 = 1 - r1 when not given.
        **options
            Of `DebateModel`.
        """
        other = 1.0 - right if wrong is None else wrong
        kernel = [[right, 1.0 - right], [other, 1.0 - other]]
        return cls((_told(weight, kernel),), (n,), **options)

    @classmethod
    def shared_misconception(
        cls,
        n: int,
        m: int,
        weight: float = 0.9,
        misled: float = 0.2,
        right: float = 0.8,
        wrong: float | None = None,
        **options: Any,
    ) -> "DebateModel":
        """Return n agents of which the last m share a misconception; two concepts, two answers.

        ``weight`` and ``misled`` are w(theta*) of the two kinds; the kernel is that of `binary`.
        With m = 0 or m = n there is one type.
        """
        check_int("m", m, minimum=0, maximum=check_int("n", n, minimum=1))
        other = 1.0 - right if wrong is None else wrong
        kernel = [[right, 1.0 - right], [other, 1.0 - other]]
        pairs = [(weight, n - m), (misled, m)]
        kept = [(w, size) for w, size in pairs if size > 0]
        types = tuple(_told(w, kernel) for w, _ in kept)
        return cls(types, tuple(size for _, size in kept), **options)

    @classmethod
    def echo_chamber(
        cls, n: int, concepts: int = 3, strength: float = 0.8, **options: Any
    ) -> "DebateModel":
        """Return n equal agents with a concept for every answer, all alike but for their names.

        The kernel gives its own answer with probability ``strength`` and the others evenly.
        """
        check_int("concepts", concepts, minimum=2)
        check_real("strength", strength, low=0.0, high=1.0, closed=False)
        kernel = np.full((concepts, concepts), (1.0 - strength) / (concepts - 1))
        np.fill_diagonal(kernel, strength)
        prior = np.full(concepts, 1.0 / concepts)
        return cls((AgentType(prior, np.ones(concepts), kernel),), (n,), **options)

    @classmethod
    def diverse(
        cls, n: int, concepts: int = 3, strength: float = 0.8, trust: float = 0.6, **options: Any
    ) -> "DebateModel":
        """Return n agents that lean to different concepts, by turns; the kernel is common.

        ``trust`` is the weight an agent gives to the concept it leans to. Agents that lean to one
        concept are one type.
        """
        check_int("n", n, minimum=1)
        check_real("trust", trust, low=0.0, high=1.0, closed=False)
        base = cls.echo_chamber(1, concepts, strength).types[0]
        sizes = [n // concepts + (e < n % concepts) for e in range(concepts)]
        types = []
        for e, size in enumerate(sizes):
            if size:
                prior = np.full(concepts, (1.0 - trust) / (concepts - 1))
                prior[e] = trust
                types.append(AgentType(prior, np.ones(concepts), base.kernel))
        return cls(tuple(types), tuple(size for size in sizes if size), **options)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "types": [one.to_dict() for one in self.types],
            "sizes": list(self.sizes),
            "truth": self.truth,
            "correct": self.correct,
            "view": None if self.view is None else [one.to_dict() for one in self.view],
            "rewrite": None if self.rewrite is None else self.rewrite.to_dict(),
            "tempering": self.tempering,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "DebateModel":
        """Build the model that ``to_dict`` wrote; what has a default may be missing.

        Raises
        ------
        ValueError
            Naming the field that is missing, unknown or out of range.
        """
        optional = ("truth", "correct", "view", "rewrite", "tempering")
        check_fields("model", data, ("types", "sizes"), optional)
        values = dict(data)
        if not isinstance(data["types"], list) or not isinstance(data["sizes"], list):
            raise ValueError("`types` and `sizes` of a model must be lists")
        values["types"] = tuple(AgentType.from_dict(one) for one in data["types"])
        values["sizes"] = tuple(data["sizes"])
        view, rewrite = data.get("view"), data.get("rewrite")
        if view is not None:
            stages = view if isinstance(view, list) else [view]
            values["view"] = tuple(pruning_from_dict(one) for one in stages)
        if rewrite is not None:
            values["rewrite"] = Refutation.from_dict(rewrite)
        return cls(**values)

    def to_json(self) -> str:
        """Return the model as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> "DebateModel":
        """Build a model from JSON text."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"the model is not JSON: {error}") from None
        return cls.from_dict(data)


def _told(weight: float, kernel: list[list[float]]) -> AgentType:
    """Return the type of two concepts whose task alone says which is likelier."""
    check_real("weight", weight, low=0.0, high=1.0)
    task = np.array([weight, 1.0 - weight])
    return AgentType(np.array([0.5, 0.5]), task, np.array(kernel))
