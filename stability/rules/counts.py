"""What a rule on the distribution of counts counts: agents that are right, or that agree.

With ``correct`` k_i of the n_i agents of item i gave a right answer; an unread answer is wrong, a
silent agent is not counted, an item without a grade is left out. With ``agreement`` k_i agents gave
the reference answer: the leading one of this round, of round 0 or of the round before.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stability._kernels.votes import agreement, correct_counts
from stability.errors import NeedsAnswersError
from stability.rules.seen import Seen

OBSERVABLES = ("auto", "correct", "agreement")
REFERENCES = ("current", "first", "previous")
Int64 = npt.NDArray[np.int64]


class Counts(NamedTuple):
    """Counts of one round, shape (M,) each; ``used`` marks the items that can be compared.

    ``reference`` holds the codes of the answers that agents agree with; None for ``correct``.
    """

    k: Int64
    n: Int64
    used: npt.NDArray[np.bool_]
    reference: npt.NDArray[np.int32] | None


def resolve(observable: str, seen: Seen) -> str:
    """Return what ``"auto"`` means in the first round: correct where there are grades."""
    if observable != "auto":
        return observable
    return "correct" if seen.k is not None or seen.correct is not None else "agreement"


def count(
    rule: object,
    observable: str,
    seen: Seen,
    reference: str = "current",
    first: npt.NDArray[np.int32] | None = None,
) -> Counts:
    """Count one round; ``first`` holds the leading codes of round 0 where they are the reference.

    Raises
    ------
    NeedsAnswersError
        When the round has no grades, or no answers, and ``rule`` needs them.
    """
    if observable == "correct":
        if seen.k is not None:
            assert seen.n is not None
            return _frozen(seen.k, seen.n, seen.n > 0, None)
        codes = seen.answer_codes(rule)
        name = type(rule).__name__
        if seen.correct is None:
            raise NeedsAnswersError(
                f"{name}(observable='correct') needs graded answers; this round holds no "
                "grades: give `correct`, or use observable='agreement'"
            )
        k, n = np.empty(seen.n_items, np.int64), np.empty(seen.n_items, np.int64)
        used = np.empty(seen.n_items, np.bool_)
        correct_counts(codes, seen.correct, k, n, used)
        if not used.any() and n.any():
            raise NeedsAnswersError(
                f"{name}(observable='correct') needs graded answers; none of the "
                f"{seen.n_items} items of round {seen.round} is graded"
            )
        return _frozen(k, n, used, None)
    codes = seen.answer_codes(rule)
    if reference == "current" or (reference == "previous" and seen.before is None):
        # those who agree with the leader were counted with the votes
        k, n = seen.top.astype(np.int64), seen.spoke.astype(np.int64)
        return _frozen(k, n, n > 0, seen.winner)
    leaders = first if reference == "first" else seen.before.winner if seen.before else None
    assert leaders is not None
    k, n = np.empty(seen.n_items, np.int64), np.empty(seen.n_items, np.int64)
    agreement(codes, leaders, k, n)
    return _frozen(k, n, n > 0, leaders)


def left_out(missing: int, seen: Seen, observable: str) -> tuple[str, ...]:
    """Say how many items are not counted."""
    if not missing:
        return ()
    why = "without an agent that spoke" if observable == "agreement" else "that are not graded"
    return (f"{missing} of {seen.n_items} items {why} are left out of round {seen.round}.",)


def grades(
    codes: npt.NDArray[np.int32],
    correct: npt.NDArray[np.int8] | None,
    counts: Counts,
    observable: str,
) -> npt.NDArray[np.int8]:
    """Return 1, 0 or -1 (silent, or the item is left out) for each answer, as it was counted."""
    if observable == "correct":
        assert correct is not None
        said = np.where(codes == -1, np.int8(0), correct)
    else:
        assert counts.reference is not None
        said = ((codes == counts.reference[:, None]) & (codes >= 0)).astype(np.int8)
    said[(codes == -2) | ~counts.used[:, None]] = -1
    return said


def _frozen(
    k: Int64, n: Int64, used: npt.NDArray[np.bool_], reference: npt.NDArray[np.int32] | None
) -> Counts:
    for array in (k, n, used):
        array.setflags(write=False)
    return Counts(k, n, used, reference)
