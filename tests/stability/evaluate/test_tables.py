"""What the tables of a replay say, and how they say that nothing is known."""

import numpy as np
import pytest

from stability.datasets import load_smollm_debates
from stability.evaluate.replay import replay
from stability.evaluate.tables import account, condensed, published_table, table
from stability.log import DebateLog
from stability.rules import KSRule, PluralityUnchanged, Unanimity


@pytest.fixture(scope="module")
def frame():
    return replay(load_smollm_debates(), [Unanimity(), PluralityUnchanged(), KSRule()])


def test_table_of_the_packaged_debates(frame):
    heads, body = table(frame)
    assert heads == (
        "rule",
        "rounds",
        "saved",
        "answers",
        "changed",
        "accuracy",
        "change",
        "p",
        "vote",
    )
    assert [row[0] for row in body] == frame["rule"].tolist()
    assert all(len(row) == len(heads) for row in body)
    # accuracy .2083 at the stop, .2639 at the end and in round 0
    plurality = dict(zip(heads, body[-2], strict=True))
    assert plurality["changed"] == "27.8 (< 37.8) %"
    assert plurality["accuracy"] == "20.8 %"
    assert plurality["change"].startswith("-5.6 [")
    assert plurality["vote"] == "-5.6"
    full = dict(zip(heads, body[3], strict=True))
    assert (full["changed"], full["change"]) == ("0.0 %", "+0.0 [+0.0, +0.0]")


def test_account_names_what_rules_warned_of(frame):
    said = account(frame)
    assert said[0].startswith("72 items; the accuracy is that of 72 items")
    assert len([line for line in said if line.startswith("KSRule(): The threshold")]) == 1
    assert not any(line.startswith("Unanimity()") for line in said)


def test_what_is_unknown_is_a_dash():
    tokens = np.full((2, 1, 2), -1)
    log = DebateLog([[[0, 1]], [[0, 0]]], "AB", tokens=tokens)
    frame = replay(log, [KSRule(), Unanimity()])
    heads, body = table(frame)
    assert body[-2] == ("KSRule()", *["-"] * (len(heads) - 1))
    row = dict(zip(heads, body[-1], strict=True))
    assert (row["tokens"], row["accuracy"], row["change"], row["p"]) == ("-", "-", "-", "-")
    said = account(frame)
    assert said[0] == "1 item; no answer is graded, so nothing is said of the accuracy."
    assert any("over the 0 items with all known" in line for line in said)
    assert any(line.startswith("KSRule(): could not run: ") for line in said)


def test_clusters_are_told():
    log = DebateLog(np.zeros((1, 3, 1), int), "A", cluster=[0, 0, 1])
    assert account(replay(log, []))[0].startswith("3 items in 2 clusters (runs of one question")


def test_published_layout(frame):
    found = published_table({"one": frame, "two": frame})
    assert found["log"].tolist() == ["one"] * 3 + ["two"] * 3
    one = found.iloc[:3]
    assert one["rule"].tolist() == ["Unanimity()", "PluralityUnchanged()", "KSRule()"]
    assert one["full_rounds"].tolist() == [4.0] * 3
    assert one["full_accuracy"].tolist() == pytest.approx([100 * 19 / 72] * 3)
    assert one["drop"].tolist() == pytest.approx([0.0, 100 * 4 / 72, 0.0])
    assert one["within"].tolist() == [True, False, True]
    assert published_table(frame, max_drop=6)["within"].all()


def test_a_drop_of_exactly_the_bound_is_within():
    # 0.07 of a hundred items is 7 points, as a float a little more
    answers = np.zeros((2, 100, 1), int)
    answers[0, :7] = 1
    log = DebateLog(answers, "AB", gold=["A"] * 100)
    found = published_table(replay(log, {"first": Unanimity()}), max_drop=7)
    assert found["drop"].tolist() == pytest.approx([7.0])
    assert found["within"].tolist() == [True]


def test_published_layout_of_what_is_not_known():
    log = DebateLog(np.zeros((2, 3, 2), int), "A")
    found = published_table(replay(log, [Unanimity()]))
    assert found["within"].isna().all()
    assert found["rounds"].tolist() == [1.0]
    with pytest.raises(ValueError, match="at least one"):
        published_table({})
    with pytest.raises(ValueError, match="max_drop"):
        published_table(replay(log, []), max_drop=-1)


def test_condensed_baselines_stand_by_length(frame):
    short = replay(load_smollm_debates().select(rounds=2), [Unanimity()])
    heads, body = condensed({"short": short, "long": frame})
    assert heads == ("rule", "short", "long")
    told = [row[0] for row in body[:4]]
    assert told == ["round-0 vote", "fixed t = 1", "fixed t = 2", "full debate"]
    assert body[2][1] == "-"
    assert [row[0] for row in body[4:]] == ["Unanimity()", "PluralityUnchanged()", "KSRule()"]
