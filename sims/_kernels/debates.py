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
def _philox_agents(debate: int, t: int, k0: int, k1: int, words: npt.NDArray[np.uint64]) -> None:
    """Fill words (4, n) with the draws of all agents of a round: `philox` side by side."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    n = words.shape[1]
    for j in range(n):
        words[0, j] = np.uint64(debate)
        words[1, j] = np.uint64(t)
        words[2, j] = np.uint64(j)
        words[3, j] = np.uint64(0)
    x, y = np.uint64(k0), np.uint64(k1)
    for _ in range(10):
        for j in range(n):
            first = np.uint64(0xD2511F53) * words[0, j]
            second = np.uint64(0xCD9E8D57) * words[2, j]
            words[0, j] = (second >> half) ^ words[1, j] ^ x
            words[2, j] = (first >> half) ^ words[3, j] ^ y
            words[1, j] = second & low
            words[3, j] = first & low
        x = (x + np.uint64(0x9E3779B9)) & low
        y = (y + np.uint64(0xBB67AE85)) & low


@_kernel
def _unit(high: np.uint64, low: np.uint64) -> float:
    """Return 53 bits of two 32-bit words as a number in [0, 1)."""
    bits = np.int64((high << np.uint64(21)) | (low >> np.uint64(11)))
    return float(bits) * 1.1102230246251565e-16


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
    seen = np.zeros(width, np.int64)
    after = np.zeros(width, np.int64)
    belief = np.empty(concepts)
    cumulative = np.empty((kinds, width - 1))
    words = np.empty((4, agents), np.uint64)
    for i in range(block):
        for t in range(rounds):
            if t == 0:
                for e in range(kinds):
                    for a in range(width - 1):
                        cumulative[e, a] = first[e, a]
            else:
                _answer_laws(seen, log_weight, log_kernel, kernel, strength, belief, cumulative)
            after[:] = 0
            _philox_agents(start + i, t, k0, k1, words)
            for j in range(agents):
                kind = types[j]
                answer = _pick(cumulative[kind], _unit(words[0, j], words[1, j]))
                counts[i, t, answer] += 1
                if keep_answers:
                    answers[i, t, j] = answer
                if rewrite.size > 0:
                    answer = _pick(rewrite[kind, answer], _unit(words[2, j], words[3, j]))
                after[answer] += 1
            seen[:] = after


@_kernel
def draw_from_table(
    start: int,
    k0: int,
    k1: int,
    first_threshold: Float64,
    first_alias: Int32,
    threshold: Float64,
    alias: Int32,
    states: Int32,
) -> None:
    """Draw debates start.. count by count, from alias tables of the chain on counts.

    ``threshold`` and ``alias`` (N, N) are those of each row of the matrix, ``first_`` (N,) those of
    round 0. Fills states (B, T) with the places of the counts.
    """
    block, rounds = states.shape
    n = first_alias.size
    key0, key1 = np.uint32(k0), np.uint32(k1)
    zero = np.uint32(0)
    for i in range(block):
        debate = np.uint32(start + i)
        place = np.int64(0)
        for t in range(rounds):
            w0, _, w2, w3 = philox(debate, np.uint32(t), zero, zero, key0, key1)
            # a column by 32 bits of multiplication, its side by 53 bits
            column = np.int64((np.uint64(w0) * np.uint64(n)) >> np.uint64(32))
            u = _unit(np.uint64(w2), np.uint64(w3))
            if t == 0:
                place = column if u < first_threshold[column] else np.int64(first_alias[column])
            elif u < threshold[place, column]:
                place = column
            else:
                place = np.int64(alias[place, column])
            states[i, t] = place


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
