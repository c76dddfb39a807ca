import pytest

from stability.log.ties import Ties


def test_the_four_names():
    assert [str(tie) for tie in Ties] == ["share", "previous", "first", "random"]


def test_text_is_accepted():
    assert Ties("previous") is Ties.previous
    assert Ties.first == "first"


def test_another_name_is_refused():
    with pytest.raises(ValueError, match="last"):
        Ties("last")
