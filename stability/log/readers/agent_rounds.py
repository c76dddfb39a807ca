"""JSON Lines of matrices: a line a question, [agent][round], text or null.

Null is silence: the agent was not asked in that round. Rounds in which nobody spoke, at the end of
a line, were not held. There is no gold in such files.
"""

from typing import Any

from stability.errors import LogFormatError
from stability.log.readers.documents import Chosen, Document
from stability.log.readers.turns import Turns
from stability.log.table import TidyTable


def read_agent_rounds(document: Any, name: str, chosen: Chosen) -> TidyTable:
    """Read the list of matrices.

    Examples
    --------
    >>> read_agent_rounds([[["A", None], ["B", "A"]]], "x.json", Chosen()).columns["agent"]
    ['agent 1', 'agent 2', 'agent 2']
    """
    del chosen
    turns = Turns(name)
    for place, agents in enumerate(document):
        if not isinstance(agents, list) or not all(isinstance(one, list) for one in agents):
            raise LogFormatError(
                f"{name}, line {place + 1}: a question must be a list of agents, each a list of "
                "texts or null"
            )
        for agent, texts in enumerate(agents):
            for t, text in enumerate(texts):
                if text is not None:
                    turns.say(place, t, f"agent {agent + 1}", text)
    return turns.table()


def _accepts(document: Any) -> bool:
    return (
        isinstance(document, list)
        and bool(document)
        and isinstance(document[0], list)
        and bool(document[0])
        and all(isinstance(one, list) for one in document[0])
        and all(text is None or isinstance(text, str) for text in document[0][0])
    )


AGENT_ROUNDS = Document("agent-rounds", _accepts, read_agent_rounds, lines=True)
