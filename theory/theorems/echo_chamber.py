"""Theorem 5.1: many equal models settle on one concept.

Claim: for n equal models and theta_hat(t) = argmax_theta P(theta | x, Z(t)), P(theta_hat(t+1) !=
theta_hat(t)) -> 0 as n grows. True for every fixed round when theta_hat(0) is taken *after* reading
Z(0), all R > 0 and no two kernels are equal. Not true if theta_hat(0) is the concept of the task
alone (``reading="prior"``), nor with the limits exchanged: for fixed n the chain is irreducible,
and concepts that lead in some state change infinitely often.

Why it is true. By the law of large numbers the shares f of the answers concentrate at their law q,
and the log-evidence of theta is n sum_a f_a log R(theta, a) + O(1): the leader is
argmin_theta KL(q || R_theta). If theta leads, the next law is close to R_theta, whose own minimiser
is theta, and it stays.

**The bound**, for any n and any counts c, with b = theta_hat(c), for a reader of type j:

    P(change | c) <= sum_{theta != b} min_{s >= 0} (w_theta / w_b)^s
                     prod_e [ sum_a q_e(a | c) (R_j(theta, a) / R_j(b, a))^s ]^n_e.

Derivation: a change to theta needs log w_theta / w_b + sum_i log R(theta, z_i) / R(b, z_i) >= 0;
Markov's inequality for exp(s times it), s >= 0, and independence of the answers given c give the
term; the union over theta gives the sum. The margin of the repaired statement is the least slack of
this bound over all counts and readers.

Rates: once settled on theta, changes to theta2 have probability exp(-n C + O(log n)) with the
Chernoff information C = -min_{0<=s<=1} log sum_a R_theta^(1-s) R_theta2^s. The margin of the
printed statement is, read "after", the least Chernoff information of two concepts (positive: every
change dies out); read "prior", min_{theta != b} KL(q0 || R_theta) - KL(q0 || R_b) with b = argmax w
(negative: the first change is all but certain for large n).

With an exact tie KL(q0 || R_1) = KL(q0 || R_2) of a symmetric kernel and even n the decay is
polynomial, P(change t -> t+1) ~ n^{-(t+1)/2}; verified on n = 320 and 640, not proved.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from theory._check import check_choice
from theory.model.chain import CountChain
from theory.model.concepts import AgentType, DebateModel
from theory.model.random_models import model_within
from theory.model.states import n_states
from theory.theorems.base import Counterexample, Margin
from theory.theorems.conditions import plain

ID = "EL-5.1"
TITLE = "Many equal models settle on one concept: the echo chamber"
SOURCE = "Estornell and Liu, NeurIPS 2024, Theorem 5.1"
PRINTED = (
    "For n identical models (phi_i = phi), P(theta_hat(t+1) != theta_hat(t)) -> 0 as n -> "
    "infinity, theta_hat(t) = argmax_theta P(theta | x, Z(t), phi)."
)
REPAIRED = (
    "For fixed t, R > 0, distinct kernels and theta_hat(0) taken after Z(0). For every n and every "
    "count c, P(change | c) is at most the Chernoff bound of the module; for several types with "
    "one factor a type."
)
PROOF = "proved (the bound); the limit by the law of large numbers"

Float64 = npt.NDArray[np.float64]
_MOST = 3000


def assumptions(model: DebateModel, statement: str) -> dict[str, bool]:
    """Plain answers; for the printed statement one type and distinct kernels."""
    met = {"agents read all answers, as given, with full weight": plain(model)}
    if statement == "printed":
        rows = model.types[0].kernel
        met["identical models"] = len(set(model.types)) == 1
        met["two concepts or more, with distinct kernels"] = (
            1 < len(rows) == len(np.unique(rows, axis=0))
        )
    else:
        met[f"at most {_MOST} counts"] = n_states(model.n_agents, model.n_answers) <= _MOST
    return met


def margin(model: DebateModel, statement: str, *, reading: str = "after") -> Margin:
    """Return the rate (printed; ``reading`` "after" or "prior") or the slack of the bound."""
    check_choice("reading", reading, ("after", "prior"))
    if statement == "printed":
        kind = model.types[0]
        if reading == "prior":
            gaps = [_kl(kind.first_law, row) for row in kind.kernel]
            best = int(kind.weight.argmax())
            rest = min(gap for theta, gap in enumerate(gaps) if theta != best)
            return Margin(rest - gaps[best], {"KL(q0 || R_theta)": gaps, "prior concept": best})
        pairs = {
            f"{a}, {b}": chernoff_information(kind.kernel[a], kind.kernel[b])
            for a in range(len(kind.kernel))
            for b in range(a)
        }
        return Margin(min(pairs.values()), {"Chernoff information": pairs})
    worst, evidence = np.inf, {}
    chain = CountChain(model)
    for reader in range(len(model.types)):
        bound = switch_bound(chain, reader)
        exact = _change(chain, chain.leading_concept(reader))
        slack = bound - exact
        at = int(slack.argmin())
        if slack[at] < worst:
            worst = float(slack[at])
            evidence = {
                "counts": chain.states[at],
                "P(change)": float(exact[at]),
                "bound": float(bound[at]),
                "reader": reader,
            }
    return Margin(worst, evidence)


def switch_bound(chain: CountChain, reader: int = 0) -> Float64:
    """Return the bound on P(the leading concept of a reader changes | c), shape (N,), at most 1.

    Examples
    --------
    >>> bound = switch_bound(CountChain(DebateModel.binary(20, .5, .75)))
    >>> round(float(bound[-1]), 4)  # all twenty gave one answer
    0.0563
    """
    kind = chain.model.types[reader]
    best = chain.leading_concept(reader)
    laws = [chain.response(e) for e in range(len(chain.model.types))]
    logs, weights = np.log(kind.kernel), kind.weight
    total = np.zeros(len(best))
    for theta in range(kind.n_concepts):
        away = (best != theta) & (weights[theta] > 0.0)
        if not away.any():
            continue
        ratio = logs[theta] - logs[best[away]]
        head = np.log(weights[theta]) - np.log(weights[best[away]])
        own = [law[away] for law in laws]
        total[away] += np.exp(_least_exponent(head, ratio, own, chain.model.sizes))
    return np.minimum(total, 1.0)


def _least_exponent(
    head: Float64, ratio: Float64, laws: list[Float64], sizes: tuple[int, ...]
) -> Float64:
    """min over s >= 0 of s head + sum_e n_e log sum_a q_e(a) exp(s ratio_a), row by row.

    A convex function of s: golden sections after doubling. Any s gives a bound, so that what the
    search leaves costs sharpness and nothing else.
    """

    def value(s: Float64) -> Float64:
        total = s * head
        top = (s[:, None] * ratio).max(axis=1)
        for law, size in zip(laws, sizes, strict=True):
            inner = (law * np.exp(s[:, None] * ratio - top[:, None])).sum(axis=1)
            total = total + size * (np.log(inner) + top)
        return np.asarray(total)

    high = np.ones(len(head))
    for _ in range(12):
        grows = value(2.0 * high) < value(high)
        high = np.where(grows, 2.0 * high, high)
    low, high = np.zeros(len(head)), 2.0 * high
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(45):
        left, right = high - golden * (high - low), low + golden * (high - low)
        lower = value(left) < value(right)
        high, low = np.where(lower, right, high), np.where(lower, low, left)
    return np.minimum(value((low + high) / 2.0), 0.0)


def _change(chain: CountChain, best: npt.NDArray[np.int64]) -> Float64:
    """P(the leading concept changes | c), shape (N,)."""
    matrix = chain.transition()
    stays = np.zeros(len(best))
    for theta in np.unique(best):
        inside = best == theta
        stays[inside] = matrix[np.ix_(inside, inside)].sum(axis=1)
    return np.asarray(np.maximum(1.0 - stays, 0.0))


def chernoff_information(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return C = -min_{0 <= s <= 1} log sum_a p_a^(1-s) q_a^s in nats, of two positive laws.

    Examples
    --------
    >>> round(chernoff_information([.75, .25], [.25, .75]), 5)
    0.14384
    """
    p, q = np.log(np.asarray(first, float)), np.log(np.asarray(second, float))

    def value(s: float) -> float:
        return float(np.log(np.exp((1.0 - s) * p + s * q).sum()))

    low, high = 0.0, 1.0
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(60):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if value(left) < value(right):
            high = right
        else:
            low = left
    return max(0.0, -value((low + high) / 2.0))


