"""A list of questions with `round_history`: [{round, agent_responses: [text of each agent]}]."""

from typing import Any

from stability.log.readers.documents import Chosen, Document
from stability.log.readers.turns import Turns, shape
from stability.log.table import TidyTable

_GOLD = ("gold_answers", "gold", "answer")


def read_round_history(document: Any, name: str, chosen: Chosen) -> TidyTable:
    """Read the list; gold may be a list of right answers.

    Examples
    --------
    >>> entry = {"gold_answers": ["4"], "round_history": [{"round": 1, "agent_responses": ["4"]}]}
    >>> read_round_history([entry], "x.json", Chosen()).columns["gold"]
    [('4',)]
    """
    del chosen
    turns = Turns(name)
    for place, entry in enumerate(document):
        history = entry.get("round_history") if isinstance(entry, dict) else None
        if not isinstance(history, list):
            raise shape(name, f"`round_history` of entry {place}", "a list of rounds")
        gold = next((entry[key] for key in _GOLD if key in entry), None)
        for t, one in enumerate(history):
            texts = one.get("agent_responses") if isinstance(one, dict) else None
            if not isinstance(texts, list):
                raise shape(
                    name, f"`agent_responses` of entry {place}, round {t}", "a list of texts"
                )
            for agent, text in enumerate(texts):
                turns.say(entry.get("id", place), t, f"agent {agent + 1}", text, gold)
    return turns.table()


def _accepts(document: Any) -> bool:
    return (
        isinstance(document, list)
        and bool(document)
        and isinstance(document[0], dict)
        and "round_history" in document[0]
    )


ROUND_HISTORY = Document("round-history", _accepts, read_round_history)
