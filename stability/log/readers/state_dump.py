"""The state of a debate graph: `debate_state` with an entry for each agent, {r1: {...}, r2: {...}}.

The entry of a round holds an `answer`, or `probs` by label, of which the largest is the answer (the
first of equals); a round without either is unread. Numbers that are NaN are unknown.
"""

import re
from typing import Any

from stability.log.readers.documents import Chosen, Document
from stability.log.readers.turns import Turns, shape
from stability.log.table import TidyTable

_ROUND = re.compile(r"r(?:ound)?_?(\d{1,6})")


def read_state_dump(document: Any, name: str, chosen: Chosen) -> TidyTable:
    """Read one dump, or a list of them.

    Examples
    --------
    >>> state = {"A": {"r1": {"probs": {"x": .2, "y": .8}}}, "B": {"r1": {"answer": "x"}}}
    >>> read_state_dump({"debate_state": state}, "x.json", Chosen()).columns["answer"]
    ['y', 'x']
    """
    turns = Turns(name)
    for place, dump in enumerate(document if isinstance(document, list) else [document]):
        state = dump.get("debate_state") if isinstance(dump, dict) else None
        if not isinstance(state, dict):
            raise shape(name, f"`debate_state` of dump {place}", "a dictionary")
        item = dump.get("example_id", state.get("id", place))
        gold = dump.get("answer") or state.get("answer") or None
        for agent, entry in state.items():
            rounds = _rounds(entry)
            if not rounds or (chosen.speakers is not None and agent not in chosen.speakers):
                continue
            for t, one in rounds:
                turns.say(item, t, agent, _answer(one), gold if isinstance(gold, str) else None)
    return turns.table()


def _rounds(entry: Any) -> list[tuple[int, dict[str, Any]]]:
    """The rounds of an agent, in order; empty for what is no agent."""
    if not isinstance(entry, dict) or not entry:
        return []
    found = []
    for key, value in entry.items():
        match = _ROUND.fullmatch(str(key))
        if match is None or not isinstance(value, dict):
            return []
        found.append((int(match[1]), value))
    return sorted(found, key=lambda pair: pair[0])


def _answer(one: dict[str, Any]) -> Any:
    answer = one.get("answer")
    if isinstance(answer, str | int) and not isinstance(answer, bool):
        return answer
    probs = one.get("probs")
    if not isinstance(probs, dict):
        return None
    known = {
        label: value
        for label, value in probs.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return max(known, key=lambda label: known[label]) if known else None


def _accepts(document: Any) -> bool:
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and isinstance(first.get("debate_state"), dict)


STATE_DUMP = Document("state-dump", _accepts, read_state_dump)
