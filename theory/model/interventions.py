"""What stands between an answer and its readers: pruning keeps some answers, refutation edits them.

An answer a speaks for the concepts D_e(theta | a) ∝ pi_e(theta) R_e(theta, a), read with the prior
and the kernel of the **evaluator**: one type for all readers, or each reader its own. In a finite
model this is one vector for each *answer*, so that what is kept of counts c is a sub-count s <= c
with |s| = k, found by enumeration and exact:

    diversity   argmax_s  s' J s,        J[a, b] = divergence of D(.|a) and D(.|b)
    quality     argmin_s  s . d,         d[a] = KL(w || D(.|a)), w the task weight

Several sub-counts may be best, and which of them is kept decides results: ``ties`` says it.

    share      any of the best subsets of *agents*, all equally likely (one draw for all readers)
    majority   the sub-count closest to the counts (least sum of squares of s - k c / n), then share
    minority   the one furthest from them, then share
    first      the one with most of answer 0, then of answer 1, and so on

A refutation rewrites each answer a into b with probability M[a, b], independently.

Source: Estornell and Liu, NeurIPS 2024, section 6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
import numpy.typing as npt

from theory._check import check_array, check_choice, check_fields, check_int, check_rows
from theory.model.selection import DIVERGENCES, divergence
from theory.model.states import convolve, count_states, multinomial

if TYPE_CHECKING:
    from theory.model.concepts import AgentType, DebateModel

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
SUBSET_TIES = ("share", "majority", "minority", "first")
Evaluator = int | Literal["reader"]
_EQUAL = 1e-12


@final
@dataclass(frozen=True)
class DiversityPruning:
    """Keep the k answers whose concepts lie furthest apart.

    Parameters
    ----------
    k : int
        >= 1, at most the number of answers there are to read.
    ties : {"share", "majority", "minority", "first"}
    evaluator : int or "reader"
        The type whose prior and kernel tell what an answer speaks for; "reader" is each type for
        itself.
    divergence : {"kl", "symmetric-kl", "sqrt-js"}
        Sums over ordered pairs do not tell the first two apart.

    Examples
    --------
    >>> from theory.model.concepts import DebateModel
    >>> model = DebateModel.binary(n=5, weight=.6, right=.8)
    >>> law = DiversityPruning(4).prepare(model)
    >>> law.states[law.kept(4)].tolist()  # of (4, 1): the minority is kept
    [[3, 1]]
    """

    k: int
    ties: str = "share"
    evaluator: Evaluator = "reader"
    divergence: str = "kl"

    def __post_init__(self) -> None:
        _check_pruning(self.k, self.ties, self.evaluator)
        check_choice("divergence", self.divergence, DIVERGENCES)

    def values(self, kind: "AgentType", sub: Int64) -> Float64:
        """Return how good sub-counts (S, L) are to an evaluator of this type."""
        spoken = kind.prior[:, None] * kind.kernel
        laws = (spoken / spoken.sum(axis=0)).T
        matrix = divergence(laws, self.divergence)
        found: Float64 = np.einsum("sa,ab,sb->s", sub, matrix, sub)
        return found

    def prepare(self, model: "DebateModel", n: int | None = None) -> "SubsetLaw":
        """Return the law of what is kept of every count of n answers (the model's n)."""
        return _prepare(self, model, n)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "kind": "DiversityPruning",
            "k": self.k,
            "ties": self.ties,
            "evaluator": self.evaluator,
            "divergence": self.divergence,
        }


@final
@dataclass(frozen=True)
class QualityPruning:
    """Keep the k answers whose concepts lie closest to those of the task.

    Parameters
    ----------
    k, ties, evaluator
        As in `DiversityPruning`. The evaluator's task weight is the reference: an evaluator with a
        misconception keeps what agrees with it.

    Examples
    --------
    >>> from theory.model.concepts import DebateModel
    >>> law = QualityPruning(3).prepare(DebateModel.binary(n=5, weight=.6, right=.8))
    >>> law.states[law.kept(2)].tolist()  # of (2, 3): the right ones first
    [[2, 1]]
    """

    k: int
    ties: str = "share"
    evaluator: Evaluator = "reader"

    def __post_init__(self) -> None:
        _check_pruning(self.k, self.ties, self.evaluator)

    def values(self, kind: "AgentType", sub: Int64) -> Float64:
        """Return how good sub-counts (S, L) are to an evaluator of this type."""
        found: Float64 = -(sub @ self.scores(kind))
        return found

    def scores(self, kind: "AgentType") -> Float64:
        """Return d[a] = KL(w || D(. | a)) in nats, shape (L,)."""
        spoken = kind.prior[:, None] * kind.kernel
        laws = spoken / spoken.sum(axis=0)
        w = kind.weight
        held = w > 0.0
        found: Float64 = (w[held, None] * np.log(w[held, None] / laws[held])).sum(axis=0)
        return found

    def prepare(self, model: "DebateModel", n: int | None = None) -> "SubsetLaw":
        """Return the law of what is kept of every count of n answers (the model's n)."""
        return _prepare(self, model, n)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "kind": "QualityPruning",
            "k": self.k,
            "ties": self.ties,
            "evaluator": self.evaluator,
        }


