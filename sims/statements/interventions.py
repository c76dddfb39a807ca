"""EL-6.1, 6.2, 6.3, 6.4: prunings and refutations against the same debate without them.

On a model prunings are views of counts; on a scenario they are those of its embedding, responses
pruned by distance, against the same scenario whose agents read everything.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sims.debates.scenario import Scenario
from sims.debates.simulate import simulate
from sims.statements.laws import correct_after
from sims.statements.means import (
    Mean,
    Means,
    What,
    apart,
    choice,
    exactly,
    mean_of,
    model_of,
    model_only,
    option,
    shares,
)
from theory import THEOREMS, DebateModel, DiversityPruning, QualityPruning, Refutation


def diversity(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """EL-6.1: P(y') without pruning less that with it; repaired, its distance from the limit."""
    t, k = option(options, "rounds", 5, 1), _kept(options)
    model = model_of(what)
    given = {"rounds": t} if k is None or isinstance(what, Scenario) else {"rounds": t, "k": k}
    exact = THEOREMS["EL-6.1"].check(model, statement=statement, **given)
    answer = int(exact.evidence["y'"])
    if isinstance(what, Scenario):
        if statement == "repaired":
            raise exactly("EL-6.1", statement, "is of counts")
        pruned = _embedded(what, "diversity", k)
        return {f"t={t}": _gain(replace(what, embedding=None), pruned, answer, t, debates, seed)}
    own = model.view is not None and k is None
    viewed = model if own else model.with_(view=DiversityPruning(int(exact.evidence["k"])))
    if statement == "printed":
        return {f"t={t}": _gain(model.with_(view=None), viewed, answer, t, debates, seed)}
    found = simulate(viewed, debates=debates, rounds=t + 1, seed=seed, record="counts")
    assert found.counts is not None
    needed, limit = np.asarray(exact.evidence["needed"]), float(exact.evidence["limit"])
    means: Means = {}
    for at in range(1, t + 1):
        short = (found.counts[:, at - 1] < needed).any(axis=1)
        off = found.counts[:, at, answer] / model.n_agents - limit
        means |= {f"t={at}, above": mean_of(short - off), f"t={at}, below": mean_of(short + off)}
    return means


def quality(what: What, debates: int, seed: int, statement: str, options: dict[str, Any]) -> Means:
    """EL-6.2: accuracy with quality pruning less that without; given the counts, by their sign."""
    t, k = option(options, "t", 5, 1), _kept(options)
    reading = choice(options, "reading", "rounds", ("rounds", "state"))
    model = model_of(what)
    y = model.correct
    if isinstance(what, Scenario):
        if statement == "repaired" or reading == "state":
            raise exactly("EL-6.2", "repaired", "is of counts")
        pruned = _embedded(what, "quality", k)
        return {f"t={t}": _gain(pruned, replace(what, embedding=None), y, t, debates, seed)}
    pruning = QualityPruning(k or (model.n_agents + 1) // 2)
    viewed = model.with_(view=pruning if k or model.view is None else model.view)
    bare = model.with_(view=None)
    if statement == "printed" and reading == "rounds":
        return {f"t={t}": _gain(viewed, bare, y, t, debates, seed)}
    before, after = (correct_after(one, t, debates, seed) for one in (bare, viewed))
    both = {counts: apart(after[counts], before[counts]) for counts in before if counts in after}
    if statement == "printed":
        return {f"given {counts}": gain for counts, gain in both.items()}
    return {
        f"given {counts}": gain._replace(value=sign * gain.value)
        for counts, gain in both.items()
        for sign in [_sign_kept(viewed, counts)]
        if sign
    }


def _sign_kept(viewed: DebateModel, counts: tuple[int, ...]) -> float:
    """Sign of the evidence for the truth that is left over what was removed; 0 when not one."""
    assert viewed.view is not None
    law = viewed.view[0].prepare(viewed)
    plain = {tuple(state): i for i, state in enumerate(_states(viewed.n_agents))}
    kernel, truth = viewed.types[0].kernel, viewed.truth
    ratio = np.log(kernel[truth] / kernel[1 - truth])
    kept = {
        float(np.sign(np.round((law.states[j] - counts) @ ratio, 12)))
        for j in law.kept(plain[counts])
    }
    return kept.pop() if len(kept) == 1 else 0.0


def _states(n: int) -> list[tuple[int, int]]:
    """Counts of two answers in the order of the chain."""
    return [(i, n - i) for i in range(n + 1)]


def both_prunings(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """EL-R6.3: accuracy with both prunings less that with either alone."""
    if statement == "repaired":
        raise exactly("EL-R6.3", statement, "is an identity of laws")
    model = model_only(what, "EL-R6.3")
    t, k, n = option(options, "t", 5, 1), _kept(options), model.n_agents
    last = k or (n + 1) // 2
    diverse, first = DiversityPruning(last), QualityPruning((n + last + 1) // 2)
    both = model.with_(view=(first, diverse))
    return {
        f"less {name} alone": _gain(both, model.with_(view=view), model.correct, t, debates, seed)
        for name, view in (("quality", QualityPruning(last)), ("diversity", diverse))
    }


def refutation(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """EL-6.4: accuracy with the refutation less that without, in every round from 1 on."""
    del statement  # both name the same differences
    model = model_only(what, "EL-6.4")
    last = option(options, "rounds", 5, 1)
    matrix = 0.7 * np.eye(model.n_answers)
    matrix[:, model.correct] += 0.3
    rewrite = model.rewrite or Refutation(matrix)
    with_, without = (
        shares(model.with_(rewrite=one), model.correct, last + 1, debates, seed, True)
        for one in (rewrite, None)
    )
    return {f"t={t}": mean_of(with_[:, t] - without[:, t]) for t in range(1, last + 1)}


def _gain(more: What, less: What, answer: int, t: int, debates: int, seed: int) -> Mean:
    """The share of an answer in round t of one debate less that of the other, draw by draw."""
    direct = isinstance(more, Scenario)
    first, second = (
        shares(one, answer, t + 1, debates, seed, direct)[:, t] for one in (more, less)
    )
    return mean_of(first - second)


def _embedded(what: Scenario, method: str, k: int | None) -> Scenario:
    """The scenario with its pruning by distance, of k responses where that is given."""
    if what.embedding is None or what.embedding.method != method:
        raise ValueError(
            f"`what` must have an embedding with method {method!r}, got {what.embedding!r}"
        )
    return what if k is None else replace(what, embedding=replace(what.embedding, keep=k))


def _kept(options: dict[str, Any]) -> int | None:
    return option(options, "k", 1, 1) if options.get("k") is not None else options.pop("k", None)
