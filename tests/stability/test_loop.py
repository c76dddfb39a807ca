"""The loops with scripted agents; each test of behaviour runs over both of them."""

import asyncio
import threading
import time

import numpy as np
import pytest

from stability.errors import ScopeError
from stability.log.round import SILENT
from stability.loop import async_debate_loop, debate_loop
from stability.rules import BetaPosterior, KSRule, MaxRounds, PluralityUnchanged, Unanimity
from stability.views import Message, Response, View


def threaded(agents, rule, items, **options):
    return debate_loop(agents, rule, items, workers=3, **options)


def awaited(agents, rule, items, **options):
    def asynchronous(agent):
        async def call(view):
            await asyncio.sleep(0)
            return agent(view)

        return call

    named = isinstance(agents, dict)
    calls = {k: asynchronous(a) for k, a in agents.items()} if named else map(asynchronous, agents)
    return asyncio.run(async_debate_loop(calls if named else list(calls), rule, items, **options))


every_loop = pytest.mark.parametrize("loop", [debate_loop, threaded, awaited])


def script(*labels):
    """An agent that gives its labels in turn, whatever it reads."""

    def agent(view):
        label = labels[view.round]
        return label[view.item_index] if isinstance(label, tuple) else label

    return agent


@every_loop
def test_items_stop_alone_and_are_carried(loop):
    asked = []

    def watch(agent):
        def call(view):
            asked.append((view.round, view.item_index, view.agent))
            return agent(view)

        return call

    agents = [script(("A", "A"), ("?", "B")), script(("A", "B"), ("?", "B"))]
    log, trace = debate = loop(
        [watch(agent) for agent in agents],
        Unanimity() | MaxRounds(5),
        ["x?", "y?"],
        gold=["A", "C"],
    )
    assert sorted(asked) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1)]
    assert log.carried.tolist() == [[False, False], [True, False]]
    assert [[log.labels[code] for code in row] for row in log.answers[1]] == [
        ["A", "A"],
        ["B", "B"],
    ]
    assert log.correct.tolist() == [[[1, 1], [0, 0]], [[1, 1], [0, 0]]]
    assert log.gold == (("A",), ("C",))
    assert trace.stop_round == 1
    assert debate.decision.answers.tolist() == ["A", "B"]
    assert debate.decision.stop_rounds.tolist() == [0, 1]
    assert debate.failures == ()


@every_loop
def test_an_agent_reads_the_others_and_itself(loop):
    views = {}

    def agent(view):
        views[view.round, view.agent] = view
        return [Response("A", text="because"), None, SILENT][view.agent]

    loop([agent] * 3, MaxRounds(2), [{"question": 1}])
    said = [Message(0, 0, "A", "because"), Message(1, 0, None)]
    item = {"question": 1}
    assert views[0, 0] == View(item, 0, 0, 0, None, ())
    assert views[1, 0] == View(item, 0, 1, 0, "A", (said[1],))
    assert views[1, 1] == View(item, 0, 1, 1, None, (said[0],))
    assert views[1, 2] == View(item, 0, 1, 2, None, tuple(said))


@every_loop
def test_visible_restricts_what_is_read(loop):
    read, calls = {}, []

    def visible(t, agent, answers):
        calls.append((t, agent, answers))
        return [agent, (agent + 1) % 3]

    def agent(view):
        read[view.round, view.agent] = [message.agent for message in view.messages]
        return "ABC"[view.agent]

    loop([agent] * 3, MaxRounds(2), ["?"], visible=visible)
    assert {read[0, j] == [] for j in range(3)} == {True}
    assert [read[1, j] for j in range(3)] == [[0, 1], [1, 2], [0, 2]]
    assert calls == [(1, j, ("A", "B", "C")) for j in range(3)]
    with pytest.raises(ValueError, match="`visible` must be >= 0 and <= 2, got 3"):
        loop([agent] * 3, MaxRounds(2), ["?"], visible=lambda *_: [3])


@every_loop
def test_failures_are_silent_answers_and_are_kept(loop):
    def broken(view):
        if view.round == 0:
            raise RuntimeError("no connection")
        return ["not", "a", "label"]

    log, trace = debate = loop({"good": script("A", "A"), "bad": broken}, MaxRounds(2), ["?"])
    assert trace.notes[-1].startswith("Calls of agents that failed, by round: 1, 1 (errors and")
    assert trace.notes[-1] in trace.summary()
    assert log.agent_ids == ("good", "bad")
    assert log.answers.tolist() == [[[0, -2]], [[0, -1]]]
    told = [(f.item, f.round, f.agent, f.kind) for f in debate.failures]
    assert told == [("0", 0, "bad", "error"), ("0", 1, "bad", "answer")]
    assert debate.failures[0].message == "RuntimeError: no connection"
    assert "an answer must be" in debate.failures[1].message


@every_loop
@pytest.mark.parametrize("rule", [Unanimity(), PluralityUnchanged(), BetaPosterior(pool="all")])
def test_all_agents_may_be_silent(loop, rule):
    def broken(view):
        raise ValueError(view.item)

    log, trace = debate = loop([broken] * 2, rule, ["a", "b"], max_rounds=3, gold=["A", None])
    assert log.n_rounds == 3
    assert (log.answers == -2).all()
    assert len(debate.failures) == 12
    assert (debate.decision.reason, trace.stop_round) == ("cap_reached", 2)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_late_answer_is_silent_and_thrown_away(workers):
    def slow(view):
        if view.round == 0:
            time.sleep(0.3)
        return "B"

    start = time.monotonic()
    log, _ = debate = debate_loop(
        [script("A", "A"), slow], MaxRounds(2), ["?"], timeout=0.1, workers=workers
    )
    assert time.monotonic() - start < 5
    assert log.answers.tolist() == [[[0, -2]], [[0, 1]]]
    assert [(f.round, f.agent, f.kind) for f in debate.failures] == [(0, "1", "timeout")]
    assert debate.failures[0].message == "no answer within 0.1 s"


