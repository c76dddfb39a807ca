"""Theorem 6.1: diversity pruning makes a shared misconception less likely to win.

Claim: with a true theta* and more than n / 2 agents that share theta', keeping the k most diverse
answers lowers the probability of y' ~ D(theta'). False as stated; the sign depends on which side of
the tie fraction f* (`theory.theorems.shared_misconception`) the debate starts on.

Printed check: P(y') after ``rounds`` rounds without pruning less that with `DiversityPruning(k)`;
``k`` is that of the model's view, else (n + 1) // 2, and y' the answer that theta' favours. A
negative margin is a violation.

**Repaired.** Let s* be the best of *all* sub-counts of size k, unique for each reader. As soon as
every answer was given often enough, c_a >= s*_a for all a, exactly s* is kept, whatever else was
said: pruning removes the memory of the debate. Hence for every n and T >= 1

    | P_T(y') - sum_e (n_e / n) q_e(y' | s*) | <= P(c_a(T-1) < s*_a for some a),

which is exponentially small in n. Derivation: given that c(T-1) >= s*, the law of an answer of
round T is q_e(. | s*); the other event moves a probability by at most its own. So for large n
pruning lowers P(y') if and only if sum_e (n_e/n) q_e(y' | s*) lies below the share of y' in the
debate without pruning, R(theta_inf, y'): when theta' would have won, not when m > n / 2.

Repaired check: the slack of that inequality for T = 1..``rounds``.
"""

from typing import Any

import numpy as np

from theory._check import check_int
from theory.model.chain import CountChain
from theory.model.concepts import DebateModel
from theory.model.interventions import DiversityPruning
from theory.model.random_models import model_within
from theory.model.response import next_law
from theory.model.states import count_states
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import likeliest_under_truth, misled, named_answer, rival

ID = "EL-6.1"
TITLE = "Diversity pruning against a shared misconception"
SOURCE = "Estornell and Liu, NeurIPS 2024, Theorem 6.1"
PRINTED = (
    "If theta* is true and more than n/2 agents share the misconception theta', diversity pruning "
    "lowers the probability that debate converges to y' ~ D(theta')."
)
REPAIRED = (
    "With s* the most diverse sub-count of size k, unique: |P_T(y') - sum_e (n_e/n) q_e(y' | "
    "s*)| <= P(some c_a(T-1) < s*_a). For large n pruning helps iff sum_e (n_e/n) q_e(y' | s*) "
    "lies below the share of y' in the basin that the debate without pruning settles in."
)
PROOF = "proved"


