"""The vote kernels against plain Python twins."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stability._kernels import votes

few = hnp.arrays(np.int32, (6, 5), elements=st.integers(-2, 3))
QUICK = settings(max_examples=40, deadline=None)


def frozen(array, dtype=np.int32):
    array = np.array(array, dtype)
    array.setflags(write=False)
    return array


def tally(codes, previous=None, draws=(), n_labels=None):
    codes = frozen(codes)
    n_items = len(codes)
    scratch = np.zeros(n_labels or max(1, int(codes.max()) + 1), np.int32)
    previous = frozen([-1] * n_items if previous is None else previous)
    winner, top, second, spoke = (np.empty(n_items, np.int32) for _ in range(4))
    unanimous = np.empty(n_items, np.bool_)
    votes.tally(
        codes, previous, np.array(draws, float), scratch, winner, top, second, spoke, unanimous
    )
    assert not scratch.any()
    return winner, top, second, spoke, unanimous


def twin(row, previous, draw):
    read = [code for code in row if code >= 0]
    spoke = sum(code != -2 for code in row)
    counts = Counter(read)
    if not counts:
        return -1, 0, 0, spoke, False
    best = max(counts.values())
    leaders = [code for code in dict.fromkeys(read) if counts[code] == best]
    lead = previous if previous in leaders else leaders[int(draw * len(leaders))]
    second = max((v for code, v in counts.items() if code != lead), default=0)
    return lead, best, second, spoke, best == spoke


@QUICK
@given(
    few,
    hnp.arrays(np.int32, 6, elements=st.integers(-1, 3)),
    st.none() | hnp.arrays(float, 6, elements=st.floats(0, 1, exclude_max=True)),
    st.sampled_from([4, 1000]),
)
def test_tally_is_its_twin(codes, previous, draws, n_labels):
    # 4 labels are packed into one integer, 1000 are not: both ways give the same.
    got = tally(codes, previous, () if draws is None else draws, n_labels)
    for i, row in enumerate(codes.tolist()):
        draw = 0.0 if draws is None else draws[i]
        expected = twin(row, int(previous[i]), draw)
        assert tuple(int(column[i]) for column in got) == expected


@QUICK
@given(few, st.permutations(range(4)))
def test_renaming_the_labels_renames_the_winner(codes, names):
    table = np.array([*names, -2, -1], np.int32)
    plain, renamed = tally(codes, n_labels=4), tally(table[codes], n_labels=4)
    np.testing.assert_array_equal(table[plain[0]], renamed[0])
    for one, other in zip(plain[1:], renamed[1:], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_agents", [1, 62, 127, 400])
def test_many_agents(n_agents):
    rows = [[0] * n_agents, [-1] * n_agents, [-2] * n_agents, [1] * n_agents]
    winner, top, second, spoke, unanimous = tally(rows)
    assert winner.tolist() == [0, -1, -1, 1]
    assert top.tolist() == [n_agents, 0, 0, n_agents]
    assert second.tolist() == [0, 0, 0, 0]
    assert spoke.tolist() == [n_agents, n_agents, 0, n_agents]
    assert unanimous.tolist() == [True, False, False, True]


@QUICK
@given(few, hnp.arrays(np.int32, 6, elements=st.integers(-1, 3)))
def test_agreement_is_its_twin(codes, reference):
    k, n = np.empty(6, np.int64), np.empty(6, np.int64)
    votes.agreement(frozen(codes), frozen(reference), k, n)
    same = (codes == reference[:, None]) & (reference >= 0)[:, None]
    np.testing.assert_array_equal(k, same.sum(1))
    np.testing.assert_array_equal(n, (codes != -2).sum(1))


@QUICK
@given(few, hnp.arrays(np.int8, (6, 5), elements=st.integers(-1, 1)))
def test_correct_counts_is_its_twin(codes, grades):
    k, n, graded = np.empty(6, np.int64), np.empty(6, np.int64), np.empty(6, np.bool_)
    votes.correct_counts(frozen(codes), frozen(grades, np.int8), k, n, graded)
    read, here = codes >= 0, codes != -2
    np.testing.assert_array_equal(k, (read & (grades == 1)).sum(1))
    np.testing.assert_array_equal(n, here.sum(1))
    known = (here & (grades >= 0)).any(1)
    np.testing.assert_array_equal(graded, known & ~(read & (grades < 0)).any(1))


@QUICK
@given(hnp.arrays(np.int64, 5, elements=st.integers(0, 9)), hnp.arrays(np.bool_, 5))
def test_span_is_its_twin(n, used):
    expected = (used.sum(), n[used].min(initial=9) if used.any() else 0, n[used].max(initial=0))
    assert votes.span(frozen(n, np.int64), frozen(used, np.bool_)) == expected


@QUICK
@given(hnp.arrays(np.int32, (6, 2), elements=st.integers(0, 5)))
def test_lowest_share_is_its_twin(pairs):
    top, spoke = pairs.min(1), pairs.max(1)
    expected = min(a / b if b else 0.0 for a, b in zip(top.tolist(), spoke.tolist(), strict=True))
    assert votes.lowest_share(frozen(top), frozen(spoke)) == expected


@QUICK
@given(st.lists(few, min_size=1, max_size=3))
def test_pool_is_its_twin(rounds):
    slots, counts = np.full((6, 0), -1, np.int32), np.zeros((6, 0), np.int64)
    for codes in rounds:
        slots = np.hstack([slots, np.full((6, 5), -1, np.int32)])
        counts = np.hstack([counts, np.zeros((6, 5), np.int64)])
        winner, top, second = np.empty(6, np.int32), np.empty(6, np.int64), np.empty(6, np.int64)
        used = votes.pool(frozen(codes), slots, counts, winner, top, second)
        slots, counts = slots[:, :used].copy(), counts[:, :used].copy()
    for i, row in enumerate(np.concatenate(rounds, axis=1).tolist()):
        lead, best, runner, _, _ = twin(row, -1, 0.0)
        assert (winner[i], top[i], second[i]) == (lead, best, runner)
    assert used == max(len({c for c in row if c >= 0}) for row in np.concatenate(rounds, axis=1))
