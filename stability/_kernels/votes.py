"""Votes over answer codes: plurality, support, unanimity, agreement, correct counts.

Codes are int32, one row an item and one column an agent: a label's place (>= 0), -1 for an
answer nobody could read, -2 for an agent that did not speak. Every kernel is O(n) an item.

``scratch`` is an int32 array of zeros, as long as the number of labels (at least 1); kernels
leave it as zeros, so that a caller may keep it.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel, whole

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@kernel
def _settle(row: Int32, best: int, before: int, draw: float, scratch: Int32) -> int:
    """Choose among the labels of ``row`` that have ``best`` votes."""
    if before >= 0:
        votes = 0
        for j in range(row.size):
            votes += row[j] == before
        if votes == best:
            return before
    for j in range(row.size):
        if row[j] >= 0:
            scratch[row[j]] += 1
    backers = 0
    for j in range(row.size):
        if row[j] >= 0 and scratch[row[j]] == best:
            backers += 1
    leaders = backers // best
    wanted = min(int(draw * leaders), leaders - 1)
    place = 0
    lead = -1
    for j in range(row.size):
        code = row[j]
        if code >= 0:
            if scratch[code] == best:
                if place == wanted:
                    lead = code
                place += 1
            scratch[code] = 0
    return lead


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
    a number in [0, 1) for each item and is not empty, leader number floor(draw * leaders) in
    the order of the agents. ``top`` and ``second`` are the votes of the leader and of the best
    other label, ``present`` the agents that spoke; ``unanimous``: at least one spoke, and all
    that spoke gave one readable answer.
    """
    n_items, n_agents = codes.shape
    n_labels = scratch.size
    # All counts of an item fit into the bits of one integer when labels and agents are few:
    # no branch and no memory in the loop over agents, which makes it several times faster.
    bits = 1
    while (1 << bits) <= n_agents:
        bits += 1
    mask = (1 << bits) - 1
    packed = bits * (n_labels + 2) < 63
    met = np.empty(n_agents, np.int32)
    for i in range(n_items):
        best = whole(0)
        runner = 0
        lead = -1
        spoke = 0
        if packed:
            votes = 0
            for j in range(n_agents):
                votes += 1 << (bits * (int(codes[i, j]) + 2))
            spoke = n_agents - (votes & mask)
            votes >>= 2 * bits
            for label in range(n_labels):
                count = votes & mask
                votes >>= bits
                runner = max(runner, min(count, best))
                if count > best:
                    lead = label
                best = max(best, count)
        else:
            distinct = 0
            for j in range(n_agents):
                code = codes[i, j]
                spoke += code != -2
                if code >= 0:
                    met[distinct] = code
                    distinct += scratch[code] == 0
                    scratch[code] += 1
            for d in range(distinct):
                count = int(scratch[met[d]])
                scratch[met[d]] = 0
                runner = max(runner, min(count, best))
                if count > best:
                    lead = int(met[d])
                best = max(best, count)
        if runner == best and best > 0:
            draw = draws[i] if draws.size > 0 else 0.0
            lead = _settle(codes[i], best, previous[i], draw, scratch)
        winner[i] = lead
        top[i] = best
        second[i] = runner
        present[i] = spoke
        unanimous[i] = best == spoke and best > 0


@kernel
def lowest_share(top: Int32, spoke: Int32) -> float:
    """Return the least share of votes behind a leader, min_i top_i / spoke_i; 0 / 0 is 0."""
    votes = 1
    agents = 1
    for i in range(top.size):
        # Shares are compared crosswise: a division an item would cost most of the time.
        if int(top[i]) * agents < votes * int(spoke[i]) or spoke[i] == 0:
            votes = int(top[i])
            agents = max(int(spoke[i]), 1)
    return votes / agents


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
            same += code == target
            spoke += code != -2
        k[i] = same if target >= 0 else 0
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
        known = 0
        missing = 0
        for j in range(n_agents):
            # Sums of comparisons and no branches: grades and gaps are hard to predict.
            code = codes[i, j]
            grade = correct[i, j]
            read = int(code >= 0)
            here = int(code != -2)
            spoke += here
            right += read & int(grade == 1)
            known += here & int(grade >= 0)
            missing += read & int(grade < 0)
        k[i] = right
        n[i] = spoke
        graded[i] = known > 0 and missing == 0


