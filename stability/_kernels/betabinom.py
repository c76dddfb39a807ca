"""Kernels of the Beta-Binomial law: products in doubled precision, then one logarithm.

With A = mu (1 - rho), B = (1 - mu)(1 - rho), S = 1 - rho and t = rho (or A = alpha, B = beta,
S = alpha + beta and t = 1, which is the same up to a common factor that cancels),

    P(k; n) = E(k) R_A(k) R_B(n - k) / R_S(n),    R_X(m) = prod_{1 <= j < m} (X + j t) / (j + 1),
    E(0) = B / S,   E(n) = A / S,   E(k) = A B / S inside,   P(0; 0) = 1.

The factors of j = 0 are cancelled by hand into E, so that t = 0 (binomial), S = 0 (all mass on
0 and n) and A = 0 (point mass) are ordinary arguments, and the binomial coefficient is spread
over the factors. Every running product is an unevaluated sum hi + lo of two doubles (relative
error below 1e-22 a step) with an integer exponent beside it: neither the number of factors nor
the rounding of alpha + beta reaches the last digit, and nothing underflows. A difference of
lgamma values would lose everything at large alpha + beta.

``law`` is a float64 (6, 5) array. Rows 0-2 are A, B, S as (X_hi, X_lo, t_hi, t_lo, p): X and t
are divided by 2**p, so that the larger of the two lies in (1/2, 1] and every factor in
[2**-28, 1]. Rows 3-5 are E(0), E(inside), E(n) as (hi, lo, 0, 0, p), meaning (hi + lo) 2**p.

Source: T. J. Dekker, "A floating-point technique for extending the available precision",
Numerische Mathematik 18 (1971), for the two-double arithmetic.
"""

import math

import numpy as np
from numpy.typing import NDArray

from stability._kernels.jit import kernel, whole

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_SPLIT = 134217729.0  # 2**27 + 1: halves a double into two parts of 26 bits
_SMALL = 2.0**-32
_LARGE = 2.0**32
_LOWEST = 1000
_POWERS = np.ldexp(1.0, np.arange(-_LOWEST, 256))
# ln 2 in two parts; the first ends in 21 zero bits, so that its product with an exponent is exact
_LN2_HI = 6.93147180369123816490e-01
_LN2_LO = 1.90821492927058770002e-10


@kernel
def _two_sum(x: float, y: float) -> tuple[float, float]:
    """Return x + y exactly, as rounded sum and error."""
    total = x + y
    z = total - x
    return total, (x - (total - z)) + (y - z)


@kernel
def _quick_sum(x: float, y: float) -> tuple[float, float]:
    """Return x + y exactly where |x| >= |y|."""
    total = x + y
    return total, y - (total - x)


@kernel
def _two_product(x: float, y: float) -> tuple[float, float]:
    """Return x y exactly, as rounded product and error."""
    product = x * y
    c = _SPLIT * x
    x_hi = c - (c - x)
    x_lo = x - x_hi
    c = _SPLIT * y
    y_hi = c - (c - y)
    y_lo = y - y_hi
    return product, ((x_hi * y_hi - product) + x_hi * y_lo + x_lo * y_hi) + x_lo * y_lo


@kernel
def _times(x_hi: float, x_lo: float, y_hi: float, y_lo: float) -> tuple[float, float]:
    product, error = _two_product(x_hi, y_hi)
    return _quick_sum(product, error + (x_hi * y_lo + x_lo * y_hi))


@kernel
def _over(x_hi: float, x_lo: float, y_hi: float, y_lo: float) -> tuple[float, float]:
    quotient = x_hi / y_hi
    product, error = _two_product(quotient, y_hi)
    rest = (((x_hi - product) - error) + x_lo) - quotient * y_lo
    return _quick_sum(quotient, rest / y_hi)


@kernel
def _times_factor(
    hi: float, lo: float, x_hi: float, x_lo: float, t_hi: float, t_lo: float, j: int
) -> tuple[float, float]:
    """Multiply hi + lo by (X + j t) / (j + 1).

    The factor is built apart from the running product and the pair is left unnormalised (lo
    collects the errors of all steps so far): short chains, which the processor overlaps.
    t comes in two halves and j has at most 27 bits, so that j t_hi, j t_lo and the products of
    j + 1 with the halves of the factor are exact.
    """
    step = float(j)
    below = step + 1.0
    inverse = 1.0 / below
    top, top_lo = _two_sum(x_hi, step * t_hi)
    top, top_lo = _quick_sum(top, top_lo + (x_lo + step * t_lo))
    factor = top * inverse
    c = _SPLIT * factor
    left = c - (c - factor)
    right = factor - left
    factor_lo = (((top - left * below) - right * below) + top_lo) * inverse
    c = _SPLIT * hi
    hi_left = c - (c - hi)
    hi_right = hi - hi_left
    product = hi * factor
    error = ((hi_left * left - product) + hi_left * right + hi_right * left) + hi_right * right
    return product, error + (hi * factor_lo + lo * factor)


