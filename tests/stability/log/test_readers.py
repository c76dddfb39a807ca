import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest

from stability.errors import LogFormatError
from stability.log import SILENT, DebateLog, read_log

HEAD = "item,round,agent,answer,correct\n"


def csv_log(text, **options):
    return read_log(io.StringIO(text), format="csv", **options)


def test_small_file():
    log = csv_log(HEAD + "q1,1,x,01,1\nq1,1,y,1,0\nq1,2,y,01,1\nq2,1,x,,0\nq2,1,y,A,\n")
    assert log.labels == ("01", "1", "A")
    assert log.answers.tolist() == [[[0, 1], [-1, 2]], [[-2, 0], [-1, 2]]]
    assert log.correct.tolist() == [[[1, 0], [0, -1]], [[-1, 1], [0, -1]]]
    assert log.carried.tolist() == [[False, False], [False, True]]
    assert log.item_ids == ("q1", "q2")
    assert log.agent_ids == ("x", "y")
    assert log.cluster is None
    assert log.gold is None


def test_rounds_from_zero_and_from_one_are_the_same_log():
    rows = [(q, t, a, "AB"[(t + a) % 2]) for q in range(3) for t in range(3) for a in range(2)]
    zero, one = (
        csv_log(
            "item,round,agent,answer\n" + "".join(f"{q},{t + s},{a},{x}\n" for q, t, a, x in rows)
        )
        for s in (0, 1)
    )
    assert zero == one
    assert zero.n_rounds == 3


def test_row_order_does_not_matter_for_the_content():
    lines = [
        f"q{q},{t},a{a},{'ABC'[(q + t + a) % 3]},1\n"
        for q in range(3)
        for t in (1, 2)
        for a in range(2)
    ]
    log = csv_log(HEAD + "".join(lines))
    again = csv_log(HEAD + "".join(reversed(lines)))
    again = again.select(items=list(log.item_ids), agents=list(log.agent_ids))
    assert again == log


def test_formats_hold_the_same_log(tmp_path):
    rows = [
        {"item": "q", "round": 1, "agent": "x", "answer": 7, "correct": True},
        {"item": "q", "round": 1, "agent": "y", "answer": None, "correct": False},
        {"item": "q", "round": 2, "agent": "x", "answer": "7", "correct": None},
        {"item": "é,\n", "round": 1, "agent": "x", "answer": 1.5},
    ]
    text = "\n".join(json.dumps(row) for row in rows) + "\n\n"
    table = HEAD + 'q,1,x,7,1\r\nq,1,y,,0\n\nq,2,x,7,\n"é,\n",1,x,1.5,\n'
    logs = []
    for name, content in (("a.jsonl", text), ("a.csv", table), ("odd", text), ("odd2", table)):
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8"))
        logs.append(read_log(path))
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(content.encode("utf-8-sig")))
        logs.append(read_log(str(packed)))
        with open(packed, "rb") as stream:
            logs.append(read_log(stream, format="jsonl" if "json" in name else "auto"))
    assert all(log == logs[0] for log in logs)
    assert logs[0].labels == ("7", "1.5")


def test_lines_are_counted_in_the_file_also_after_a_cell_of_two_lines():
    with pytest.raises(LogFormatError, match=r"^stream, line 5: `correct`"):
        csv_log(HEAD + '"q\n1",1,x,A,1\n\nq2,1,x,A,7\n')


def test_frame_values():
    frame = pd.DataFrame(
        {
            "item": [1, 1, 1, 1],
            "round": [0.0, 0.0, 1.0, 1.0],
            "agent": [0, 1, 0, 1],
            "answer": [3, np.nan, 3.5, SILENT],
            "correct": [True, np.nan, False, None],
            "gold": [["3", 4], None, ["3", "4"], ()],
        }
    )
    log = DebateLog.from_frame(frame)
    assert log.answers.tolist() == [[[0, -1]], [[1, -2]]]
    assert log.labels == ("3", "3.5")
    assert log.correct.tolist() == [[[1, 0]], [[0, -1]]]
    assert log.gold == (("3", "4"),)


