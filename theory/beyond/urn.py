"""Debate or vote: agents as urns, whose expected belief does not move.

Agent i holds an urn alpha_i (L,) and answers a with probability alpha_i[a] / sum alpha_i; then
every agent adds the answers of all to its urn. The cumulative counts of answers are a Markov chain,
here in exact fractions.

* Identical agents: the belief is a martingale, E p(t+1) = p(t): debate adds nothing on average.
* Equal concentrations sum alpha_i: the *mean* belief is conserved, that of an agent is not.
* Unequal concentrations: not even the mean.
* The vote is not the belief: the majority of a round may become less accurate while the mean
  belief stands still (computed for five agents with alpha = (3, 2) and (.6, .4); measured, not
  proved).

Source of the model and the martingale: H. K. Choi, X. Zhu and S. Li, Debate or Vote, arXiv
2508.17536. A latent-concept chain is no martingale: its mean belief drifts.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from theory._check import check_int

Counts = tuple[int, ...]
_MOST = 20_000


class UrnDebate:
    """The exact law of a debate of urns.

    Parameters
    ----------
    urns : sequence of sequences of numbers
        alpha_i > 0, one sequence of L numbers for each agent; taken as exact fractions of their
        decimals.
    correct : int
        y.

    Raises
    ------
    ValueError
        When urns differ in length, a number is not positive, or ``correct`` is no answer.

    Examples
    --------
    >>> debate = UrnDebate([(1, 4), (3, 2), (4, 1)])
    >>> [str(belief) for belief in debate.beliefs(1)], str(debate.mean_belief(1))
    (['13/40', '23/40', '7/10'], '8/15')
    """

    def __init__(self, urns: Sequence[Sequence[float]], correct: int = 0) -> None:
        self.urns = [tuple(Fraction(str(value)) for value in urn) for urn in urns]
        widths = {len(urn) for urn in self.urns}
        if len(widths) != 1 or any(value <= 0 for urn in self.urns for value in urn):
            raise ValueError(f"`urns` must be rows of positive numbers, all as long, got {urns!r}")
        self.n_answers = widths.pop()
        self.correct = check_int("correct", correct, minimum=0, maximum=self.n_answers - 1)
        self._laws: list[dict[Counts, Fraction]] = [{(0,) * self.n_answers: Fraction(1)}]

    @property
    def n_agents(self) -> int:
        """n."""
        return len(self.urns)

    def law(self, t: int) -> dict[Counts, Fraction]:
        """Return the law of the cumulative counts before round t; 0 is before any answer."""
        check_int("t", t, minimum=0)
        while len(self._laws) <= t:
            done = len(self._laws) - 1
            law: dict[Counts, Fraction] = {}
            for counts, p in self._laws[-1].items():
                for added, q in self._answers(counts, done).items():
                    after = tuple(a + b for a, b in zip(counts, added, strict=True))
                    law[after] = law.get(after, Fraction(0)) + p * q
            if len(law) > _MOST:
                raise ValueError(f"`t` must be < {len(self._laws)}: more than {_MOST} counts")
            self._laws.append(law)
        return self._laws[t]

    def beliefs(self, t: int) -> list[Fraction]:
        """Return the expected probability of y of each agent, before round t."""
        total = [Fraction(0)] * self.n_agents
        for counts, p in self.law(t).items():
            for i, belief in enumerate(self._beliefs(counts, t)):
                total[i] += p * belief[self.correct]
        return total

    def mean_belief(self, t: int) -> Fraction:
        """Return the mean over agents of `beliefs`."""
        return sum(self.beliefs(t), Fraction(0)) / self.n_agents

    def majority_accuracy(self, t: int) -> Fraction:
        """Return P(the plurality of the answers of round t is y), leaders sharing a tie."""
        total = Fraction(0)
        for counts, p in self.law(t).items():
            for answers, q in self._answers(counts, t).items():
                top = max(answers)
                if answers[self.correct] == top:
                    total += p * q / answers.count(top)
        return total

    def _beliefs(self, counts: Counts, t: int) -> list[tuple[Fraction, ...]]:
        seen = self.n_agents * t
        return [
            tuple((a + c) / (sum(urn) + seen) for a, c in zip(urn, counts, strict=True))
            for urn in self.urns
        ]

    def _answers(self, counts: Counts, t: int) -> dict[Counts, Fraction]:
        """Law of the counts of one round, given the cumulative counts before it."""
        law: dict[Counts, Fraction] = {(0,) * self.n_answers: Fraction(1)}
        for belief in self._beliefs(counts, t):
            after: dict[Counts, Fraction] = {}
            for (held, p), a in product(law.items(), range(self.n_answers)):
                more = tuple(c + (b == a) for b, c in enumerate(held))
                after[more] = after.get(more, Fraction(0)) + p * belief[a]
            law = after
        return law
