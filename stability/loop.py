"""Holding a debate: the loop that asks the agents, round after round, until the rule stops it.

In round t every agent gets a view of each item that still runs: its own last answer and the
messages of round t - 1 that it may read (none at t = 0). The answers of all make the round, the
rule says which items stop, and stopped items are not asked again: their answers are carried.

An agent is any callable ``agent(view)`` that returns a label, None (it spoke, nothing readable),
``SILENT`` or a ``Response``. A call that fails or takes too long is a silent answer and is listed
among the failures: a debate goes on without an agent, but never without saying so.
"""

import asyncio
import inspect
import queue
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stability._check import check_int, check_real
from stability.evaluate.detect import detect
from stability.evaluate.trace import StabilityTrace
from stability.log.debatelog import DebateLog
from stability.log.round import Label
from stability.rules import Decision, Rule
from stability.turns import Failed, Gold, Turns, Visible
from stability.views import Failure, Response, View

Answer = Label | Response
Agent = Callable[[View], Answer]
AsyncAgent = Callable[[View], Awaitable[Answer] | Answer]
Progress = Callable[[Decision], object]


@dataclass(frozen=True, eq=False)
class Debate:
    """What a loop returns; ``log, trace = debate_loop(...)`` unpacks it.

    Attributes
    ----------
    log : DebateLog
        All rounds; items that had stopped are marked as carried.
    trace : StabilityTrace
        ``detect(log, rule)``.
    failures : tuple of Failure
        In the order of round, item and agent.
    """

    log: DebateLog
    trace: StabilityTrace
    failures: tuple[Failure, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.log, self.trace))

    @property
    def decision(self) -> Decision:
        """The last decision."""
        return self.trace.decisions[-1]


def debate_loop(
    agents: Sequence[Agent] | Mapping[str, Agent],
    rule: Rule,
    items: Iterable[Any],
    *,
    max_rounds: int | None = None,
    gold: Gold | None = None,
    visible: Visible | None = None,
    timeout: float | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    item_ids: Iterable[str] | None = None,
) -> Debate:
    """Let agents debate every item until the rule stops it.

    Parameters
    ----------
    agents : sequence of callables, or mapping of name to callable
        ``agent(view)`` returns a label, None, ``SILENT`` or a ``Response``. An exception of an
        agent is a failure, not an error; only KeyboardInterrupt and its like end the loop.
    rule : Rule
        It must end by itself (contain ``MaxRounds``), or ``max_rounds`` must be given.
    items : iterable
        Questions of any type; one debate is a list of one.
    max_rounds : int, optional
        Adds ``| MaxRounds(max_rounds)``; round 0 counts.
    gold : sequence of length M, optional
        The right label of each item, several labels, or None where it is not known. Answers
        are graded by them: an unread answer is wrong.
    visible : callable, optional
        ``visible(t, agent, answers)`` returns the agents whose messages of round t - 1 this
        agent may read in round t; ``answers`` are the n labels of round t - 1 on the item (None
        unread, SILENT). By default every agent reads all others.
    timeout : float, optional
        Seconds for one call. A call that takes longer is silent; its thread is not killed and
        its late answer is thrown away.
    workers : int
        Calls at the same time, in threads; with 1 and no ``timeout`` calls run one after the
        other in the calling thread.
    progress : callable, optional
        ``progress(decision)`` after each round.
    item_ids : iterable of str, optional
        Names of the items; "0", "1", ... by default.

    Returns
    -------
    Debate

    Raises
    ------
    ValueError
        When the rule might never end, an argument is out of range, or ``visible`` names an
        agent that does not exist.
    ScopeError
        When a batch rule is given a single item.

    Examples
    --------
    >>> from stability.rules import single_debate_rule
    >>> def follow(view):
    ...     if view.round == 0:
    ...         return "ABB"[view.agent]
    ...     heard = [view.own, *(message.label for message in view.messages)]
    ...     return max(heard, key=heard.count)
    >>> debate = debate_loop([follow] * 3, single_debate_rule(3), ["Which letter?"])
    >>> debate.decision.round, debate.decision.answers.tolist(), len(debate.failures)
    (1, ['B'], 0)
    """
    turns = Turns(
        agents,
        rule,
        items,
        max_rounds=max_rounds,
        gold=gold,
        visible=visible,
        item_ids=item_ids,
    )
    limit = _check_timeout(timeout)
    at_once = check_int("workers", workers, minimum=1)
    for name, agent in zip(turns.agent_ids, turns.agents, strict=True):
        call = getattr(agent, "__call__", None)  # noqa: B004  # an object with an async call
        if inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(call):
            raise ValueError(f"agent {name!r} is asynchronous: use async_debate_loop")
    while not turns.over:
        if at_once == 1 and limit is None:
            for view in turns.views():
                turns.take(view, _ask(turns.agents[view.agent], view))
        else:
            _ask_in_threads(turns, at_once, limit)
        decision = turns.close()
        if progress is not None:
            progress(decision)
    return _result(turns)


