"""Which threshold and which patience a KS rule would need on a recorded log.

The distances D_1, ..., D_{T-1} between consecutive rounds do not depend on epsilon nor on the
patience, so they are taken once; each pair (epsilon, patience) then stops at the first t that
ends a run of ``patience`` distances below epsilon, and costs and changes what a debate of t + 1
rounds does. Epsilon and patience that were chosen on a log say nothing of how they do on it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stability._check import check_choice, check_int, check_real
from stability.evaluate.outcomes import Outcomes
from stability.log import DebateLog
from stability.rules import KSRule

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)
PATIENCES = (1, 2, 3)
_KEPT = ("rounds", "rounds_saved", "answers_changed", "accuracy_change")


def sweep_ks(
    log: DebateLog,
    epsilons: Iterable[float] = EPSILONS,
    patiences: Iterable[int] = PATIENCES,
    *,
    space: Literal["predictive", "latent", "empirical"] = "predictive",
    observable: Literal["auto", "correct", "agreement"] = "auto",
) -> "pd.DataFrame":
    """Replay `KSRule` for all pairs of epsilon and patience.

    Parameters
    ----------
    log : DebateLog
        At least two items.
    epsilons : iterable of float
        Each in (0, 1).
    patiences : iterable of int
        Each >= 1.
    space, observable : str
        As in `KSRule`; the published rule with its grid of 1000 points differs from
        ``space="latent"`` by less than the grid can tell.

    Returns
    -------
    DataFrame
        A row a pair, in the order given: ``epsilon``, ``patience``, ``stop_round`` (t, NA when
        the rule does not stop), and ``rounds``, ``rounds_saved``, ``answers_changed``,
        ``accuracy_change`` as in `replay`. ``plots.heat_map`` draws it.

    Raises
    ------
    ScopeError
        When the log holds one item.
    NeedsAnswersError
        When grades are asked for that the log does not hold.
    ValueError
        When an epsilon or a patience is out of range, or there is none.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> frame = sweep_ks(load_smollm_debates(), [.04, .1], [1, 2])
    >>> frame[["epsilon", "patience", "stop_round"]].values.tolist()
    [[0.04, 1, 2], [0.04, 2, 3], [0.1, 1, 1], [0.1, 2, 2]]
    """
    import pandas as pd

    check_choice("space", space, ("predictive", "latent", "empirical"))
    waits = tuple(patiences)
    # All rules are made first, so that a bad value is refused before the fits.
    rules = [
        KSRule(
            epsilon=check_real(
                "epsilons", epsilon, low=0.0, high=1.0, closed_low=False, closed_high=False
            ),
            patience=check_int("patiences", patience, minimum=1),
            space=space,
            observable=observable,
        )
        for epsilon in epsilons
        for patience in waits
    ]
    if not rules:
        raise ValueError("`epsilons` and `patiences` must hold at least one value each")
    distances = _distances(log, rules[0])
    outcomes = Outcomes(log, resamples=1)
    by_round: dict[int, dict[str, Any]] = {}
    rows = []
    for rule in rules:
        stop = rule.stop_round(distances)
        last = log.n_rounds - 1 if stop is None else stop
        if last not in by_round:
            found = outcomes.of(np.full(log.n_items, last + 1))
            by_round[last] = {name: found[name] for name in _KEPT}
        rows.append(
            {
                "epsilon": float(rule.epsilon),
                "patience": rule.patience,
                "stop_round": stop,
                **by_round[last],
            }
        )
    return pd.DataFrame(rows).astype({"stop_round": "Int64"})


def _distances(log: DebateLog, like: KSRule) -> list[float]:
    """Return D_1, D_2, ... as a rule measures them; 1 where two rounds cannot be compared."""
    # With more patience than rounds it never stops, and so measures every round.
    rule = KSRule(
        epsilon=like.epsilon,
        patience=log.n_rounds,
        space=like.space,
        observable=like.observable,
    )
    state = rule.start(n_agents=log.n_agents, n_items=log.n_items)
    found = []
    for one in log.rounds():
        state, decision = rule.step(state, one)
        found.append(1.0 if decision.statistic is None else decision.statistic)
    return found[1:]
