import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.errors import NeedsAnswersError
from stability.log import SILENT, DebateLog, Round

LABELS = ("A", "B", "C|D", "01")


@st.composite
def logs(draw):
    """Any valid log: silence of whole rounds, unused labels, early ends, partial grades."""
    n_rounds, n_items, n_agents = (draw(st.integers(1, 4)) for _ in range(3))
    size = (n_rounds, n_items, n_agents)
    count = n_rounds * n_items * n_agents
    codes = np.array(draw(st.lists(st.integers(-2, 3), min_size=count, max_size=count)))
    answers = codes.reshape(size).astype(np.int32)
    last = np.array(
        draw(st.lists(st.integers(0, n_rounds - 1), min_size=n_items, max_size=n_items))
    )
    last[0] = n_rounds - 1  # the log ends where its longest debate ends
    state = np.minimum(np.arange(n_rounds)[:, None], last)
    items = np.arange(n_items)
    answers = answers[state, items]
    gold = draw(
        st.none()
        | st.lists(
            st.none() | st.lists(st.sampled_from((*LABELS, "Z")), min_size=1, max_size=2),
            min_size=n_items,
            max_size=n_items,
        )
    )
    correct = None
    if draw(st.booleans()):
        grades = draw(st.lists(st.integers(-1, 1), min_size=count, max_size=count))
        correct = np.array(grades, np.int8).reshape(size)[state, items]
        correct = np.minimum(correct, np.where(answers == -1, 0, 1))
        correct = np.where(answers == -2, -1, correct)
    tokens = None
    if draw(st.booleans()):
        spent = draw(st.lists(st.integers(-1, 99), min_size=count, max_size=count))
        tokens = np.array(spent).reshape(size)
    keys = None
    if draw(st.booleans()):
        run = draw(st.lists(st.sampled_from(("x", "y|", "\\")), min_size=n_items, max_size=n_items))
        keys = {"run": run, "item": [f"q{i // 2}" for i in items]}
        if len(set(zip(*keys.values(), strict=True))) < n_items:
            keys["item"] = [f"q{i}" for i in items]
    cluster = draw(st.none() | st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items))
    return DebateLog(
        answers,
        LABELS,
        correct,
        gold=gold,
        agent_ids=[f"agent {j}" for j in range(n_agents, 0, -1)],
        cluster=cluster,
        tokens=tokens,
        carried=np.arange(n_rounds)[:, None] > last,
        keys=keys,
    )


@settings(max_examples=60, deadline=None)
@given(logs())
def test_frame_round_trip_is_exact(log):
    assert DebateLog.from_frame(log.to_frame()) == log


@settings(max_examples=30, deadline=None)
@given(logs())
def test_pickle_and_rounds_give_the_log_back(log):
    again = pickle.loads(pickle.dumps(log))
    assert again == log
    assert again.notes == log.notes
    assert not again.answers.flags.writeable
    # Rounds of a log without any grade hold none, and `gold` would then grade them.
    gold = log.gold if log.is_graded else None
    joined = DebateLog.from_rounds(
        log.rounds(), gold=gold, agent_ids=log.agent_ids, carried=log.carried
    )
    assert np.array_equal(joined.correct, log.correct)
    assert np.array_equal(joined.answers == -2, log.answers == -2)


def twin_plurality(log, ties):
    """The vote counted with plain Python."""
    winners = np.full((log.n_rounds, log.n_items), -1)
    for t in range(log.n_rounds):
        for i in range(log.n_items):
            read = [c for c in log.answers[t, i].tolist() if c >= 0]
            if not read:
                continue
            top = max(read.count(c) for c in read)
            leaders = [c for c in dict.fromkeys(read) if read.count(c) == top]
            before = winners[t - 1, i] if t > 0 else -1
            winners[t, i] = before if ties == "previous" and before in leaders else leaders[0]
            if t > 0 and log.carried[t, i]:
                winners[t, i] = before
    return winners


@settings(max_examples=60, deadline=None)
@given(logs())
def test_counts_against_plain_python(log):
    previous = log.plurality()
    assert previous.tolist() == twin_plurality(log, "previous").tolist()
    assert log.plurality("first").tolist() == twin_plurality(log, "first").tolist()
    for reference, at in (("current", 0), ("previous", -1), ("first", None)):
        k, n = log.agreement_counts(reference)
        for t in range(log.n_rounds):
            ref = previous[0 if at is None else max(0, t + at)]
            same = (log.answers[t] == ref[:, None]) & (ref >= 0)[:, None]
            assert k[t].tolist() == same.sum(axis=1).tolist()
        assert n.tolist() == log.n_present().tolist()
    if log.is_graded:
        k, n, graded = log.correct_counts()
        assert k.tolist() == (log.correct == 1).sum(axis=2).tolist()
        assert n.tolist() == (log.answers != -2).sum(axis=2).tolist()
        missing = ((log.answers >= 0) & (log.correct < 0)).any(axis=2)
        assert not (graded & missing).any()


