"""The chain on vectors of answers: an independent oracle for small debates.

Every one of the L^n vectors Z = (z_1..z_n) is a state, and nothing of the count chain is used: an
agent multiplies R(theta, z_j) over the agents j that are kept, a pruning looks at all C(n, k) sets
of agents, a refutation rewrites agent by agent. Slow on purpose, and simple.
"""

from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from theory._check import check_int
from theory.model.concepts import AgentType, DebateModel
from theory.model.interventions import DiversityPruning, Pruning

Float64 = npt.NDArray[np.float64]
_MOST = 4096
Kept = dict[tuple[int, ...], float]


class VectorChain:
    """The exact law of a small debate, agent by agent; agents stand in the order of their types.

    Parameters
    ----------
    model : DebateModel
        With at most 4,096 vectors.

    Raises
    ------
    ValueError
        When there are more.

    Examples
    --------
    >>> chain = VectorChain(DebateModel.binary(n=3, weight=.6, right=.75))
    >>> round(chain.accuracy(1), 4)
    0.5563
    """

    def __init__(self, model: DebateModel) -> None:
        total = model.n_answers**model.n_agents
        if total > _MOST:
            raise ValueError(f"`model` must have at most {_MOST} vectors of answers, got {total}")
        self.model = model
        self.states = list(product(range(model.n_answers), repeat=model.n_agents))
        self.owner = [e for e, size in enumerate(model.sizes) for _ in range(size)]
        self._laws: list[Float64] = []
        self._matrix: Float64 | None = None

    def transition(self) -> Float64:
        """Return the matrix of the vectors, shape (L^n, L^n)."""
        if self._matrix is None:
            self._matrix = np.array([self._row(state) for state in self.states])
        return self._matrix

    def law(self, t: int) -> Float64:
        """Return the law of the vectors of raw answers of round t, shape (L^n,)."""
        check_int("t", t, minimum=0)
        while len(self._laws) <= t:
            if self._laws:
                self._laws.append(self._laws[-1] @ self.transition())
            else:
                laws = [self.model.types[e].first_law for e in self.owner]
                self._laws.append(_joint(laws))
        return self._laws[t]

    def accuracy(self, t: int) -> float:
        """Return the mean over agents of P(the answer is correct) in round t."""
        right = [state.count(self.model.correct) for state in self.states]
        return float(self.law(t) @ np.array(right)) / self.model.n_agents

    def count_law(self, t: int) -> dict[tuple[int, ...], float]:
        """Return the law of the counts of round t, by counts."""
        found: dict[tuple[int, ...], float] = {}
        for state, p in zip(self.states, self.law(t).tolist(), strict=True):
            counts = tuple(state.count(a) for a in range(self.model.n_answers))
            found[counts] = found.get(counts, 0.0) + p
        return found

    def _row(self, state: tuple[int, ...]) -> Float64:
        """Law of the next vector given the answers of all agents."""
        types = self.model.types
        if self.model.view is None or len(types) == 1 or self._one_evaluator():
            return self._mixture(self._kept(state, 0))
        # each type draws what it keeps by itself
        parts = []
        for e, kind in enumerate(types):
            laws = np.zeros(self.model.n_answers ** self.model.sizes[e])
            for read, p in self._kept(state, e).items():
                for seen, q in self._rewritten(read).items():
                    laws = laws + p * q * _joint([self._answer(kind, seen)] * self.model.sizes[e])
            parts.append(laws)
        found = parts[0]
        for part in parts[1:]:
            found = np.multiply.outer(found, part).ravel()
        return np.asarray(found)

    def _mixture(self, kept: Kept) -> Float64:
        total = np.zeros(len(self.states))
        for read, p in kept.items():
            for seen, q in self._rewritten(read).items():
                own = [self._answer(self.model.types[e], seen) for e in self.owner]
                total += p * q * _joint(own)
        return total

    def _one_evaluator(self) -> bool:
        assert self.model.view is not None
        return all(stage.evaluator != "reader" for stage in self.model.view)

    def _answer(self, kind: AgentType, read: tuple[int, ...]) -> Float64:
        logs = np.log(np.maximum(kind.weight, 1e-300))
        for answer in read:
            logs = logs + self.model.tempering * np.log(kind.kernel[:, answer])
        weights = np.exp(logs - logs.max()) * (kind.weight > 0.0)
        law: Float64 = weights / weights.sum() @ kind.kernel
        return law

    def _kept(self, state: tuple[int, ...], reader: int) -> Kept:
        """What of the answers is kept, and how likely; answers with the place of their author."""
        kept: dict[tuple[int, ...], float] = {tuple(range(len(state))): 1.0}
        for stage in self.model.view or ():
            e = reader if stage.evaluator == "reader" else int(stage.evaluator)
            found: dict[tuple[int, ...], float] = {}
            for places, p in kept.items():
                for chosen, q in _best_sets(stage, self.model.types[e], state, places).items():
                    found[chosen] = found.get(chosen, 0.0) + p * q
            kept = found
        return {tuple(state[j] for j in places): p for places, p in _merged(kept, state).items()}

    def _rewritten(self, read: tuple[int, ...]) -> Kept:
        rewrite = self.model.rewrite
        if rewrite is None:
            return {read: 1.0}
        # by type there is no view, so that answer j is that of agent j
        rows = [rewrite.of(self.owner[j])[answer] for j, answer in enumerate(read)]
        found: Kept = {}
        for seen in product(range(self.model.n_answers), repeat=len(read)):
            p = float(np.prod([row[b] for row, b in zip(rows, seen, strict=True)]))
            if p > 0.0:
                found[seen] = p
        return found


