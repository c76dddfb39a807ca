"""How the end of a search is read, against a twin in plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability._kernels import ends

few = settings(max_examples=60, deadline=None)
unit = st.sampled_from([0.0, 1.0, 0.25, 0.5]) | st.floats(0, 1)


def canonical(x, top):
    """Components (weight, mean, rho) in order, from the kernel."""
    parts = np.empty((3, (len(x) + 1) // 3))
    ends.canonical(np.array(x, float), top, parts)
    return [tuple(part) for part in parts.T.tolist()]


def canonical_twin(x, top):
    size = (len(x) + 1) // 3
    parts, rest = [], 1.0
    for c in range(size):
        weight = rest * x[c] if c < size - 1 else rest
        rest -= weight
        mean, rho = x[size - 1 + 2 * c : size + 1 + 2 * c]
        parts.append((max(weight, 0.0), mean, rho if 0.0 < mean < 1.0 and top > 1 else 0.0))
    _, mean, rho = max(parts)
    parts = [part if part[0] > 0.0 else (0.0, mean, rho) for part in parts]
    return sorted(parts, key=lambda part: part[1:])


def flags_twin(parts, top, items, capped):
    live = [part[1:] for part in parts if part[0] > 0.0]
    inner = [rho for mean, rho in live if 0.0 < mean < 1.0]
    told = {
        ends.CAPPED: capped,
        ends.SINGLE_ITEM: items == 1,
        ends.NOT_IDENTIFIABLE: top < 3 * len(parts) - 1,
        ends.COLLAPSED: len(live) < len(parts),
        ends.POINT_MASS: len(inner) < len(live),
        ends.ALL_OR_NOTHING: any(rho == 1.0 for _, rho in live),
        ends.BINOMIAL_LIMIT: top > 1 and 0.0 in inner,
    }
    return sum(bit for bit, applies in told.items() if applies)


def saturated_twin(n, freq):
    level = 0.0
    for size, count in zip(n, freq, strict=True):
        total = sum(f for m, f in zip(n, freq, strict=True) if m == size)
        level += count * math.log(count / total) if count else 0.0
    return level


@given(
    size=st.integers(1, 3),
    values=st.lists(unit, min_size=8, max_size=8),
    n=st.lists(st.integers(0, 9), min_size=1, max_size=9).map(sorted),
    counts=st.lists(st.integers(0, 4), min_size=9, max_size=9),
    level=st.floats(-50, 0),
    code=st.integers(0, 2),
)
@few
def test_ends_equal_their_twin(size, values, n, counts, level, code):
    freq = counts[: len(n)]
    x = values[: 3 * size - 1]
    parts, loglik, flags = np.empty((3, 1, size)), np.empty(1), np.empty(1, np.int64)
    info = np.array([[level, 1, code, 0, 0]])
    ends.read_ends(
        np.array(n), np.array([freq], float), np.array([x]), info, 1, parts, loglik, flags
    )
    twin = canonical_twin(x, n[-1])
    assert [tuple(part) for part in parts[:, 0].T.tolist()] == twin
    items = sum(f for m, f in zip(n, freq, strict=True) if m > 0)
    assert flags[0] == flags_twin(twin, n[-1], items, code == 1)
    assert loglik[0] == pytest.approx(min(level, saturated_twin(n, freq)), rel=1e-14)


def test_canonical_order_and_what_is_arbitrary():
    assert canonical([0.3, 0.9, 0.2, 0.4, 0.1], 7) == [(0.7, 0.4, 0.1), (0.3, 0.9, 0.2)]
    assert canonical([0.3, 0.5, 0.2, 0.5, 0.1], 7) == [(0.7, 0.5, 0.1), (0.3, 0.5, 0.2)]
    # no weight: the heaviest component is repeated
    assert canonical([1.0, 0.4, 0.2, 0.9, 0.1], 7) == [(1.0, 0.4, 0.2), (0.0, 0.4, 0.2)]
    assert canonical([0.0, 0.4, 0.2, 0.3, 0.1], 7) == [(0.0, 0.3, 0.1), (1.0, 0.3, 0.1)]
    # a point mass has no correlation, and one agent shows none
    assert canonical([0.5, 0.0, 0.7, 1.0, 0.4], 7) == [(0.5, 0.0, 0.0), (0.5, 1.0, 0.0)]
    assert canonical([0.2, 0.6], 1) == [(1.0, 0.2, 0.0)]
    weights = [part[0] for part in canonical([0.2, 0.5, 0.1, 0, 0.2, 0, 0.3, 0], 9)]
    assert weights == pytest.approx([0.2, 0.4, 0.4])
