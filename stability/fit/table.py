"""The sufficient statistic of a fit: the distinct (k, n) with their frequencies.

All items with the same count k out of the same n have the same likelihood, so that a table of
distinct cells is all a fit needs to know; from here on its cost does not depend on the number of
items.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stability._kernels.histogram import histogram_of, weighted_histogram_of
from stability.fit.counts import LARGEST, check_agents, check_integers

Int64 = npt.NDArray[np.int64]
_DENSE = 100_000  # up to this n a full histogram is cheaper than sorting


class CountTable(NamedTuple):
    """Distinct cells, sorted by n and then k: three int64 arrays of shape (R,)."""

    k: Int64
    n: Int64
    freq: Int64


def count_table(
    k: npt.ArrayLike, n: npt.ArrayLike, freq: npt.ArrayLike | None = None
) -> CountTable:
    """Collect counts into distinct cells.

    Parameters
    ----------
    k : array_like of int, shape (M,)
        Correct (or agreeing) agents of each item, 0 <= k <= n.
    n : int or array_like of int, shape (M,)
        Agents that spoke on each item; broadcast against ``k``.
    freq : array_like of int, shape (M,), optional
        Copies of each row, >= 0; one by default.

    Returns
    -------
    CountTable
        ``k, n, freq``, each (R,), without empty cells.

    Raises
    ------
    ValueError
        When an argument is empty, not integer, NaN, negative, or k > n somewhere.

    Examples
    --------
    >>> count_table([3, 1, 3], 7)
    CountTable(k=array([1, 3]), n=array([7, 7]), freq=array([1, 2]))
    """
    for name, value in (("k", k), ("n", n), ("freq", freq)):
        if np.ma.is_masked(value):
            raise ValueError(f"`{name}` must not hold masked values, got {value!r}")
    agents = check_agents(n)
    raw = np.asarray(k)
    if agents.ndim == 0 and raw.ndim == 1 and agents <= 255 and raw.size:
        one = int(agents)
        fast = _histogram(raw, one) if freq is None else _weighted(raw, np.asarray(freq), one)
        if fast is not None:
            return one_table(fast, one)
    counts = check_integers("k", k)
    copies = np.ones(1, np.int64) if freq is None else check_integers("freq", freq)
    try:
        counts, agents, copies = np.broadcast_arrays(counts, agents, copies)
    except ValueError:
        raise ValueError(
            f"`k`, `n` and `freq` must broadcast against each other: shapes {np.shape(k)}, "
            f"{np.shape(n)}, {() if freq is None else np.shape(freq)}"
        ) from None
    counts, agents, copies = counts.ravel(), agents.ravel(), copies.ravel()
    if counts.size == 0:
        raise ValueError("`k` must hold at least one item, got an empty array")
    _refuse("k", counts < 0, counts, ">= 0")
    _refuse("freq", copies < 0, copies, ">= 0")
    above = counts > agents
    if above.any():
        at = int(np.argmax(above))
        raise ValueError(f"`k` must be <= `n`: k[{at}]={counts[at]}, n[{at}]={agents[at]}")
    if not copies.any():
        raise ValueError("`freq` must hold at least one item, got only zeros")
    if agents[0] <= _DENSE and (agents == agents[0]).all():
        full = np.bincount(counts, weights=copies)  # exact: the sums stay far below 2**53
        return one_table(full.astype(np.int64), int(agents[0]))
    order = np.lexsort((counts, agents))
    counts, agents, copies = counts[order], agents[order], copies[order]
    new = np.ones(counts.size, np.bool_)
    new[1:] = (counts[1:] != counts[:-1]) | (agents[1:] != agents[:-1])
    total = np.add.reduceat(copies, np.flatnonzero(new))
    held = total > 0
    return CountTable(counts[new][held], agents[new][held], total[held])


def histogram(k: npt.ArrayLike, n: int) -> Int64:
    """Count the items of each k = 0..n, range check included; shape (n + 1,).

    Examples
    --------
    >>> histogram([0, 2, 2], 3)
    array([1, 0, 2, 0])
    """
    table = count_table(k, n)
    full = np.zeros(int(n) + 1, np.int64)
    full[table.k] = table.freq
    return full


def one_table(full: Int64, n: int) -> CountTable:
    """Return the table of a histogram (n + 1,) of items with one n: its cells that are not empty.

    Examples
    --------
    >>> one_table(np.array([0, 2, 0, 1]), 3)
    CountTable(k=array([1, 3]), n=array([3, 3]), freq=array([2, 1]))
    """
    (k,) = full.nonzero()
    return CountTable(k, np.full(k.size, n), full[k])


def _histogram(k: npt.NDArray[Any], n: int) -> Int64 | None:
    """Return the histogram of an integer array, None where the slow path must explain why not."""
    if k.dtype.kind not in "iu" or not k.dtype.isnative:
        return None
    tables = np.zeros((8, 256), np.int64)
    if not histogram_of(np.ascontiguousarray(k), n, tables):
        return None
    total: Int64 = tables[:, : n + 1].sum(axis=0)
    return total


def _weighted(k: npt.NDArray[Any], freq: npt.NDArray[Any], n: int) -> Int64 | None:
    """`_histogram` of rows with copies: None for what is not plain, or not valid."""
    if k.dtype != np.int64 or freq.dtype != np.int64 or k.shape != freq.shape:
        return None
    full = np.zeros(n + 1, np.int64)
    return full if weighted_histogram_of(np.array((k, freq)), full, LARGEST) else None


def _refuse(name: str, bad: npt.NDArray[np.bool_], values: Int64, rule: str) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"`{name}` must be {rule}: {name}[{at}]={values[at]}")
