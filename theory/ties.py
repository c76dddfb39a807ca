"""What to do when two answers have the same number of votes; the values are those of `stability`.

With votes v_l for label l the leaders are the set argmax_l v_l. Each way below treats labels alike.
"""

from enum import StrEnum


class Ties(StrEnum):
    """How a tied vote is settled.

    ``share``
        Every leader gets the same part of the credit. The default here.
    ``previous``
        The plurality of the round before keeps the place when it is among the leaders, else as
        ``first``.
    ``first``
        The leader that was given by the earliest agent. A model takes its agents in random order,
        so that this is ``share`` in law.
    ``random``
        One leader at random: in law the same as ``share``.

    Examples
    --------
    >>> str(Ties.share)
    'share'
    """

    share = "share"
    previous = "previous"
    first = "first"
    random = "random"
