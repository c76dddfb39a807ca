"""Theorem 5.4: accuracy falls with the number of agents that share a misconception.

From a model with two types, A (first) and B (second, with the misconception), a family is built:
m = 0..n agents of type B among n. The claim is that the mean accuracy of round t decreases in m.

**Repaired** (proved by coupling). K = 2, one kernel, R(theta*, y) >= R(theta', y),
w_A(theta*) >= w_B(theta*). Let s(z) = log R(theta*, z) / R(theta', z) and S = sum_j s(z_j).

1. The law of s(z) under theta* has the density e^s with respect to that under theta', which
   increases in s: it is larger in the likelihood-ratio order, hence stochastically.
2. So an answer from p R_theta* + (1 - p) R_theta' has an s(z) that increases stochastically in p.
3. The posterior of agent i, logit p_i = logit w_i(theta*) + S, increases in S and in w_i.
4. Given S(t) answers are independent. By 2 and 3 each s(z_j(t+1)) increases stochastically in S(t)
   and in w_j, and so does their sum S(t+1). The same holds for S(0), with w_j in place of p_j.
5. Turning one agent from A to B lowers its w. By induction on t, with 4 as its step, every S(t)
   falls stochastically, and P(y in round t+1) = R(theta', y) + E p_i (R(theta*, y) - R(theta', y))
   falls for every agent.

Any number of answers is allowed; ties S = 0 need no care.

**Printed** it is false for K >= 3, and for K = 2 where the misconception gives the right answer for
the wrong reason, R(theta', y) > R(theta*, y).

The margin is the least fall accuracy(m) - accuracy(m+1), in round ``t`` (default: the worst of
rounds 0 to 3). **Sharp form** for large n (two types, K = L = 2, m / n -> mu): the accuracy jumps
from R(theta*, y) to R(theta', y) at `critical_share` mu_c = (q0_A - f*) / (q0_A - q0_B), with the
`tie_fraction` f* = lambda_y' / (lambda_y + lambda_y'), lambda_y = log R(theta*, y) / R(theta', y),
lambda_y' = log R(theta', y') / R(theta*, y'); the wrong side of f* is met in round 0 with
probability at most exp(-2 n (qbar0 - f*)^2) (Hoeffding) and exp(-n KL(f* || qbar0)) (Chernoff).
"""

from typing import Any

import numpy as np

from theory._check import check_int
from theory.model.chain import CountChain
from theory.model.concepts import AgentType, DebateModel
from theory.model.random_models import model_within
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import (
    common_kernel,
    likeliest_under_truth,
    misled,
    plain,
    truth_gives_correct,
)

ID = "EL-5.4"
TITLE = "Accuracy falls with the number of agents that share a misconception"
SOURCE = "Estornell and Liu, NeurIPS 2024, Theorem 5.4"
PRINTED = (
    "If m of n agents share a misconception theta', then (1/n) sum_i P(a(z_i(T)) = y | x) "
    "decreases in m."
)
REPAIRED = (
    "For K = 2, one kernel with R(theta*, y) >= R(theta', y), and w_A(theta*) >= w_B(theta*): the "
    "accuracy of every round does not increase in m."
)
PROOF = "proved (coupling)"
_ROUNDS = (0, 1, 2, 3)


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """Two types, the second misled; for the repaired statement K = 2 and one ordered kernel."""
    two = len(model.types) == 2
    met = {
        "agents read all answers, as given, with full weight": plain(model),
        "two types: without and with the misconception": two,
        "the second type has a misconception": two and misled(model, model.types[1]),
        "the first type has none": two and not misled(model, model.types[0]),
        "y is the likeliest answer under theta*": likeliest_under_truth(model),
    }
    if statement == "repaired":
        # the comparison is all that the proof needs
        met = {name: met[name] for name in list(met)[:2]}
        met["K = 2"] = model.n_concepts == 2
        met["one kernel"] = common_kernel(model)
        met["R(theta*, y) >= R(theta', y)"] = truth_gives_correct(model)
        met["w_A(theta*) >= w_B(theta*)"] = two and bool(
            model.types[0].weight[model.truth] >= model.types[1].weight[model.truth]
        )
    return met


def with_misled(model: DebateModel, m: int) -> DebateModel:
    """Return the model with m of its n agents of the second type."""
    n = model.n_agents
    kept = [(kind, size) for kind, size in zip(model.types, (n - m, m), strict=True) if size]
    return model.with_(types=tuple(kind for kind, _ in kept), sizes=tuple(size for _, size in kept))


def accuracies(model: DebateModel, t: int) -> list[float]:
    """Return the accuracy of round t for m = 0..n."""
    check_int("t", t, minimum=0)
    n = model.n_agents
    return [CountChain(with_misled(model, m)).accuracy(t) for m in range(n + 1)]