@settings(max_examples=40, deadline=None)
@given(logs(), st.integers(0, 9))
def test_random_ties_pick_a_leader_and_keep_it_when_carried(log, seed):
    winners = log.plurality("random", seed=seed)
    assert winners.tolist() == log.plurality("random", seed=seed).tolist()
    for t in range(log.n_rounds):
        for i in range(log.n_items):
            codes = log.answers[t, i]
            read = codes[codes >= 0].tolist()
            if read:
                assert read.count(winners[t, i]) == max(read.count(c) for c in read)
            else:
                assert winners[t, i] == -1
    assert (winners[1:] == winners[:-1])[log.carried[1:]].all()


def test_random_ties_are_fair():
    log = DebateLog(np.tile([0, 1], (1, 4000, 1)), ["A", "B"])
    share = float((log.plurality("random", seed=5) == 0).mean())
    # 5 standard errors of a fair coin: a false alarm in 1.7 million seeds.
    assert abs(share - 0.5) < 5 * 0.5 / np.sqrt(4000)


@settings(max_examples=40, deadline=None)
@given(logs(), st.data())
def test_select_is_the_slice(log, data):
    items = data.draw(st.permutations(range(log.n_items)))
    items = items[: data.draw(st.integers(1, log.n_items))]
    held = data.draw(st.integers(1, log.n_rounds))
    part = log.select(items=items, rounds=held)
    assert part.answers.tolist() == log.answers[:held, items].tolist()
    assert part.correct.tolist() == log.correct[:held, items].tolist()
    assert part.item_ids == tuple(log.item_ids[i] for i in items)
    assert part == log.select(items=[log.item_ids[i] for i in items], rounds=held)
    mask = np.zeros(log.n_items, bool)
    mask[items] = True
    assert log.select(items=mask) == log.select(items=sorted(items))
    assert log.select() == log
    agents = log.select(agents=slice(None, 1))
    assert agents.answers.tolist() == log.answers[:, :, :1].tolist()


@settings(max_examples=30, deadline=None)
@given(logs(), st.integers(0, 5))
def test_one_per_cluster_holds_each_once(log, seed):
    part = log.one_per_cluster(seed)
    if log.cluster is None:
        assert part == log
    else:
        assert part.n_items == len(set(log.cluster.tolist()))
        kept = [log.cluster[log.item_ids.index(name)] for name in part.item_ids]
        assert len(set(kept)) == len(kept)


def test_states_are_told_apart():
    # item 0: read and graded; item 1: unread in a graded item; item 2: nothing is graded
    answers = [[[0, 1], [1, -1], [0, -1]], [[0, -2], [1, 1], [0, -1]]]
    correct = [[[1, 0], [1, -1], [-1, -1]], [[1, -1], [1, 1], [-1, -1]]]
    log = DebateLog(answers, ["A", "B"], correct, carried=[[0, 0, 0], [0, 0, 1]])
    assert log.correct[0, 1].tolist() == [1, 0]
    assert log.correct[0, 2].tolist() == [-1, -1]
    counts = {name: values.tolist() for name, values in log.state_counts().items()}
    assert counts == {
        "read": [4, 3],
        "unread": [2, 0],
        "silent": [0, 1],
        "unknown": [2, 0],
        "carried": [0, 1],
    }
    k, n, graded = log.correct_counts()
    assert k.tolist() == [[1, 1, 0], [1, 2, 0]]
    assert n.tolist() == [[2, 2, 2], [1, 2, 2]]
    assert graded.tolist() == [[True, True, False], [True, True, False]]


def test_gold_grades_answers_where_grades_are_absent():
    log = DebateLog([[[0, 1, -1, -2], [0, 1, 1, 0]]], ["A", "B"], gold=[("B", "C"), None])
    assert log.correct.tolist() == [[[0, 1, 0, -1], [-1, -1, -1, -1]]]
    assert log.gold == (("B", "C"), None)
    # A given grade decides: a grader may know better than a comparison of texts.
    graded = DebateLog([[[0]]], ["18.0"], [[[1]]], gold=["18"])
    assert graded.correct.tolist() == [[[1]]]


def test_an_item_with_nothing_readable_is_graded_when_gold_is_known():
    log = DebateLog([[[-1, -1]]], [], gold=["A"])
    k, n, graded = log.correct_counts()
    assert (k.item(), n.item(), graded.item()) == (0, 2, True)


def test_clusters_follow_from_the_keys():
    cube = np.zeros((1, 4, 1), int)
    keys = {"dataset": ["d", "d", "e", "d"], "run": ["1", "2", "1", "1"], "item": list("aaab")}
    log = DebateLog(cube, ["A"], keys=keys)
    assert log.cluster.tolist() == [0, 0, 1, 2]
    assert log.item_ids == ("d|1|a", "d|2|a", "e|1|a", "d|1|b")
    keys.pop("run")
    with pytest.raises(ValueError, match="different names"):
        DebateLog(cube, ["A"], keys=keys)
    assert DebateLog(cube, ["A"], cluster=[5, 5, 1, 5]).cluster.tolist() == [0, 0, 1, 0]


