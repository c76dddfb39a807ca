"""A group chat: a flat list of messages {role, name, round, content}, alone or under `messages`.

Messages of assistants are answers; the task, tools and systems are left out, and so is who is not
among the ``speakers``, where these are named: judges and terminators speak as assistants too. Where
messages do not say their round the file does not tell rounds from speaking order:
``turns="speaker"`` takes the r-th message of a speaker for round r.
"""

from collections import Counter
from typing import Any

from stability.errors import LogFormatError
from stability.log.readers.documents import Chosen, Document
from stability.log.readers.turns import Turns, shape
from stability.log.table import TidyTable

_ITEM = ("debate_id", "conversation_id", "id", "question_id")
_GOLD = ("gold", "answer", "label")
_OTHERS = ("system", "user", "tool", "function")


def read_messages(document: Any, name: str, chosen: Chosen) -> TidyTable:
    """Read one chat, or a list of chats.

    Examples
    --------
    >>> chat = [{"role": "assistant", "name": "a", "round": 1, "content": "yes"}]
    >>> read_messages({"debate_id": "d", "messages": chat}, "x.json", Chosen()).columns["round"]
    ['1']
    """
    chats = document if isinstance(document, list) and _is_chat(document[0]) else [document]
    turns = Turns(name)
    for place, chat in enumerate(chats):
        whole = chat if isinstance(chat, dict) else {"messages": chat}
        messages = whole.get("messages")
        if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
            raise shape(name, f"`messages` of chat {place}", "a list of {role, name, content}")
        item = next((whole[key] for key in _ITEM if key in whole), place)
        gold = next((whole[key] for key in _GOLD if isinstance(whole.get(key), str)), None)
        _one_chat(turns, messages, str(item), gold, chosen)
    return turns.table()


def _one_chat(
    turns: Turns, messages: list[dict[str, Any]], item: str, gold: Any, chosen: Chosen
) -> None:
    spoken: Counter[str] = Counter()
    for place, message in enumerate(messages):
        speaker = message.get("name") or message.get("source")
        if message.get("role", "assistant") in _OTHERS or speaker is None:
            continue
        speaker = str(speaker)
        if chosen.speakers is not None and speaker not in chosen.speakers:
            continue
        t = message.get("round")
        if chosen.turns == "speaker":
            t = spoken[speaker]
        elif t is None:
            raise LogFormatError(
                f"{turns.name}: message {place} of {item!r} says no round: give turns='speaker' "
                "when the r-th message of a speaker is round r"
            )
        if isinstance(t, bool) or not isinstance(t, int) or t < 0:
            raise LogFormatError(
                f"{turns.name}: `round` of message {place} of {item!r} must be a whole number "
                f">= 0, got {t!r}"
            )
        spoken[speaker] += 1
        turns.say(item, t, speaker, message.get("content"), gold)


def _is_chat(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def _accepts(document: Any) -> bool:
    if _is_chat(document):
        return True
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return False
    first = document[0]
    return _is_chat(first) or ("content" in first and ("role" in first or "source" in first))


MESSAGES = Document("messages", _accepts, read_messages)
