"""Tables of distinct cells, and the histogram kernel against bincount."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability._kernels.histogram import (
    histogram_of,
    histogram_of_used,
    weighted_histogram_of,
)
from stability.fit import count_table, histogram

few = settings(max_examples=40, deadline=None)
TYPES = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 7, 8, 4096, 4097, 10_001])
def test_histogram_kernel_equals_its_twin(dtype, size):
    n = 127 if dtype == "int8" else 255
    k = np.random.default_rng(size).integers(0, n + 1, size).astype(dtype)
    tables = np.zeros((8, 256), np.int64)
    assert histogram_of(k, n, tables)
    np.testing.assert_array_equal(tables.sum(axis=0), np.bincount(k, minlength=256))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("at", [0, 5, 4095, 4096, 8200])
def test_histogram_kernel_finds_what_is_out_of_range(dtype, at):
    n = 7
    k = np.random.default_rng(at).integers(0, n + 1, 8201).astype(dtype)
    info = np.iinfo(dtype)
    for bad in (8, info.max, info.min):
        if 0 <= bad <= n:
            continue
        k[at] = bad
        assert not histogram_of(k, n, np.zeros((8, 256), np.int64))
    k[at] = info.min
    assert histogram_of(k, 255, np.zeros((8, 256), np.int64)) == (info.min == 0)
    # what looks like 3 when only its last byte is read
    if info.bits > 8:
        k[at] = 256 + 3
        assert not histogram_of(k, n, np.zeros((8, 256), np.int64))


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5)), min_size=1, max_size=30))
@few
def test_weighted_histogram_kernel_equals_its_twin(rows):
    k, freq = np.array(rows).T
    table = np.zeros(8, np.int64)
    assert weighted_histogram_of(np.array((k, freq)), table, 2**53) == freq.any()
    np.testing.assert_array_equal(table, np.bincount(k, weights=freq, minlength=8))


@pytest.mark.parametrize(
    ("k", "freq", "fits"),
    [
        (8, 1, False),
        (-1, 1, False),
        (2**62, 1, False),
        (3, -1, False),
        (3, 92, False),
        (3, 91, True),
        (3, 2**63 - 1, False),
    ],
)
def test_weighted_histogram_kernel_finds_what_is_out_of_range(k, freq, fits):
    rows = np.array([[7, 0, k], [4, 5, freq]])
    assert weighted_histogram_of(rows, np.zeros(8, np.int64), 100) is fits


@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 5), st.booleans()), min_size=1))
@few
def test_histogram_of_used_items_equals_its_twin(rows):
    k, n, used = (np.array(column) for column in zip(*rows, strict=True))
    table = np.zeros(5, np.int64)
    said = histogram_of_used(k, n, used, table)
    hits, sizes = k[used], n[used]
    if ((hits < 0) | (hits > sizes) | (sizes > 4)).any():
        assert said == (used.sum(), -1, 0)
    else:
        assert said == (used.sum(), min(sizes, default=0), max(sizes, default=0))
        np.testing.assert_array_equal(table, np.bincount(hits, minlength=5))


@given(
    cells=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=30
    )
)
@few
def test_count_table_equals_a_counter(cells):
    k, n, freq = (np.array(x) for x in zip(*[(a, a + b, c) for a, b, c in cells], strict=True))
    if not freq.any():
        freq[0] = 1
    twin = Counter()
    for size, hits, copies in zip(n.tolist(), k.tolist(), freq.tolist(), strict=True):
        twin[size, hits] += copies
    cells = sorted((size, hits, copies) for (size, hits), copies in twin.items() if copies)
    table = count_table(k, n, freq)
    assert [*zip(table.n, table.k, table.freq, strict=True)] == cells
    assert {column.dtype for column in table} == {np.dtype(np.int64)}
    # the same rows one by one, without frequencies
    single = count_table(np.repeat(k, freq), np.repeat(n, freq))
    for a, b in zip(table, single, strict=True):
        np.testing.assert_array_equal(a, b)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=60), st.sampled_from([*TYPES, "float32"]))
@few
def test_every_numeric_type_gives_the_same_table(k, dtype):
    twin = np.bincount(k, minlength=8)
    given_k = np.array(k, dtype)
    np.testing.assert_array_equal(histogram(given_k, 7), twin)
    table = count_table(given_k, 7)
    np.testing.assert_array_equal(table.k, np.flatnonzero(twin))
    np.testing.assert_array_equal(table.freq, twin[twin > 0])
    assert (table.n == 7).all()
    for other in (given_k[::-1], np.repeat(given_k, 2)[::2], given_k.astype(given_k.dtype.str)):
        np.testing.assert_array_equal(histogram(other, 7), twin)


def test_more_agents_than_a_byte_holds():
    k = [0, 300, 300, 299]
    np.testing.assert_array_equal(count_table(k, 300).k, [0, 299, 300])
    assert histogram(k, 300)[[0, 299, 300]].tolist() == [1, 1, 2]
    wide = count_table([10**6, 3, 10**6], 10**6)
    assert (wide.k.tolist(), wide.freq.tolist()) == ([3, 10**6], [1, 2])


def test_foreign_byte_order_and_layouts():
    k = np.arange(8, dtype=">i4").repeat(3)
    np.testing.assert_array_equal(histogram(k, 7), 3)
    np.testing.assert_array_equal(histogram(k.reshape(4, 6).T.ravel(), 7), 3)
    square = count_table([[0, 1], [1, 2]], 2)
    assert square.freq.tolist() == [1, 2, 1]


def test_frequencies_beyond_the_float_sum_stay_exact():
    big = 2**52
    table = count_table([1, 1, 2], 3, freq=[big, 1, 1])
    assert table.freq.tolist() == [big + 1, 1]


@pytest.mark.parametrize(
    ("k", "n", "freq", "message"),
    [
        ([], 7, None, "`k` must hold at least one item, got an empty array"),
        ([1, 8], 7, None, r"`k` must be <= `n`: k\[1\]=8, n\[1\]=7"),
        ([1, -2], 7, None, r"`k` must be >= 0: k\[1\]=-2"),
        ([1, 1000], [7, 900], None, r"`k` must be <= `n`: k\[1\]=1000, n\[1\]=900"),
        (np.array([3, 200], np.uint8), 7, None, r"`k` must be <= `n`: k\[1\]=200, n\[1\]=7"),
        ([1, 2], [3, -1], None, r"`n` must be >= 0: n\[1\]=-1"),
        ([1, 2], 7, [1, -1], r"`freq` must be >= 0: freq\[1\]=-1"),
        ([1, 2], 7, [1, 0.5], r"`freq` must hold integers: freq\[1\]=0.5"),
        ([1, 2], 7, [0, 0], "`freq` must hold at least one item, got only zeros"),
        ([1, 2], [3, 4, 5], None, r"`k`, `n` and `freq` must broadcast .*\(2,\), \(3,\), \(\)"),
        ([0.3, 0.5], 7, None, r"`k` must hold integers: k\[0\]=0.3 \(was a proportion"),
        ([1, None], 7, None, "`k` must hold integers"),
        ([True, False], 7, None, "`k` must hold integers"),
        ([1, np.inf], 7, None, r"`k` must hold integers: k\[1\]=inf"),
        ([1, 2], np.nan, None, "`n` must hold integers: n=nan"),
    ],
)
def test_bad_arguments(k, n, freq, message):
    with pytest.raises(ValueError, match=message):
        count_table(k, n, freq)


def test_the_caller_keeps_its_arrays():
    k = np.array([1, 3, 3])
    k.setflags(write=False)
    count_table(k, 7)
    k2 = np.array([1, 3, 3])
    table = count_table(k2, 7)
    k2[:] = 0
    assert table.k.tolist() == [1, 3]
