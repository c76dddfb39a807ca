"""Operating characteristics of stopping rules: what they do where the truth is known.

A replicate is a batch of M simulated items; a rule is run over its rounds as it would be live. Of
many replicates

    false_stop    is the share that stop at a t with |accuracy to come after t| > margin,
    never_stop    the share that have not stopped after the last round,
    stop_round    the mean t of those that stop,
    to_come       the mean accuracy to come at the stop, of those that stop,
    changed       the share of items whose leading answer at the stop is not that of the last round,
    cost          the mean number of answers asked for an item.

A rule that stops each item alone has its shares and means over items. What is to come is exact for
a `Panel` (drift * ratio^t) and up to the last round otherwise: exact from the chain on counts, and
from 2^17 debates (standard error below .0014) where there is none.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from sims._check import check_number, check_whole, check_wholes
from sims.debates.panel import Panel
from sims.debates.scenario import Scenario
from sims.debates.scenarios import SCENARIOS
from sims.debates.simulate import simulate
from sims.montecarlo.sweep import sweep
from theory import ChainTooLargeError, CountChain, DebateModel

if TYPE_CHECKING:
    import pandas as pd

    from stability import Rule

Float64 = npt.NDArray[np.float64]
Debated = DebateModel | Scenario | Panel
_DEBATES = 2**17
_SUMS = ("stopped", "false", "rounds_stopped", "left", "moved", "answers")
# rules without a default for every parameter
_WRITTEN = {
    "AllOf": "Unanimity() & PluralityUnchanged()",
    "AnyOf": "Unanimity() | MaxRounds(5)",
    "EntropyBelow": "EntropyBelow(0.75)",
    "MaxRounds": "MaxRounds(5)",
    "MinRounds": "MinRounds(3) & Unanimity()",
    "Patience": "Patience(FlipRateBelow(), 2)",
    "StableMargin": "StableMargin(margin=2, held=2)",
}


def every_rule() -> tuple[str, ...]:
    """Return the rules of `stability` as text, by name; those that need parameters have some.

    Examples
    --------
    >>> every_rule()[-1]
    'Unanimity()'
    """
    import stability

    names = [
        name
        for name in stability.__all__
        if isinstance(getattr(stability, name), type)
        and issubclass(getattr(stability, name), stability.Rule)
        and name != "Rule"
    ]
    return tuple(_WRITTEN.get(name, f"{name}()") for name in names)


def operating_characteristics(
    rules: "Iterable[Rule | str] | None" = None,
    scenarios: Mapping[str, Debated] | Iterable[str] = ("stationary", "drifting"),
    *,
    items: int | Iterable[int] = 100,
    rounds: int = 11,
    replicates: int = 200,
    margin: float = 0.02,
    seed: int = 0,
    engine: Literal["threads", "loky"] = "threads",
    out: str | Path | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> "pd.DataFrame":
    """Measure stopping rules on simulated debates.

    Parameters
    ----------
    rules : iterable of stability.Rule or str, optional
        Text is read by `stability.rule_from_text`; None takes every rule of `stability`.
    scenarios : mapping from names to theory.DebateModel, Scenario or Panel; or names
        Names are those of ``SCENARIOS``.
    items : int or iterable of int
        M >= 1, items in a batch; >= 2 for rules that stop a batch.
    rounds : int
        >= 2, round 0 included: how long the debate can last.
    replicates : int
        >= 2, batches for each scenario and M; all rules see the same ones.
    margin : float
        >= 0: a stop is false while the accuracy changes by more than this.
    seed, engine, out, workers, progress
        As for `sweep`, by which it is run.

    Returns
    -------
    pandas.DataFrame
        A row for each scenario, M and rule: scenario, items, rule, scope, replicates, and the six
        figures with their standard errors over replicates (``_se``). Figures of those that stop are
        missing where none does. A standard error of 0 says that all R replicates were alike: a
        share of 0 or 1 is then known to 3 / R at 95 %.

    Raises
    ------
    ValueError
        When an argument is out of range, or a batch rule is given one item.

    Examples
    --------
    >>> found = operating_characteristics(["Unanimity"], ["stationary"], items=20, replicates=5)
    >>> found[["scenario", "items", "rule", "scope"]].values.tolist()
    [['stationary', 20, 'Unanimity()', 'item']]
    """
    from stability import Rule, rule_from_text, rule_to_text

    given: list[Any] = list(every_rule() if rules is None else _several(rules))
    parsed = [one if isinstance(one, Rule) else rule_from_text(one) for one in given]
    sizes = check_wholes("items", items, 1)
    if len(set(sizes)) != len(sizes):
        raise ValueError(f"`items` must all be different, got {sizes}")
    named = _by_name(scenarios)
    if not parsed or not sizes or not named:
        raise ValueError("`rules`, `scenarios` and `items` must not be empty")
    for what, values, low in (
        ("items", sizes, 2 if any(one.scope == "batch" for one in parsed) else 1),
        ("rounds", [rounds], 2),
        ("replicates", [replicates], 2),
    ):
        for value in values:
            check_whole(what, value, low)
    rounds, replicates = int(rounds), int(replicates)
    check_number("margin", margin, 0.0, 1.0, closed=(True, False))
    texts = [rule_to_text(one) for one in parsed]
    if len(set(texts)) != len(texts):
        raise ValueError(f"`rules` must all be different, got {texts}")
    grid = [
        {
            "name": name,
            "scenario": json.dumps(what.to_dict()),
            "items": size,
            "rounds": rounds,
            "rules": json.dumps(texts),
            "margin": float(margin),
        }
        for name, what in named.items()
        for size in sizes
    ]
    table = sweep(
        replicate,
        grid,
        seed=seed,
        repeats=replicates,
        engine=engine,
        out=out,
        workers=workers,
        progress=progress,
    )
    return _summary(table)


def _several(rules: Any) -> list[Any]:
    """One rule is a list of one."""
    from stability import Rule

    if isinstance(rules, str | Rule):
        return [rules]
    if not isinstance(rules, Iterable):
        raise ValueError(f"`rules` must be rules, or their text, got {rules!r}")
    return list(rules)


def replicate(
    *,
    seed: int,
    name: str,  # noqa: ARG001  # a column of the table
    scenario: str,
    items: int,
    rounds: int,
    rules: str,
    margin: float,
) -> list[dict[str, Any]]:
    """Run rules over one simulated batch: the cell of `operating_characteristics`.

    Parameters
    ----------
    seed : int
    name : str
        Of the scenario, for the table alone.
    scenario, rules : str
        As JSON.
    items, rounds : int
    margin : float

    Returns
    -------
    list of dict
        A row a rule: sums over items.
    """
    from stability import rule_from_text

    what = load(scenario)
    log = simulate(
        what, debates=items, rounds=rounds, seed=seed, record="answers", threads=1
    ).to_log()
    steps = list(log.rounds())
    winners = log.plurality()
    left = np.array(to_come(scenario, rounds))
    rows = []
    for text in json.loads(rules):
        rule = rule_from_text(text)
        state = rule.start(n_agents=log.n_agents, n_items=items)
        for one in steps:
            state, decision = rule.step(state, one)
            if decision.stop:
                break
        stopped = np.asarray(decision.stop_items)
        at = np.where(stopped, decision.stop_rounds, rounds - 1)
        rows.append(
            {
                "rule": text,
                "scope": rule.scope,
                "stopped": int(stopped.sum()),
                "false": int((stopped & (np.abs(left[at]) > margin)).sum()),
                "rounds_stopped": int(at[stopped].sum()),
                "left": float(left[at][stopped].sum()),
                "moved": int((winners[at, np.arange(items)] != winners[-1]).sum()),
                "answers": int((at + 1).sum()) * log.n_agents,
            }
        )
    return rows


def load(text: str) -> Debated:
    """Return what JSON text holds: a scenario has a model, a panel items, a model types.

    Raises
    ------
    ValueError
        When it holds none of them.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"the file is not JSON: {error}") from None
    if isinstance(data, dict) and "model" in data:
        return Scenario.from_dict(data)
    if isinstance(data, dict) and "items" in data:
        return Panel.from_dict(data)
    return DebateModel.from_dict(data)


