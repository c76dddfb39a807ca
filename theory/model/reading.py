"""From the counts of a round to those of the next: what is seen of them, and what is answered.

What is *seen* of counts c is a count s: c itself, or what a view keeps of it, perhaps rewritten.
Given s the agents of a type answer independently from q_e(. | s), so that the next counts are a
sum of multinomials. Where each type has a view of its own, the laws given c are mixed over what the
type sees before they are added up.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from theory.model.concepts import DebateModel
from theory.model.interventions import SubsetLaw
from theory.model.response import next_law
from theory.model.states import convolve, count_states, multinomial, n_states

Float64 = npt.NDArray[np.float64]
_BLOCK = 2**25  # bytes of a block of rows


class Reading:
    """What the agents of a model see, and the rows of the next counts."""

    def __init__(self, model: DebateModel) -> None:
        self.model = model
        self.states = count_states(model.n_agents, model.n_answers)

    @property
    def rewrites(self) -> bool:
        """Whether the chain runs on rewritten answers: a refutation of all of them."""
        return self.model.rewrite is not None and self.model.view is None

    @property
    def views(self) -> bool:
        """Whether all types see one sub-count of the answers, drawn once."""
        return self._views is not None and self._views.shared

    @property
    def n_seen(self) -> int:
        """Number of counts that may be seen; the rows of `blocks`."""
        return n_states(self.model.n_read, self.model.n_answers) if self.views else len(self.states)

    def seen(self, law: Float64) -> Float64:
        """Return the law of what is seen, from a law (or rows of laws) of counts."""
        if not self.views:
            return law
        assert self._views is not None
        found: Float64 = law @ self._views.laws[0]
        return found

    def responses(self) -> list[Float64]:
        """For each type the mean law of the next answer given the counts, shape (N, L)."""
        laws = self._laws()
        if self._views is None:
            return laws
        views = self._views.laws
        return [views[0 if self._views.shared else e] @ law for e, law in enumerate(laws)]

    def blocks(self, rewritten: bool) -> Iterator[tuple[slice, Float64]]:
        """Yield the rows of the next counts, block by block, given what is seen."""
        laws = self._laws()
        own_views = self._views is not None and not self._views.shared
        if own_views:
            assert self._views is not None
            kinds = [multinomial(n, q) for n, q in zip(self.model.sizes, laws, strict=True)]
            mixed = [view @ own for view, own in zip(self._views.laws, kinds, strict=True)]
        rows = max(1, _BLOCK // (8 * len(self.states)))
        for start in range(0, self.n_seen, rows):
            places = slice(start, min(start + rows, self.n_seen))
            if own_views:
                yield places, self._sum([law[places] for law in mixed])
            else:
                yield places, self.counts([law[places] for law in laws], rewritten)

    def counts(self, laws: list[Float64], rewritten: bool) -> Float64:
        """Return the laws of the counts (B, N) when each type answers from its law (B, L)."""
        if rewritten:
            assert self.model.rewrite is not None
            laws = [law @ self.model.rewrite.of(e) for e, law in enumerate(laws)]
        if all(one is laws[0] for one in laws):
            # types that answer alike are one type
            return multinomial(self.model.n_agents, laws[0])
        return self._sum([multinomial(n, q) for n, q in zip(self.model.sizes, laws, strict=True)])

    def _sum(self, parts: list[Float64]) -> Float64:
        total, size = parts[0], self.model.sizes[0]
        for part, number in zip(parts[1:], self.model.sizes[1:], strict=True):
            total = convolve(total, size, part, number, self.model.n_answers)
            size += number
        return total

    def _laws(self) -> list[Float64]:
        """q_e of each type given what is seen, shape (S, L)."""
        seen = count_states(self.model.n_read, self.model.n_answers)
        return [next_law(one, seen, self.model.tempering) for one in self.model.types]

    @cached_property
    def _views(self) -> SubsetLaw | None:
        """The stages of the view, and a refutation after them, as one law of what is seen."""
        if self.model.view is None:
            return None
        size = self.model.n_agents
        laws, shared = np.ones((1, 1, 1)), True
        for place, stage in enumerate(self.model.view):
            law = stage.prepare(self.model, size)
            laws = law.laws if place == 0 else np.matmul(laws, law.laws)
            shared = shared and law.shared
            size = stage.k
        if self.model.rewrite is not None:
            laws = laws @ self.model.rewrite.on_counts(size)
        return SubsetLaw(count_states(size, self.model.n_answers), laws, shared)
