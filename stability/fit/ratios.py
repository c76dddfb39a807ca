"""Ratios of integers as floats: rounded once, or as an unevaluated sum of two floats.

A float is an integer over a power of two, so sums and products of parameters are exact in Python
integers, and the division of two integers is correctly rounded whatever their size.
"""

import math


def quotient(x: int, t: int) -> float:
    """x / t as a float: inf at t = 0 or beyond the largest float, 0 at x = 0."""
    if x == 0:
        return 0.0
    if t == 0:
        return math.inf
    try:
        return x / t
    except OverflowError:
        return math.inf


def exponent(top: int, bottom: int) -> int:
    """The exponent p with 1/2 < top / bottom / 2**p <= 1, 0 for top = 0."""
    if top == 0:
        return 0
    p = top.bit_length() - bottom.bit_length()
    return p + 1 if _shift(top, -p) > _shift(bottom, p) else p


def _shift(x: int, p: int) -> int:
    return x << max(p, 0)


def two_parts(top: int, bottom: int, p: int) -> tuple[float, float]:
    """top / bottom / 2**p as the nearest float and the float nearest to the rest."""
    top, bottom = _shift(top, -p), _shift(bottom, p)
    hi = top / bottom  # of integers: correctly rounded, whatever their size
    hi_top, hi_unit = hi.as_integer_ratio()
    return hi, (top * hi_unit - hi_top * bottom) / (bottom * hi_unit)


def halves(t: float) -> tuple[float, float]:
    """t exactly as a sum of two floats of at most 26 bits each."""
    scaled = math.frexp(t)[0] * 2.0**26
    hi = math.ldexp(round(scaled), math.frexp(t)[1] - 26)
    return hi, t - hi
