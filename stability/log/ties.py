"""What to do when two answers have the same number of votes.

With votes v_l for label l, the leaders are the set argmax_l v_l. When it holds more than one
label, a place must be found for the plurality. Each way below treats labels alike: renaming
the labels renames the result.
"""

from enum import StrEnum


class Ties(StrEnum):
    """How a tied vote is settled.

    ``share``
        Every leader gets the same part of the credit; no label is chosen. The default where
        credit is computed.
    ``previous``
        The plurality of the round before keeps the place when it is among the leaders, else as
        ``first``. The default where a label is needed.
    ``first``
        The leader that was given by the earliest agent, in the order of the agents.
    ``random``
        One leader at random, by a draw that depends on a seed and the place in the log alone.

    Examples
    --------
    >>> from stability.log.ties import Ties
    >>> Ties("previous") is Ties.previous
    True
    >>> str(Ties.first)
    'first'
    """

    share = "share"
    previous = "previous"
    first = "first"
    random = "random"
