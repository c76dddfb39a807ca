"""Histogram of counts with the range check in the same pass.

The counts are taken in blocks that fit into the first-level cache: first the maximum of a block
(a vectorised loop), then its counts, where eight tables take turns so that two equal counts in a
row do not wait for each other's increment.

Only read-only arrays of unsigned types are compiled, one kernel a width. A negative integer read
as unsigned exceeds the largest integer of its signed type, so that one comparison finds it
together with what is too large.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel

_BLOCK = 4096


def histogram_of(k: npt.NDArray[Any], n: int, tables: npt.NDArray[np.int64]) -> bool:
    """Add the counts k (M,) of any integer type to tables (8, 256); False when one is not in 0..n.

    ``n`` is at most 255. After False the tables are meaningless.
    """
    unsigned = k.view(f"u{k.dtype.itemsize}")
    unsigned.setflags(write=False)
    return _histogram_of_unsigned(unsigned, min(n, np.iinfo(k.dtype).max), tables)


@kernel
def _histogram_of_unsigned(k: npt.NDArray[Any], n: int, tables: npt.NDArray[np.int64]) -> bool:
    t0 = tables[0]
    t1 = tables[1]
    t2 = tables[2]
    t3 = tables[3]
    t4 = tables[4]
    t5 = tables[5]
    t6 = tables[6]
    t7 = tables[7]
    for start in range(0, k.size, _BLOCK):
        block = k[start : start + _BLOCK]
        high = block[0]
        for i in range(block.size):
            high = max(high, block[i])
        if high > n:
            return False
        whole = block.size - block.size % 8
        for i in range(0, whole, 8):
            t0[np.uint8(block[i])] += 1
            t1[np.uint8(block[i + 1])] += 1
            t2[np.uint8(block[i + 2])] += 1
            t3[np.uint8(block[i + 3])] += 1
            t4[np.uint8(block[i + 4])] += 1
            t5[np.uint8(block[i + 5])] += 1
            t6[np.uint8(block[i + 6])] += 1
            t7[np.uint8(block[i + 7])] += 1
        for i in range(whole, block.size):
            t0[np.uint8(block[i])] += 1
    return True


@kernel
def weighted_histogram_of(
    rows: npt.NDArray[np.int64], table: npt.NDArray[np.int64], most: int
) -> bool:
    """Add freq copies of each count to table (n + 1,), from rows (2, M) of counts and freq.

    False when a count is not in 0..n, a frequency negative, or their sum not in 1..most; the
    table is then meaningless.
    """
    left = most
    for i in range(rows.shape[1]):
        k = rows[0, i]
        copies = rows[1, i]
        if k < 0 or k >= table.size or copies < 0 or copies > left:
            return False
        table[k] += copies
        left -= copies
    return left < most


@kernel
def histogram_of_used(
    k: npt.NDArray[np.int64],
    n: npt.NDArray[np.int64],
    used: npt.NDArray[np.bool_],
    table: npt.NDArray[np.int64],
) -> tuple[int, int, int]:
    """Add the counts k (M,) of the items in use to table (largest n + 1,).

    Returns how many items are used, and the least and the greatest of their n: 0, 0 if there are
    none, and -1, 0 where k is not in 0..n or n beyond the table, which is then meaningless.
    """
    count = 0
    least = 0
    most = 0
    for i in range(k.size):
        if used[i]:
            if k[i] < 0 or k[i] > n[i] or n[i] >= table.size:
                least = -1
            else:
                table[k[i]] += 1
                if count == 0 or n[i] < least:
                    least = int(n[i])
                most = max(most, int(n[i]))
            count += 1
    return (count, -1, 0) if least < 0 else (count, least, most)
