"""The latch of a rule: an item that has stopped stays stopped: its round, its reason, its row."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel


@kernel
def latch(
    says_stop: npt.NDArray[np.bool_],
    says: npt.NDArray[np.int8],
    t: int,
    old_rounds: npt.NDArray[np.int32],
    old_codes: npt.NDArray[np.int8],
    rounds: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int8],
    stopped: npt.NDArray[np.bool_],
) -> tuple[int, int, int]:
    """Fill the rounds, reasons and flags after a judgement.

    Returns the number of stopped items, the least reason of those that stopped last, and the
    greatest reason of those that go on (-1 where there are none).
    """
    count = 0
    last_round = -1
    last_code = -1
    going = -1
    for i in range(says_stop.size):
        when = old_rounds[i]
        code = old_codes[i]
        if when < 0:
            code = says[i]
            if says_stop[i]:
                when = np.int32(t)
        rounds[i] = when
        codes[i] = code
        stopped[i] = when >= 0
        if when >= 0:
            count += 1
            if when > last_round or (when == last_round and code < last_code):
                last_round = int(when)
                last_code = int(code)
        else:
            going = max(going, int(code))
    return count, last_code, going


@kernel
def any_stopped(rounds: npt.NDArray[np.int32]) -> bool:
    """Say whether an item has stopped."""
    count = 0
    for i in range(rounds.size):
        count += rounds[i] >= 0
    return count > 0


@kernel
def carry(
    rounds: npt.NDArray[np.int32], old: npt.NDArray[Any], new: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return new (M, n) with the rows of stopped items taken from old."""
    rows = new.copy()
    for i in range(rounds.size):
        if rounds[i] >= 0:
            for j in range(rows.shape[1]):
                rows[i, j] = old[i, j]
    return rows
