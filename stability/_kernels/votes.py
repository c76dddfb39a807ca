"""Votes over answer codes: plurality, support, unanimity, agreement, correct counts.

Codes are int32, one row an item and one column an agent: a label's place (>= 0), -1 for an
answer nobody could read, -2 for an agent that did not speak. Every kernel is O(n) an item.

``scratch`` is an int32 array of zeros, as long as the number of labels (at least 1); kernels
leave it as zeros, so that a caller may keep it.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@kernel
def tally(
    codes: Int32,
    previous: Int32,
    draws: Float64,
    scratch: Int32,
    winner: Int32,
    top: Int32,
    second: Int32,
    present: Int32,
    unanimous: Bool,
) -> None:
    """Fill, for each item, the leading code and what a rule asks about the votes.

    ``winner`` is -1 where nobody gave a readable answer. Ties: the code in ``previous`` (-1
    for none) when it leads; else the leader of the earliest agent, or, where ``draws`` holds
    numbers in [0, 1) and not an empty array, leader number floor(draw * leaders) in the order
    of the agents. ``top`` and ``second`` are the votes of the leader and of the best other
    label, ``present`` the agents that spoke; ``unanimous``: at least one spoke, and all that
    spoke gave one readable answer.
    """
    n_items, n_agents = codes.shape
    randomly = draws.size > 0
    for i in range(n_items):
        spoke = 0
        read = 0
        lead = -1
        for j in range(n_agents):
            code = codes[i, j]
            if code >= 0:
                read += 1
                spoke += 1
                scratch[code] += 1
                if lead < 0:
                    lead = code
            elif code == -1:
                spoke += 1
        present[i] = spoke
        if read == 0:
            winner[i] = -1
            top[i] = 0
            second[i] = 0
            unanimous[i] = False
            continue
        best = scratch[lead]
        if best == read:
            scratch[lead] = 0
            winner[i] = lead
            top[i] = best
            second[i] = 0
            unanimous[i] = read == spoke
            continue
        # A label is counted off (set to zero) when it is first met, so that each is seen once.
        scratch[lead] = 0
        runner = 0
        tied = 1
        before = previous[i]
        kept = lead == before
        for j in range(n_agents):
            code = codes[i, j]
            if code >= 0:
                votes = scratch[code]
                if votes > 0:
                    scratch[code] = 0
                    if votes > best:
                        runner = best
                        best = votes
                        lead = code
                        tied = 1
                        kept = code == before
                    else:
                        if votes > runner:
                            runner = votes
                        if votes == best:
                            tied += 1
                            if code == before:
                                lead = code
                                kept = True
        if randomly and tied > 1 and not kept:
            wanted = min(np.int64(draws[i] * tied), tied - 1)
            for j in range(n_agents):
                code = codes[i, j]
                if code >= 0:
                    scratch[code] += 1
            place = 0
            for j in range(n_agents):
                code = codes[i, j]
                if code >= 0:
                    if scratch[code] == best:
                        if place == wanted:
                            lead = code
                        place += 1
                    scratch[code] = 0
        winner[i] = lead
        top[i] = best
        second[i] = runner
        unanimous[i] = False


@kernel
def agreement(codes: Int32, reference: Int32, k: Int64, n: Int64) -> None:
    """Count, for each item, the agents that gave ``reference`` (none when -1) and that spoke."""
    n_items, n_agents = codes.shape
    for i in range(n_items):
        target = reference[i]
        same = 0
        spoke = 0
        for j in range(n_agents):
            code = codes[i, j]
            if code != -2:
                spoke += 1
            if code >= 0 and code == target:
                same += 1
        k[i] = same
        n[i] = spoke


@kernel
def correct_counts(codes: Int32, correct: Int8, k: Int64, n: Int64, graded: Bool) -> None:
    """Count, for each item, the agents that were right and that spoke.

    An unread answer counts as wrong. ``graded`` is False where a readable answer has no grade,
    or where no answer of the item has one.
    """
    n_items, n_agents = codes.shape
    for i in range(n_items):
        right = 0
        spoke = 0
        known = False
        missing = False
        for j in range(n_agents):
            code = codes[i, j]
            if code == -2:
                continue
            spoke += 1
            grade = correct[i, j]
            if grade >= 0:
                known = True
                if code >= 0 and grade == 1:
                    right += 1
            elif code >= 0:
                missing = True
        k[i] = right
        n[i] = spoke
        graded[i] = known and not missing


@kernel
def add_votes(codes: Int32, counts: Int64) -> None:
    """Add the votes of one round to ``counts``, int64 (M, labels)."""
    n_items, n_agents = codes.shape
    for i in range(n_items):
        for j in range(n_agents):
            code = codes[i, j]
            if code >= 0:
                counts[i, code] += 1
