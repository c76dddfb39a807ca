"""Replay: a log worked by hand, an item-by-item twin, and the recorded debates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.datasets import load_smollm_debates
from stability.evaluate.replay import RULES, replay
from stability.log import DebateLog, read_log
from stability.rules import KSRule, MaxRounds, PluralityUnchanged, Unanimity

A, B, UNREAD, SILENT = 0, 1, -1, -2
SECOND = MaxRounds(2)


def rows(frame):
    return {row["rule"]: row for row in frame.to_dict("records")}


@pytest.fixture(scope="module")
def smollm():
    return load_smollm_debates()


@pytest.fixture
def hand():
    """Four debates of three agents and three rounds; the last one ended after two."""
    answers = [
        [[A, A, A], [A, A, B], [A, B, SILENT], [A, B, B]],
        [[A, A, A], [B, B, B], [A, B, SILENT], [B, B, B]],
        [[A, A, B], [B, B, A], [B, B, SILENT], [B, B, B]],
    ]
    carried = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    tokens = np.full((3, 4, 3), 10)
    tokens[1, 1, 0] = -1
    gold = ["A", "A", "B", None]
    return DebateLog(answers, "AB", gold=gold, carried=carried, tokens=tokens)


def test_a_log_worked_by_hand(hand):
    found = rows(replay(hand, [Unanimity(), SECOND]))
    fixed = ["round-0 vote", "fixed t = 1", "full debate"]
    assert list(found) == [*fixed, "Unanimity()", "MaxRounds(rounds=2)"]
    # Unanimous at t = 0, 1, 2 and, the debate that ended, t = 1: A, B, B, B. In full: A, B, B, B.
    row = found["Unanimity()"]
    assert row["rounds"] == (1 + 2 + 3 + 2) / 4
    assert row["rounds_saved"] == pytest.approx(1 - 8 / 11)
    assert row["answers"] == (3 + 6 + 6 + 6) / 4
    assert row["answers_saved"] == pytest.approx(1 - 21 / 30)
    assert row["answers_changed"] == 0
    assert (row["accuracy"], row["accuracy_change"]) == (2 / 3, 0.0)
    # Round 0: A, A, A (a tie goes to the first), B: right, right, wrong; nothing known of the last.
    assert row["vote_change"] == 0.0
    assert found["round-0 vote"]["answers_changed"] == 2 / 4
    assert found["round-0 vote"]["accuracy_change"] == 0.0
    # Tokens: item 1 is left out, one of its is unknown.
    assert row["tokens"] == (30 + 60 + 60) / 3
    assert (row["tokens_items"], row["graded"], row["items"]) == (3, 3, 4)
    assert row["tokens_saved"] == pytest.approx(1 - 150 / (90 + 60 + 60))
    # t = 1: A, B, A (kept in the tie), B.
    row = found["fixed t = 1"]
    assert (row["rounds"], row["answers_changed"], row["accuracy_change"]) == (2, 1 / 4, -1 / 3)
    assert row["mcnemar_p"] == 1.0
    cap = found["MaxRounds(rounds=2)"]
    for name in ("rounds", "answers", "tokens", "answers_changed", "accuracy_low", "changed_high"):
        assert cap[name] == row[name]


def test_columns(hand):
    frame = replay(hand)
    assert list(frame.columns[:7]) == [
        "rule",
        "rounds",
        "answers_changed",
        "accuracy_change",
        "accuracy_low",
        "accuracy_high",
        "mcnemar_p",
    ]
    assert frame["kind"].tolist() == ["baseline"] * 3 + ["rule"] * len(RULES)
    assert set(frame["scope"]) == {"", "item", "batch"}
    for name in ("items", "clusters", "graded", "tokens_items", "stop_round"):
        assert frame[name].dtype == "Int64"
    assert "tokens" not in replay(DebateLog(hand.answers, "AB"), [])


def twin(log, rule):
    """Held, answer and grade at the stop, one item at a time: only for rules that stop items."""
    found = []
    for i in range(log.n_items):
        one = log.select(items=[i])
        winners = one.plurality()[:, 0]
        state = rule.start(one.n_agents)
        held = None
        for t, round_ in enumerate(one.rounds()):
            state, said = rule.step(state, round_)
            if said.stop and held is None:
                held = t + 1
        recorded = int((~one.carried).sum())
        held = recorded if held is None else min(held, recorded)
        right = []
        for t in range(one.n_rounds):
            mine = one.correct[t, 0][(one.answers[t, 0] == winners[t]) & (winners[t] >= 0)]
            graded = bool((one.correct >= 0).any())
            right.append(max(mine.tolist()) if len(mine) else (0 if graded else -1))
        asked = sum(int((one.answers[t, 0] != SILENT).sum()) for t in range(held))
        found.append((held, winners[held - 1] != winners[-1], right[held - 1], right[-1], asked))
    return np.array(found)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_item_by_item_twin(data):
    T, M, n = (data.draw(st.integers(1, high)) for high in (4, 5, 4))
    size = T * M * n
    codes = np.array(
        data.draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size)), np.int32
    ).reshape(T, M, n)
    ended = data.draw(st.lists(st.integers(1, T), min_size=M, max_size=M))
    for i, end in enumerate(ended):
        codes[end:, i] = codes[end - 1, i]
    carried = np.arange(T)[:, None] >= np.array(ended)
    gold = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=M, max_size=M))
    log = DebateLog(codes, "abc", gold=gold, carried=carried)
    rule = data.draw(st.sampled_from([Unanimity(), PluralityUnchanged(), MaxRounds(2)]))
    row = rows(replay(log, {"it": rule}, resamples=10))["it"]
    held, changed, right, full, asked = twin(log, rule).T
    both = (right >= 0) & (full >= 0)
    assert row["rounds"] == pytest.approx(held.mean())
    assert row["answers"] == pytest.approx(asked.mean())
    assert row["answers_changed"] == pytest.approx(changed.mean())
    assert row["graded"] == both.sum()
    if both.any():
        assert row["accuracy"] == pytest.approx(right[both].mean())
        assert row["accuracy_change"] == pytest.approx((right - full)[both].mean())
        assert abs(row["accuracy_change"]) <= changed[both].mean() + 1e-12
    else:
        assert np.isnan([row["accuracy"], row["accuracy_change"], row["mcnemar_p"]]).all()


def test_figures_of_the_packaged_debates(smollm):
    found = rows(replay(smollm))
    row = found["Unanimity()"]
    assert (round(100 * row["answers_changed"], 1), round(row["rounds"], 2)) == (1.4, 3.17)
    assert found["KSRule()"]["rounds_saved"] == 0
    assert found["KSRule()"]["stop_round"] == 3
    assert found["full debate"]["answers_changed"] == found["full debate"]["changed_high"] == 0
    assert 0.014 < row["changed_high"] < 0.07


EXPECTED = {"diversity_mmlu_5round": (0.0, 2.38), "cmd_llm_discussion": (1.0, 1.73)}
ALL = ("diversity_mmlu_5round", "cmd_llm_discussion", "llm_agora", "diverse_minds_arithmetic")
ALL += ("du_format_forks", "madam_rag_ramdocs", "dylan_mmlu", "smollm2-local")


@pytest.mark.parametrize("source", ALL)
def test_figures_of_the_recorded_debates(recorded, source):
    log = read_log(recorded / f"{source}.csv.gz")
    if source == "cmd_llm_discussion":
        log = log.select(items=[run == "main" for run in log.keys["run"]])
    found = rows(replay(log, [Unanimity(), KSRule()], resamples=1))
    row = found["Unanimity()"]
    if source in EXPECTED:
        measured = (round(100 * row["answers_changed"], 1), round(row["rounds"], 2))
        assert measured == EXPECTED[source]
    assert row["answers_changed"] <= 0.014
    assert found["KSRule()"]["rounds_saved"] == 0


def test_an_ungraded_log_has_no_accuracy(hand):
    bare = DebateLog(hand.answers, "AB", carried=hand.carried)
    found = rows(replay(bare, [Unanimity(), KSRule(observable="correct")]))
    row = found["Unanimity()"]
    assert (row["rounds"], row["answers_changed"], row["graded"]) == (2.0, 0.0, 0)
    for name in ("accuracy", "accuracy_change", "accuracy_low", "mcnemar_p", "vote_change"):
        assert np.isnan(row[name])
    refused = found["KSRule(observable='correct')"]
    assert "graded answers" in refused["note"]
    assert np.isnan(refused["rounds"])
    assert refused["scope"] == "batch"


def test_one_debate_keeps_the_row_of_a_batch_rule():
    log = DebateLog([[[A, B]], [[B, B]]], "AB", gold=["B"])
    found = rows(replay(log))
    assert len(found) == 2 + len(RULES)
    assert found["KSRule()"]["note"].startswith("could not run: KSRule compares")
    row = found["Unanimity()"]
    assert (row["rounds"], row["accuracy_change"], row["mcnemar_p"]) == (2, 0, 1)
    assert found["round-0 vote"]["accuracy_change"] == -1.0
    assert np.isnan(row["accuracy_low"])


@pytest.mark.parametrize("code", [SILENT, UNREAD])
def test_debates_in_which_nothing_was_said(code):
    log = DebateLog(np.full((2, 3, 2), code), "A", gold=["A"] * 3)
    frame = replay(log)
    assert (frame["answers_changed"].dropna() == 0).all()
    row = rows(frame)["full debate"]
    assert row["answers"] == (0 if code == SILENT else 4)
    # Nobody was right; where nobody spoke at all, there is no grade either.
    assert (row["graded"], np.isnan(row["accuracy"])) == (
        (0, True) if code == SILENT else (3, False)
    )


def test_one_round_is_the_full_debate(smollm):
    frame = replay(smollm.select(rounds=1), [Unanimity()])
    assert frame["rule"].tolist() == ["full debate", "Unanimity()"]
    assert frame["rounds"].tolist() == [1.0, 1.0]


def test_rows_do_not_depend_on_each_other(smollm):
    alone = replay(smollm, [PluralityUnchanged()], seed=5)
    among = replay(smollm, [Unanimity(), PluralityUnchanged(), KSRule()], seed=5)
    name = "PluralityUnchanged()"
    for column in ("accuracy_low", "accuracy_high", "mcnemar_p", "vote_low"):
        assert rows(alone)[name][column] == rows(among)[name][column]


def test_runs_of_a_question_are_one_cluster():
    # one question run twice, changed in both runs: McNemar sees one gain, not two
    answers = [[[A], [A], [A]], [[B], [B], [A]]]
    log = DebateLog(answers, "AB", gold=["B", "B", "A"], cluster=[0, 0, 1])
    row = rows(replay(log, []))["round-0 vote"]
    assert (row["clusters"], row["accuracy_change"], row["mcnemar_p"]) == (2, -2 / 3, 1.0)
    assert row["accuracy_low"] == -1.0
    assert row["accuracy_high"] == 0.0


def test_batch_rules_tell_whether_they_stopped(smollm):
    found = rows(replay(smollm, [KSRule(epsilon=0.1), KSRule(epsilon=0.01)]))
    row = found["KSRule(epsilon=0.1)"]
    assert (row["stop_round"], row["rounds"], row["stopped"]) == (2, 3.0, 1.0)
    row = found["KSRule(epsilon=0.01)"]
    assert row["stopped"] == 0.0
    assert row["note"].startswith("Did not stop in 4 rounds (running). ")
    assert "sampling noise" in row["note"]


@pytest.mark.parametrize("rules", [Unanimity(), ["Unanimity"], {"a": None}, 3])
def test_bad_rules(smollm, rules):
    with pytest.raises(TypeError, match="`rules` must hold rules"):
        replay(smollm, rules)


@pytest.mark.parametrize(
    "options", [{"confidence": 1.0}, {"resamples": 0}, {"seed": -1}, {"confidence": float("nan")}]
)
def test_bad_options(smollm, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        replay(smollm, [], **options)


def test_no_log():
    with pytest.raises(TypeError, match="`log` must be a DebateLog"):
        replay([[["A"]]])