def starting_exponent(kind: AgentType) -> float:
    """Return E0, the rate in n at which a start on the wrong side dies out.

    With b = argmin_theta KL(q0 || R_theta) it is the least over the other concepts of
    -min_{s >= 0} log sum_a q0(a) (R_theta(a) / R_b(a))^s. For every fixed round
    liminf -(1/n) log P(change) >= min(C, E0); the counts live on a lattice, so that equality is not
    guaranteed.

    Examples
    --------
    >>> kind = AgentType([.5, .5], [.8, .2], [[.8, .2], [.3, .7]])
    >>> round(starting_exponent(kind), 4)
    0.043
    """
    best = int(np.argmin([_kl(kind.first_law, row) for row in kind.kernel]))
    rest = [theta for theta in range(kind.n_concepts) if theta != best]
    ratio = np.log(kind.kernel[rest]) - np.log(kind.kernel[best])
    laws = [np.tile(kind.first_law, (len(rest), 1))]
    return float(-_least_exponent(np.zeros(len(rest)), ratio, laws, (1,)).max())


def _kl(p: Float64, q: Float64) -> float:
    return float((p * np.log(p / q)).sum())


def sample(rng: np.random.Generator, statement: str, **space: Any) -> DebateModel:
    """Return a small model, of one type for the printed statement."""
    if statement == "printed":
        return model_within(rng, space, n=(2, 6), types=1)
    return model_within(rng, space, n=(1, 6), answers=(2, 3))


def counterexamples() -> tuple[Counterexample, ...]:
    """Read on the prior, the first change becomes certain."""
    kernel = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]])
    kind = AgentType(np.array([0.4, 0.3, 0.3]), np.ones(3), kernel)
    model = DebateModel((kind,), (40,))
    return (
        Counterexample(
            "the concept of the task alone is left", model, -0.393, 3, {"reading": "prior"}
        ),
    )
