"""Whether an early stop cost something, debate by debate, against the debate in full length.

``answer_changed``: the set of leading answers at the stop is not that of the last round; ties
count as sets, and no grades are needed. ``harm``: the leading answer of the last round is right and
that of the stop is wrong, ties going to the leader of the round before.
"""

import numpy as np
import numpy.typing as npt

from stability.errors import NeedsAnswersError
from stability.evaluate.outcomes import leader_grades
from stability.log import DebateLog

LOSSES = ("answer_changed", "harm")
Bool = npt.NDArray[np.bool_]


def losses_by_round(log: DebateLog, loss: str) -> Bool:
    """Return what a stop after each round would cost each debate, shape (T, M).

    Raises
    ------
    NeedsAnswersError
        When harm is asked of a log in which not all leading answers are graded.

    Examples
    --------
    >>> log = DebateLog([[[0, 0, 1]], [[0, 1, 2]], [[0, 0, 0]]], ["A", "B", "C"])
    >>> losses_by_round(log, "answer_changed").ravel().tolist()
    [False, True, False]
    """
    if loss == "harm":
        right = leader_grades(log, log.plurality())
        unknown = int((right < 0).any(axis=0).sum())
        if unknown:
            raise NeedsAnswersError(
                f"loss='harm' needs graded answers: {unknown} of {log.n_items} debates have a "
                "leading answer that is not graded; select the others, or grade them"
            )
        harm: Bool = (right[-1] == 1) & (right == 0)
        return harm
    last = log.answers[-1]
    at_end = _leading(last)
    lost = np.zeros(log.answers.shape[:2], np.bool_)
    for t, codes in enumerate(log.answers[:-1]):
        leads = _leading(codes)
        same = codes[:, :, None] == last[:, None, :]
        # every leading answer must lead at the end, and the other way round
        kept = (same & at_end[:, None, :]).any(axis=2) | ~leads
        met = (same & leads[:, :, None]).any(axis=1) | ~at_end
        lost[t] = ~(kept.all(axis=1) & met.all(axis=1))
    return lost


def _leading(codes: npt.NDArray[np.int32]) -> Bool:
    """Say which agents back a leading answer, shape (M, n)."""
    votes = (codes[:, :, None] == codes[:, None, :]).sum(axis=2)
    votes[codes < 0] = 0
    leads: Bool = (votes > 0) & (votes == votes.max(axis=1, keepdims=True))
    return leads