@kernel
def _rising(law: F64, row: int, m: int) -> tuple[float, float, int]:
    """R_X(m) as (hi, lo, exponent), in m - 1 steps and no memory."""
    x_hi, x_lo, p = law[row, 0], law[row, 1], int(law[row, 4])
    t_hi, t_lo = law[row, 2], law[row, 3]
    hi, lo, exponent = 1.0, 0.0, 0
    for j in range(1, m):
        hi, lo = _times_factor(hi, lo, x_hi, x_lo, t_hi, t_lo, j)
        exponent += p
        if hi < _SMALL:
            hi *= _LARGE
            lo *= _LARGE
            exponent -= 32
    hi, lo = _quick_sum(hi, lo)
    return hi, lo, exponent


@kernel
def fill_rising(law: F64, row: int, parts: F64, exponents: I64) -> None:
    """Fill ``parts`` (L, 2) and ``exponents`` (L,) with R_X(0), ..., R_X(L - 1)."""
    x_hi, x_lo, p = law[row, 0], law[row, 1], int(law[row, 4])
    t_hi, t_lo = law[row, 2], law[row, 3]
    hi, lo, exponent = 1.0, 0.0, 0
    for m in range(len(exponents)):
        if m >= 2:
            hi, lo = _times_factor(hi, lo, x_hi, x_lo, t_hi, t_lo, m - 1)
            exponent += p
            if hi < _SMALL:
                hi *= _LARGE
                lo *= _LARGE
                exponent -= 32
        parts[m, 0], parts[m, 1] = _quick_sum(hi, lo)
        exponents[m] = exponent


@kernel
def _case(k: int, n: int) -> int:
    """Row of ``law`` that holds E(k)."""
    if k == 0:
        return 3
    return 5 if k == n else 4


@kernel
def _log(hi: float, lo: float, exponent: int) -> float:
    """log((hi + lo) 2**exponent), at most 0: one logarithm near 1, the exponent added in parts."""
    if hi <= 0.0:
        return -math.inf
    mantissa, shift = math.frexp(hi)
    rest = lo * (mantissa / hi)  # mantissa / hi is a power of two
    total = exponent + shift
    if mantissa < 0.7071067811865476:
        mantissa *= 2.0
        rest *= 2.0
        total -= 1
    count = float(total)
    near = math.log1p((mantissa - 1.0) + rest)
    return min(count * _LN2_HI + (near + count * _LN2_LO), 0.0)


@kernel
def _plain(value: float, exponent: int) -> float:
    """value 2**exponent, at most 1; the value is 0 or lies in 2**-140..2**140."""
    if exponent < -_LOWEST:
        if exponent < -_LOWEST - 250:
            return 0.0
        value *= _POWERS[_LOWEST - 250]
        exponent += 250
    return float(min(value * _POWERS[exponent + _LOWEST], 1.0))


@kernel
def _single(law: F64, k: int, n: int) -> tuple[float, float, int]:
    """P(k; n) as (hi, lo, exponent), without tables."""
    if n == 0:
        return 1.0, 0.0, 0
    row = _case(k, n)
    a_hi, a_lo, a_exp = _rising(law, whole(0), k)
    b_hi, b_lo, b_exp = _rising(law, whole(1), n - k)
    s_hi, s_lo, s_exp = _rising(law, whole(2), n)
    hi, lo = _times(a_hi, a_lo, b_hi, b_lo)
    hi, lo = _over(hi, lo, s_hi, s_lo)  # exactly 1 at rho = 1, so E comes last
    hi, lo = _times(hi, lo, law[row, 0], law[row, 1])
    return hi, lo, int(law[row, 4]) + a_exp + b_exp - s_exp


@kernel
def mass_direct(law: F64, k: I64, n: I64, log: bool, out: F64) -> None:
    """Probabilities (or their logarithms) of counts k (L,) out of n (L,), one product each."""
    for i in range(len(k)):
        if k[i] < 0 or k[i] > n[i]:
            out[i] = -math.inf if log else 0.0
            continue
        hi, lo, exponent = _single(law, k[i], n[i])
        out[i] = _log(hi, lo, exponent) if log else _plain(hi + lo, exponent)


