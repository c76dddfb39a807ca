"""Counts of answers: the states of a debate, and the laws of multinomials over them.

All agents of a round read the same answers, and a product of likelihoods does not see their order,
so that the vector c of answer counts is all that matters: c_a >= 0, sum_a c_a = n, in all
N = C(n + L - 1, L - 1) states. Rows are in lexicographic order.
"""

from functools import lru_cache
from math import comb, lgamma, log

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


def n_states(n: int, answers: int) -> int:
    """Return N = C(n + L - 1, L - 1).

    Examples
    --------
    >>> n_states(20, 4)
    1771
    """
    return comb(n + answers - 1, answers - 1)


@lru_cache(maxsize=64)
def count_states(n: int, answers: int) -> Int64:
    """Return all counts of n answers, shape (N, L), read-only.

    Examples
    --------
    >>> count_states(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if answers == 1:
        states = np.full((1, 1), n, np.int64)
    elif answers == 2:
        first = np.arange(n + 1)
        states = np.column_stack([first, n - first])
    else:
        parts = []
        for head in range(n + 1):
            rest = count_states(n - head, answers - 1)
            parts.append(np.column_stack([np.full(len(rest), head, np.int64), rest]))
        states = np.concatenate(parts)
    states.setflags(write=False)
    return states


def state_index(counts: npt.ArrayLike) -> Int64:
    """Return the place of counts (..., L) among the states of their sum.

    Examples
    --------
    >>> state_index([[0, 2], [1, 1]]).tolist()
    [0, 1]
    """
    c = np.asarray(counts, np.int64)
    answers = c.shape[-1]
    place = np.zeros(c.shape[:-1], np.int64)
    left = c.sum(axis=-1)
    for a in range(answers - 1):
        # states with a smaller entry here come before: sum_{v < c_a} C(left - v + r - 1, r - 1)
        rest = answers - 1 - a
        table = _below(int(left.max(initial=0)), rest)
        place += table[left] - table[left - c[..., a]]
        left = left - c[..., a]
    return place


@lru_cache(maxsize=256)
def _below(n: int, rest: int) -> Int64:
    """sum_{u <= m} C(u + rest - 1, rest - 1) for m = 0..n: how many states lie up to m."""
    table = np.array([comb(m + rest, rest) for m in range(n + 1)], np.int64)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=64)
def log_coefficients(n: int, answers: int) -> Float64:
    """Return log(n! / prod_a c_a!) of every state, shape (N,), read-only.

    With two answers from exact integers: a difference of log-gammas loses digits where n is large.
    """
    states = count_states(n, answers)
    if answers == 2 and n <= 2000:
        half = [1]
        for c in range(n // 2):
            half.append(half[-1] * (n - c) // (c + 1))
        logs = np.array([log(value) for value in half])
        values = logs[np.minimum(states[:, 0], states[:, 1])]
    else:
        logs = np.array([lgamma(v + 1.0) for v in range(n + 1)])
        values = logs[n] - logs[states].sum(axis=1)
    values.setflags(write=False)
    return values


def multinomial(n: int, law: Float64) -> Float64:
    """Return P(c) of n independent answers with each law, shape (B, N); ``law`` has shape (B, L).

    Examples
    --------
    >>> multinomial(2, np.array([[.5, .5]])).tolist()
    [[0.25, 0.5, 0.25]]
    """
    states = count_states(n, law.shape[1])
    with np.errstate(divide="ignore"):
        logs = np.log(law)
    if np.isfinite(logs).all():
        out = logs @ states.T.astype(np.float64)
    else:
        # 0 log 0 is 0: an answer that is never given leaves its count at zero
        zero = np.isinf(logs)
        out = np.where(zero, 0.0, logs) @ states.T.astype(np.float64)
        out[(zero.astype(np.float64) @ states.T.astype(np.float64)) > 0.0] = -np.inf
    out += log_coefficients(n, law.shape[1])
    result: Float64 = np.exp(out, out=out)
    return result


def convolve(first: Float64, n_first: int, second: Float64, n_second: int, answers: int) -> Float64:
    """Return the laws (B, N) of the sum of two independent counts, of (B, N_1) and (B, N_2).

    Examples
    --------
    >>> one = multinomial(1, np.array([[.5, .5]]))
    >>> convolve(one, 1, one, 1, 2).tolist()
    [[0.25, 0.5, 0.25]]
    """
    left, right = count_states(n_first, answers), count_states(n_second, answers)
    if len(left) > len(right):
        first, second, left, right = second, first, right, left
    # laws stand in columns here, so that what is added are whole rows
    out = np.zeros((n_states(n_first + n_second, answers), len(first)))
    columns = np.ascontiguousarray(second.T)
    for counts, weight in zip(left, np.ascontiguousarray(first.T), strict=True):
        # adding one fixed count is injective: no place is met twice
        out[state_index(right + counts)] += columns * weight
    found: Float64 = np.ascontiguousarray(out.T)
    return found
