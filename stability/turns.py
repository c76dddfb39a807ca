"""Where a debate stands: which calls are due, what was answered, when a round is complete.

Shared by the loops, which differ only in how they wait for their agents. A round begins with
the answers of stopped items copied and all other agents silent; ``take`` writes what they say,
and ``close`` gives the round to the rule.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stability._check import check_int
from stability.log.debatelog import DebateLog
from stability.log.round import SILENT, Label, Round, label_text
from stability.rules import Decision, MaxRounds, Rule
from stability.views import Failure, Message, Response, View

Gold = Sequence[Label | Iterable[Label]]
Visible = Callable[[int, int, tuple[Any, ...]], Iterable[int]]


@dataclass(frozen=True, slots=True)
class Failed:
    """What a loop hands in for a call that did not come back with a value."""

    kind: Literal["timeout", "error"]
    message: str


class Turns:
    """The debate of ``agents`` on ``items`` under ``rule``, one round after the other."""

    def __init__(
        self,
        agents: Sequence[Any] | Mapping[str, Any],
        rule: Rule,
        items: Iterable[Any],
        *,
        max_rounds: int | None,
        gold: Gold | None,
        visible: Visible | None,
        item_ids: Iterable[str] | None,
    ) -> None:
        if isinstance(items, str):
            raise ValueError("`items` must be a list of items; for one debate give a list of one")
        self.items = list(items)
        if isinstance(agents, Mapping):
            self.agents = list(agents.values())
            self.agent_ids = [str(name) for name in agents]
        else:
            self.agents = list(agents)
            self.agent_ids = [str(place) for place in range(len(self.agents))]
        if not self.items or not self.agents:
            raise ValueError("`items` and `agents` must not be empty")
        for agent in self.agents:
            if not callable(agent):
                raise ValueError(f"`agents` must be callables, got {agent!r}")
        names = map(str, range(len(self.items))) if item_ids is None else item_ids
        self.item_ids = tuple(names)
        if len(self.item_ids) != len(self.items) or len(set(self.item_ids)) != len(self.items):
            raise ValueError(
                f"`item_ids` must hold {len(self.items)} different names, got {self.item_ids!r}"
            )
        if not isinstance(rule, Rule):
            raise ValueError(f"`rule` must be a Rule, got {rule!r}")
        if max_rounds is None and rule.latest_stop is None:
            raise ValueError(
                f"{rule!r} might never stop: give `max_rounds`, or use `rule | MaxRounds(...)`"
            )
        self.rule = rule if max_rounds is None else rule | MaxRounds(max_rounds)
        self._gold = None if gold is None else _right_labels(gold, len(self.items))
        self._visible = visible
        self._state = self.rule.start(len(self.agents), len(self.items))
        self._rounds: list[Round] = []
        self._carried: list[list[bool]] = []
        self._tokens: list[list[list[int]]] = []
        self._counts_tokens = False
        self._failures: list[Failure] = []
        # The round before (answers, messages), then the round that is being held.
        self._before: list[list[Any]] = []
        self._heard: list[list[Message | None]] = []
        self._open([True] * len(self.items))

    def _open(self, running: list[bool]) -> None:
        n = len(self.agents)
        self.round = len(self._rounds)
        self._running = running
        self._answers: list[list[Any]] = [
            [SILENT] * n if goes_on else list(self._before[i]) for i, goes_on in enumerate(running)
        ]
        self._said: list[list[Message | None]] = [[None] * n for _ in running]
        self._spent = [[-1 if goes_on else 0] * n for goes_on in running]

    @property
    def over(self) -> bool:
        """Whether every item has stopped."""
        return not any(self._running)

    def views(self) -> list[View]:
        """Return the calls that are due in this round, item by item."""
        return [
            self._view(i, j)
            for i, goes_on in enumerate(self._running)
            if goes_on
            for j in range(len(self.agents))
        ]

    def _view(self, i: int, j: int) -> View:
        own: str | None = None
        messages: tuple[Message, ...] = ()
        if self.round > 0:
            last = self._before[i][j]
            own = None if last is SILENT else last
            sent = [self._heard[i][sender] for sender in self._senders(i, j)]
            messages = tuple(message for message in sent if message is not None)
        return View(self.items[i], i, self.round, j, own, messages)

    def _senders(self, i: int, j: int) -> list[int]:
        n = len(self.agents)
        if self._visible is None:
            return [sender for sender in range(n) if sender != j]
        allowed = self._visible(self.round, j, tuple(self._before[i]))
        return sorted({check_int("visible", k, minimum=0, maximum=n - 1) for k in allowed})

    def take(self, view: View, outcome: Any) -> None:
        """Note what an agent answered, or how its call failed."""
        i, j = view.item_index, view.agent
        if isinstance(outcome, Failed):
            self._fail(view, outcome.kind, outcome.message)
            return
        response = outcome if isinstance(outcome, Response) else Response(outcome)
        if response.tokens is not None:
            self._counts_tokens = True
            self._spent[i][j] = response.tokens
        if response.label is SILENT:
            return
        label = None
        try:
            label = label_text(response.label)
        except ValueError as error:
            self._fail(view, "answer", str(error))
        self._answers[i][j] = label
        self._said[i][j] = Message(j, self.round, label, response.text)

    def _fail(self, view: View, kind: Literal["timeout", "error", "answer"], message: str) -> None:
        item, agent = self.item_ids[view.item_index], self.agent_ids[view.agent]
        self._failures.append(Failure(item, view.round, agent, kind, message))

    def close(self) -> Decision:
        """Give the round to the rule and open the next one."""
        done = Round.from_answers(
            self._answers,
            correct=None if self._gold is None else _grades(self._answers, self._gold),
            index=self.round,
            item_ids=self.item_ids,
        )
        self._state, decision = self.rule.step(self._state, done)
        self._rounds.append(done)
        self._carried.append([not goes_on for goes_on in self._running])
        self._tokens.append(self._spent)
        self._before = done.answers.tolist()
        self._heard = self._said
        self._open((~decision.stop_items).tolist())
        return decision

    def log(self) -> DebateLog:
        """Return all rounds held so far."""
        return DebateLog.from_rounds(
            self._rounds,
            gold=self._gold,
            agent_ids=self.agent_ids,
            tokens=np.array(self._tokens, np.int64) if self._counts_tokens else None,
            carried=np.array(self._carried, np.bool_),
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        if not self._failures:
            return []
        failed = Counter(failure.round for failure in self._failures)
        told = ", ".join(str(failed[t]) for t in range(len(self._rounds)))
        return [
            f"Calls of agents that failed, by round: {told} (errors and timeouts are silent, what "
            "is no label is unread)."
        ]

    def failures(self) -> tuple[Failure, ...]:
        """Return the failures in the order of round, item and agent."""
        item = {name: i for i, name in enumerate(self.item_ids)}
        agent = {name: j for j, name in enumerate(self.agent_ids)}
        return tuple(sorted(self._failures, key=lambda f: (f.round, item[f.item], agent[f.agent])))


def _right_labels(gold: Gold, n_items: int) -> list[tuple[str, ...] | None] | None:
    """Return the right labels of each item as text; None when none is known."""
    entries: list[Any] = [] if isinstance(gold, str) else list(gold)
    if len(entries) != n_items:
        raise ValueError(f"`gold` must hold one entry for each of {n_items} items, got {gold!r}")
    known: list[tuple[str, ...] | None] = []
    for entry in entries:
        several = isinstance(entry, Iterable) and not isinstance(entry, str)
        texts = {label_text(label) for label in (entry if several else (entry,))} - {None}
        known.append(tuple(sorted(str(text) for text in texts)) or None)
    return known if any(known) else None


def _grades(answers: list[list[Any]], gold: Sequence[tuple[str, ...] | None]) -> list[list[int]]:
    """Return 1 or 0 (unread is wrong); -1 for a silent agent and where no right label is known."""
    return [
        [-1 if right is None or answer is SILENT else int(answer in right) for answer in row]
        for row, right in zip(answers, gold, strict=True)
    ]