@kernel
def mass_tables(
    law: F64, k: I64, n: I64, log: bool, parts: F64, exponents: I64, starts: I64, out: F64
) -> None:
    """Like ``mass_direct``, by look-up: R_A, R_B, R_S lie in ``parts`` from ``starts`` (3,) on.

    The tables hold the same products in the same order: both kernels agree to the last bit.
    """
    for i in range(len(k)):
        if k[i] < 0 or k[i] > n[i]:
            out[i] = -math.inf if log else 0.0
            continue
        if n[i] == 0:
            out[i] = 0.0 if log else 1.0
            continue
        row = _case(k[i], n[i])
        a = starts[0] + k[i]
        b = starts[1] + n[i] - k[i]
        s = starts[2] + n[i]
        hi, lo = _times(parts[a, 0], parts[a, 1], parts[b, 0], parts[b, 1])
        hi, lo = _over(hi, lo, parts[s, 0], parts[s, 1])
        hi, lo = _times(hi, lo, law[row, 0], law[row, 1])
        exponent = int(law[row, 4]) + exponents[a] + exponents[b] - exponents[s]
        out[i] = _log(hi, lo, exponent) if log else _plain(hi + lo, exponent)


@kernel
def look_up(k: I64, n: I64, starts: I64, values: F64, outside: float, out: F64) -> None:
    """out[i] = values[starts[n] + k], or ``outside`` where k is not in 0..n."""
    for i in range(len(k)):
        within = 0 <= k[i] <= n[i]
        out[i] = values[starts[n[i]] + k[i]] if within else outside


@kernel
def _fill_tails(
    law: F64, n: int, parts: F64, exponents: I64, starts: I64, cdf: F64, sf: F64
) -> None:
    """Fill cdf[k] = P(K <= k) and sf[k] = P(K > k), k = 0..n, each summed from its own end.

    Where the lower sum is the smaller one it is used and sf is its complement, and the other way
    round: small tails keep their relative accuracy, both are monotone and add up to 1.
    """
    s = starts[2] + n
    # sf holds the terms first: each is needed by both sums
    for k in range(n + 1):
        row = _case(k, n)
        a = starts[0] + k
        b = starts[1] + n - k
        exponent = int(law[row, 4]) + exponents[a] + exponents[b] - exponents[s]
        term = parts[a, 0] * parts[b, 0] / parts[s, 0] * law[row, 0]
        sf[k] = 1.0 if n == 0 else _plain(term, exponent)
    total, rest = 0.0, 0.0
    previous = 0.0
    for k in range(n + 1):
        total, error = _two_sum(total, sf[k])
        rest += error
        previous = max(previous, total + rest)
        cdf[k] = previous
    total, rest = 0.0, 0.0
    previous = 0.0
    for i in range(n + 1):
        k = n - i
        term = sf[k]
        upper = previous
        total, error = _two_sum(total, term)
        rest += error
        previous = max(previous, total + rest)
        if cdf[k] <= upper:
            cdf[k] = min(cdf[k], 0.5)
            sf[k] = 1.0 - cdf[k]
        else:
            sf[k] = min(upper, 0.5)
            cdf[k] = 1.0 - sf[k]


@kernel
def tails_array(
    law: F64,
    k: I64,
    n: I64,
    order: I64,
    upper: bool,
    parts: F64,
    exponents: I64,
    starts: I64,
    cdf: F64,
    sf: F64,
    out: F64,
) -> None:
    """P(K <= k), or P(K > k) where ``upper``; ``order`` sorts by n, cdf and sf are scratch."""
    filled = -1
    for i in order:
        if n[i] != filled:
            filled = n[i]
            _fill_tails(law, filled, parts, exponents, starts, cdf, sf)
        if k[i] < 0:
            out[i] = 1.0 if upper else 0.0
        elif k[i] >= n[i]:
            out[i] = 0.0 if upper else 1.0
        else:
            out[i] = sf[k[i]] if upper else cdf[k[i]]


@kernel
def quantile_array(
    law: F64,
    u: F64,
    n: I64,
    order: I64,
    parts: F64,
    exponents: I64,
    starts: I64,
    cdf: F64,
    sf: F64,
    out: I64,
) -> None:
    """The smallest k with P(K <= k) > u, for u in [0, 1); otherwise like ``tails_array``."""
    filled = -1
    for i in order:
        if n[i] != filled:
            filled = n[i]
            _fill_tails(law, filled, parts, exponents, starts, cdf, sf)
        low, high = 0, filled  # cdf[n] = 1 > u: the answer lies in low..high
        while low < high:
            middle = (low + high) // 2
            if cdf[middle] > u[i]:
                high = middle
            else:
                low = middle + 1
        out[i] = low