Pruning = DiversityPruning | QualityPruning


@final
@dataclass(frozen=True, eq=False)
class SubsetLaw:
    """What a pruning keeps of every count.

    Attributes
    ----------
    states : ndarray of int, shape (S, L)
        The sub-counts of size k.
    laws : ndarray, shape (E, N, S)
        For each reader and each count the law of what is kept; one reader when all read the same.
    shared : bool
        Whether all readers read the same: one evaluator.
    """

    states: Int64
    laws: Float64
    shared: bool

    def kept(self, state: int, reader: int = 0) -> Int64:
        """Return the places of the sub-counts that may be kept of a count."""
        return np.flatnonzero(self.laws[0 if self.shared else reader, state] > 0.0)


@final
@dataclass(frozen=True, eq=False)
class Refutation:
    """Rewrite each answer a as b with probability M[a, b], independently of the others.

    Parameters
    ----------
    matrix : array-like, shape (L, L), or (E, L, L)
        Rows sum to 1. One matrix for all, or one for the answers of each type of author.

    Examples
    --------
    >>> Refutation.binary(repaired=.3, spoiled=.1).matrix.tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """

    matrix: Float64

    def __post_init__(self) -> None:
        ndim = 3 if np.ndim(self.matrix) == 3 else 2
        matrix = check_array("matrix", self.matrix, ndim)
        if matrix.shape[-1] != matrix.shape[-2]:
            raise ValueError(f"`matrix` must be square, got shape {matrix.shape}")
        for one in matrix if ndim == 3 else (matrix,):
            check_rows("matrix", one)
        object.__setattr__(self, "matrix", check_rows("matrix", matrix))

    @classmethod
    def binary(cls, repaired: float, spoiled: float = 0.0) -> "Refutation":
        """Return the refutation of two answers, the first of them right."""
        return cls(np.array([[1.0 - spoiled, spoiled], [repaired, 1.0 - repaired]]))

    @property
    def by_type(self) -> bool:
        """Whether the authors' types have matrices of their own."""
        return self.matrix.ndim == 3

    def of(self, kind: int) -> Float64:
        """Return the matrix for answers of a type."""
        found: Float64 = self.matrix[kind] if self.by_type else self.matrix
        return found

    def check(self, n_types: int, answers: int, viewed: bool) -> None:
        """Refuse a matrix that does not fit a model."""
        if self.matrix.shape[-1] != answers or (self.by_type and len(self.matrix) != n_types):
            raise ValueError(
                f"`rewrite` must have a matrix of shape ({answers}, {answers}), or one for each of "
                f"the {n_types} types, got shape {self.matrix.shape}"
            )
        if self.by_type and viewed:
            raise ValueError(
                "`rewrite` must have one matrix for all types beside a `view`: the counts that a "
                "view keeps do not tell who gave an answer"
            )

    def on_counts(self, k: int) -> Float64:
        """Return the law of the rewritten counts of every count of k answers, shape (S, S)."""
        matrix = self.of(0)
        states = count_states(k, len(matrix))
        out = np.zeros((len(states), len(states)))
        for i, counts in enumerate(states):
            law, size = np.ones((1, 1)), 0
            for a, number in enumerate(counts.tolist()):
                if number:
                    own = multinomial(number, matrix[a : a + 1])
                    law = own if size == 0 else convolve(law, size, own, number, len(matrix))
                    size += number
            out[i] = law[0]
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"matrix": self.matrix.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Refutation":
        """Build the refutation that ``to_dict`` wrote."""
        check_fields("rewrite", data, ("matrix",))
        return cls(data["matrix"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Refutation) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())


_PRUNINGS: dict[str, type[Pruning]] = {
    "DiversityPruning": DiversityPruning,
    "QualityPruning": QualityPruning,
}