def _joint(laws: list[Float64]) -> Float64:
    found = np.ones(1)
    for law in laws:
        found = np.multiply.outer(found, law).ravel()
    return found


def _merged(kept: Kept, state: tuple[int, ...]) -> Kept:
    """Join sets of agents whose answers are the same, so that less is computed."""
    first: dict[tuple[int, ...], tuple[int, ...]] = {}
    found: Kept = {}
    for places, p in kept.items():
        key = tuple(state[j] for j in places)
        name = first.setdefault(key, places)
        found[name] = found.get(name, 0.0) + p
    return found


def _best_sets(
    stage: Pruning, kind: AgentType, state: tuple[int, ...], places: tuple[int, ...]
) -> Kept:
    """The best sets of k agents among ``places``, and how likely each is kept."""
    spoken = kind.prior[:, None] * kind.kernel
    laws = (spoken / spoken.sum(axis=0)).T
    sets = list(combinations(places, stage.k))
    if isinstance(stage, DiversityPruning):
        values = [
            sum(_kl(laws[state[i]], laws[state[j]]) for i in one for j in one if i != j)
            if stage.divergence != "sqrt-js"
            else sum(_root_js(laws[state[i]], laws[state[j]]) for i in one for j in one if i != j)
            for one in sets
        ]
    else:
        values = [-sum(_kl(kind.weight, laws[state[i]]) for i in one) for one in sets]
    top = max(values)
    best = [
        one for one, v in zip(sets, values, strict=True) if v >= top - 1e-9 * max(1.0, abs(top))
    ]
    answers = kind.n_answers
    counts = [[sum(state[i] == a for i in one) for a in range(answers)] for one in best]
    if stage.ties == "first":
        wanted = max(counts)
        best = [one for one, c in zip(best, counts, strict=True) if c == wanted]
    elif stage.ties != "share":
        whole = [sum(state[i] == a for i in places) for a in range(answers)]
        far = [
            sum((len(places) * s - stage.k * c) ** 2 for s, c in zip(one, whole, strict=True))
            for one in counts
        ]
        limit = min(far) if stage.ties == "majority" else max(far)
        best = [one for one, d in zip(best, far, strict=True) if d == limit]
    return {one: 1.0 / len(best) for one in best}


def _kl(p: Float64, q: Float64) -> float:
    return float(sum(a * np.log(a / b) for a, b in zip(p, q, strict=True) if a > 0.0))


def _root_js(p: Float64, q: Float64) -> float:
    middle = (p + q) / 2.0
    return float(np.sqrt(max(0.0, (_kl(p, middle) + _kl(q, middle)) / 2.0)))
