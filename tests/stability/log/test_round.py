import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.errors import NeedsAnswersError
from stability.log.round import SILENT, SILENT_CODE, UNREAD, Round, label_text

cells = st.one_of(st.sampled_from(["A", "B", "", " ", None, SILENT, 1, 2.5, True]), st.text())


def test_codes_and_labels_come_back_as_answers():
    one = Round.from_answers([["A", "B", None], ["B", SILENT, ""]], index=2)
    assert one.labels == ("A", "B")
    assert one.codes.tolist() == [[0, 1, UNREAD], [1, SILENT_CODE, UNREAD]]
    assert one.answers.tolist() == [["A", "B", None], ["B", SILENT, None]]
    assert (one.index, one.n_items, one.n_agents) == (2, 2, 3)
    assert one.has_answers
    assert not one.has_correct


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1)
    )
)
def test_any_table_of_cells_comes_back(rows):
    expected = [[cell if cell is SILENT else label_text(cell) for cell in row] for row in rows]
    one = Round.from_answers(rows)
    assert one.answers.tolist() == expected
    again = Round.from_codes(one.codes, one.labels)
    assert again.answers.tolist() == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("A", "A"),
        (3, "3"),
        (np.int64(3), "3"),
        (3.0, "3"),
        (np.float32(0.5), "0.5"),
        (True, "True"),
        (np.bool_(True), "True"),
        (None, None),
        (float("nan"), None),
        ("", None),
        (" \n", None),
        (np.str_("A"), "A"),
    ],
)
def test_label_text(value, text):
    assert label_text(value) == text
    assert text is None or type(label_text(value)) is str


@pytest.mark.parametrize("value", [float("inf"), b"A", ["A"], object()])
def test_what_cannot_be_a_label_is_refused(value):
    with pytest.raises(ValueError, match="an answer must be"):
        label_text(value)


def test_equal_numbers_of_unlike_type_are_told_apart():
    assert Round.from_answers([1, True, 1.0]).labels == ("1", "True")


def test_arrays_and_one_debate():
    assert Round.from_answers(np.array([["A", "B"]])).labels == ("A", "B")
    assert Round.from_answers(np.array([1.0, np.nan, 1.0])).codes.tolist() == [[0, UNREAD, 0]]
    assert Round.from_answers(("A", "B")).n_items == 1


def test_silent_is_one_object():
    assert copy.deepcopy(SILENT) is SILENT
    assert pickle.loads(pickle.dumps(SILENT)) is SILENT
    assert repr(SILENT) == "SILENT"


def test_correct_counts():
    one = Round.from_answers(
        [["A", None, SILENT], ["A", "B", "B"], [None, None, SILENT], ["A", "B", "C"]],
        correct=[[1, 0, -1], [1, -1, 0], [-1, -1, -1], [1, 1, 0]],
    )
    k, n, graded = one.correct_counts()
    assert k.tolist() == [1, 1, 0, 2]
    assert n.tolist() == [2, 3, 2, 3]
    assert graded.tolist() == [True, False, False, True]


def test_missing_grades_may_be_none_or_nan():
    one = Round.from_answers(["A", "B", "C"], correct=[1, None, float("nan")])
    assert one.correct.tolist() == [[1, -1, -1]]


def test_counts():
    one = Round.from_counts([3, 0, 7], 7)
    k, n, graded = one.correct_counts()
    assert (k.tolist(), n.tolist(), graded.tolist()) == ([3, 0, 7], [7, 7, 7], [True] * 3)
    assert one.has_correct
    assert not one.has_answers
    assert one.n_agents == 7
    with pytest.raises(NeedsAnswersError, match="counts"):
        _ = one.answers


def test_grades_are_needed_for_counts():
    with pytest.raises(NeedsAnswersError, match="correct"):
        Round.from_answers(["A"]).correct_counts()


def test_arrays_are_read_only_and_not_shared():
    codes = np.array([[0, 1]], np.int32)
    one = Round.from_codes(codes, ("A", "B"), correct=np.array([[1, 0]], np.int8))
    codes[0, 0] = 1
    assert one.codes.tolist() == [[0, 1]]
    for array in (one.codes, one.correct, one.answers):
        assert not array.flags.writeable
    shared = one.codes
    assert Round.from_codes(shared, ("A", "B")).codes is shared


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Round.from_answers([["A", "B"], ["A"]]), "row 0 has 2, row 1 has 1"),
        (lambda: Round.from_answers([["A"], "B"]), "mixes rows and single values"),
        (lambda: Round.from_answers("AB"), "table or a list"),
        (lambda: Round.from_answers([]), "at least"),
        (lambda: Round.from_answers([[], []]), "at least"),
        (lambda: Round.from_answers(["A"], index=-1), "`index` must be >= 0, got -1"),
        (lambda: Round.from_answers(["A"], index=True), "`index`"),
        (lambda: Round.from_answers(["A", "B"], correct=[1]), "shape"),
        (lambda: Round.from_answers(["A"], correct=[2]), "got 2"),
        (lambda: Round.from_answers(["A"], correct=[0.5]), "whole numbers"),
        (lambda: Round.from_answers([None], correct=[1]), "unread"),
        (lambda: Round.from_answers([SILENT], correct=[1]), "silent"),
        (lambda: Round.from_answers(["A"], item_ids=["x", "y"]), "`item_ids`"),
        (lambda: Round.from_answers([["A"], ["A"]], item_ids=["x", "x"]), "`item_ids`"),
        (lambda: Round.from_codes([[2]], ("A", "B")), r"-2\.\.1 for 2 labels, got 2\.\.2"),
        (lambda: Round.from_codes([[-3]], ("A",)), r"got -3"),
        (lambda: Round.from_codes([[0]], ("A", "A")), "`labels`"),
        (lambda: Round.from_codes([[0]], (1,)), "`labels`"),
        (lambda: Round.from_codes([[2**40]], ("A",)), "beyond"),
        (lambda: Round.from_codes([["A"]], ("A",)), "whole numbers"),
        (lambda: Round.from_counts([8], 7), r"k\[0\]=8, n\[0\]=7"),
        (lambda: Round.from_counts([-1], 7), r"k\[0\]=-1"),
        (lambda: Round.from_counts([], 7), "shape"),
        (lambda: Round(index=None, codes=None), "`codes`, or"),
        (lambda: Round(None, np.zeros((1, 1), int), ("A",), k=np.ones(1)), "counts alone"),
        (lambda: Round(None, None, ("A",), k=np.ones(1), n_present=np.ones(1)), "neither"),
    ],
)
def test_bad_input_is_refused_in_words(make, message):
    with pytest.raises(ValueError, match=message):
        make()