def test_equality_looks_at_content():
    a = DebateLog([[[0, 1]]], ["A", "B"])
    assert a == DebateLog([[[1, 0]]], ["B", "A"], notes=["read elsewhere"])
    assert a == DebateLog([[[0, 1]]], ["A", "B", "unused"])
    assert a != DebateLog([[[0, 0]]], ["A", "B"])
    assert a != DebateLog([[[0, 2]]], ["A", "B", "X"])
    assert a != DebateLog([[[0, 1]]], ["A", "B"], gold=["A"])
    assert a != DebateLog([[[0], [1]]], ["A", "B"])
    assert a != "A"
    with pytest.raises(TypeError):
        hash(a)
    assert copy.deepcopy(a) == a


def test_arrays_are_read_only_and_copied():
    answers = np.zeros((1, 1, 2), np.int32)
    log = DebateLog(answers, ["A"])
    answers[:] = -2
    assert log.answers.tolist() == [[[0, 0]]]
    for array in (log.answers, log.correct, log.carried):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    with pytest.raises(AttributeError):
        log.labels = ("B",)
    with pytest.raises(TypeError):
        log.keys["item"] = ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"answers": [[0]]}, "shape"),
        ({"answers": np.zeros((0, 1, 1), int)}, "at least"),
        ({"answers": [[[0.5]]]}, "integers"),
        ({"answers": [[[2]]]}, "-2..1"),
        ({"answers": [[[-3]]]}, "-2..1"),
        ({"labels": ["A", "A"]}, "different"),
        ({"labels": ["A", " "]}, "not blank"),
        ({"correct": [[[2]]]}, "1, 0 or -1"),
        ({"correct": [[1]]}, "shape"),
        ({"answers": [[[-1]]], "correct": [[[1]]]}, "unread"),
        ({"answers": [[[-2]]], "correct": [[[0]]]}, "silent"),
        ({"gold": "A"}, "one entry"),
        ({"gold": ["A", "B"]}, "one entry"),
        ({"gold": [["A", " "]]}, "not blank"),
        ({"item_ids": ["a", "b"]}, "1 different names"),
        ({"item_ids": [3]}, "text"),
        ({"agent_ids": []}, "1 different names"),
        ({"tokens": [[[-2]]]}, ">= 0"),
        ({"cluster": [1, 2]}, "shape"),
        ({"carried": [[True]]}, "False at t = 0"),
        ({"keys": {"item": ["a"], "run": ["b"]}}, "last one 'item'"),
        ({"keys": {"run": ["b"], "item": ["a"]}, "item_ids": ["a"]}, "made of `keys`"),
        ({"answers": [[[0]], [[1]]], "carried": [[False], [True]]}, "repeat"),
        ({"answers": [[[0]]] * 3, "carried": [[0], [1], [0]]}, "resume"),
    ],
)
def test_refused(options, message):
    arguments = {"answers": [[[0]]], "labels": ["A", "B"], **options}
    with pytest.raises(ValueError, match=message):
        DebateLog(**arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda log: log.plurality("share"), "ties"),
        (lambda log: log.plurality("random"), "seed"),
        (lambda log: log.plurality(seed=1), "seed"),
        (lambda log: log.agreement_counts("last"), "reference"),
        (lambda log: log.select(items=["x"]), "names in the log"),
        (lambda log: log.select(items=[0, 0]), "none twice"),
        (lambda log: log.select(items=[]), "at least one"),
        (lambda log: log.select(agents=[5]), "0..1"),
        (lambda log: log.select(rounds=3), "rounds"),
        (lambda log: log.one_per_cluster(-1), "seed"),
    ],
)
def test_calls_refused(call, message):
    log = DebateLog([[[0, 1]], [[0, 0]]], ["A", "B"])
    with pytest.raises(ValueError, match=message):
        call(log)


def test_rounds_refused():
    pair = [Round.from_answers(["A"]), Round.from_answers(["A", "B"])]
    cases = {"at least one": [], "counts alone": [Round.from_counts(1, 2)], "round 1 differs": pair}
    for message, rounds in cases.items():
        with pytest.raises(ValueError, match=message):
            DebateLog.from_rounds(rounds)


def test_counts_of_correct_need_grades():
    with pytest.raises(NeedsAnswersError):
        DebateLog([[[0]]], ["A"]).correct_counts()


def test_a_round_of_silence_keeps_its_place_in_a_frame():
    log = DebateLog([[[0, 0]], [[-2, -2]], [[0, -1]]], ["A"])
    frame = log.to_frame()
    assert frame["answer"].tolist() == ["A", "A", SILENT, SILENT, "A", ""]
    assert frame["round"].tolist() == [0, 0, 1, 1, 2, 2]
