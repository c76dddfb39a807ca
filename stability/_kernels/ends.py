"""What the end of a search says: components in order, status flags, a bounded log-likelihood.

A point ``x = (v_1 .. v_{K-1}, mu_1, rho_1, ..., mu_K, rho_K)`` with stick-breaking weights is one
of many that stand for the same mixture: components may be exchanged, one without weight may be
anything, and neither a point mass nor one agent shows a correlation. Its canonical form is the
same for all of them. The log-likelihood of a fit is at most that of the saturated multinomial of
each n, sum_i f_i log(f_i / sum of f over the cells of the same n), up to rounding.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Bits of the flags, the most important first.
CAPPED = 1
SINGLE_ITEM = 2
NOT_IDENTIFIABLE = 4
COLLAPSED = 8
POINT_MASS = 16
ALL_OR_NOTHING = 32
BINOMIAL_LIMIT = 64


@kernel
def canonical(x: F64, top: int, parts: F64) -> None:
    """Fill the columns of parts (3, K) with (weight, mean, rho) of the components, in order.

    Order: by mean, then rho. A component without weight repeats the heaviest one; a point mass,
    and every component when the largest n is 1, has rho = 0.
    """
    size = parts.shape[1]
    rest = 1.0
    heavy = 0
    for c in range(size):
        weight = rest * x[c] if c < size - 1 else rest
        rest -= weight
        mean = x[size - 1 + 2 * c]
        parts[0, c] = max(weight, 0.0)
        parts[1, c] = mean
        parts[2, c] = x[size + 2 * c] if 0.0 < mean < 1.0 and top > 1 else 0.0
        # of equal weights the last in the order, so that the names of components do not matter
        for e in range(3):
            if parts[e, c] != parts[e, heavy]:
                if parts[e, c] > parts[e, heavy]:
                    heavy = c
                break
    mean = parts[1, heavy]
    rho = parts[2, heavy]
    for c in range(size):
        if parts[0, c] == 0.0:
            parts[1, c] = mean
            parts[2, c] = rho
    for last in range(1, size):
        c = last
        while c > 0 and (
            parts[1, c] < parts[1, c - 1]
            or (parts[1, c] == parts[1, c - 1] and parts[2, c] < parts[2, c - 1])
        ):
            for e in range(3):
                parts[e, c], parts[e, c - 1] = parts[e, c - 1], parts[e, c]
            c -= 1


@kernel
def flags_of(parts: F64, top: int, items: float) -> int:
    """Bits of all that applies to the components parts (3, K); ``items`` have n > 0."""
    size = parts.shape[1]
    flags = 0
    if items == 1.0:
        flags |= SINGLE_ITEM
    if top < 3 * size - 1:
        flags |= NOT_IDENTIFIABLE
    for c in range(size):
        mean = parts[1, c]
        if parts[0, c] == 0.0:
            flags |= COLLAPSED
            continue
        if mean == 0.0 or mean == 1.0:
            flags |= POINT_MASS
        elif parts[2, c] == 0.0 and top > 1:
            flags |= BINOMIAL_LIMIT
        if parts[2, c] == 1.0:
            flags |= ALL_OR_NOTHING
    return flags


@kernel
def saturated(n: I64, freq: F64) -> float:
    """Log-likelihood of the saturated multinomial of each n; equal n stand together."""
    level = 0.0
    start = 0
    while start < n.size:
        stop = start
        total = 0.0
        while stop < n.size and n[stop] == n[start]:
            total += freq[stop]
            stop += 1
        for i in range(start, stop):
            if freq[i] > 0.0:
                level += freq[i] * np.log(freq[i] / total)
        start = stop
    return level


@kernel
def read_ends(
    n: I64, freq: F64, x: F64, info: F64, cap: int, parts: F64, loglik: F64, flags: I64
) -> None:
    """Read each of B ends: points x (B, 3K - 1), infos (B, 5), tables freq (B, R) of sorted n.

    Fills parts (3, B, K), loglik (B,) and flags (B,). ``cap`` is the code of a search that ended
    too early.
    """
    top = n[n.size - 1]
    for row in range(x.shape[0]):
        items = 0.0
        for i in range(n.size):
            if n[i] > 0:
                items += freq[row, i]
        canonical(x[row], top, parts[:, row])
        loglik[row] = min(info[row, 0], saturated(n, freq[row]))
        flags[row] = flags_of(parts[:, row], top, items)
        if info[row, 2] == cap:
            flags[row] |= CAPPED
