"""Debates drawn from counters: the same seed gives the same debates, whatever the order.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011) turns a counter of four 32-bit words and a
key of two into four random words. The counter is (debate, round, agent, draw) and the key the seed,
so that a block of debates can be drawn by any thread and in any order, and a draw is the same in
two models that are compared.

Agents stand in the order of their types; ``types`` (n,) names the type of each. Laws are given as
cumulative probabilities of all answers but the last.
"""

import numba
import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
UInt32 = npt.NDArray[np.uint32]

_kernel = numba.njit(cache=True, nogil=True, error_model="numpy")
# debates whose random numbers are drawn side by side; they fit into the first cache
CHUNK = 256


@_kernel
def philox(
    c0: np.uint32, c1: np.uint32, c2: np.uint32, c3: np.uint32, k0: np.uint32, k1: np.uint32
) -> tuple[np.uint32, np.uint32, np.uint32, np.uint32]:
    """Return the four words of a counter under a key: ten rounds."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a, b, c, d = np.uint64(c0), np.uint64(c1), np.uint64(c2), np.uint64(c3)
    x, y = np.uint64(k0), np.uint64(k1)
    for _ in range(10):
        first = np.uint64(0xD2511F53) * a
        second = np.uint64(0xCD9E8D57) * c
        a = (second >> half) ^ b ^ x
        b = second & low
        c = (first >> half) ^ d ^ y
        d = first & low
        x = (x + np.uint64(0x9E3779B9)) & low
        y = (y + np.uint64(0xBB67AE85)) & low
    return np.uint32(a), np.uint32(b), np.uint32(c), np.uint32(d)


@_kernel
def _unit(high: np.uint64, low: np.uint64) -> float:
    """Return 53 bits of two 32-bit words as a number in [0, 1)."""
    bits = np.int64((high << np.uint64(21)) | (low >> np.uint64(11)))
    return float(bits) * 1.1102230246251565e-16


@_kernel
def uniforms(
    start: int, t: int, agent: int, k0: int, k1: int, first: Float64, second: Float64
) -> None:
    """Fill first and second (C,) with two numbers in [0, 1) of debates start.., one agent.

    A loop without branches over neighbouring debates, which the compiler runs side by side.
    """
    for i in range(first.size):
        w0, w1, w2, w3 = philox(
            np.uint32(start + i),
            np.uint32(t),
            np.uint32(agent),
            np.uint32(0),
            np.uint32(k0),
            np.uint32(k1),
        )
        first[i] = _unit(np.uint64(w0), np.uint64(w1))
        second[i] = _unit(np.uint64(w2), np.uint64(w3))


@_kernel
def _more_uniforms(
    start: int, t: int, agent: int, k0: int, k1: int, first: Float64, second: Float64
) -> None:
    """Fill first and second as `uniforms` does, with the second draw of each counter."""
    for i in range(first.size):
        w0, w1, w2, w3 = philox(
            np.uint32(start + i),
            np.uint32(t),
            np.uint32(agent),
            np.uint32(1),
            np.uint32(k0),
            np.uint32(k1),
        )
        first[i] = _unit(np.uint64(w0), np.uint64(w1))
        second[i] = _unit(np.uint64(w2), np.uint64(w3))


@_kernel
def _pick(cumulative: Float64, u: float) -> int:
    """Return the answer that u falls into; ``cumulative`` leaves out the last one."""
    answer = 0
    for a in range(cumulative.size):
        answer += u >= cumulative[a]
    return answer


@_kernel
def _answer_laws(
    counts: Int64,
    log_weight: Float64,
    log_kernel: Float64,
    kernel: Float64,
    strength: float,
    belief: Float64,
    cumulative: Float64,
) -> None:
    """Fill cumulative (E, L - 1) with the laws of the answers of each type that reads counts."""
    types, concepts, answers = kernel.shape
    for e in range(types):
        top = -np.inf
        for k in range(concepts):
            total = 0.0
            for a in range(answers):
                total += counts[a] * log_kernel[e, k, a]
            belief[k] = log_weight[e, k] + strength * total
            top = max(top, belief[k])
        mass = 0.0
        for k in range(concepts):
            belief[k] = np.exp(belief[k] - top)
            mass += belief[k]
        below = 0.0
        for a in range(answers - 1):
            for k in range(concepts):
                below += belief[k] * kernel[e, k, a]
            cumulative[e, a] = below / mass


@_kernel
def draw_directly(
    start: int,
    k0: int,
    k1: int,
    types: Int64,
    first: Float64,
    log_weight: Float64,
    log_kernel: Float64,
    kernel: Float64,
    strength: float,
    rewrite: Float64,
    answers: Int32,
    counts: Int32,
    keep_answers: bool,
) -> None:
    """Draw debates start.. agent by agent.

    ``first`` (E, L - 1) are the laws of round 0, ``rewrite`` (E, L, L - 1) those of what readers
    see of an answer, empty for the answer itself. Fills counts (B, T, L), and answers (B, T, n)
    when they are kept.
    """
    block, rounds, width = counts.shape
    agents = types.size
    kinds, concepts = log_weight.shape
    seen = np.zeros((CHUNK, width), np.int64)
    belief = np.empty(concepts)
    cumulative = np.empty((kinds, width - 1))
    u = np.empty((2, agents, CHUNK))
    for low in range(0, block, CHUNK):
        size = min(CHUNK, block - low)
        for t in range(rounds):
            for j in range(agents):
                uniforms(start + low, t, j, k0, k1, u[0, j, :size], u[1, j, :size])
            for c in range(size):
                if t == 0:
                    cumulative[:] = first
                else:
                    _answer_laws(
                        seen[c], log_weight, log_kernel, kernel, strength, belief, cumulative
                    )
                seen[c] = 0
                for j in range(agents):
                    kind = types[j]
                    answer = _pick(cumulative[kind], u[0, j, c])
                    counts[low + c, t, answer] += 1
                    if keep_answers:
                        answers[low + c, t, j] = answer
                    if rewrite.size > 0:
                        answer = _pick(rewrite[kind, answer], u[1, j, c])
                    seen[c, answer] += 1


@_kernel
def draw_by_state(
    start: int,
    k0: int,
    k1: int,
    types: Int64,
    laws: Float64,
    strides: Int64,
    answers: Int32,
    counts: Int32,
    keep_answers: bool,
) -> None:
    """Draw debates start.. agent by agent, as `draw_directly` does, with the laws looked up.

    ``laws`` (E, S + 1, L - 1) are those of each type by what it reads: row 0 nothing, row 1 + key
    the answers whose ``strides`` (L,) add up to key. No answer is rewritten.
    """
    block, rounds, width = counts.shape
    agents = types.size
    u = np.empty((2, agents, CHUNK))
    keys = np.zeros(CHUNK, np.int64)
    for low in range(0, block, CHUNK):
        size = min(CHUNK, block - low)
        keys[:] = 0
        for t in range(rounds):
            for j in range(agents):
                uniforms(start + low, t, j, k0, k1, u[0, j, :size], u[1, j, :size])
            for c in range(size):
                key = keys[c]
                following = np.int64(1)
                for j in range(agents):
                    answer = 0
                    for a in range(width - 1):
                        answer += u[0, j, c] >= laws[types[j], key, a]
                    counts[low + c, t, answer] += 1
                    following += strides[answer]
                    if keep_answers:
                        answers[low + c, t, j] = answer
                keys[c] = following


@_kernel
def _read(said: Int32, reads: npt.NDArray[np.bool_], counts: Int64, forgets: bool) -> None:
    """Add to counts (n, L) the answers said (n,) of those whom each agent reads."""
    agents = said.size
    for j in range(agents):
        if forgets:
            counts[j] = 0
        for i in range(agents):
            if reads[j, i]:
                counts[j, said[i]] += 1


@_kernel
def _place(
    debate: int, t: int, said: Int32, k0: int, k1: int, spread: float, points: Float64
) -> None:
    """Fill points (n, d) with where the readable answers said (n,) lie: e_a + spread * z.

    The normal numbers are those of Box and Muller, from draws 2, 3, ... of the agent.
    """
    agents, width = points.shape
    for j in range(agents):
        if said[j] < 0:
            continue
        for pair in range((width + 1) // 2):
            w0, w1, w2, w3 = philox(
                np.uint32(debate),
                np.uint32(t),
                np.uint32(j),
                np.uint32(2 + pair),
                np.uint32(k0),
                np.uint32(k1),
            )
            length = np.sqrt(-2.0 * np.log(1.0 - _unit(np.uint64(w0), np.uint64(w1))))
            angle = 2.0 * np.pi * _unit(np.uint64(w2), np.uint64(w3))
            points[j, 2 * pair] = spread * length * np.cos(angle)
            if 2 * pair + 1 < width:
                points[j, 2 * pair + 1] = spread * length * np.sin(angle)
        points[j, said[j]] += 1.0


@_kernel
def distances(points: Float64, target: int, apart: Float64, near: Float64) -> None:
    """Fill apart (n, n) with the distances of points (n, d), near (n,) with those to e_target."""
    agents, width = points.shape
    for i in range(agents):
        total = 0.0
        for d in range(width):
            total += (points[i, d] - (d == target)) ** 2
        near[i] = np.sqrt(total)
        apart[i, i] = 0.0
        for j in range(i):
            total = 0.0
            for d in range(width):
                total += (points[i, d] - points[j, d]) ** 2
            apart[i, j] = apart[j, i] = np.sqrt(total)


@_kernel
def keep_diverse(
    apart: Float64, heard: npt.NDArray[np.bool_], keep: int, kept: npt.NDArray[np.bool_]
) -> None:
    """Mark in kept (n,) the greedy subset of those heard (n,): furthest pair, then what adds most.

    Among equals the first counts. All are kept where no more than ``keep`` are heard.
    """
    agents = heard.size
    kept[:] = heard
    if heard.sum() <= keep:
        return
    kept[:] = False
    first = second = -1
    for i in range(agents):
        for j in range(i + 1, agents):
            if heard[i] and heard[j] and (first < 0 or apart[i, j] > apart[first, second]):
                first, second = i, j
    if keep == 1:
        for i in range(agents):
            if heard[i]:
                kept[i] = True
                return
    kept[first] = kept[second] = True
    for _ in range(keep - 2):
        best, most = -1, -1.0
        for i in range(agents):
            if heard[i] and not kept[i]:
                gain = 0.0
                for j in range(agents):
                    if kept[j]:
                        gain += apart[i, j]
                if gain > most:
                    best, most = i, gain
        kept[best] = True


@_kernel
def keep_near(
    near: Float64, heard: npt.NDArray[np.bool_], keep: int, kept: npt.NDArray[np.bool_]
) -> None:
    """Mark in kept (n,) the ``keep`` of those heard (n,) that are nearest; the first of equals."""
    agents = heard.size
    kept[:] = heard
    if heard.sum() <= keep:
        return
    kept[:] = False
    for _ in range(keep):
        best = -1
        for i in range(agents):
            if heard[i] and not kept[i] and (best < 0 or near[i] < near[best]):
                best = i
        kept[best] = True


@_kernel
def draw_scenario(
    start: int,
    k0: int,
    k1: int,
    types: Int64,
    first: Float64,
    log_weight: Float64,
    log_kernel: Float64,
    kernel: Float64,
    strength: float,
    listens: npt.NDArray[np.bool_],
    stickiness: float,
    common: float,
    unread: float,
    silent: float,
    forgets: bool,
    stops: bool,
    keep: int,
    diverse: bool,
    target: int,
    spread: float,
    dimension: int,
    answers: Int32,
    held: Int32,
) -> None:
    """Draw debates start.. of a scenario: each agent reads whom it listens to.

    With ``keep`` > 0 the answers lie in ``dimension`` dimensions around their unit vectors, and
    each agent reads the ``keep`` that are most diverse, or nearest to the answer ``target``.

    In round 0 an agent takes the number that all share with probability ``common``. From round 1 on
    it repeats what it thought last with probability ``stickiness``. What it says is unread (-1) or
    it is silent (-2) with the probabilities given. Fills answers (B, T, n), and held (B,) with the
    rounds that were held: with ``stops``, until all that spoke said the same and nothing was
    unread.
    """
    block, rounds, agents = answers.shape
    _, concepts, width = kernel.shape
    belief = np.empty(concepts)
    one = np.empty((1, width - 1))
    counts = np.zeros((agents, width), np.int64)
    thought = np.zeros(agents, np.int32)
    reads = np.zeros((agents, agents), np.bool_)
    points = np.zeros((agents, dimension))
    apart = np.zeros((agents, agents))
    near = np.zeros(agents)
    u = np.empty((4, 1))
    shared = np.empty((2, 1))
    for b in range(block):
        counts[:] = 0
        held[b] = rounds
        uniforms(start + b, 0, 0xFFFFFFFF, k0, k1, shared[0], shared[1])
        for t in range(rounds):
            if t > held[b] - 1:
                answers[b, t] = answers[b, t - 1]
                continue
            if t > 0:
                before = answers[b, t - 1]
                for j in range(agents):
                    for i in range(agents):
                        reads[j, i] = listens[j, i] and before[i] >= 0
                if keep > 0:
                    _place(start + b, t - 1, before, k0, k1, spread, points)
                    distances(points, target, apart, near)
                    for j in range(agents):
                        if diverse:
                            keep_diverse(apart, reads[j].copy(), keep, reads[j])
                        else:
                            keep_near(near, reads[j].copy(), keep, reads[j])
                _read(before, reads, counts, forgets)
            for j in range(agents):
                kind = types[j]
                uniforms(start + b, t, j, k0, k1, u[0], u[1])
                _more_uniforms(start + b, t, j, k0, k1, u[2], u[3])
                if t == 0:
                    number = shared[0, 0] if u[1, 0] < common else u[0, 0]
                    thought[j] = _pick(first[kind], number)
                elif u[1, 0] >= stickiness:
                    _answer_laws(
                        counts[j],
                        log_weight[kind : kind + 1],
                        log_kernel[kind : kind + 1],
                        kernel[kind : kind + 1],
                        strength,
                        belief,
                        one,
                    )
                    thought[j] = _pick(one[0], u[0, 0])
                said = thought[j]
                if u[2, 0] < silent:
                    said = np.int32(-2)
                elif u[3, 0] < unread:
                    said = np.int32(-1)
                answers[b, t, j] = said
            if stops:
                leader = np.int32(-2)
                agreed = True
                for j in range(agents):
                    said = answers[b, t, j]
                    if said == -2:
                        continue
                    agreed = agreed and said >= 0 and (leader == -2 or said == leader)
                    leader = said
                if agreed and leader >= 0:
                    held[b] = t + 1


@_kernel
def draw_panel(
    start: int,
    k0: int,
    k1: int,
    agents: int,
    fresh: Float64,
    stickiness: float,
    wrong: int,
    answers: Int32,
    counts: Int32,
    keep_answers: bool,
) -> None:
    """Draw items start.. of a panel: a new answer is right with probability fresh (B, T).

    An agent keeps its answer with probability ``stickiness``; there are ``wrong`` wrong answers.
    Fills counts (B, T, L), and answers (B, T, n) when they are kept.
    """
    block, rounds = fresh.shape
    u = np.empty((2, CHUNK))
    said = np.empty(CHUNK, np.int32)
    for low in range(0, block, CHUNK):
        size = min(CHUNK, block - low)
        for j in range(agents):
            for t in range(rounds):
                uniforms(start + low, t, j, k0, k1, u[0, :size], u[1, :size])
                for c in range(size):
                    if t == 0 or u[1, c] >= stickiness:
                        right = fresh[low + c, t]
                        answer = 0
                        if u[0, c] >= right:
                            rest = (u[0, c] - right) / (1.0 - right)
                            answer = 1 + min(int(rest * wrong), wrong - 1)
                        said[c] = answer
                    counts[low + c, t, said[c]] += 1
                    if keep_answers:
                        answers[low + c, t, j] = said[c]


@_kernel
def draw_from_table(
    start: int,
    k0: int,
    k1: int,
    first_threshold: Float64,
    first_alias: Int32,
    threshold: Float64,
    alias: Int32,
    right: Int64,
    sums: Int64,
    states: Int32,
    block: int,
) -> None:
    """Draw ``block`` debates start.. count by count, from alias tables of the chain on counts.

    ``threshold`` and ``alias`` (N, N) are those of each row of the matrix, ``first_`` (N,) those of
    round 0, ``right`` (N,) the right answers of a count. Adds the right answers and their squares
    to sums (2, T), and fills states (B, T) with the places of the counts unless B is 0.
    """
    rounds = sums.shape[1]
    n = first_alias.size
    now = np.empty(CHUNK)
    after = np.empty(CHUNK)
    places = np.empty(CHUNK, np.int32)
    for low in range(0, block, CHUNK):
        size = min(CHUNK, block - low)
        for t in range(rounds):
            # a counter has the numbers of two rounds
            if t % 2 == 0:
                uniforms(start + low, t // 2, 0, k0, k1, now[:size], after[:size])
            number = now if t % 2 == 0 else after
            total = 0
            squares = 0
            for c in range(size):
                # whole part and rest of one number: the column, and which side of it
                scaled = number[c] * n
                column = np.int64(scaled)
                if t == 0:
                    kept = scaled - column < first_threshold[column]
                    place = np.int32(column) if kept else first_alias[column]
                else:
                    row = places[c]
                    kept = scaled - column < threshold[row, column]
                    place = np.int32(column) if kept else alias[row, column]
                places[c] = place
                total += right[place]
                squares += right[place] * right[place]
            sums[0, t] += total
            sums[1, t] += squares
            if states.size > 0:
                for c in range(size):
                    states[low + c, t] = places[c]


@_kernel
def alias_table(law: Float64, threshold: Float64, alias: Int32, small: Int32, large: Int32) -> None:
    """Fill the alias table of a law (N,) (Vose's method); small and large (N,) are scratch."""
    n = law.size
    lows = 0
    highs = 0
    total = law.sum()
    for i in range(n):
        threshold[i] = law[i] * n / total
        alias[i] = i
        if threshold[i] < 1.0:
            small[lows] = i
            lows += 1
        else:
            large[highs] = i
            highs += 1
    while lows > 0 and highs > 0:
        lows -= 1
        less = small[lows]
        more = large[highs - 1]
        alias[less] = more
        threshold[more] -= 1.0 - threshold[less]
        if threshold[more] < 1.0:
            highs -= 1
            small[lows] = more
            lows += 1
    # what is left differs from 1 by rounding
    for i in range(lows):
        threshold[small[i]] = 1.0
    for i in range(highs):
        threshold[large[i]] = 1.0


@_kernel
def alias_tables(matrix: Float64, threshold: Float64, alias: Int32) -> None:
    """Fill the alias tables of all rows of a matrix (B, N)."""
    rows, n = matrix.shape
    small = np.empty(n, np.int32)
    large = np.empty(n, np.int32)
    for i in range(rows):
        alias_table(matrix[i], threshold[i], alias[i], small, large)
