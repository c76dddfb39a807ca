"""How many agents, and what a debate gains: accuracy, agreement and cost against n.

Of the counts v_l of the last round the vote is right with probability 1{right leads} / (number of
leaders), its agreement is max v / n. The dispersion of first answers is 1 - sum (v_l / n)^2, the
probability that two draws differ.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sims._check import check_number, check_whole, check_wholes
from sims.debates.result import Simulation
from sims.debates.scenarios import SCENARIOS, named_scenario
from sims.debates.simulate import simulate

if TYPE_CHECKING:
    import pandas as pd

Float64 = npt.NDArray[np.float64]


def ensemble_size(
    scenarios: Iterable[str] = ("echo_chamber", "diverse", "shared_misconception", "judge_panel"),
    sizes: Iterable[int] = range(1, 16),
    *,
    rounds: int = 6,
    debates: int = 20_000,
    seed: int = 0,
    threads: int | None = None,
) -> "pd.DataFrame":
    """Measure named debates among n agents.

    Parameters
    ----------
    scenarios : iterable of str
        Names of ``SCENARIOS``.
    sizes : iterable of int
        n >= 1; a scenario that needs more agents than n has no row for it.
    rounds : int
        >= 1, round 0 included.
    debates : int
        >= 2, for each row.
    seed, threads
        As for `simulate`.

    Returns
    -------
    pandas.DataFrame
        A row for each scenario and n: ``agents``, the share of right agents in the last round;
        ``first_vote`` and ``vote``, the accuracy of the majority in round 0 and in the last one,
        with ``vote_se``; ``agreement``, the mean share of the leading answer; ``unanimous``;
        ``answers``, asked in a debate.

    Raises
    ------
    ValueError
        When a name is unknown or an argument out of range.

    Examples
    --------
    >>> table = ensemble_size(["diverse"], [1, 3], debates=100)
    >>> table[["n", "answers"]].values.tolist()
    [[1, 6], [3, 18]]
    """
    import pandas as pd

    rows = []
    numbers = check_wholes("sizes", sizes, 1)
    names = [scenarios] if isinstance(scenarios, str) else list(scenarios)
    for name in names:
        if name not in SCENARIOS:
            raise ValueError(f"`scenarios` must be of {', '.join(SCENARIOS)}, got {name!r}")
    drawn, length = check_whole("debates", debates, 2), check_whole("rounds", rounds, 1)
    for name in names:
        for n in numbers:
            found = simulate(
                named_scenario(name, n), debates=drawn, rounds=length, seed=seed, threads=threads
            )
            first, last = _vote(found, 0), _vote(found, length - 1)
            assert found.counts is not None
            counts = found.counts[:, -1]
            top, spoke = counts.max(axis=1), np.maximum(counts.sum(axis=1), 1)
            rows.append(
                {
                    "scenario": name,
                    "n": n,
                    "agents": float(found.accuracy[-1]),
                    "first_vote": float(first.mean()),
                    "vote": float(last.mean()),
                    "vote_se": float(last.std(ddof=1) / np.sqrt(drawn)),
                    "agreement": float((top / spoke).mean()),
                    "unanimous": float((top == spoke).mean()),
                    "answers": n * length,
                }
            )
    return pd.DataFrame(rows)


def returns_end(table: "pd.DataFrame", margin: float = 0.01) -> dict[str, int]:
    """Return for each scenario the least n whose vote is within a margin of the best one.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `ensemble_size`.
    margin : float
        In [0, 1], of accuracy.

    Returns
    -------
    dict of str to int

    Raises
    ------
    ValueError
        When the margin is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"scenario": "some", "n": [1, 3, 5], "vote": [.60, .68, .682]})
    >>> returns_end(table)
    {'some': 3}
    """
    check_number("margin", margin, 0.0, 1.0)
    found = {}
    for name, part in table.groupby("scenario", sort=False):
        good = part[part["vote"] >= part["vote"].max() - margin]
        found[str(name)] = int(good["n"].min())
    return found


def gain_by_dispersion(found: Simulation) -> "pd.DataFrame":
    """Return what the debate adds to the vote, by the dispersion of first answers.

    Parameters
    ----------
    found : Simulation
        With counts recorded, of at least two rounds.

    Returns
    -------
    pandas.DataFrame
        A row for each dispersion that was seen: ``dispersion``, ``debates``, ``first_vote``,
        ``vote``, ``gain`` (their difference) and ``gain_se`` (None for a single debate).

    Raises
    ------
    ValueError
        When the counts were not recorded, or there is one round.

    Examples
    --------
    Three agents and two answers: they agree at first, or one differs.

    >>> found = simulate(named_scenario("weak_majority", 3), debates=1000, rounds=4)
    >>> gain_by_dispersion(found)["dispersion"].round(3).tolist()
    [0.0, 0.444]
    """
    import pandas as pd

    if found.counts is None or found.rounds < 2:
        raise ValueError("`found` must have its counts recorded, over two rounds or more")
    counts = found.counts[:, 0].astype(np.float64)
    spoke = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    # of whole numbers, so that equal dispersions are equal
    pairs = np.rint(spoke[:, 0] ** 2 - (counts**2).sum(axis=1))
    dispersion = pairs / spoke[:, 0] ** 2
    first, last = _vote(found, 0), _vote(found, found.rounds - 1)
    rows = []
    for value in np.unique(dispersion):
        here = dispersion == value
        change = last[here] - first[here]
        many = len(change) > 1
        rows.append(
            {
                "dispersion": float(value),
                "debates": int(here.sum()),
                "first_vote": float(first[here].mean()),
                "vote": float(last[here].mean()),
                "gain": float(change.mean()),
                "gain_se": float(change.std(ddof=1) / np.sqrt(len(change))) if many else None,
            }
        )
    return pd.DataFrame(rows)


def _vote(found: Simulation, t: int) -> Float64:
    """Probability that the vote of a round is right; a tie is drawn by lot."""
    assert found.counts is not None
    counts = found.counts[:, t]
    leads = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
    right: Float64 = leads[:, found.model.correct] / np.maximum(leads.sum(axis=1), 1)
    return right
