"""How many items a decision needs, before they are debated.

`PairedEquivalence`. Where nothing changes, the mean change of M items is normal with variance
sd^2 / M, and both one-sided tests reject with probability ``power`` when

    M = (z(1 - level / looks) + z(1 - (1 - power) / 2))^2 sd^2 / delta^2.

For agents that repeat their answer with probability s in a round and else draw anew from their
item's p, two rounds ``lag`` apart have sd^2 = 2 (1 - s^lag) E[p (1 - p)] / n. What the rule does
beyond the plain tests (the floor of the variance, the skewness) costs .00 to .03 of the power, most
at few items: measured .867 at 243 items, .897 at 1214.

A certificate. With x losses among M items the hypothesis risk >= max_risk is rejected when
P(Bin(M, max_risk) <= x) is at most the error that the family of rules has.
"""

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

import numpy as np

from stability._check import check_int, check_real
from stability.evaluate.detect import observed_counts
from stability.evaluate.trace import plural
from stability.fit.null import ITEM_LAW
from stability.fit.result import MixtureFit
from stability.log import DebateLog
from stability.rules.paired import PairedEquivalence, least_items


@dataclass(frozen=True)
class Plan:
    """How many items `PairedEquivalence` needs.

    Attributes
    ----------
    items : int
        M.
    least : int
        Items below which the rule can decide nothing, whatever the variance.
    sd : float
        Standard deviation of the change of an item's share over ``lag`` rounds.
    delta, lag, level, looks, power
        What was planned for; ``level`` is that of all looks together.
    """

    items: int
    least: int
    sd: float
    delta: float
    lag: int
    level: float
    looks: int
    power: float

    @property
    def sentence(self) -> str:
        """The plan in words."""
        looks = "one look" if self.looks == 1 else f"{self.looks} looks"
        rounds = plural(self.lag, "round")
        return (
            f"{self.items} items show, with probability {self.power:g}, that the mean share moves "
            f"by less than {self.delta:g} over {rounds}, if it does not move at all "
            f"(level {self.level:g} over {looks}, sd of an item's change {self.sd:.3f}; below "
            f"{self.least} items nothing can be decided)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    def __str__(self) -> str:
        return self.sentence


def plan(
    n_agents: "int | PairedEquivalence | None" = None,
    *,
    rule: PairedEquivalence | None = None,
    delta: float | None = None,
    lag: int | None = None,
    looks: int | None = None,
    level: float | None = None,
    stickiness: float | None = None,
    sd: float | None = None,
    model: MixtureFit | None = None,
    power: float = 0.9,
) -> Plan:
    """Return the number of items that `PairedEquivalence` needs.

    Parameters
    ----------
    n_agents : int
        n >= 1; a rule may stand in its place, and then ``sd`` must be given.
    rule : PairedEquivalence, optional
        Gives delta, lag, level and looks, none of which may be given then.
    delta, lag, looks, level : optional
        As in `PairedEquivalence`, looks a number; 3, 1 and .05 where not given. ``delta`` must be.
    stickiness : float, optional
        s in [0, 1]: how often an agent repeats its answer instead of drawing anew from its item.
    sd : float, optional
        Positive; standard deviation of the change of an item's share over ``lag`` rounds, from a
        pilot (`pilot_sd`). Exactly one of ``stickiness`` and ``sd`` must be given.
    model : MixtureFit, optional
        The law of the items' probabilities p, with ``stickiness``; None takes
        .65 Beta(8, 2) + .35 Beta(2, 5).
    power : float
        In (0, 1).

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        When an argument is out of range, missing, or given twice.

    Examples
    --------
    >>> plan(7, delta=.02, lag=1, stickiness=.8).items
    243
    >>> plan(7, rule=PairedEquivalence(), stickiness=.8).items
    918
    """
    from scipy.special import ndtri

    if isinstance(n_agents, PairedEquivalence):
        if rule is not None:
            raise ValueError("`rule` must be given once")
        n_agents, rule = None, n_agents
    given = {"delta": delta, "lag": lag, "looks": looks, "level": level}
    if rule is not None:
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"`{name}` must come from the rule, got {name}={value} as well")
        margin, gap, number, total = rule.delta, rule.lag, rule.n_looks, rule.level
    else:
        if delta is None:
            raise ValueError("`delta` must be given, or a rule")
        margin = check_real("delta", delta, low=0.0, high=1.0, closed_low=False, closed_high=False)
        gap = check_int("lag", 3 if lag is None else lag, minimum=1)
        number = check_int("looks", 1 if looks is None else looks, minimum=1)
        total = check_real(
            "level",
            0.05 if level is None else level,
            low=0.0,
            high=0.5,
            closed_low=False,
            closed_high=False,
        )
    wanted = check_real("power", power, low=0.0, high=1.0, closed_low=False, closed_high=False)
    if (sd is None) == (stickiness is None):
        raise ValueError(
            f"exactly one of `stickiness` and `sd` must be given, got {stickiness} and {sd}"
        )
    if sd is None:
        if n_agents is None:
            raise ValueError("`n_agents` must be given with `stickiness`")
        assert stickiness is not None
        agents = check_int("n_agents", n_agents, minimum=1)
        held = check_real("stickiness", stickiness, low=0.0, high=1.0)
        spread = (2.0 * (1.0 - held**gap) * _spread(model) / agents) ** 0.5
    else:
        if model is not None:
            raise ValueError("`model` belongs to `stickiness`, got `sd`")
        spread = check_real("sd", sd, low=0.0, high=1.0, closed_low=False)
    least = least_items(margin, total / number)
    z = float(ndtri(1.0 - total / number) + ndtri(1.0 - (1.0 - wanted) / 2.0))
    items = max(least, ceil((z * spread / margin) ** 2))
    return Plan(items, least, spread, margin, gap, total, number, wanted)


