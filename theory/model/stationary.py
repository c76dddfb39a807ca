"""Where a chain spends its time: the stationary law by elimination, and the time to reach a set.

The elimination of Grassmann, Taksar and Heyman (Oper. Res. 33, 1985) censors the states one after
another with additions, multiplications and divisions of nonnegative numbers only. It keeps all
digits of small probabilities, where an eigenvector of a nearly decoupled chain loses them; echo
chambers are such chains. Here it runs in panels of states, as a blocked LU does, so that most of
the work is one matrix product a panel; the numbers added are the same.
"""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
_PANEL = 32


def stationary_law(transition: npt.ArrayLike) -> Float64:
    """Return the stationary law pi = pi P of an irreducible chain, shape (N,).

    Parameters
    ----------
    transition : array-like, shape (N, N)
        Rows sum to 1. Cost N^3 / 3.

    Raises
    ------
    ValueError
        When the matrix is not square, or the chain is not irreducible.

    Examples
    --------
    >>> stationary_law([[.9, .1], [.3, .7]]).round(12).tolist()
    [0.75, 0.25]
    """
    work = np.array(transition, np.float64, order="C")
    if work.ndim != 2 or work.shape[0] != work.shape[1] or not work.size:
        raise ValueError(f"`transition` must be square, got shape {work.shape}")
    size = len(work)
    for stop in range(size, 1, -_PANEL):
        start = max(stop - _PANEL, 1)
        for s in range(stop - 1, start - 1, -1):
            out = work[s, :s].sum()
            if not out > 0.0:
                raise ValueError(
                    f"`transition` must be irreducible: state {s} leads to none of those before it"
                )
            work[:s, s] /= out
            # the rows and the columns of the panel now, all others at its end
            work[start:s, :s] += work[start:s, s : s + 1] * work[s, :s]
            work[:start, start:s] += work[:start, s : s + 1] * work[s, start:s]
        work[:start, :start] += work[:start, start:stop] @ work[start:stop, :start]
    law = np.empty(size)
    law[0] = 1.0
    for s in range(1, size):
        law[s] = law[:s] @ work[:s, s]
    found: Float64 = law / law.sum()
    return found


def expected_rounds(transition: npt.ArrayLike, targets: npt.ArrayLike) -> Float64:
    """Return the expected rounds until a chain first meets a target, shape (N,); 0 in the targets.

    Parameters
    ----------
    transition : array-like, shape (N, N)
    targets : array-like of bool, shape (N,)
        At least one.

    Raises
    ------
    ValueError
        When there is no target.

    Examples
    --------
    >>> expected_rounds([[.9, .1], [.3, .7]], [False, True]).round(9).tolist()
    [10.0, 0.0]
    """
    matrix = np.asarray(transition, np.float64)
    hit = np.asarray(targets, np.bool_)
    if hit.shape != matrix.shape[:1] or not hit.any():
        raise ValueError(f"`targets` must mark at least one of {len(matrix)} states")
    going = ~hit
    rounds = np.zeros(len(matrix))
    if going.any():
        inner = np.eye(int(going.sum())) - matrix[np.ix_(going, going)]
        rounds[going] = np.linalg.solve(inner, np.ones(len(inner)))
    return rounds
