"""What became of recorded debates that stood where a live debate stands now.

A debate that has not ended is in a state: how many agents speak, how far they agree (unanimous; at
least four fifths; a majority; less), and whether the leading answer held since the round before
or is new. It ends differently when the leading answer of its last round is another one. The share
that does is a fact about the debates of one source, and differs between sources by more than
sampling explains; so it is given source by source and as a range over sources, never as one
probability for the debate at hand.

Only debates in their full length are counted: where a source ends debates early, what goes on is
the harder part, and the end of the others is not known.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stability._check import check_int
from stability.log import DebateLog

if TYPE_CHECKING:
    import pandas as pd

LEVELS = ("unanimous", "four fifths", "majority", "less")
_STATE = ["n", "level", "leader"]


def outlook(logs: Mapping[str, DebateLog], *, least: int = 20) -> "pd.DataFrame":
    """Return, for each state, the range over sources of the share that ended differently.

    Parameters
    ----------
    logs : mapping of str to DebateLog
        Recordings by the name of their source.
    least : int
        >= 1, states a source needs to take part in the range; the others are counted in
        ``left_out``.

    Returns
    -------
    DataFrame
        A row a state: ``n`` ("2", "3+", "1"), ``level`` (see `outlook_by_source`), ``leader``
        ("new", "held"), ``sources`` in the range, ``states`` counted in them, ``lowest`` and
        ``highest`` share over these sources, in [0, 1], ``left_out`` sources with too few. A
        state that no source holds often enough has NaN for its range.

    Raises
    ------
    ValueError
        As `outlook_by_source`; when ``least`` is below 1.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> table = outlook({"smollm2": load_smollm_debates()})
    >>> table[["n", "level", "leader", "states", "highest"]].astype(object).iloc[1].tolist()
    ['3+', 'unanimous', 'held', 26, 0.0]
    """
    needed = check_int("least", least, minimum=1)
    rows = outlook_by_source(logs)
    rows["n"] = rows["n"].map(lambda n: str(n) if n < 3 else "3+")
    sums = rows.groupby([*_STATE, "source"], sort=False, as_index=False, observed=True)[
        ["states", "changed"]
    ].sum()
    sums["share"] = sums["changed"] / sums["states"]
    found = []
    for state, group in sums.groupby(_STATE, sort=False, observed=True):
        held = group[group["states"] >= needed]
        found.append(
            {
                **dict(zip(_STATE, state, strict=True)),
                "sources": len(held),
                "states": int(held["states"].sum()),
                "lowest": held["share"].min(),
                "highest": held["share"].max(),
                "left_out": len(group) - len(held),
            }
        )
    return _sorted(found)


def outlook_by_source(logs: Mapping[str, DebateLog]) -> "pd.DataFrame":
    """Count, source by source, the debates of each state and those that ended differently.

    Parameters
    ----------
    logs : mapping of str to DebateLog
        Recordings by the name of their source, of at least two rounds. Debates that ended before
        the last round of their log are left out.

    Returns
    -------
    DataFrame
        A row a source and state: ``source``; ``n``, agents that spoke in the round; ``level``,
        one of ``LEVELS`` by the share of the leading answer among them (1; in [.8, 1); in
        (.5, .8); at most .5); ``leader``, "held" when it led the round before as well, else
        "new" (so always at t = 0); ``states``, rounds before the last in which a debate was in
        this state; ``changed``, those whose debate ended with another leading answer; ``share``,
        the one over the other. A debate counts once for each of its rounds, so that the states
        of one source are not independent. Rounds without a readable answer are left out.

    Raises
    ------
    ValueError
        When ``logs`` is empty, no debate of a log ran through at least two rounds, or a log has no
        readable answer before its last round.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> table = outlook_by_source({"smollm2": load_smollm_debates()})
    >>> int(table["states"].sum()), int(table["changed"].sum())
    (216, 76)
    """
    if not isinstance(logs, Mapping) or not logs:
        raise ValueError(f"`logs` must map names of sources to logs, at least one, got {logs!r}")
    found = []
    for source, log in logs.items():
        if not isinstance(log, DebateLog):
            raise ValueError(f"`logs` must hold DebateLogs: logs[{source!r}] is {log!r}")
        found += _count(str(source), log)
    return _sorted(found)


def _count(source: str, log: DebateLog) -> list[dict[str, object]]:
    whole = ~log.carried.any(axis=0)
    if log.n_rounds < 2 or not whole.any():
        raise ValueError(
            f"`logs` must hold debates of at least two rounds in full length: {source!r} has "
            f"{log.n_rounds} rounds and {int(whole.sum())} debates in full length"
        )
    votes, spoke = log.agreement_counts()
    winner = log.plurality()
    here = np.broadcast_to(whole, spoke[:-1].shape) & (winner[:-1] >= 0)
    held = np.zeros(here.shape, np.bool_)
    held[1:] = winner[1:-1] == winner[:-2]
    changed = winner[:-1] != winner[-1]
    level = _levels(votes[:-1], spoke[:-1])
    if not here.any():
        raise ValueError(
            f"`logs` must hold a readable answer before the last round: {source!r} has none in "
            f"its {int(whole.sum())} debates in full length"
        )
    keys = np.stack([spoke[:-1], level, held])[:, here]
    states, place = np.unique(keys, axis=1, return_inverse=True)
    place = place.reshape(-1)
    number = np.bincount(place, minlength=states.shape[1])
    moved = np.bincount(place, weights=changed[here], minlength=states.shape[1]).astype(np.int64)
    return [
        {
            "source": source,
            "n": int(n),
            "level": LEVELS[at],
            "leader": "held" if kept else "new",
            "states": int(many),
            "changed": int(other),
            "share": other / many,
        }
        for n, at, kept, many, other in zip(*states, number, moved, strict=True)
    ]


def _levels(votes: npt.NDArray[np.int64], spoke: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the place in ``LEVELS``; in whole numbers, where 4 of 5 are four fifths."""
    steps = (votes < spoke, 5 * votes < 4 * spoke, 2 * votes <= spoke)
    return sum((step.astype(np.int64) for step in steps), np.zeros(votes.shape, np.int64))


def _sorted(rows: list[dict[str, object]]) -> "pd.DataFrame":
    import pandas as pd

    table = pd.DataFrame(rows)
    order = ["source"] if "source" in table else []
    table["level"] = pd.Categorical(table["level"], LEVELS, ordered=True)
    table["leader"] = pd.Categorical(table["leader"], ["new", "held"], ordered=True)
    return table.sort_values([*order, *_STATE], ignore_index=True)