def test_frame_errors_name_the_row():
    frame = pd.DataFrame({"item": [1, 1], "round": [0, 0], "agent": [0, 0], "answer": "A"})
    with pytest.raises(LogFormatError, match=r"data frame, row 1: .* the same as in row 0"):
        DebateLog.from_frame(frame)
    with pytest.raises(LogFormatError, match="column 'answer': an answer must be text"):
        DebateLog.from_frame(frame.assign(answer=[1j, 1j]))


def test_agents_of_a_categorical_column():
    frame = pd.DataFrame({"item": [1, 1], "round": 0, "agent": ["b", "a"], "answer": "A"})
    assert DebateLog.from_frame(frame).agent_ids == ("b", "a")
    fixed = frame.assign(agent=pd.Categorical(frame["agent"], categories=["a", "b", "c"]))
    log = DebateLog.from_frame(fixed)
    assert log.agent_ids == ("a", "b", "c")
    assert log.answers.tolist() == [[[0, 0, -2]]]


KEYED = "source,dataset,model,run,item,round,agent,answer\n"


def test_keys_and_clusters():
    log = csv_log(KEYED + "s,d,m,1,q,0,x,A\nu,d,m,2,q,0,x,B\ns,e,m,1,q,0,x,B\n")
    assert log.item_ids == ("d|m|1|q", "d|m|2|q", "e|m|1|q")
    assert log.cluster.tolist() == [0, 0, 1]
    assert list(log.keys) == ["dataset", "model", "run", "item"]
    assert log.notes == ("`source` is no part of the key: the log joins 's', 'u'",)


def test_key_option_and_renamed_columns():
    text = "question,turn,who,said,seed,memo\nq,0,x,A,1,hi\nq,0,x,B,2,ho\n"
    names = {"item": "question", "round": "turn", "agent": "who", "answer": "said"}
    with pytest.raises(LogFormatError, match=r"line 3: .*key=\['seed'\] would make it unique"):
        csv_log(text, **names)
    with pytest.raises(LogFormatError, match=r"unknown column\(s\) 'memo'"):
        csv_log(text, key=["seed"], **names)
    log = csv_log(text, key=["seed"], ignore=["memo"], **names)
    assert log.n_items == 2
    assert log.cluster.tolist() == [0, 0]
    assert log.notes == ("column 'memo' was ignored",)


def test_duplicates_name_what_would_separate_them():
    with pytest.raises(LogFormatError, match="the same as in line 2; no other column tells"):
        csv_log(HEAD + "q,1,x,A,1\nq,1,x,B,1\n")
    with pytest.raises(LogFormatError, match="`source` would make it unique"):
        csv_log(KEYED + "s,d,m,1,q,0,x,A\nt,d,m,1,q,0,x,B\n")
    text = "item,round,agent,answer,seed,level\nq,0,x,A,1,1\nq,0,x,B,2,1\nq,0,x,C,1,2\n"
    with pytest.raises(LogFormatError, match=r"key=\['seed', 'level'\] would"):
        csv_log(text)
    with pytest.raises(LogFormatError, match=r"line 3: .*key=\['seed', 'level'\] would"):
        csv_log(text, ignore=["seed", "level"])


def test_gold_in_files():
    head = "item,round,agent,answer,gold\n"
    log = csv_log(head + "q,0,x,A,B|A\nq,0,y,C,A|B\nq,0,z,,\nr,0,x,A,\n")
    assert log.gold == (("B", "A"), None)
    assert log.correct.tolist() == [[[1, 0, 0], [-1, -1, -1]]]
    with pytest.raises(LogFormatError, match="line 3: `gold` must be the same"):
        csv_log(head + "q,0,x,A,A\nq,0,y,C,B\n")
    empty = csv_log("item,round,agent,answer,gold,correct\nq,0,x,A,A,\n")
    assert not empty.is_graded
    assert "leave the column out" in empty.notes[0]


