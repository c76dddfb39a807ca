"""A list of questions: {agent_response: {agent: [text of each round]}, answer, question_id}."""

from typing import Any

from stability.log.readers.documents import Chosen, Document
from stability.log.readers.turns import Turns, shape
from stability.log.table import TidyTable


def read_agent_responses(document: Any, name: str, chosen: Chosen) -> TidyTable:
    """Read the list.

    Examples
    --------
    >>> entry = {"question_id": 3, "agent_response": {"a": ["4", "5"]}, "answer": "4"}
    >>> table = read_agent_responses([entry], "x.json", Chosen())
    >>> table.columns["item"], table.columns["round"]
    (['3', '3'], ['0', '1'])
    """
    turns = Turns(name)
    for place, entry in enumerate(document):
        where = f"entry {place}"
        responses = entry.get("agent_response") if isinstance(entry, dict) else None
        if not isinstance(responses, dict) or not responses:
            raise shape(name, f"`agent_response` of {where}", "a dictionary of agents")
        for agent, texts in responses.items():
            if chosen.speakers is not None and agent not in chosen.speakers:
                continue
            if not isinstance(texts, list):
                raise shape(name, f"{agent!r} of {where}", "a list of texts, one a round")
            for t, text in enumerate(texts):
                turns.say(entry.get("question_id", place), t, agent, text, entry.get("answer"))
    return turns.table()


def _accepts(document: Any) -> bool:
    return (
        isinstance(document, list)
        and bool(document)
        and isinstance(document[0], dict)
        and "agent_response" in document[0]
    )


AGENT_RESPONSES = Document("agent-responses", _accepts, read_agent_responses)