def margin(model: DebateModel, statement: str, *, t: int | None = None) -> Margin:  # noqa: ARG001
    """Return the least fall of the accuracy from m to m + 1."""
    rounds = _ROUNDS if t is None else (check_int("t", t, minimum=0),)
    n = model.n_agents
    chains = [CountChain(with_misled(model, m)) for m in range(n + 1)]
    worst, evidence = np.inf, {}
    for at in rounds:
        values = [chain.accuracy(at) for chain in chains]
        falls = -np.diff(values)
        place = int(falls.argmin())
        if falls[place] < worst:
            worst = float(falls[place])
            evidence = {"t": at, "m": place, "accuracy by m": values}
    return Margin(worst, evidence)


def tie_fraction(kernel: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> float:
    """Return f*, the share of correct answers at which the evidence of two concepts is even.

    ``kernel`` is (2, 2): theta* and y first.

    Examples
    --------
    >>> round(tie_fraction(np.array([[.8, .2], [.3, .7]])), 3)
    0.561
    """
    up = float(np.log(kernel[0, 0] / kernel[1, 0]))
    down = float(np.log(kernel[1, 1] / kernel[0, 1]))
    return down / (up + down)


def critical_share(first: AgentType, second: AgentType) -> float:
    """Return mu_c, the share of misled agents at which a large debate changes sides.

    mu_c = (q_A(y) - f*) / (q_A(y) - q_B(y)) with the first laws q of both types and the tie
    fraction f* of their kernel: from mu_c on the first answers are evidence for theta'. Outside
    [0, 1] no share of such agents changes sides.

    Parameters
    ----------
    first, second : AgentType
        K = L = 2 and one kernel, theta* and y first; the second is misled.

    Raises
    ------
    ValueError
        When the types have other shapes, different kernels, or the same first law.

    Examples
    --------
    >>> model = DebateModel.shared_misconception(10, 5, weight=.9, misled=.2, right=.8, wrong=.3)
    >>> round(critical_share(*model.types), 2)
    0.54
    """
    if first.kernel.shape != (2, 2) or not np.array_equal(first.kernel, second.kernel):
        raise ValueError(
            "`first` and `second` must have one kernel of two concepts and two answers, got "
            f"{first.kernel.tolist()} and {second.kernel.tolist()}"
        )
    if first.first_law[0] == second.first_law[0]:
        raise ValueError(
            f"`first` and `second` must differ in their first law, both have {first.first_law}"
        )
    even = tie_fraction(first.kernel)
    return float((first.first_law[0] - even) / (first.first_law[0] - second.first_law[0]))


def wrong_side(model: DebateModel) -> dict[str, float]:
    """Return P(the share of right answers of round 0 lies below f*), and its two bounds.

    K = L = 2, theta* and y first, and qbar0 > f*.
    """
    even = tie_fraction(model.types[0].kernel)
    chain, mean, n = CountChain(model), float(model.first_law[0]), model.n_agents
    below = chain.states[:, 0] < even * n
    gap = even * np.log(even / mean) + (1 - even) * np.log((1 - even) / (1 - mean))
    return {
        "exact": float(chain.law(0)[below].sum()),
        "Hoeffding": float(np.exp(-2.0 * n * (mean - even) ** 2)),
        "KL": float(np.exp(-n * gap)),
    }


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return two types with one kernel; for the printed statement K = 3."""
    while True:
        concepts, answers = (2, (2, 3)) if statement == "repaired" else (3, 3)
        model = model_within(
            rng, space, n=(2, 6), concepts=concepts, answers=answers, types=2, common_kernel=True
        )
        kernel = model.types[0].kernel
        model = model.with_(correct=int(kernel[model.truth].argmax()))
        if all(assumptions(model, statement).values()):
            return model


def counterexamples() -> tuple[Counterexample, ...]:
    """Right for the wrong reason; three concepts; three concepts and a dominant diagonal."""
    ones2, ones3 = np.ones(2), np.ones(3)
    wrong_reason = np.array([[0.6, 0.4], [0.7, 0.3]])
    diagonal = np.full((3, 3), 0.1)
    np.fill_diagonal(diagonal, 0.8)
    strict = np.array([[0.509, 0.010, 0.481], [0.412, 0.578, 0.010], [0.278, 0.222, 0.500]])

    def two(kernel: object, a: list[float], b: list[float], n: int, m: int) -> DebateModel:
        ones = ones2 if len(a) == 2 else ones3
        kinds = tuple(AgentType(np.array(w), ones, np.asarray(kernel)) for w in (a, b))
        return DebateModel(kinds, (n - m, m))

    return (
        Counterexample(
            "right for the wrong reason",
            two(wrong_reason, [0.7, 0.3], [0.3, 0.7], 5, 2),
            -0.0080,
            4,
            {"t": 3},
        ),
        Counterexample(
            "three concepts", two(diagonal, [0.36, 0.32, 0.32], [0.48, 0.51, 0.01], 5, 2), -0.0384
        ),
        Counterexample(
            "a dominant diagonal",
            two(strict, [0.694, 0.239, 0.067], [0.045, 0.888, 0.067], 8, 4),
            -0.0104,
            4,
            {"t": 2},
        ),
    )
