"""A log taken apart: by the number of agents, or by what tells debates apart.

A rule on the votes treats every item alone, so the figures of a whole log are averages over its
parts. A rule on the distribution of counts does not: a law of counts out of n has a meaning for
one n only, and items of unlike n in one batch shift it as their numbers do.
"""

import numpy as np

from stability.log import DebateLog
from stability.log.round import SILENT_CODE


def split(log: DebateLog, by: str = "agents") -> dict[str, DebateLog]:
    """Return the parts of a log, each with the agents that speak in it.

    Parameters
    ----------
    log : DebateLog
    by : str
        "agents": by the largest number of agents that spoke in a round of the item. Else one of
        ``log.keys``: by its values. Where a source lets only some of its agents speak (it stops
        asking once enough agree), that number is not the size of the team; a key that tells the
        runs apart is then the better choice.

    Returns
    -------
    dict of str to DebateLog
        In ascending order of the number of agents, or of the text of the key.

    Raises
    ------
    ValueError
        When ``by`` is neither "agents" nor a key of the log.

    Examples
    --------
    >>> log = DebateLog([[[0, 0, -2], [0, 1, 0], [1, 1, -2]]], ["A", "B"])
    >>> {name: (part.n_items, part.n_agents) for name, part in split(log).items()}
    {'2': (2, 2), '3': (1, 3)}
    """
    if by != "agents" and by not in log.keys:
        known = ", ".join(["agents", *log.keys])
        raise ValueError(f"`by` must be one of {known}, got {by!r}")
    if by == "agents":
        values, place = np.unique(log.n_present().max(axis=0), return_inverse=True)
    else:
        values, place = np.unique(np.array(log.keys[by]), return_inverse=True)
    parts = {}
    for number, value in enumerate(values.tolist()):
        part = log.select(items=place.reshape(-1) == number)
        spoke = (part.answers != SILENT_CODE).any(axis=(0, 1))
        # Where nobody ever spoke, the agents are all there is.
        parts[str(value)] = part.select(agents=spoke) if spoke.any() else part
    return parts
