"""The exact law of a debate: a Markov chain on the counts of answers.

All agents read the same answers, and a product of likelihoods does not see their order, so that
the answers of a round depend on those before through the counts alone, with unlike types too:

    c(t+1) = sum_e Multinomial(n_e, q_e(. | what e reads of c(t))).

Nothing is simulated. With a refutation and no view the chain runs on the counts of the *rewritten*
answers, which are what agents read; laws and accuracies are always those of the raw answers.

Cost: N = C(n + L - 1, L - 1) states, N^2 L for one type, and for several N times the product of
their numbers of states. The matrix is kept while it fits into ``memory`` bytes; beyond, laws are
propagated block by block without it.
"""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from theory._check import check_choice, check_int
from theory.model.concepts import AgentType, DebateModel
from theory.model.reading import Reading
from theory.model.response import leading_concept
from theory.model.states import count_states, n_states
from theory.model.stationary import expected_rounds, stationary_law
from theory.ties import Ties

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


class ChainTooLargeError(RuntimeError):
    """A matrix of the chain does not fit into the memory that was allowed."""


class CountChain:
    """The chain of a model.

    Parameters
    ----------
    model : DebateModel
    memory : int
        Bytes that the matrix may take; 1 GiB as it stands, which is 11,585 states. A larger chain
        has laws, accuracies and echo probabilities, but no matrix, stationary law or gap.

    Raises
    ------
    ChainTooLargeError
        When not even the laws of ten rounds would fit.

    Examples
    --------
    >>> chain = CountChain(DebateModel.binary(n=7, weight=.6, right=.75))
    >>> [round(chain.accuracy(t), 4) for t in range(3)]
    [0.55, 0.5679, 0.5698]
    """

    def __init__(self, model: DebateModel, *, memory: int = 2**30) -> None:
        if not isinstance(model, DebateModel):
            raise ValueError(f"`model` must be a DebateModel, got {model!r}")
        self.model = model
        self.memory = check_int("memory", memory, minimum=1)
        states = n_states(model.n_agents, model.n_answers)
        if states * (model.n_answers + 10) * 8 > memory:
            raise ChainTooLargeError(
                f"the chain has {states} states of {model.n_answers} answers: more than fit into "
                f"`memory`={memory} bytes"
            )
        self._read_laws: list[Float64] = []
        self._laws: list[Float64] = []
        self._leaders: list[Float64] = []
        self._matrices: dict[bool, Float64] = {}

    # --- states and laws --------------------------------------------------------------------------

    @property
    def states(self) -> Int64:
        """Counts of the answers, shape (N, L), in lexicographic order."""
        return count_states(self.model.n_agents, self.model.n_answers)

    def initial(self) -> Float64:
        """Return the law of the counts of round 0, shape (N,)."""
        return self.law(0)

    def law(self, t: int) -> Float64:
        """Return the law of the counts of the raw answers of round t, shape (N,), read-only."""
        check_int("t", t, minimum=0)
        while len(self._laws) <= t:
            if not self._laws:
                laws = [one.first_law for one in self.model.types]
                raw, read = self._from_laws(laws)
            else:
                raw, read = self._step(self._read_laws[-1])
            for law in (raw, read):
                law.setflags(write=False)
            self._laws.append(raw)
            self._read_laws.append(read)
        return self._laws[t]

    def read_law(self, t: int) -> Float64:
        """Return the law of the counts that the chain runs on: raw, or rewritten, shape (N,)."""
        self.law(t)
        return self._read_laws[t]

    def transition(self) -> Float64:
        """Return the matrix of the counts that the chain runs on, shape (N, N), read-only.

        Raises
        ------
        ChainTooLargeError
            When it does not fit into ``memory``.
        """
        return self._next_read

    # --- what is asked of laws --------------------------------------------------------------------

    def accuracy(self, t: int) -> float:
        """Return the mean over agents of P(the answer is correct) in round t."""
        return float(self.law(t) @ self.states[:, self.model.correct]) / self.model.n_agents

    def share(self, t: int, answer: int) -> float:
        """Return the mean over agents of P(the answer is ``answer``) in round t."""
        check_int("answer", answer, minimum=0, maximum=self.model.n_answers - 1)
        return float(self.law(t) @ self.states[:, answer]) / self.model.n_agents

    def majority_accuracy(self, t: int, ties: str = Ties.share) -> float:
        """Return P(the plurality of round t is correct).

        Parameters
        ----------
        t : int
        ties : Ties or str
            ``share`` and ``random`` give each leader its part, and so does ``first`` in law, the
            agents taken in random order; ``previous`` keeps the plurality of the round before
            where it leads, else it shares.
        """
        check_int("t", t, minimum=0)
        if check_choice("ties", ties, Ties) == Ties.previous:
            return float(self._leader_law(t)[:, self.model.correct].sum())
        return float(self.law(t) @ self._credit[:, self.model.correct])

    def echo(self, t: int) -> float:
        """Return P(an agent answers in round t + 1 what led in round t); leaders share.

        With a refutation and no view: what led among the rewritten answers.
        """
        shares = np.array(self.model.sizes) / self.model.n_agents
        mean = sum(n * law for n, law in zip(shares, self._responses, strict=True))
        return float(self.read_law(t) @ (self._credit * mean).sum(axis=1))

    def switch(self, t: int, reader: int = 0) -> float:
        """Return P(the leading concept after round t + 1 is not that after round t).

        The leading concept of a type is argmax_theta p_e(theta | what it reads), the first among
        equals. Without view and rewriting, which would make it random.
        """
        self._plain("switch")
        best = self.leading_concept(reader)
        law = self.law(t)
        stays = 0.0
        for theta in np.unique(best):
            inside = best == theta
            masked = np.where(inside, law, 0.0)
            stays += float(self._push(masked)[inside].sum())
        return max(0.0, 1.0 - stays)

    def leading_concept(self, reader: int = 0) -> Int64:
        """Return argmax_theta p_e(theta | c) for each count, shape (N,), the first among equals."""
        return leading_concept(self._type(reader), self.states, self.model.tempering)

    def response(self, reader: int = 0) -> Float64:
        """Return q_e(. | c), averaged over what is read of c, for each count, shape (N, L)."""
        self._type(reader)
        return self._responses[reader]

    def information(self, t: int, reader: int = 0) -> float:
        """Return I(theta; answers of round t) in nats.

        theta is drawn from the task weight of type ``reader`` and drives the answers of round 0
        alone; the rounds that follow are those of the debate. It cannot grow from round to round.
        """
        check_int("t", t, minimum=0)
        weight = self._type(reader).weight
        laws = []
        for theta in range(self.model.n_concepts):
            raw, read = self._from_laws([one.kernel[theta] for one in self.model.types])
            for _ in range(t):
                raw, read = self._step(read)
            laws.append(raw)
        mixed = weight @ np.array(laws)
        total = 0.0
        for w, law in zip(weight, laws, strict=True):
            held = law > 0.0
            if w > 0.0:
                total += float(w * (law[held] * np.log(law[held] / mixed[held])).sum())
        return max(0.0, total)

    # --- the long run -----------------------------------------------------------------------------

    def stationary(self) -> Float64:
        """Return the law of the raw counts in the long run, shape (N,), by elimination (GTH)."""
        raw: Float64 = self._push(stationary_law(self._next_read), rewritten=False)
        return raw

    def spectral_gap(self) -> float:
        """Return 1 - |lambda_2|, lambda_2 the second largest eigenvalue of the matrix."""
        values = np.linalg.eigvals(self._next_read)
        # the eigenvalue 1 is that of the constants; the gap is taken from the others
        rest = np.delete(values, int(np.abs(values - 1.0).argmin()))
        return float(1.0 - np.abs(rest).max(initial=0.0))

    def hitting_rounds(self, targets: npt.ArrayLike) -> Float64:
        """Return the expected rounds until the chain meets a target, shape (N,)."""
        return expected_rounds(self._next_read, targets)

    # --- inside -----------------------------------------------------------------------------------

    def _type(self, reader: int) -> AgentType:
        check_int("reader", reader, minimum=0, maximum=len(self.model.types) - 1)
        return self.model.types[reader]

    def _plain(self, what: str) -> None:
        if self.model.view is not None or self.model.rewrite is not None:
            raise ValueError(f"`{what}` is defined for models without view and rewrite")

    @cached_property
    def _credit(self) -> Float64:
        """Share of each answer in the lead, shape (N, L)."""
        leads = self.states == self.states.max(axis=1, keepdims=True)
        credit: Float64 = leads / leads.sum(axis=1, keepdims=True)
        return credit

    @cached_property
    def _reading(self) -> Reading:
        return Reading(self.model)

    @cached_property
    def _responses(self) -> list[Float64]:
        """For each type the mean law of its answer, given the counts that the chain runs on."""
        found = self._reading.responses()
        for law in found:
            law.setflags(write=False)
        return found

    def _from_laws(self, laws: list[Float64]) -> tuple[Float64, Float64]:
        """Return the raw and the read law of counts whose types answer independently."""
        raw = self._reading.counts([law[None, :] for law in laws], rewritten=False)[0]
        if not self._reading.rewrites:
            return raw, raw
        return raw, self._reading.counts([law[None, :] for law in laws], rewritten=True)[0]

    def _step(self, read: Float64) -> tuple[Float64, Float64]:
        raw = self._push(read, rewritten=False)
        return raw, self._push(read, rewritten=True) if self._reading.rewrites else raw

    def _push(self, read: Float64, rewritten: bool = True) -> Float64:
        """Return the next law of counts, read or raw, from a law (or a part) of read counts."""
        rewritten = rewritten and self._reading.rewrites
        seen = self._reading.seen(read)
        kept = self._kept(rewritten)
        if kept is not None:
            pushed: Float64 = seen @ kept
            return pushed
        total = np.zeros(len(self.states))
        for places, rows in self._reading.blocks(rewritten):
            total += seen[places] @ rows
        return total

    def _kept(self, rewritten: bool) -> Float64 | None:
        """Return the matrix from what is seen to the next counts, None when it is too large."""
        if self._reading.n_seen * len(self.states) * 8 > self.memory:
            return None
        if rewritten not in self._matrices:
            parts = [rows for _, rows in self._reading.blocks(rewritten)]
            matrix = parts[0] if len(parts) == 1 else np.concatenate(parts)
            matrix.setflags(write=False)
            self._matrices[rewritten] = matrix
        return self._matrices[rewritten]

    @cached_property
    def _next_read(self) -> Float64:
        states = len(self.states)
        matrix = self._kept(self._reading.rewrites) if states**2 * 8 <= self.memory else None
        if matrix is None:
            raise ChainTooLargeError(
                f"the matrix of {states} states takes {states**2 * 8} bytes, `memory` allows "
                f"{self.memory}; laws by round need no matrix"
            )
        found: Float64 = (
            self._reading.seen(np.eye(states)) @ matrix if self._reading.views else matrix
        )
        found.setflags(write=False)
        return found

    def _leader_law(self, t: int) -> Float64:
        """Return the joint law of counts and plurality of round t, ties keeping the one before."""
        if self._reading.rewrites:
            raise ValueError(
                "`ties` must not be 'previous' with a refutation and no view: the chain runs on "
                "rewritten answers, whose plurality is another"
            )
        while len(self._leaders) <= t:
            if not self._leaders:
                self._leaders.append(self.law(0)[:, None] * self._credit)
                continue
            before = self._leaders[-1]
            joint = np.zeros_like(before)
            for old in range(self.model.n_answers):
                law = self._push(before[:, old])
                holds = self._credit[:, old] > 0.0
                joint[holds, old] += law[holds]
                joint[~holds] += law[~holds, None] * self._credit[~holds]
            self._leaders.append(joint)
        return self._leaders[t]
