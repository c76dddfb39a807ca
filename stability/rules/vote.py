"""The vote of one round, taken when it is first asked for.

The leading label of an item is argmax_l v_l, where a tie keeps the leader of the round before and
at t = 0 goes to the earliest agent. A rule on the distribution of counts never asks, so the votes
of its rounds stay untaken until somebody reads the answers; each then looks back for its ties.
"""

from typing import final

import numpy as np
import numpy.typing as npt

from stability._kernels.votes import tally

Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]
Columns = tuple[Int32, Int32, Int32, Int32, Bool]
_NO_DRAWS = np.empty(0)


@final
class Vote:
    """Leaders, votes and agents that spoke of one round; immutable for whoever reads it.

    Parameters
    ----------
    codes : ndarray of int32, shape (M, n)
        Read-only.
    n_labels : int
    before : Vote or None
        The vote of the round before, which keeps the leaders of tied items.
    """

    __slots__ = ("_before", "_codes", "_n", "_n_labels", "_taken")

    def __init__(self, codes: Int32, n_labels: int, before: "Vote | None") -> None:
        self._codes: Int32 | None = codes
        self._n: npt.NDArray[np.int64] | None = None
        self._n_labels = n_labels
        self._before = before
        self._taken: Columns | None = None

    @classmethod
    def known(cls, winner: Int32, top: Int32, spoke: Int32) -> "Vote":
        """Return a vote that was taken elsewhere; nobody came second that we know of."""
        vote = cls(winner, 0, None)
        none = np.zeros_like(top)
        vote._taken = _frozen(winner, top, none, spoke, (top == spoke) & (top > 0))
        return vote

    @classmethod
    def of_counts(cls, n: npt.NDArray[np.int64]) -> "Vote":
        """Return the vote of a round of counts, which has no leaders; ``n`` agents spoke."""
        vote = cls(np.empty(0, np.int32), 0, None)
        vote._codes, vote._n = None, n
        return vote

    @property
    def winner(self) -> Int32:
        """Code of the leading label, -1 where nobody gave a readable answer, shape (M,)."""
        return self._take()[0]

    @property
    def top(self) -> Int32:
        """Votes of the leading label, shape (M,)."""
        return self._take()[1]

    @property
    def second(self) -> Int32:
        """Votes of the best other label, shape (M,)."""
        return self._take()[2]

    @property
    def spoke(self) -> Int32:
        """Agents that spoke, shape (M,)."""
        return self._take()[3]

    @property
    def unanimous(self) -> Bool:
        """Whether all agents that spoke gave one readable label, shape (M,)."""
        return self._take()[4]

    def _take(self) -> Columns:
        if self._taken is not None:
            return self._taken
        # Oldest first: a long debate that nobody looked at must not become a deep recursion.
        due: list[Vote] = []
        earlier = self._before
        while earlier is not None and earlier._taken is None:
            due.append(earlier)
            earlier = earlier._before
        for vote in reversed(due):
            vote._settle()
        return self._settle()

    def _settle(self) -> Columns:
        # Read before the check, since another thread may settle this vote meanwhile.
        before, taken = self._before, self._taken
        if taken is not None:
            return taken
        if self._codes is None:
            assert self._n is not None
            none = np.zeros(len(self._n), np.int32)
            columns = none - 1, none, none, self._n.astype(np.int32), none.astype(np.bool_)
        else:
            columns = self._tally(self._codes, before)
        self._taken = _frozen(*columns)
        self._before = None
        return self._taken

    def _tally(self, codes: Int32, before: "Vote | None") -> Columns:
        n_items = len(codes)
        previous = np.full(n_items, -1, np.int32) if before is None else before.winner
        previous.setflags(write=False)
        winner, top, second, spoke = (np.empty(n_items, np.int32) for _ in range(4))
        unanimous = np.empty(n_items, np.bool_)
        scratch = np.zeros(max(self._n_labels, 1), np.int32)
        tally(codes, previous, _NO_DRAWS, scratch, winner, top, second, spoke, unanimous)
        return winner, top, second, spoke, unanimous


def _frozen(winner: Int32, top: Int32, second: Int32, spoke: Int32, unanimous: Bool) -> Columns:
    for array in (winner, top, second, spoke, unanimous):
        array.setflags(write=False)
    return winner, top, second, spoke, unanimous
