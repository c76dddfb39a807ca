"""Agents that read all rounds: the chain on cumulative counts.

With C(t) = c(0) + ... + c(t) an agent answers in round t + 1 from q_e(. | C(t)), so that the
cumulative counts are a Markov chain, like those of an urn: C(n (t + 1) + L - 1, L - 1) states in
round t. This is the full-history Bayes agent of Hu et al. (arXiv 2510.12697, section 4).
"""

import numpy as np
import numpy.typing as npt

from theory._check import check_int
from theory.model.concepts import DebateModel
from theory.model.response import next_law
from theory.model.states import convolve, count_states, multinomial, n_states, state_index

Float64 = npt.NDArray[np.float64]
_MOST = 200_000


class CumulativeChain:
    """The exact law of a debate in which agents read every answer given so far.

    Parameters
    ----------
    model : DebateModel
        Without view and rewriting.

    Raises
    ------
    ValueError
        When the model has a view or a refutation; when a round has over 200,000 states.

    Examples
    --------
    >>> chain = CumulativeChain(DebateModel.binary(n=7, weight=.6, right=.8))
    >>> [round(chain.majority_accuracy(t), 4) for t in (0, 1, 7)]
    [0.6294, 0.6425, 0.6435]
    """

    def __init__(self, model: DebateModel) -> None:
        if model.view is not None or model.rewrite is not None:
            raise ValueError("`model` must have neither view nor rewrite")
        self.model = model
        first = self._counts([kind.first_law[None, :] for kind in model.types])[0]
        self._laws: list[Float64] = [first]

    def law(self, t: int) -> Float64:
        """Return the law of the cumulative counts C(t), over the states of n (t + 1) answers."""
        check_int("t", t, minimum=0)
        n, answers = self.model.n_agents, self.model.n_answers
        while len(self._laws) <= t:
            done = len(self._laws)
            if n_states(n * (done + 1), answers) > _MOST:
                raise ValueError(f"`t` must be < {done}: more than {_MOST} cumulative counts")
            before, steps = count_states(n * done, answers), count_states(n, answers)
            following = self._following(done - 1)
            law = np.zeros(n_states(n * (done + 1), answers))
            for i, step in enumerate(steps):
                law[state_index(before + step)] += self._laws[-1] * following[:, i]
            self._laws.append(law)
        return self._laws[t]

    def round_law(self, t: int) -> Float64:
        """Return the law of the counts c(t) of round t alone, shape (N,)."""
        if check_int("t", t, minimum=0) == 0:
            return self.law(0)
        found: Float64 = self.law(t - 1) @ self._following(t - 1)
        return found

    def accuracy(self, t: int) -> float:
        """Return the mean over agents of P(the answer is correct) in round t."""
        states = count_states(self.model.n_agents, self.model.n_answers)
        return float(self.round_law(t) @ states[:, self.model.correct]) / self.model.n_agents

    def majority_accuracy(self, t: int) -> float:
        """Return P(the plurality of round t is correct), leaders sharing a tie."""
        states = count_states(self.model.n_agents, self.model.n_answers)
        leads = states == states.max(axis=1, keepdims=True)
        credit = leads[:, self.model.correct] / leads.sum(axis=1)
        return float(self.round_law(t) @ credit)

    def _following(self, t: int) -> Float64:
        """Laws of the counts of round t + 1, given each cumulative count of round t."""
        states = count_states(self.model.n_agents * (t + 1), self.model.n_answers)
        kinds = self.model.types
        return self._counts([next_law(kind, states, self.model.tempering) for kind in kinds])

    def _counts(self, laws: list[Float64]) -> Float64:
        answers = self.model.n_answers
        total, size = multinomial(self.model.sizes[0], laws[0]), self.model.sizes[0]
        for number, law in zip(self.model.sizes[1:], laws[1:], strict=True):
            total = convolve(total, size, multinomial(number, law), number, answers)
            size += number
        return total
