"""Eight doubles at a time: compiled lanes against NumPy, to the last bit."""

import hypothesis.extra.numpy as hnp
import mpmath
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from stability._kernels.jit import kernel
from stability._kernels.lanes import (
    any_of,
    lane_numbers,
    larger,
    load,
    log_of,
    select,
    size_of,
    smaller,
    splat,
    store,
    sum_of,
)

OUT = 21
numbers = hnp.arrays(np.float64, (2, 8), elements=st.floats(-1e100, 1e100))


def every_operation(table, out):
    """Fill the rows of out with each operation on the two rows of table; returns two scalars."""
    a, b = load(table, 0), load(table, 1)
    store(out, 0, a + b)
    store(out, 1, a - 2)
    store(out, 2, 3.5 * b)
    store(out, 3, a / b)
    store(out, 4, -a)
    store(out, 5, select(a < b, 1.0, 0.0))
    store(out, 6, select(a <= b, 1.0, 0.0))
    store(out, 7, select(a > 0.0, 1.0, 0.0))
    store(out, 8, select(a >= b, 1.0, 0.0))
    store(out, 9, select(~(a < b), 1.0, 0.0))
    store(out, 10, select((a < b) & (a > 0.0), a, 7.0))
    store(out, 11, select((a < b) | (a > 0.0), 7.0, b))
    store(out, 12, larger(a, b))
    store(out, 13, smaller(a, b))
    store(out, 14, size_of(a))
    store(out, 15, log_of(size_of(a)))
    store(out, 16, lane_numbers())
    store(out, 17, splat(2.5))
    total = splat(0.0)
    for j in range(3):
        total += j * a
        total -= b
        total *= 0.5
    store(out, 18, total)
    store(out, 19, larger(a, 1.0) + smaller(2, b))
    store(out, 20, log_of(b))
    return sum_of(a), any_of(a < b)


compiled = kernel(every_operation)


@settings(deadline=None)  # the first example compiles
@given(numbers)
def test_compiled_lanes_equal_their_twin(table):
    out, twin = np.zeros((OUT, 8)), np.zeros((OUT, 8))
    with np.errstate(all="ignore"):
        scalars = compiled(table, out)
        assert scalars == every_operation(table, twin)
    np.testing.assert_array_equal(out, twin)


def test_logarithm_is_right_to_one_unit_in_the_last_place():
    rng = np.random.default_rng(1)
    values = np.concatenate(
        [
            np.exp(rng.uniform(-700, 700, 400)),
            1.0 + rng.uniform(-0.4, 0.5, 400),
            [1.0, 2.0, 0.5, 2.2250738585072014e-308, 1.7976931348623157e308, 1 - 2.0**-53],
        ]
    )
    for eight in np.resize(values, (101, 8)):
        for value, ours in zip(eight, log_of(eight), strict=True):
            exact = mpmath.log(mpmath.mpf(value))
            assert abs(float(exact - ours)) <= np.spacing(abs(float(exact)))


def test_logarithm_of_what_has_none_is_minus_infinity():
    odd = np.array([0.0, -1.0, np.nan, 5e-324, -np.inf, 1e-310, -0.0, 1.0])
    with np.errstate(all="ignore"):
        assert log_of(odd).tolist() == [-np.inf] * 7 + [0.0]
