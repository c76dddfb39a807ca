"""One round: what an agent believes and answers after reading the answers of the others.

An agent of type e that reads counts c holds the posterior

    p_e(theta | c) ∝ w_e(theta) exp(beta sum_a c_a log R_e(theta, a))

and answers from q_e(a | c) = sum_theta p_e(theta | c) R_e(theta, a). The product over answers is
the "skew" that the others put on it; with no answers read, or with a kernel that does not depend
on theta, q_e is the law of round 0.

This is Lemma 4.2 of Estornell and Liu (NeurIPS 2024) with its normaliser
D(c) = sum_theta w(theta) prod_a R(theta, a)^c_a, which differs from one c to another: forms without
it must not be compared across c. All is done with logarithms, since the products underflow for some
hundreds of answers; beta = 1 is Bayes.
"""

import numpy as np
import numpy.typing as npt

from theory.model.concepts import AgentType

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


def log_evidence(kind: AgentType, counts: npt.ArrayLike, tempering: float = 1.0) -> Float64:
    """Return log w(theta) + beta sum_a c_a log R(theta, a), shape (..., K), for counts (..., L).

    Examples
    --------
    >>> kind = AgentType([.5, .5], [1, 1], [[.75, .25], [.25, .75]])
    >>> odds = log_evidence(kind, [3, 1])
    >>> round(float(np.exp(odds[0] - odds[1])), 9)
    9.0
    """
    c = np.asarray(counts, np.float64)
    with np.errstate(divide="ignore"):
        prior = np.log(kind.weight)
    found: Float64 = prior + tempering * (c @ np.log(kind.kernel).T)
    return found


def posterior(kind: AgentType, counts: npt.ArrayLike, tempering: float = 1.0) -> Float64:
    """Return p(theta | c), shape (..., K), for counts (..., L).

    Examples
    --------
    >>> kind = AgentType([.5, .5], [1, 1], [[.75, .25], [.25, .75]])
    >>> posterior(kind, [3, 1]).round(3).tolist()
    [0.9, 0.1]
    """
    logs = log_evidence(kind, counts, tempering)
    logs -= logs.max(axis=-1, keepdims=True)
    weights = np.exp(logs)
    found: Float64 = weights / weights.sum(axis=-1, keepdims=True)
    return found


def next_law(kind: AgentType, counts: npt.ArrayLike, tempering: float = 1.0) -> Float64:
    """Return the law q(. | c) of the next answer, shape (..., L), for counts (..., L).

    Debate read as in-context learning: the answers are examples, and the concept that they share
    steers the next answer. Four agents that lean to the wrong concept read three right answers and
    one wrong, and lean to the right one:

    Examples
    --------
    >>> kind = AgentType([.3, .7], [1, 1], [[.75, .25], [.25, .75]])
    >>> kind.first_law.round(3).tolist(), next_law(kind, [3, 1]).round(3).tolist()
    ([0.4, 0.6], [0.647, 0.353])
    """
    found: Float64 = posterior(kind, counts, tempering) @ kind.kernel
    return found


def leading_concept(kind: AgentType, counts: npt.ArrayLike, tempering: float = 1.0) -> Int64:
    """Return argmax_theta p(theta | c), the lowest theta among equals, shape (...).

    Equal up to rounding: posteriors that differ by less than 1e-12 in the logarithm are tied.

    Examples
    --------
    >>> kind = AgentType([.5, .5], [1, 1], [[.75, .25], [.25, .75]])
    >>> leading_concept(kind, [[3, 1], [2, 2], [1, 3]]).tolist()
    [0, 0, 1]
    """
    logs = log_evidence(kind, counts, tempering)
    top = logs.max(axis=-1, keepdims=True)
    scale = np.maximum(1.0, np.abs(top))
    found: Int64 = (logs >= top - 1e-12 * scale).argmax(axis=-1)
    return found
