"""Two rounds of the same items with their labels swapped at random, item by item.

Items are grouped by their two counts: a group holds the items that had ``low`` in one round and
``high`` > ``low`` in the other. Swapping an item moves it from one direction of its group to the
other, so that all that matters of a pattern of swaps is how many items of each group go up: the
number of ones among as many random bits. Items whose count stayed are left out; they move nothing.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel, whole

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@kernel
def pair_table(
    k: Int64, n: Int64, used: Bool, k_old: Int64, n_old: Int64, used_old: Bool, table: Int64
) -> tuple[int, int]:
    """Add the items used in both rounds with one n to table (N + 1, N + 1) at [old k, new k].

    Returns how many they are, and how many items used in both were left out, their n differing.
    """
    compared = 0
    unlike = 0
    for i in range(k.size):
        if used[i] and used_old[i]:
            if n[i] == n_old[i]:
                table[k_old[i], k[i]] += 1
                compared += 1
            else:
                unlike += 1
    return compared, unlike


@kernel
def swapped(
    words: npt.NDArray[np.uint64],
    low: Int64,
    high: Int64,
    size: Int64,
    levels: Int64,
    distance: Int64,
    shift: Int64,
) -> None:
    """Fill distance (B,) and shift (B,): M D and |sum of changes| after each pattern of swaps.

    Row b of ``words`` (B, W) holds 64 random bits a word; group g takes ceil(size[g] / 64) of them,
    the last one cut to what is left. ``low`` and ``high`` (G,) are places in ``levels`` (L,), the
    ascending counts.
    """
    moved = np.zeros(levels.size + 1, np.int64)
    for b in range(words.shape[0]):
        at = 0
        total = whole(0)
        moved[:] = 0
        for g in range(low.size):
            left = int(size[g])
            up = whole(0)
            while left > 0:
                bits = words[b, at]
                at += 1
                if left < 64:
                    bits &= (np.uint64(1) << np.uint64(left)) - np.uint64(1)
                left -= 64
                # the ones of a word: sums of 2, 4, 8 bits, then of the eight bytes
                bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
                bits = (bits & np.uint64(0x3333333333333333)) + (
                    (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
                )
                bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                bits += bits >> np.uint64(8)
                bits += bits >> np.uint64(16)
                bits += bits >> np.uint64(32)
                up += np.int64(bits & np.uint64(0x7F))
            net = 2 * up - size[g]
            moved[low[g]] += net
            moved[high[g]] -= net
            total += net * (levels[high[g]] - levels[low[g]])
        gap = whole(0)
        worst = whole(0)
        for x in range(levels.size):
            gap += moved[x]
            worst = max(worst, abs(gap))
        distance[b] = worst
        shift[b] = abs(total)