def test_unread_wrong_or_absent():
    text = HEAD + "q,1,x,A,1\nq,1,y,,\nq,2,x,A,1\nq,2,y,A,1\nr,1,x,B,\nr,1,y, ,\n"
    wrong, absent = csv_log(text), csv_log(text, unread="absent")
    k, n, graded = wrong.correct_counts()
    assert (k[:, 0].tolist(), n[:, 0].tolist(), graded.all(0).tolist()) == (
        [1, 2],
        [2, 2],
        [True, False],
    )
    k, n, graded = absent.correct_counts()
    assert (k[:, 0].tolist(), n[:, 0].tolist(), graded.all(0).tolist()) == (
        [1, 2],
        [1, 2],
        [True, False],
    )
    assert wrong.answers[0].tolist() == [[0, -1], [1, -1]]
    assert absent.answers[0].tolist() == [[0, -2], [1, -2]]
    assert absent.notes == ("2 unread answers are treated as silence (unread='absent')",)


def test_extract():
    def letter(text):
        return text[-1] if text.startswith("The answer is") else None

    text = HEAD + "q,1,x,The answer is A,1\nq,1,y,So A,1\nq,1,z,,0\n"
    log = csv_log(text, extract=letter)
    assert log.labels == ("A",)
    assert log.answers.tolist() == [[[0, -1, -1]]]
    assert log.correct.tolist() == [[[1, 0, 0]]]
    assert "1 answers graded 1 that `extract` could not read" in log.notes[0]


def test_tokens_and_cluster_columns():
    head = "item,round,agent,answer,tokens,cluster\n"
    log = csv_log(head + "q,1,x,A,12,c\nq,1,y,A,,c\nq,2,x,A,3,c\nr,1,x,A,5,c\n")
    assert log.tokens.tolist() == [[[12, -1], [5, 0]], [[3, 0], [0, 0]]]
    assert log.cluster.tolist() == [0, 0]
    with pytest.raises(LogFormatError, match="line 2: `tokens`"):
        csv_log(head + "q,1,x,A,-3,c\n")
    with pytest.raises(LogFormatError, match="line 3: `cluster`"):
        csv_log(head + "q,1,x,A,3,c\nq,2,x,A,3,d\n")


GOOD = HEAD + "q,1,x,A,1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "stream: the file is empty"),
        (" \n\n", "stream: the file is empty"),
        (HEAD, "stream: must hold at least one row after the header"),
        ("item,round,agent\nq,1,x\n", "stream: missing column.s. 'answer'"),
        ("item,round,agent,answer,item\nq,1,x,A,q\n", "line 1: column names .* got 'item'"),
        ("item,round,agent,answer,\nq,1,x,A,\n", "line 1: column names .* got ''"),
        (
            "item,round,agent,answer,mood\nq,1,x,A,up\n",
            "stream: unknown column.s. 'mood': .*known are .*answer",
        ),
        (GOOD + "q,1,x,A,1\n", "line 3: .item, round, agent. must be unique"),
        (GOOD + "q,2,x,A,2\n", "line 3: `correct` must be 0, 1 or empty, got '2'"),
        (GOOD + "q,2,x,A,yes\n", "line 3: `correct`"),
        (GOOD + "q,2,x,,1\n", "line 3: `correct` must not be 1 where the answer is empty"),
        (GOOD + "q,3,x,A,1\n", "line 3: the rounds .* no gap: 'q' has round 3 but no round 2"),
        (GOOD + "r,2,x,A,1\n", "line 3: .*'r' has round 2 but no round 1"),
        (GOOD + "r,0,x,A,1\n", "line 2: .*'q' has round 1 but no round 0"),
        (HEAD + "q,2,x,A,1\n", "line 2: rounds must start at 0 or 1, the first one is 2"),
        (HEAD + "q,-1,x,A,1\n", "line 2: `round` must be a whole number >= 0, got '-1'"),
        (HEAD + "q,1.5,x,A,1\n", "line 2: `round`"),
        (HEAD + "q,one,x,A,1\n", "line 2: `round`"),
        (HEAD + "q,99999999999,x,A,1\n", "line 2: `round`"),
        (HEAD + "q,,x,A,1\n", "line 2: `round` must not be empty"),
        (GOOD + " ,1,x,A,1\n", "line 3: `item` must not be empty"),
        (GOOD + "q,1,,A,1\n", "line 3: `agent` must not be empty"),
        (GOOD + "q,2,x,A\n", "line 3: a row must have 5 cells as the header has, got 4"),
        (GOOD + "q,2,x,A,1,1\n", "line 3: a row must have 5 cells .* got 6"),
        (GOOD + 'q,2,x,"A,1\n', "line 3: not valid CSV"),
        (GOOD + 'q,2,x,"A"B,1\n', "line 3: not valid CSV"),
    ],
)
def test_bad_csv(text, message):
    with pytest.raises(LogFormatError, match=message) as caught:
        csv_log(text)
    assert "\n" not in str(caught.value)


