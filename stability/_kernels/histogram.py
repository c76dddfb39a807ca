"""Histogram of counts with the range check in the same pass.

Four tables take turns, so that two equal counts in a row do not wait for each other's increment;
the index is masked to 255 and values outside 0..n are counted by one unsigned comparison.
"""

import numpy as np

from stability._kernels.jit import kernel


@kernel
def histogram_of(k, n, tables):
    """Add the counts k (M,) of any integer type to tables (4, 256); return how many are bad.

    ``n`` is at most 255. A bad count is one outside 0..n; the tables are then meaningless.
    """
    bad = 0
    top = np.uint64(n)
    whole = k.size - k.size % 4
    for i in range(0, whole, 4):
        a = np.uint64(k[i])
        b = np.uint64(k[i + 1])
        c = np.uint64(k[i + 2])
        d = np.uint64(k[i + 3])
        bad += (a > top) + (b > top) + (c > top) + (d > top)
        tables[0, a & np.uint64(255)] += 1
        tables[1, b & np.uint64(255)] += 1
        tables[2, c & np.uint64(255)] += 1
        tables[3, d & np.uint64(255)] += 1
    for i in range(whole, k.size):
        a = np.uint64(k[i])
        bad += a > top
        tables[0, a & np.uint64(255)] += 1
    return bad