async def async_debate_loop(
    agents: Sequence[AsyncAgent] | Mapping[str, AsyncAgent],
    rule: Rule,
    items: Iterable[Any],
    *,
    max_rounds: int | None = None,
    gold: Gold | None = None,
    visible: Visible | None = None,
    timeout: float | None = None,
    workers: int = 8,
    progress: Progress | None = None,
    item_ids: Iterable[str] | None = None,
) -> Debate:
    """Let asynchronous agents debate; parameters and result as in ``debate_loop``.

    At most ``workers`` calls are awaited at the same time. A call that reaches ``timeout`` is
    cancelled. Plain callables are allowed and block the event loop while they run.

    Examples
    --------
    >>> import asyncio
    >>> from stability.rules import MaxRounds
    >>> async def agent(view):
    ...     return "A"
    >>> debate = asyncio.run(async_debate_loop([agent, agent], MaxRounds(2), ["x", "y"]))
    >>> debate.log
    DebateLog(2 rounds, 2 items, 2 agents, not graded)
    """
    turns = Turns(
        agents,
        rule,
        items,
        max_rounds=max_rounds,
        gold=gold,
        visible=visible,
        item_ids=item_ids,
    )
    limit = _check_timeout(timeout)
    gate = asyncio.Semaphore(check_int("workers", workers, minimum=1))

    async def ask(view: View) -> None:
        async with gate:
            turns.take(view, await _ask_async(turns.agents[view.agent], view, limit))

    while not turns.over:
        due = turns.views()
        async with asyncio.TaskGroup() as group:
            for view in due:
                group.create_task(ask(view))
        decision = turns.close()
        if progress is not None:
            progress(decision)
    return _result(turns)


def _result(turns: Turns) -> Debate:
    log = turns.log()
    return Debate(log, detect(log, turns.rule), turns.failures())


def _check_timeout(timeout: float | None) -> float | None:
    if timeout is None:
        return None
    return check_real("timeout", timeout, low=0.0, high=float("inf"), closed_low=False)


def _ask(agent: Agent, view: View) -> Any:
    try:
        return agent(view)
    except Exception as error:
        return Failed("error", f"{type(error).__name__}: {error}")


async def _ask_async(agent: AsyncAgent, view: View, timeout: float | None) -> Any:
    try:
        async with asyncio.timeout(timeout) as clock:
            answer = agent(view)
            return await answer if inspect.isawaitable(answer) else answer
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # The agent cancelled something of its own; the loop was not asked to end.
        return Failed("error", f"{type(error).__name__}: {error}")
    except Exception as error:
        if clock.expired():
            return Failed("timeout", f"no answer within {timeout} s")
        return Failed("error", f"{type(error).__name__}: {error}")


def _ask_in_threads(turns: Turns, workers: int, timeout: float | None) -> None:
    """Make the calls of one round in threads, at most ``workers`` at the same time."""
    finished: queue.SimpleQueue[tuple[View, Any, BaseException | None]] = queue.SimpleQueue()

    def run(view: View) -> None:
        try:
            finished.put((view, _ask(turns.agents[view.agent], view), None))
        except BaseException as error:
            finished.put((view, None, error))

    waiting = deque(turns.views())
    deadlines: dict[tuple[int, int], tuple[float, View]] = {}
    while waiting or deadlines:
        while waiting and len(deadlines) < workers:
            view = waiting.popleft()
            # A daemon: a call that never returns must not keep the interpreter alive.
            threading.Thread(target=run, args=(view,), daemon=True).start()
            end = float("inf") if timeout is None else time.monotonic() + timeout
            deadlines[view.item_index, view.agent] = (end, view)
        try:
            wait = None
            if timeout is not None and timeout < float("inf"):
                wait = max(0.0, min(end for end, _ in deadlines.values()) - time.monotonic())
            view, outcome, error = finished.get(timeout=wait)
        except queue.Empty:
            now = time.monotonic()
            for spot, (end, late) in list(deadlines.items()):
                if end <= now:
                    del deadlines[spot]
                    turns.take(late, Failed("timeout", f"no answer within {timeout} s"))
            continue
        if error is not None:
            raise error
        if deadlines.pop((view.item_index, view.agent), None) is not None:
            turns.take(view, outcome)
