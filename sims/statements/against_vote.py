"""HT-2: the majority of a debate whose agents read all rounds, against the vote of round 0."""

from dataclasses import replace
from typing import Any

import numpy as np

from sims.debates.scenario import Scenario
from sims.debates.simulate import simulate
from sims.statements.means import Means, What, mean_of, option


def against_vote(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """The majority of round t less that of round 0; a tie is drawn by lot."""
    del statement  # both name the same differences
    last = option(options, "rounds", 3, 1)
    scenario = what if isinstance(what, Scenario) else Scenario(what)
    found = simulate(
        replace(scenario, memory="all"),
        debates=debates,
        rounds=last + 1,
        seed=seed,
        record="counts",
    )
    assert found.counts is not None
    leads = (found.counts == found.counts.max(axis=2, keepdims=True)) & (found.counts > 0)
    right = leads[:, :, scenario.model.correct] / np.maximum(leads.sum(axis=2), 1)
    return {f"t={t}": mean_of(right[:, t] - right[:, 0]) for t in range(1, last + 1)}
