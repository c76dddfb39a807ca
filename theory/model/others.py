"""Agents that do not read their own answer: the chain on counts by type.

An agent of type e whose last answer was a reads c - delta_a, the answers of the n - 1 others.
Agents of one type and one last answer are exchangeable, so that the answers of each type by
themselves are the state: prod_e C(n_e + L - 1, L - 1) of them, and

    c_e(t+1) = sum_a Multinomial(c_e[a], q_e(. | c - delta_a)).
"""

from functools import reduce

import numpy as np
import numpy.typing as npt

from theory._check import check_int
from theory.model.concepts import DebateModel
from theory.model.response import next_law
from theory.model.states import convolve, count_states, multinomial

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
_MOST = 5000


class OthersChain:
    """The exact law of a debate in which agents ignore their own answer.

    Parameters
    ----------
    model : DebateModel
        Without view and rewriting; n >= 2; at most 5,000 states.

    Raises
    ------
    ValueError
        When the model has a view or a refutation, one agent, or too many states.

    Examples
    --------
    >>> chain = OthersChain(DebateModel.binary(n=3, weight=.6, right=.75))
    >>> [round(chain.accuracy(t), 4) for t in range(3)]
    [0.55, 0.5538, 0.5547]
    """

    def __init__(self, model: DebateModel) -> None:
        if model.view is not None or model.rewrite is not None:
            raise ValueError("`model` must have neither view nor rewrite")
        if model.n_agents < 2:
            raise ValueError("`model` must have two agents or more: one alone reads nobody")
        self.model = model
        self._parts = [count_states(size, model.n_answers) for size in model.sizes]
        sizes = [len(part) for part in self._parts]
        total = int(np.prod(sizes))
        if total > _MOST:
            raise ValueError(f"`model` has {total} states by type, at most {_MOST} are kept")
        places = np.indices(sizes).reshape(len(sizes), -1)
        # counts by type, shape (states, E, L)
        self.states: Int64 = np.stack(
            [part[place] for part, place in zip(self._parts, places, strict=True)], axis=1
        )
        first = [
            multinomial(size, kind.first_law[None, :])[0]
            for size, kind in zip(model.sizes, model.types, strict=True)
        ]
        self._laws: list[Float64] = [reduce(np.multiply.outer, first).ravel()]
        self._matrix: Float64 | None = None

    def transition(self) -> Float64:
        """Return the matrix of the counts by type, shape (states, states)."""
        if self._matrix is None:
            rows = [reduce(np.multiply.outer, self._next(state)).ravel() for state in self.states]
            self._matrix = np.array(rows)
            self._matrix.setflags(write=False)
        return self._matrix

    def law(self, t: int) -> Float64:
        """Return the law of the counts by type in round t, shape (states,)."""
        check_int("t", t, minimum=0)
        while len(self._laws) <= t:
            self._laws.append(self._laws[-1] @ self.transition())
        return self._laws[t]

    def accuracy(self, t: int) -> float:
        """Return the mean over agents of P(the answer is correct) in round t."""
        right = self.states[:, :, self.model.correct].sum(axis=1)
        return float(self.law(t) @ right) / self.model.n_agents

    def _next(self, state: Int64) -> list[Float64]:
        """For each type the law of its next counts."""
        total = state.sum(axis=0)
        answers = self.model.n_answers
        found = []
        for kind, own in zip(self.model.types, state, strict=True):
            law, size = np.ones((1, 1)), 0
            for a in np.flatnonzero(own):
                read = total.copy()
                read[a] -= 1
                part = multinomial(int(own[a]), next_law(kind, read, self.model.tempering)[None, :])
                law = part if size == 0 else convolve(law, size, part, int(own[a]), answers)
                size += int(own[a])
            found.append(law[0])
        return found
