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
UInt64 = npt.NDArray[np.uint64]
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
    if draw == 0.0:
        # the first leader in the order of the agents, who is soon met
        for j in range(row.size):
            votes = 0
            for k in range(row.size):
                votes += row[k] == row[j]
            if votes == best and row[j] >= 0:
                return int(row[j])
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
def pack(codes: Int32, width: int, packed: UInt64) -> None:
    """Fill packed (M,): the votes of all labels side by side, ``width`` bits each.

    Silent agents come first, then unread answers, then the labels. ``width`` bits must hold n, and
    64 all counts (`packs`). No branch and no memory in the loop over agents: it is vectorised.
    """
    n_items, n_agents = codes.shape
    one = np.uint64(1)
    bits = np.uint64(width)
    for i in range(n_items):
        votes = np.uint64(0)
        for j in range(n_agents):
            votes += one << (np.uint64(codes[i, j] + np.int32(2)) * bits)
        packed[i] = votes


@kernel
def _unpack(
    packed: UInt64,
    width: int,
    n_labels: int,
    winner: Int32,
    top: Int32,
    second: Int32,
    spoke: Int32,
) -> None:
    """Update the leaders from -1, 0, 0 and n: label by label, the loop over items vectorised."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    for i in range(packed.size):
        spoke[i] -= np.int32(packed[i] & mask)
    for label in range(n_labels):
        shift = np.uint64(width * (label + 2))
        this = np.int32(label)
        for i in range(packed.size):
            count = np.int32((packed[i] >> shift) & mask)
            best = top[i]
            lead = winner[i]
            second[i] = max(second[i], min(count, best))
            winner[i] = this if count > best else lead
            top[i] = max(best, count)


def packs(n_agents: int, n_labels: int) -> int:
    """Return the bits that hold a count of 0..n, or 0 where the counts of an item need over 63.

    Examples
    --------
    >>> packs(15, 4), packs(15, 14)
    (4, 0)
    """
    width = n_agents.bit_length()
    return width if width * (n_labels + 2) < 64 else 0


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
    winner[:] = -1
    top[:] = 0
    second[:] = 0
    present[:] = n_agents
    width = 1
    while (1 << width) <= n_agents:
        width += 1
    if width * (n_labels + 2) < 64:
        packed = np.empty(n_items, np.uint64)
        pack(codes, width, packed)
        _unpack(packed, width, n_labels, winner, top, second, present)
    else:
        met = np.empty(n_agents, np.int32)
        for i in range(n_items):
            distinct = 0
            for j in range(n_agents):
                code = codes[i, j]
                present[i] -= code == -2
                if code >= 0:
                    met[distinct] = code
                    distinct += scratch[code] == 0
                    scratch[code] += 1
            for d in range(distinct):
                count = scratch[met[d]]
                scratch[met[d]] = 0
                second[i] = max(second[i], min(count, top[i]))
                if count > top[i]:
                    winner[i] = met[d]
                    top[i] = count
    ties = 0
    for i in range(n_items):
        led = top[i] > 0
        unanimous[i] = led & (top[i] == present[i])
        ties += led & (top[i] == second[i])
    if ties > 0:
        _settle_ties(codes, previous, draws, scratch, winner, top, second)


@kernel
def _settle_ties(
    codes: Int32,
    previous: Int32,
    draws: Float64,
    scratch: Int32,
    winner: Int32,
    top: Int32,
    second: Int32,
) -> None:
    for i in range(codes.shape[0]):
        if second[i] == top[i] and top[i] > 0:
            draw = draws[i] if draws.size > 0 else 0.0
            winner[i] = _settle(codes[i], int(top[i]), int(previous[i]), draw, scratch)


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
def _lowest(codes: Int32, correct: Int8) -> int:
    """Return the least of all codes and grades."""
    code = np.int32(0)
    for i in range(codes.size):
        code = min(code, codes[i])
    grade = np.int8(0)
    for i in range(correct.size):
        grade = min(grade, correct[i])
    return min(int(code), int(grade))


@kernel
def correct_counts(codes: Int32, correct: Int8, k: Int64, n: Int64, graded: Bool) -> None:
    """Count, for each item, the agents that were right and that spoke.

    An unread answer counts as wrong. ``graded`` is False where a readable answer has no grade,
    or where no answer of the item has one.
    """
    n_items, n_agents = codes.shape
    lowest = _lowest(codes.ravel(), correct.ravel())
    if lowest >= 0:
        # nobody silent, nothing unread, all graded: the common case, and vectorised
        for i in range(n_items):
            total = np.int32(0)
            for j in range(n_agents):
                total += np.int32(correct[i, j])
            k[i] = total
        n[:] = n_agents
        graded[:] = True
        return
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
        bits[i] = (terms[spoke] - total) / spoke if read > 0 else np.inf


@kernel
def packed_entropy(
    packed: UInt64, width: int, n_labels: int, terms: Float64, bits: Float64
) -> None:
    """Fill bits (M,) as `vote_entropy` does, from the votes of few labels, packed."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    n_agents = terms.size - 1
    bits[:] = 0.0
    for label in range(n_labels):
        shift = np.uint64(width * (label + 2))
        for i in range(packed.size):
            bits[i] += terms[np.int64((packed[i] >> shift) & mask)]
    for i in range(packed.size):
        spoke = n_agents - np.int64(packed[i] & mask)
        # nothing but silent agents and unread answers
        read = (packed[i] >> np.uint64(2 * width)) != np.uint64(0)
        bits[i] = (terms[spoke] - bits[i]) / spoke if read else np.inf


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
        total = 0.0
        for j in range(2 * n_agents):
            code = codes[i, j] if j < n_agents else before[i, j - n_agents]
            if code >= 0:
                total += _gap(int(now[code]), int(earlier[code]), int(s), int(r), terms)
                now[code] = 0
                earlier[code] = 0
        seen = read > 0 and read_before > 0
        bits[i] = _divergence(total, int(s), int(r)) if seen else np.inf


@kernel
def packed_divergence(
    packed: UInt64, before: UInt64, width: int, n_labels: int, terms: Float64, bits: Float64
) -> None:
    """Fill bits (M,) as `vote_divergence` does, from the votes of few labels, packed."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    n_agents = (terms.size - 1) // 2
    for i in range(packed.size):
        s = int(n_agents - np.int64(packed[i] & mask))
        r = int(n_agents - np.int64(before[i] & mask))
        now = packed[i] >> np.uint64(2 * width)
        earlier = before[i] >> np.uint64(2 * width)
        seen = now != np.uint64(0) and earlier != np.uint64(0)
        total = 0.0
        for _ in range(n_labels):
            total += _gap(int(now & mask), int(earlier & mask), s, r, terms)
            now >>= np.uint64(width)
            earlier >>= np.uint64(width)
        bits[i] = _divergence(total, s, r) if seen else np.inf


@kernel
def _gap(v: int, w: int, s: int, r: int, terms: Float64) -> float:
    """Return what a label with v of s votes now and w of r before adds.

    Over the common denominator s r, or s where both are.
    """
    if s == r:
        return float(terms[v] + terms[w] - terms[v + w])
    x = float(v * r)
    y = float(w * s)
    total = 0.0
    if v + w > 0:
        total -= (x + y) * np.log2(x + y)
    if v > 0:
        total += x * np.log2(x)
    if w > 0:
        total += y * np.log2(y)
    return total


@kernel
def _divergence(total: float, s: int, r: int) -> float:
    # rounding may leave less than nothing where the votes are alike
    bits: float = 1.0 + total / (2 * s if s == r else 2 * s * r)
    return max(0.0, bits)
