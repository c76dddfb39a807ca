"""Two curves of the theory, by simulation: changes of mind by n, and accuracy by misled agents."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sims._check import check_whole, check_wholes
from sims.debates.scenario import Scenario
from sims.debates.simulate import simulate
from sims.statements.echo_chamber import changes
from sims.statements.means import What, model_of
from sims.statements.misconception import with_misled
from theory import DebateModel

if TYPE_CHECKING:
    import pandas as pd


def change_by_size(
    scenarios: Mapping[str, What],
    sizes: Iterable[int] = (5, 9, 15, 21, 31, 41),
    *,
    t: int = 1,
    debates: int = 20_000,
    seed: int = 0,
) -> "pd.DataFrame":
    """Measure how often an agent's leading concept changes after round t, against n.

    The echo chamber (EL-5.1): among identical agents that read all others it dies out, once settled
    as exp(-C n) with the Chernoff information C (`theory.chernoff_information`).

    Parameters
    ----------
    scenarios : mapping of str to theory.DebateModel or Scenario
        Of one type of agent; graphs by name.
    sizes : iterable of int
        n >= 1.
    t : int
        >= 0: the change is from what was read in round t to what was read in round t + 1.
    debates : int
        >= 2, for each n.
    seed : int

    Returns
    -------
    pandas.DataFrame
        scenario, n, ``change`` (probability, the mean over agents) and ``change_se``.

    Raises
    ------
    ValueError
        For several types of agents, a graph given as a matrix, and arguments out of range.

    Examples
    --------
    >>> from theory import DebateModel
    >>> table = change_by_size({"all": DebateModel.binary(1, .9, .8)}, [3, 21], debates=2000)
    >>> bool(table["change"][1] < table["change"][0])
    True
    """
    import pandas as pd

    rows = []
    numbers = check_wholes("sizes", sizes, 1)
    last = check_whole("t", t, 0)
    drawn = check_whole("debates", debates, 2)
    if not isinstance(scenarios, Mapping):
        raise ValueError(f"`scenarios` must be a mapping of names to debates, got {scenarios!r}")
    for name, what in scenarios.items():
        for n in numbers:
            one = of_size(what, n)
            found = changes(one, last, drawn, seed, first=last)
            rows.append({"scenario": name, "n": n, "change": found.value, "change_se": found.error})
    return pd.DataFrame(rows, columns=["scenario", "n", "change", "change_se"])


def accuracy_by_misled(
    what: What,
    sizes: Iterable[int] = (7, 21, 63),
    *,
    t: int = 5,
    debates: int = 20_000,
    seed: int = 0,
) -> "pd.DataFrame":
    """Measure the accuracy of round t against the share of misled agents.

    The shared misconception (EL-5.4): accuracy falls with m, and for large n it falls at once at
    the critical share (`theory.critical_share`).

    Parameters
    ----------
    what : theory.DebateModel or Scenario
        Of two types, the second of which is misled; their numbers do not count.
    sizes : iterable of int
        n >= 1.
    t : int
        >= 0.
    debates : int
        >= 2, for each n and m.
    seed : int
        The same for all m: neighbouring points share their random numbers.

    Returns
    -------
    pandas.DataFrame
        n, m (up to 22 values), ``misled`` = m / n, ``accuracy`` and ``accuracy_se``.

    Raises
    ------
    ValueError
        When there are not two types, and for arguments out of range.

    Examples
    --------
    >>> from theory import DebateModel
    >>> model = DebateModel.shared_misconception(2, 1, weight=.9, misled=.2, right=.8)
    >>> table = accuracy_by_misled(model, [4], debates=100)
    >>> table["misled"].tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    import pandas as pd

    model = _model("what", what)
    last = check_whole("t", t, 0)
    drawn = check_whole("debates", debates, 2)
    if len(model.types) != 2:
        raise ValueError(f"`what` must have two types of agents, got {len(model.types)}")
    rows = []
    for n in check_wholes("sizes", sizes, 1):
        wide = model.with_(sizes=(n - 1, 1)) if n > 1 else None
        for m in np.unique(np.rint(np.linspace(0, n, 22)).astype(int)).tolist():
            if wide is None:
                alone = model.with_(types=model.types[m : m + 1], sizes=(1,))
                one = replace(what, model=alone) if isinstance(what, Scenario) else alone
            else:
                base = replace(what, model=wide) if isinstance(what, Scenario) else wide
                one = with_misled(base, m)
            found = simulate(one, debates=drawn, rounds=last + 1, seed=seed, record="accuracy")
            rows.append(
                {
                    "n": n,
                    "m": m,
                    "misled": m / n,
                    "accuracy": float(found.accuracy[last]),
                    "accuracy_se": float(found.standard_error[last]),
                }
            )
    return pd.DataFrame(rows, columns=["n", "m", "misled", "accuracy", "accuracy_se"])


def of_size(what: What, n: int) -> What:
    """Return the debate of n agents of its one type."""
    model = _model("scenarios", what)
    if len(model.types) != 1:
        raise ValueError(f"`scenarios` must be of one type of agent, got {len(model.types)} types")
    if isinstance(what, Scenario):
        if isinstance(what.graph, tuple):
            raise ValueError("`scenarios` must have graphs by name: a matrix is of one size")
        return replace(what, model=model.with_(sizes=(n,)))
    return model.with_(sizes=(n,))


def _model(name: str, what: What) -> DebateModel:
    """Refuse what is no debate of a model."""
    if not isinstance(what, DebateModel | Scenario):
        raise ValueError(f"`{name}` must be a theory.DebateModel or a Scenario, got {what!r}")
    return model_of(what)