@cache
def to_come(scenario: str, rounds: int) -> tuple[float, ...]:
    """Return the change of accuracy that is to come after each round, by the JSON of a debate."""
    what = load(scenario)
    if isinstance(what, Panel):
        return tuple(what.to_come(t) for t in range(rounds))
    model = what.model if isinstance(what, Scenario) else what
    curve: Float64
    try:
        if what not in (model, Scenario(model)) or model.rewrite is not None:
            raise ChainTooLargeError("no chain")
        chain = CountChain(model)
        curve = np.array([chain.accuracy(t) for t in range(rounds)])
    except ChainTooLargeError:
        curve = simulate(
            what, debates=_DEBATES, rounds=rounds, record="accuracy", threads=1
        ).accuracy
    return tuple((curve[-1] - curve).tolist())


def _by_name(scenarios: Mapping[str, Debated] | Iterable[str]) -> dict[str, Debated]:
    if isinstance(scenarios, Mapping):
        found = dict(scenarios)
    else:
        names = [scenarios] if isinstance(scenarios, str) else list(scenarios)
        for name in names:
            if name not in SCENARIOS:
                raise ValueError(f"`scenarios` must be of {', '.join(SCENARIOS)}, got {name!r}")
        found = {name: SCENARIOS[name] for name in names}
    for name, what in found.items():
        if not isinstance(what, Debated):
            raise ValueError(f"`scenarios` must hold debates, {name!r} is {what!r}")
    return found


def _summary(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the figures and their standard errors from a row a replicate and rule."""
    import pandas as pd

    rows = []
    for key, part in table.groupby(["name", "items", "rule"], sort=False):
        name, items, rule = cast("tuple[str, int, str]", key)
        one = {
            "scenario": name,
            "items": items,
            "rule": rule,
            "scope": part["scope"].iloc[0],
            "replicates": len(part),
        }
        whole = np.full(len(part), float(items))
        sums = {what: part[what].to_numpy(np.float64) for what in _SUMS}
        for figure, above, below in (
            ("false_stop", sums["false"], whole),
            ("never_stop", whole - sums["stopped"], whole),
            ("stop_round", sums["rounds_stopped"], sums["stopped"]),
            ("to_come", sums["left"], sums["stopped"]),
            ("changed", sums["moved"], whole),
            ("cost", sums["answers"], whole),
        ):
            one[figure], one[f"{figure}_se"] = _ratio(above, below)
        rows.append(one)
    return pd.DataFrame(rows)


def _ratio(sums: Float64, sizes: Float64) -> tuple[float | None, float | None]:
    """Return a ratio of sums over replicates and its standard error; None without any."""
    n, total = len(sums), sizes.sum()
    if total == 0:
        return None, None
    ratio = float(sums.sum() / total)
    rest = sums - ratio * sizes
    return ratio, float(np.sqrt((rest**2).sum() * n / (n - 1)) / total)