def pruning_from_dict(data: Mapping[str, Any]) -> Pruning:
    """Build the pruning that ``to_dict`` wrote; what has a default may be missing.

    Examples
    --------
    >>> pruning_from_dict({"kind": "QualityPruning", "k": 3})
    QualityPruning(k=3, ties='share', evaluator='reader')
    """
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if kind not in _PRUNINGS:
        raise ValueError(f"`kind` of a view must be one of {', '.join(_PRUNINGS)}, got {kind!r}")
    optional = ["ties", "evaluator"] + ["divergence"] * (kind == "DiversityPruning")
    check_fields("view", data, ("kind", "k"), optional)
    return _PRUNINGS[kind](**{name: value for name, value in data.items() if name != "kind"})


def view_stages(view: Any, n: int, n_types: int) -> tuple[Pruning, ...]:
    """Return the stages of a view, checked: each keeps at most what the one before left."""
    if view is None:
        return ()
    stages = tuple(view) if isinstance(view, Sequence) else (view,)
    left = n
    for place, stage in enumerate(stages):
        if not isinstance(stage, Pruning):
            raise ValueError(f"`view` must be a pruning, or a sequence of them, got {stage!r}")
        if stage.k > left:
            raise ValueError(
                f"`k` of a pruning must be <= {left}, the answers left to it: view[{place}] has "
                f"k={stage.k}"
            )
        if stage.evaluator != "reader":
            check_int("evaluator", stage.evaluator, minimum=0, maximum=n_types - 1)
        left = stage.k
    return stages


def _check_pruning(k: Any, ties: Any, evaluator: Any) -> None:
    check_int("k", k, minimum=1)
    check_choice("ties", ties, SUBSET_TIES)
    if evaluator != "reader":
        check_int("evaluator", evaluator, minimum=0)


def _prepare(pruning: Pruning, model: "DebateModel", n: int | None) -> SubsetLaw:
    size = model.n_agents if n is None else check_int("n", n, minimum=pruning.k)
    shared = pruning.evaluator != "reader" or len(model.types) == 1
    if pruning.evaluator == "reader":
        evaluators = model.types[:1] if shared else model.types
    else:
        evaluators = (model.types[pruning.evaluator],)
    laws = np.stack([subset_law(pruning, kind, size) for kind in evaluators])
    return SubsetLaw(count_states(pruning.k, model.n_answers), laws, shared)


def subset_law(pruning: Pruning, kind: "AgentType", n: int) -> Float64:
    """Return the law of the kept sub-counts of every count of n answers, shape (N, S)."""
    answers = kind.n_answers
    sub = count_states(pruning.k, answers)
    values = pruning.values(kind, sub)
    scale = max(float(np.abs(values).max()), 1e-300)
    counts = count_states(n, answers)
    out = np.zeros((len(counts), len(sub)))
    block = max(1, 4_000_000 // (len(sub) * answers))
    for start in range(0, len(counts), block):
        c = counts[start : start + block]
        fits = (sub[None, :, :] <= c[:, None, :]).all(axis=2)
        best = np.where(fits, values, -np.inf).max(axis=1, keepdims=True)
        good = fits & (values >= best - _EQUAL * scale)
        out[start : start + block] = _settled(pruning.ties, c, sub, good, n)
    return out


def _settled(ties: str, c: Int64, sub: Int64, good: npt.NDArray[np.bool_], n: int) -> Float64:
    """Give each count a law over its best sub-counts."""
    if ties == "first":
        # lexicographic order puts the largest first entries last
        law = np.zeros(good.shape)
        last = good.shape[1] - 1 - good[:, ::-1].argmax(axis=1)
        law[np.arange(len(law)), last] = 1.0
        return law
    if ties in ("majority", "minority"):
        k = int(sub[0].sum())
        far = ((n * sub[None, :, :] - k * c[:, None, :]) ** 2).sum(axis=2)
        wanted = np.where(good, far, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
        if ties == "minority":
            wanted = np.where(good, far, -1).max(axis=1, keepdims=True)
        good = good & (far == wanted)
    # as many subsets of agents as prod_a C(c_a, s_a), in logarithms
    logs = np.where(good, _log_subsets(c, sub), -np.inf)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    shared: Float64 = weights / weights.sum(axis=1, keepdims=True)
    return shared


def _log_subsets(c: Int64, sub: Int64) -> Float64:
    """log prod_a C(c_a, s_a), shape (B, S); 0 where a sub-count does not fit (it is masked)."""
    top = int(c.max(initial=0))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, top + 1)))])
    rest = np.maximum(c[:, None, :] - sub[None, :, :], 0)
    inside = np.minimum(sub, top)
    total: Float64 = (logs[c][:, None, :] - logs[inside][None, :, :] - logs[rest]).sum(axis=2)
    return total
