"""Which answers to keep: the selections behind pruning, reusable on any matrix or score.

Diversity keeps the k things that lie furthest apart, argmax over |Y| = k of
sum over ordered pairs of D[i, j]; quality keeps the k with the smallest scores. On embeddings, take
for D the distances of the embeddings and for the scores their distances from that of the task.

The largest sum is NP-hard in general. ``exact`` enumerates; ``greedy`` starts with the best pair
and adds what adds most. For a metric the greedy sum is at least half of the best (Ravi, Rosenkrantz
and Tayi, Oper. Res. 42, 1994); the Kullback-Leibler divergence is no metric, so that nothing is
promised for it; the square root of the Jensen-Shannon divergence is one.
"""

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from theory._check import check_choice, check_int

Float64 = npt.NDArray[np.float64]
DIVERGENCES = ("kl", "symmetric-kl", "sqrt-js")
_EXACT = 200_000


def diversity_subset(
    divergence_matrix: npt.ArrayLike, k: int, method: str = "exact"
) -> tuple[int, ...]:
    """Return the places of k things that lie furthest apart, in increasing order.

    Parameters
    ----------
    divergence_matrix : array-like, shape (n, n)
        Finite, >= 0, with a zero diagonal; it need not be symmetric: both directions count.
    k : int
        1..n.
    method : {"exact", "greedy"}
        Exact looks at all C(n, k) sets, at most 200,000. Among equal sums the first set in
        lexicographic order is taken (greedy: the first that adds most).

    Raises
    ------
    ValueError
        When the matrix is no matrix of divergences, k is out of range, or there are too many sets.

    Examples
    --------
    >>> diversity_subset([[0, 1, 5], [1, 0, 2], [5, 2, 0]], 2)
    (0, 2)
    """
    matrix = np.asarray(divergence_matrix, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"`divergence_matrix` must be square, got shape {matrix.shape}")
    if not np.isfinite(matrix).all() or (matrix < 0.0).any() or np.diagonal(matrix).any():
        raise ValueError(
            "`divergence_matrix` must be finite and >= 0 with a zero diagonal: a law with a zero "
            "in it has an infinite divergence, smooth it first"
        )
    n = len(matrix)
    check_int("k", k, minimum=1, maximum=n)
    check_choice("method", method, ("exact", "greedy"))
    both = matrix + matrix.T
    if k == 1:
        return (0,)
    if method == "exact":
        if comb(n, k) > _EXACT:
            raise ValueError(
                f"`method` must be 'greedy' for {comb(n, k)} sets of {k} out of {n}: at most "
                f"{_EXACT} are enumerated"
            )
        sets = np.array(list(combinations(range(n), k)))
        sums = both[sets[:, :, None], sets[:, None, :]].sum(axis=(1, 2))
        # rounding must not choose among equal sums
        best = int(np.flatnonzero(sums >= sums.max() * (1.0 - 1e-12))[0])
        return tuple(sets[best].tolist())
    upper = np.triu(both, 1)
    first, second = np.unravel_index(int(upper.argmax()), upper.shape)
    # where all lie on one point, any pair is as good as another
    chosen = [int(first), int(second)] if first != second else [0, 1]
    while len(chosen) < k:
        gain = both[:, chosen].sum(axis=1)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
    return tuple(sorted(chosen))


def quality_subset(scores: npt.ArrayLike, k: int) -> tuple[int, ...]:
    """Return the places of the k smallest scores, in increasing order; ties go to the first.

    Parameters
    ----------
    scores : array-like, shape (n,)
        Finite; smaller is better, as divergences from the task are.
    k : int
        1..n.

    Raises
    ------
    ValueError
        When a score is not finite, or k is out of range.

    Examples
    --------
    >>> quality_subset([.3, .1, .2], 2)
    (1, 2)
    """
    values = np.asarray(scores, np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ValueError(f"`scores` must be finite numbers in one row, got {scores!r}")
    check_int("k", k, minimum=1, maximum=len(values))
    return tuple(sorted(np.argsort(values, kind="stable")[:k].tolist()))


def divergence(laws: npt.ArrayLike, kind: str = "kl") -> Float64:
    """Return the divergences D[i, j] of laws (n, K) in nats, shape (n, n).

    ``kl``: KL(i || j); ``symmetric-kl``: its mean over both directions; ``sqrt-js``: the square
    root of the Jensen-Shannon divergence, a metric.

    Raises
    ------
    ValueError
        When a law has a zero where another has none, for the two KL (smooth them first).

    Examples
    --------
    >>> divergence([[.5, .5], [.9, .1]]).round(4).tolist()
    [[0.0, 0.5108], [0.3681, 0.0]]
    """
    check_choice("kind", kind, DIVERGENCES)
    p = np.asarray(laws, np.float64)
    if p.ndim != 2 or (p < 0.0).any() or not np.allclose(p.sum(axis=1), 1.0, atol=1e-9):
        raise ValueError("`laws` must be rows of probabilities that sum to 1")
    if kind == "sqrt-js":
        middle = (p[:, None, :] + p[None, :, :]) / 2.0
        entropy = _entropy(p)
        js = _entropy(middle) - (entropy[:, None] + entropy[None, :]) / 2.0
        root: Float64 = np.sqrt(np.maximum(js, 0.0))
        np.fill_diagonal(root, 0.0)
        return root
    if ((p[:, None, :] > 0.0) & (p[None, :, :] == 0.0)).any():
        raise ValueError("`laws` must not have zeros where others have none: smooth them first")
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(p > 0.0, np.log(p), 0.0)
    kl = (p * logs).sum(axis=1)[:, None] - p @ logs.T
    kl = np.maximum(kl, 0.0)
    np.fill_diagonal(kl, 0.0)
    found: Float64 = kl if kind == "kl" else (kl + kl.T) / 2.0
    return found


def _entropy(p: Float64) -> Float64:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0.0, -p * np.log(p), 0.0)
    total: Float64 = terms.sum(axis=-1)
    return total
