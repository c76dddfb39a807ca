"""EL-5.1: a change of the leading concept dies out, on a model and where only draws reach.

Repaired, the bound on a change given the counts is not exceeded, round by round. Printed, changes
die out as n grows. Draws see no limit; what is checked is

    E[changes of an agent in rounds 0..t | n agents] - 2 E[the same | 4 n agents] >= 0,

that four times the agents change at most half as often. It follows for large n from the slowest
decay that is known, n^(-1/2) of an exact tie; an echo chamber falls exponentially. The leading
concept of agent j is argmax_theta w_j(theta) prod R_j(theta, z_i) over the answers z_i that were
said and that j hears: of all rounds so far where agents read all rounds.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sims.debates.scenario import Scenario
from sims.debates.simulate import simulate
from sims.statements.means import (
    Float64,
    Mean,
    Means,
    What,
    apart,
    choice,
    mean_of,
    option,
)
from theory import CountChain, DebateModel, leading_concept, switch_bound

_BLOCK = 2_000_000
_TIMES = 4


def echo_chamber(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """The slack of the bound, or of the decay from n to 4 n agents."""
    last = option(options, "t", 3)
    if statement == "repaired":
        if isinstance(what, Scenario):
            raise ValueError("`statement` must be 'printed' for EL-5.1 on a Scenario: no bound")
        return _within_bound(what, last, debates, seed)
    reading = choice(options, "reading", "after", ("after", "prior"))
    few, many = (
        changes(one, last, debates, seed, reading) for one in (what, _enlarged(what, _TIMES))
    )
    return {f"n to {_TIMES} n": apart(few, many, 2.0)}


def changes(
    what: What, last: int, debates: int, seed: int, reading: str = "after", first: int = 0
) -> Mean:
    """Return how often the leading concept of an agent changes in rounds first..last.

    ``reading`` "prior" counts a change from the concept of the task alone to that after round 0 as
    well.
    """
    scenario = what if isinstance(what, Scenario) else Scenario(what)
    if scenario.embedding is not None:
        raise ValueError("`what` must be without embedding for EL-5.1: who reads what is not kept")
    model = scenario.model
    n, k = model.n_agents, model.n_concepts
    everyone = bool(scenario.listens().all())
    width = last + 2
    # beliefs of all agents of a block of debates at once
    size = max(1, _BLOCK // (width * (k * len(model.types) if everyone else n * max(k, n // 8))))
    values = []
    for start in range(0, debates, size):
        found = simulate(
            what,
            debates=min(size, debates - start),
            rounds=width,
            seed=seed,
            record="answers",
            first=start,
        )
        assert found.answers is not None
        values.append(_changes(scenario, found.answers, reading, everyone, first))
    return mean_of(np.concatenate(values))


def _changes(
    scenario: Scenario,
    answers: npt.NDArray[np.int32],
    reading: str,
    everyone: bool,
    first: int,
) -> Float64:
    """Changes an agent, shape (debates,), of answers (debates, rounds, n)."""
    model = scenario.model
    listens = scenario.listens().T.astype(np.float64)
    # how many of those that agent j hears said a; all hear the same where all are heard
    heard = np.stack(
        [
            said.sum(axis=2, keepdims=True, dtype=np.float64) if everyone else said @ listens
            for said in (answers == a for a in range(model.n_answers))
        ],
        axis=3,
    )
    if scenario.memory == "all":
        heard = heard.cumsum(axis=1)
    total = np.zeros(len(answers))
    start = 0
    for kind, number in zip(model.types, model.sizes, strict=True):
        mine = heard if everyone else heard[:, :, start : start + number]
        leads = leading_concept(kind, mine, model.tempering)
        moved = (leads[:, first + 1 :] != leads[:, first:-1]).sum(axis=1)
        if reading == "prior":
            moved = moved + (leads[:, 0] != int(kind.weight.argmax()))
        total += moved.mean(axis=1) * number
        start += number
    return total / model.n_agents


def _enlarged(what: What, times: int) -> What:
    """The same debate among so many times as many agents of each type."""
    if isinstance(what, Scenario):
        if isinstance(what.graph, tuple):
            raise ValueError(
                "`what` must have a graph by name for EL-5.1: a matrix says nothing of more agents"
            )
        return replace(what, model=_more(what.model, times))
    return _more(what, times)


def _more(model: DebateModel, times: int) -> DebateModel:
    return model.with_(sizes=tuple(size * times for size in model.sizes))


def _within_bound(model: DebateModel, last: int, debates: int, seed: int) -> Means:
    """The bound given the counts less the changes, by reader and round."""
    chain = CountChain(model)
    found = simulate(model, debates=debates, rounds=last + 2, seed=seed, record="counts")
    assert found.counts is not None
    # the states are in lexicographic order, and so are these numbers
    places = (model.n_agents + 1) ** np.arange(model.n_answers - 1, -1, -1, dtype=np.int64)
    at = np.searchsorted(chain.states @ places, found.counts @ places)
    means = {}
    for reader in range(len(model.types)):
        best, bound = chain.leading_concept(reader), switch_bound(chain, reader)
        for t in range(last + 1):
            change = best[at[:, t]] != best[at[:, t + 1]]
            means[f"reader {reader}, t={t}"] = mean_of(bound[at[:, t]] - change)
    return means