def test_a_late_awaited_call_is_cancelled():
    async def slow(view):
        await asyncio.sleep(30 if view.round == 0 else 0)
        return "B"

    async def own_timeout(view):
        raise TimeoutError(view.item)

    async def cancels_itself(_):
        raise asyncio.CancelledError

    rounds = async_debate_loop(
        [slow, own_timeout, cancels_itself], MaxRounds(2), ["?"], timeout=0.1
    )
    log, _ = debate = asyncio.run(rounds)
    assert log.answers.tolist() == [[[-2, -2, -2]], [[0, -2, -2]]]
    kinds = [(f.round, f.agent, f.kind) for f in debate.failures]
    assert kinds == [
        (0, "0", "timeout"),
        (0, "1", "error"),
        (0, "2", "error"),
        (1, "1", "error"),
        (1, "2", "error"),
    ]


@every_loop
def test_an_interrupt_ends_the_loop(loop):
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop([interrupted], MaxRounds(2), ["?"])


def test_cancelling_the_loop_cancels_it():
    async def waits(_):
        await asyncio.sleep(30)

    async def main():
        task = asyncio.create_task(async_debate_loop([waits], MaxRounds(2), ["?"]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_workers_bound_the_calls_at_a_time():
    now, most, lock = 0, 0, threading.Lock()

    def agent(_):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        return "A"

    debate_loop([agent] * 4, MaxRounds(1), ["x", "y"], workers=3)
    assert most == 3


@every_loop
def test_tokens_are_summed_into_the_log(loop):
    def agent(view):
        return Response("A", tokens=10 + view.round) if view.agent == 0 else "A"

    rule = Unanimity(hold=1) | MaxRounds(3)
    log, _ = loop([agent, agent], rule, ["x"])
    assert log.tokens.tolist() == [[[10, -1]], [[11, -1]]]
    log, _ = loop([script("A")], MaxRounds(1), ["x"])
    assert log.tokens is None


@every_loop
def test_gold_grades_the_answers(loop):
    answers = script(("A", "2", None, "A"))
    gold = [{"A", "B"}, 2, "A", None]
    log, _ = loop([answers], MaxRounds(1), list("wxyz"), gold=gold)
    assert log.correct.ravel().tolist() == [1, 1, 0, -1]
    assert log.gold == (("A", "B"), ("2",), ("A",), None)
    log, _ = loop([answers], MaxRounds(1), list("wxyz"), gold=[None] * 4)
    assert not log.is_graded


def test_progress_sees_every_round():
    seen = []
    debate = debate_loop([script("A", "B", "B")], MaxRounds(3), ["?"], progress=seen.append)
    assert [decision.round for decision in seen] == [0, 1, 2]
    assert [d.to_dict() for d in seen] == [d.to_dict() for d in debate.trace.decisions]


@pytest.mark.parametrize("seed", range(5))
def test_the_trace_of_the_log_repeats_the_live_decisions(seed):
    rng = np.random.default_rng(seed)
    table = rng.choice(["A", "A", "A", "B", None], size=(6, 5, 3))

    def agent(view):
        if rng.random() < 0.1:
            raise RuntimeError
        return table[view.round, view.item_index, view.agent]

    live = []
    rule = Unanimity() | PluralityUnchanged(2) | MaxRounds(6)
    gold = ["A"] * 5 if seed % 2 else None
    _, trace = debate_loop([agent] * 3, rule, range(5), progress=live.append, gold=gold)
    assert [d.to_dict() for d in live] == [d.to_dict() for d in trace.decisions]


@every_loop
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": Unanimity()}, "might never stop"),
        ({"rule": "x"}, "must be a Rule"),
        ({"items": "one question"}, "a list of one"),
        ({"items": []}, "must not be empty"),
        ({"agents": []}, "must not be empty"),
        ({"item_ids": ["a", "a"]}, "`item_ids` must hold 2 different names"),
        ({"gold": ["A"]}, "`gold` must hold one entry for each of 2 items"),
        ({"gold": "AB"}, "`gold` must hold"),
        ({"max_rounds": 0}, "`rounds` must be >= 1"),
        ({"timeout": 0}, "`timeout` must lie in"),
    ],
)
def test_bad_arguments_are_refused_before_any_call(loop, change, message):
    def never(_):
        raise KeyboardInterrupt

    arguments = {"agents": [never], "rule": MaxRounds(1), "items": ["x", "y"]} | change
    with pytest.raises(ValueError, match=message):
        loop(**arguments)


def test_a_batch_rule_is_refused_for_one_item_before_any_call():
    def never(_):
        raise KeyboardInterrupt

    with pytest.raises(ScopeError, match=r"KSRule compares .* use single_debate_rule"):
        debate_loop([never] * 3, Unanimity() | KSRule() | MaxRounds(3), ["one"])


def test_what_cannot_be_called_is_refused():
    async def agent(_):
        return "A"

    class Agent:
        async def __call__(self, _):
            return "A"

    with pytest.raises(ValueError, match="must be callables, got 'gpt'"):
        debate_loop(["gpt"], MaxRounds(1), ["x"])
    for one in (agent, Agent()):
        with pytest.raises(ValueError, match="asynchronous: use async_debate_loop"):
            debate_loop([one], MaxRounds(1), ["x"])
    with pytest.raises(ValueError, match="`workers` must be >= 1"):
        debate_loop([script("A")], MaxRounds(1), ["x"], workers=0)
    with pytest.raises(ValueError, match="`tokens` must be >= 0"):
        Response("A", tokens=-1)