@kernel
def pool(codes: Int32, slots: Int32, votes: Int64, winner: Int32, top: Int64, second: Int64) -> int:
    """Add the votes of a round to ``votes`` and fill the leader and its nearest rival.

    ``slots`` (M, S) names the label of each place of ``votes`` (M, S): labels in the order in
    which the item met them, then -1. S must leave room for n new labels. A tie is settled for
    the label met first. Returns how many places the fullest item uses.
    """
    n_items, n_agents = codes.shape
    widest = 0
    for i in range(n_items):
        used = 0
        while used < slots.shape[1] and slots[i, used] >= 0:
            used += 1
        for j in range(n_agents):
            code = codes[i, j]
            if code < 0:
                continue
            place = 0
            while place < used and slots[i, place] != code:
                place += 1
            if place == used:
                slots[i, place] = code
                used += 1
            votes[i, place] += 1
        best = 0
        runner = 0
        lead = -1
        for place in range(used):
            count = int(votes[i, place])
            runner = max(runner, min(count, best))
            if count > best:
                lead = int(slots[i, place])
            best = max(best, count)
        winner[i] = lead
        top[i] = best
        second[i] = runner
        widest = max(widest, used)
    return widest


@kernel
def same_answers(codes: Int32, before: Int32, held: Int32, streak: Int32) -> None:
    """Fill streak (M,): held + 1 where all states are those before and readable, else 0.

    An agent silent in both rounds is left out; an item in which nobody spoke has streak 0.
    """
    n_items, n_agents = codes.shape
    for i in range(n_items):
        unlike = 0
        spoke = 0
        for j in range(n_agents):
            code = codes[i, j]
            unlike += int(code != before[i, j]) | int(code == -1)
            spoke += code != -2
        streak[i] = held[i] + 1 if unlike == 0 and spoke > 0 else 0


@kernel
def vote_entropy(codes: Int32, terms: Float64, scratch: Int32, bits: Float64) -> None:
    """Fill bits (M,): the Shannon entropy of the votes of each item; inf without a readable one.

    ``terms`` (n + 1,) holds v log2 v. An unread answer counts as a label of its own.
    """
    n_items, n_agents = codes.shape
    for i in range(n_items):
        spoke = 0
        read = 0
        for j in range(n_agents):
            code = codes[i, j]
            spoke += code != -2
            if code >= 0:
                read += 1
                scratch[code] += 1
        total = 0.0
        for j in range(n_agents):
            code = codes[i, j]
            if code >= 0:
                total += terms[scratch[code]]
                scratch[code] = 0
        bits[i] = np.log2(spoke) - total / spoke if read > 0 else np.inf


@kernel
def vote_divergence(
    codes: Int32,
    before: Int32,
    terms: Float64,
    now: Int32,
    earlier: Int32,
    bits: Float64,
) -> None:
    """Fill bits (M,): the Jensen-Shannon divergence of the votes of two rounds.

    inf where one of them has no readable answer. An unread answer counts as a label of its own,
    which the other round does not have. ``terms`` (2 n + 1,) holds x log2 x; ``now`` and
    ``earlier`` are scratch.
    """
    n_items, n_agents = codes.shape
    for i in range(n_items):
        s = whole(0)
        r = whole(0)
        read = 0
        read_before = 0
        for j in range(n_agents):
            code = codes[i, j]
            old = before[i, j]
            s += code != -2
            r += old != -2
            if code >= 0:
                read += 1
                now[code] += 1
            if old >= 0:
                read_before += 1
                earlier[old] += 1
        # Votes over the common denominator s r, or s where both are: v out of s, w out of r.
        alike = s == r
        total = 0.0
        for j in range(2 * n_agents):
            code = codes[i, j] if j < n_agents else before[i, j - n_agents]
            if code >= 0:
                v = now[code]
                w = earlier[code]
                now[code] = 0
                earlier[code] = 0
                if alike:
                    total += terms[v] + terms[w] - terms[v + w]
                elif v + w > 0:
                    x = float(v * r)
                    y = float(w * s)
                    total -= (x + y) * np.log2(x + y)
                    total += x * np.log2(x) if v > 0 else 0.0
                    total += y * np.log2(y) if w > 0 else 0.0
        if read == 0 or read_before == 0:
            bits[i] = np.inf
        else:
            # rounding may leave less than nothing where the votes are alike
            bits[i] = max(0.0, 1.0 + total / (2 * s if alike else 2 * s * r))