def pruning_of(model: DebateModel, k: int | None = None) -> DiversityPruning:
    """Return the pruning that is checked: of size k, that of the view, or the default."""
    if k is not None:
        return DiversityPruning(check_int("k", k, minimum=1, maximum=model.n_agents))
    if model.view is not None and isinstance(model.view[0], DiversityPruning):
        return model.view[0]
    return DiversityPruning((model.n_agents + 1) // 2)


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """A shared misconception of more than half (printed); a unique best sub-count (repaired)."""
    met = {
        "the view is a diversity pruning, or none": model.view is None
        or (len(model.view) == 1 and isinstance(model.view[0], DiversityPruning)),
        "no refutation": model.rewrite is None,
    }
    if statement == "printed":
        wrong = [
            (rival(model, kind), size)
            for kind, size in zip(model.types, model.sizes, strict=True)
            if misled(model, kind)
        ]
        most = sum(size for _, size in wrong)
        met["one misconception, shared by more than n/2"] = (
            len({concept for concept, _ in wrong}) == 1 and 2 * most > model.n_agents
        )
        met["y is the likeliest answer under theta*"] = likeliest_under_truth(model)
        # y' must be a wrong answer
        met["theta' does not favour y"] = bool(wrong) and (
            named_answer(model, wrong[0][0]) != model.correct
        )
    elif met["the view is a diversity pruning, or none"]:
        met["the best sub-count is unique"] = all(len(found) == 1 for found in _best(model))
    return met


def _best(
    model: DebateModel, k: int | None = None
) -> list["np.ndarray[tuple[int, int], np.dtype[np.int64]]"]:
    """For each type the best sub-counts of all of size k."""
    pruning = pruning_of(model, k)
    sub = count_states(pruning.k, model.n_answers)
    found = []
    for kind in model.types:
        judge = kind if pruning.evaluator == "reader" else model.types[int(pruning.evaluator)]
        values = pruning.values(judge, sub)
        found.append(sub[values >= values.max() - 1e-12 * max(1.0, abs(values.max()))])
    return found


def misconception_of(model: DebateModel) -> int:
    """Return theta' of the largest misled type, or the rival of the first type."""
    wrong = [
        (size, rival(model, kind))
        for kind, size in zip(model.types, model.sizes, strict=True)
        if misled(model, kind)
    ]
    return max(wrong)[1] if wrong else rival(model, model.types[0])


def helps_in_large_debates(model: DebateModel, k: int | None = None) -> bool:
    """Say whether pruning lowers the share of y' when there are many such agents.

    The debate without pruning settles on argmin_theta KL(qbar0 || R_theta), where y' has the share
    R(theta, y'); with pruning the share of y' tends to sum_e (n_e / n) q_e(y' | s*). One kernel.

    Examples
    --------
    >>> weak = DebateModel.shared_misconception(7, 4, weight=.95, misled=.49, right=.8, wrong=.3)
    >>> strong = DebateModel.shared_misconception(7, 6, weight=.8, misled=.05, right=.8, wrong=.3)
    >>> helps_in_large_debates(weak, 4), helps_in_large_debates(strong, 4)
    (False, True)
    """
    answer = named_answer(model, misconception_of(model))
    return _limit(model, answer, k) < settled_share(model, answer)


def settled_share(model: DebateModel, answer: int) -> float:
    """Return the share of an answer in a large debate without pruning, after round 0."""
    kernel = model.types[0].kernel
    first = model.first_law
    theta = int((first * (np.log(first) - np.log(kernel))).sum(axis=1).argmin())
    return float(kernel[theta, answer])


def _limit(model: DebateModel, answer: int, k: int | None) -> float:
    """sum_e (n_e / n) q_e(answer | s*)."""
    total = sum(
        size * float(next_law(kind, one[0], model.tempering)[answer])
        for kind, size, one in zip(model.types, model.sizes, _best(model, k), strict=True)
    )
    return total / model.n_agents


def margin(model: DebateModel, statement: str, *, k: int | None = None, rounds: int = 5) -> Margin:
    """Return P(y') without less P(y') with pruning at T, or the slack of the limit."""
    check_int("rounds", rounds, minimum=1)
    pruning = pruning_of(model, k)
    answer = named_answer(model, misconception_of(model))
    viewed = CountChain(model.with_(view=pruning))
    if statement == "printed":
        without = CountChain(model.with_(view=None)).share(rounds, answer)
        pruned = viewed.share(rounds, answer)
        evidence = {"y'": answer, "k": pruning.k, "P(y') without": without, "with": pruned}
        return Margin(without - pruned, evidence)
    best = _best(model, pruning.k)
    limit = _limit(model, answer, pruning.k)
    needed = np.max([one[0] for one in best], axis=0)
    short = (viewed.states < needed).any(axis=1)
    worst, evidence = np.inf, {}
    for t in range(1, rounds + 1):
        missing = float(viewed.law(t - 1)[short].sum())
        gap = abs(viewed.share(t, answer) - limit)
        if missing - gap < worst:
            worst = missing - gap
            evidence = {
                "t": t,
                "y'": answer,
                "k": pruning.k,
                "s*": best[0][0],
                "needed": needed,
                "limit": limit,
                "gap": gap,
                "bound": missing,
            }
    return Margin(float(worst), evidence)


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return one kernel and a shared misconception, or any model with a unique best sub-count."""
    while True:
        if statement == "printed":
            model = model_within(
                rng, space, n=(3, 7), concepts=2, answers=2, types=2, common_kernel=True
            )
        else:
            model = model_within(rng, space, n=(2, 6), answers=(2, 3))
            model = model.with_(view=DiversityPruning(int(rng.integers(1, model.n_agents + 1))))
        if all(assumptions(model, statement).values()):
            return model


def counterexamples() -> tuple[Counterexample, ...]:
    """A weak majority; a strong misconception and an asymmetric kernel; a symmetric kernel."""
    weak = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    strong = DebateModel.shared_misconception(7, 5, weight=0.8, misled=0.2, right=0.8, wrong=0.3)
    mirrored = DebateModel.shared_misconception(5, 4, weight=0.74, misled=0.26, right=0.95)
    return (
        Counterexample("a weak majority", weak, -0.0667, 4, {"k": 4}),
        Counterexample("a strong misconception", strong, -0.0076, 4, {"k": 4}),
        Counterexample("pruning destroys metastability", mirrored, -0.0927, 4, {"k": 4}),
    )