ROW = '{"item": "q", "round": 1, "agent": "x", "answer": "A"}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", "the file is empty"),
        (ROW + "[1]\n", "line 2: each line must hold one JSON object, got list"),
        (ROW + "\n{oops}\n", "line 3: not valid JSON"),
        (ROW + '{"item": 1, "item": 2}\n', "line 2: .*a key is repeated"),
        (ROW + ROW.replace('"A"', '{"a": 1}'), "line 2: column 'answer': an answer must be"),
        (ROW + ROW.replace('"A"', "Infinity"), "line 2: column 'answer'"),
        (ROW + '{"round": 1, "agent": "x", "answer": "A"}\n', "line 2: `item` must not be empty"),
    ],
)
def test_bad_jsonl(text, message):
    with pytest.raises(LogFormatError, match=message):
        read_log(io.StringIO(text), format="jsonl")


def test_bad_files(tmp_path):
    def written(name, content):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    whole = gzip.compress((HEAD + "".join(f"q{i},1,x,A,1\n" for i in range(99))).encode())
    cases = {
        "cut.csv.gz": (whole[:-20], r"^cut.csv.gz: a truncated or damaged gzip"),
        "broken.csv.gz": (whole[:30] + b"\x00\xff" + whole[32:], "truncated or damaged gzip"),
        "plain.csv.gz": (GOOD.encode(), "plain.csv.gz: not a gzip file"),
        "latin.csv": (
            GOOD.encode() + b"q,2,x,caf\xe9,1\n",
            "latin.csv, line 3: text must be UTF-8",
        ),
        "empty.csv": (b"", "empty.csv: the file is empty"),
        "empty.csv.gz": (gzip.compress(b""), "empty.csv.gz: the file is empty"),
        "odd.txt": (b"[1, 2]", "odd.txt: a document of a shape that no format has"),
    }
    for name, (content, message) in cases.items():
        with pytest.raises(LogFormatError, match=message):
            read_log(written(name, content))
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unread": "drop"}, "`unread` must be one of wrong, absent"),
        ({"format": "xml"}, "`format` must be one of auto, jsonl, csv"),
        ({"key": "seed"}, "`key` must be a list"),
        ({"key": ["run"]}, "has its own place"),
        ({"colour": "c"}, "a column option must be one of"),
        ({"item": "question"}, "no column 'question'"),
        ({"ignore": ["mood"]}, "no column 'mood'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        read_log(io.StringIO(GOOD), **options)
    with pytest.raises(ValueError, match="path or an open file"):
        read_log(3)
