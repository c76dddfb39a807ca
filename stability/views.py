"""What passes between a debate and its agents: views, messages, responses, failures.

An agent sees a ``View`` and gives an answer: a label, None (it spoke, nothing readable),
``SILENT`` (it did not speak) or a ``Response`` that adds a text and a number of tokens.
"""

from dataclasses import dataclass
from typing import Any, Literal

from stability._check import check_int
from stability.log.round import Label


@dataclass(frozen=True, slots=True)
class Message:
    """What one agent said on an item in a round.

    ``label`` is None when nothing was readable. ``kind`` is "viewpoint" where a mechanism passes
    on the label alone.
    """

    agent: int
    round: int
    label: str | None
    text: str | None = None
    kind: Literal["full", "viewpoint"] = "full"


@dataclass(frozen=True, slots=True)
class View:
    """What one agent may read before it answers.

    Attributes
    ----------
    item : object
        The item as it was given to the loop.
    item_index, round, agent : int
        i, t and the place of the agent, from 0.
    own : str or None
        The agent's answer of the round before; None at t = 0, or where it was not readable.
    messages : tuple of Message
        Of the round before, in the order of the agents; an agent that was silent sent none.
    """

    item: Any
    item_index: int
    round: int
    agent: int
    own: str | None
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Response:
    """An answer with what comes with it.

    Parameters
    ----------
    label : str, int, float, bool, None or SILENT
        As in ``Round.from_answers``.
    text : str, optional
        What the other agents read.
    tokens : int, optional
        Tokens spent, >= 0.

    Raises
    ------
    ValueError
        When ``tokens`` is not a whole number >= 0.
    """

    label: Label
    text: str | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.tokens is not None:
            check_int("tokens", self.tokens, minimum=0)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that gave no usable answer.

    ``kind``: "timeout" and "error" (an exception) make the agent silent in that round; "answer"
    (a value that cannot be a label) counts as unread.
    """

    item: str
    round: int
    agent: str
    kind: Literal["timeout", "error", "answer"]
    message: str
