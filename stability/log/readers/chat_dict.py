"""A dictionary of questions: question -> ([agent][message], gold), messages {role, content}.

The r-th assistant message of an agent is its answer of round r. Written by the code of Du et al.,
"Improving Factuality and Reasoning in Language Models through Multiagent Debate", as JSON or
pickled.
"""

from typing import Any

from stability.log.readers.documents import Chosen, Document
from stability.log.readers.turns import Turns, shape
from stability.log.table import TidyTable


def read_chat_dict(document: Any, name: str, chosen: Chosen) -> TidyTable:
    """Read the dictionary.

    Examples
    --------
    >>> chats = [[{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]]
    >>> read_chat_dict({"2+2?": [chats, "4"]}, "x.json", Chosen()).columns["answer"]
    ['4']
    """
    del chosen
    if not isinstance(document, dict) or not document:
        raise shape(name, "the document", "a dictionary of questions")
    turns = Turns(name)
    for question, entry in document.items():
        where = f"the entry of {str(question)[:60]!r}"
        if not isinstance(entry, list | tuple) or len(entry) < 1 or len(entry) > 2:
            raise shape(name, where, "[chats of the agents, gold]")
        chats, gold = entry[0], entry[1] if len(entry) == 2 else None
        if not isinstance(chats, list | tuple) or not chats:
            raise shape(name, where, "[chats of the agents, gold]")
        for agent, chat in enumerate(chats):
            for t, text in enumerate(said_by(chat, name, where)):
                turns.say(question, t, f"agent {agent + 1}", text, gold)
    return turns.table()


def said_by(chat: Any, name: str, where: str) -> list[Any]:
    """Return what the assistant of a chat said, message by message."""
    if not isinstance(chat, list | tuple):
        raise shape(name, where, "lists of messages {role, content}")
    found = []
    for message in chat:
        if not isinstance(message, dict) or "role" not in message:
            raise shape(name, where, "lists of messages {role, content}")
        if message["role"] == "assistant":
            found.append(message.get("content"))
    return found


def _accepts(document: Any) -> bool:
    if not isinstance(document, dict) or not document:
        return False
    entry = next(iter(document.values()))
    return (
        isinstance(entry, list | tuple)
        and 1 <= len(entry) <= 2
        and isinstance(entry[0], list | tuple)
        and bool(entry[0])
        and isinstance(entry[0][0], list | tuple)
        and all(isinstance(one, dict) and "role" in one for one in entry[0][0])
    )


CHAT_DICT = Document("chat-dict", _accepts, read_chat_dict)
