"""One round: the law of an answer given those that were read, and which answers make it right.

EL-A4.1 and EL-L4.2 say that the law of the next answer is a formula of the counts read. Draws can
show an equality up to a tolerance only: for an answer a of a type e with the law q_e(a | c), both

    tolerance +- E[(share of a among type e in round t + 1 - q_e(a | c(t))) f(c(t))] >= 0

for f = 1 and f = the share of a in c(t). EL-OBJ compares P(correct | c) between counts, HT-1 that
after one answer with that before, EL-5.2 the concept behind the answers with the bound, where the
concept is drawn with its weight and the answers from it, as the reader believes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sims.debates.simulate import simulate
from sims.statements.means import (
    Float64,
    Mean,
    Means,
    What,
    apart,
    exactly,
    mean_of,
    model_only,
    option,
)
from theory import THEOREMS, AgentType, DebateModel, next_law

_SEEN = 100


def law_of_an_answer(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """EL-A4.1 and EL-L4.2: the formula less the answers given, up to a tolerance, both ways."""
    del statement  # both name the same law
    model = model_only(what, "EL-A4.1 and EL-L4.2")
    last, tolerance = option(options, "t", 2), options.pop("tolerance", 0.01)
    if not isinstance(tolerance, float) or not 0.0 < tolerance < 1.0:
        raise ValueError(f"`tolerance` must lie in (0, 1), got {tolerance!r}")
    found = simulate(model, debates=debates, rounds=last + 2, seed=seed, record="answers")
    assert found.answers is not None
    means = {}
    ends = np.cumsum(model.sizes)
    for t in range(last + 1):
        counts = _counts(found.answers[:, t], model.n_answers)
        states, at = np.unique(counts, axis=0, return_inverse=True)
        for e, (kind, size) in enumerate(zip(model.types, model.sizes, strict=True)):
            said = found.answers[:, t + 1, ends[e] - size : ends[e]]
            law = np.asarray(next_law(kind, states))[at.reshape(-1)]
            for a in range(model.n_answers):
                off = (said == a).mean(axis=1) - law[:, a]
                for name, part in (("", off), (" read", off * counts[:, a] / model.n_agents)):
                    here = mean_of(part)
                    for sign, word in ((1.0, "above"), (-1.0, "below")):
                        means[f"reader {e}, answer {a}{name}, t={t}, {word}"] = here._replace(
                            value=tolerance - sign * here.value
                        )
    return means


def objective(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """EL-OBJ: P(correct) after the counts that are named, less that after any others.

    Counts that came up fewer than 100 times are not compared, and the named ones must be seen.
    """
    model = model_only(what, "EL-OBJ")
    last = option(options, "t", 3)
    exact = THEOREMS["EL-OBJ"].check(model, statement=statement)
    named = tuple(np.asarray(exact.evidence["counts named"]).tolist())
    after = correct_after(model, last, debates, seed)
    if named not in after:
        return {f"{named} never seen": Mean(0.0, np.inf, 0)}
    if len(after) == 1:
        return {f"{named} alone seen": Mean(0.0, np.inf, after[named].draws)}
    return {
        f"{named} less {counts}": apart(after[named], value)
        for counts, value in after.items()
        if counts != named
    }


def correct_after(
    model: DebateModel, last: int, debates: int, seed: int
) -> dict[tuple[int, ...], Mean]:
    """Return the share of right answers in the round after counts seen 100 times or more."""
    found = simulate(model, debates=debates, rounds=last + 2, seed=seed, record="counts")
    assert found.counts is not None
    before = found.counts[:, :-1].reshape(-1, model.n_answers)
    right = found.counts[:, 1:, model.correct].reshape(-1) / model.n_agents
    states, at, seen = np.unique(before, axis=0, return_inverse=True, return_counts=True)
    # given the counts of a round the next is drawn independently of all before
    groups = np.split(right[np.argsort(at.reshape(-1), kind="stable")], np.cumsum(seen)[:-1])
    return {
        tuple(state): mean_of(group)
        for state, group in zip(states.tolist(), groups, strict=True)
        if len(group) >= _SEEN
    }


def consistent_response(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """HT-1: P(correct) after reading one answer z less that before; repaired, its identity."""
    del options
    model = model_only(what, "HT-1")
    means = {}
    for reader, kind in enumerate(model.types):
        one = DebateModel((kind,), (1,), truth=model.truth, correct=model.correct)
        found = simulate(one, debates=debates, rounds=2, seed=seed, record="answers")
        assert found.answers is not None
        read, said = found.answers[:, 0, 0], found.answers[:, 1, 0] == model.correct
        before = float(kind.first_law[model.correct])
        w, p = kind.weight, kind.kernel[:, model.correct]
        for z in range(kind.n_answers):
            like = kind.kernel[:, z]
            others = np.delete(like, model.truth)
            here = mean_of(said[read == z] - before)
            covariance = float(w @ (like * p) - (w @ like) * (w @ p))
            if statement == "printed" and bool((others < like[model.truth]).all()):
                means[f"reader {reader}, response {z}"] = here
            elif statement == "repaired" and abs(covariance) > 1e-12:
                # it rises if and only if the covariance is positive
                gain = float(np.sign(covariance)) * here.value
                means[f"reader {reader}, response {z}"] = here._replace(value=gain)
    return means


def similar_answers(
    what: What, debates: int, seed: int, statement: str, options: dict[str, Any]
) -> Means:
    """EL-5.2: how often the concept that an answer names is behind it, less the bound."""
    del options
    model = model_only(what, "EL-5.2")
    if statement == "printed":
        raise exactly("EL-5.2", statement, "is of ever more copies of one answer")
    means = {}
    for reader, kind in enumerate(model.types):
        counts, concept = _believed(kind, model.n_agents, debates, seed + reader)
        for a in range(kind.n_answers):
            column = np.log(kind.kernel[:, a])
            named = int(column.argmax())
            gamma = float(column[named] - np.delete(column, named).max())
            if not gamma > 0.0:
                continue
            g = float((np.log(kind.kernel) - np.log(kind.kernel[named])).max())
            rho = float((kind.weight / kind.weight[named]).max())
            copies = counts[:, a]
            exponent = np.minimum(-gamma * copies + g * (model.n_agents - copies), 700.0)
            bound = 1.0 / (1.0 + (kind.n_concepts - 1) * rho * np.exp(exponent))
            slack = (concept == named) - bound
            means[f"reader {reader}, answer {a}"] = mean_of(slack)
            many = 2 * copies > model.n_agents
            means[f"reader {reader}, answer {a} of most"] = mean_of(slack * many)
    return means


def _believed(
    kind: AgentType, n: int, debates: int, seed: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """What the reader believes: concepts in the shares of their weights, and n answers each."""
    shares = np.rint(np.cumsum(kind.weight) * debates).astype(np.int64)
    numbers = np.diff(shares, prepend=0)
    counts, first = [], 0
    for theta, number in enumerate(numbers.tolist()):
        if number:
            sure = np.zeros(kind.n_concepts)
            sure[theta] = 1.0
            model = DebateModel((AgentType(sure, np.ones(kind.n_concepts), kind.kernel),), (n,))
            found = simulate(
                model, debates=number, rounds=1, seed=seed, record="counts", first=first
            )
            assert found.counts is not None
            counts.append(found.counts[:, 0])
            first += number
    return np.concatenate(counts), np.repeat(np.arange(kind.n_concepts), numbers)


def _counts(answers: npt.NDArray[np.int32], width: int) -> Float64:
    """How many gave each answer, shape (debates, width)."""
    return np.stack([(answers == a).sum(axis=1) for a in range(width)], axis=1).astype(np.float64)