def pilot_sd(log: DebateLog, lag: int = 3, *, observable: str = "auto") -> float:
    """Return the standard deviation of the change of an item's share over ``lag`` rounds.

    Of the last pair of rounds so far apart, over the items counted in both.

    Raises
    ------
    ValueError
        When the log is too short, or fewer than two items are counted in both.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> round(pilot_sd(load_smollm_debates(), 1), 3)
    0.203
    """
    gap = check_int("lag", lag, minimum=1)
    if log.n_rounds <= gap:
        raise ValueError(f"`lag` must be < the rounds of the log, got {gap} of {log.n_rounds}")
    k, n, counted, _ = observed_counts(log, observable)
    both = counted[-1] & counted[-1 - gap]
    if both.sum() < 2:
        raise ValueError(f"`log` must hold two items that are counted, got {int(both.sum())}")
    shares = k[:, both] / n[:, both]
    return float(np.std(shares[-1] - shares[-1 - gap], ddof=1))


def items_for_certificate(
    max_risk: float = 0.05, confidence: float = 0.95, *, losses: int = 0, families: int = 1
) -> int:
    """Return how many items certify a rule that loses ``losses`` of them.

    The least M with P(Bin(M, max_risk) <= losses) <= (1 - confidence) / families.

    Parameters
    ----------
    max_risk, confidence : float
        In (0, 1).
    losses : int
        >= 0.
    families : int
        >= 1, families of rules that share the error.

    Examples
    --------
    >>> [items_for_certificate(losses=x) for x in (0, 1, 2)]
    [59, 93, 124]
    """
    from scipy.special import betainc

    risk = check_real("max_risk", max_risk, low=0.0, high=1.0, closed_low=False, closed_high=False)
    sure = check_real(
        "confidence", confidence, low=0.0, high=1.0, closed_low=False, closed_high=False
    )
    lost = check_int("losses", losses, minimum=0)
    error = (1.0 - sure) / check_int("families", families, minimum=1)

    def enough(items: int) -> bool:
        # P(Bin(M, risk) <= losses) by the beta integral, which takes any M
        return bool(1.0 - betainc(lost + 1, items - lost, risk) <= error)

    low, high = lost, lost + 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _spread(model: MixtureFit | None) -> float:
    """Return E[p (1 - p)]."""
    if model is None:
        return sum(w * a * b / ((a + b) * (a + b + 1)) for w, a, b in ITEM_LAW)
    # E p (1 - p) = mean (1 - mean) (1 - rho) for a Beta law
    return float(model.weights @ (model.mean * (1 - model.mean) * (1 - model.rho)))
