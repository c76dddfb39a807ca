"""Cells that are at hand for `sweep`."""

from typing import Any

from sims.debates.scenarios import named_scenario
from sims.debates.simulate import simulate


def debate(
    *, seed: int, scenario: str, agents: int = 7, rounds: int = 11, debates: int = 10_000
) -> list[dict[str, Any]]:
    """Return the accuracy of a named scenario and its standard error, a row a round.

    Parameters
    ----------
    seed : int
    scenario : str
        A name of ``SCENARIOS``.
    agents, rounds, debates : int

    Examples
    --------
    >>> rows = debate(seed=1, scenario="ring", rounds=2, debates=100)
    >>> [row["t"] for row in rows]
    [0, 1]
    """
    found = simulate(
        named_scenario(scenario, agents),
        debates=debates,
        rounds=rounds,
        seed=seed,
        record="accuracy",
        threads=1,
    )
    return [
        {"t": t, "accuracy": float(mean), "standard_error": float(error)}
        for t, (mean, error) in enumerate(zip(found.accuracy, found.standard_error, strict=True))
    ]
