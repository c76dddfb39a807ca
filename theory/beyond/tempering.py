"""Weakened evidence: below a critical strength there is no echo chamber.

With evidence exponent beta (each answer counts as beta answers) the strength of the evidence of a
round is kappa = n beta; agents that see k answers only have about kappa = k. For two concepts with
a symmetric kernel R(theta*, y) = r and even weights, the share f of right answers of a large debate
moves by f -> 1 - r + (2 r - 1) / (1 + exp(-kappa (2 f - 1) log(r / (1 - r)))), and f = 1/2 loses
its stability at

    kappa_c = 2 / ((2 r - 1) log(r / (1 - r))).

Derivation: the slope of the map at 1/2 is (2 r - 1) kappa log(r / (1 - r)) / 2. Above kappa_c the
chain has two basins and its gap decays exponentially in n; below, one, and the gap tends to
1 - kappa / kappa_c. So the echo chamber of Theorem 5.1 needs evidence that grows with n.
"""

from math import log

from theory._check import check_real
from theory.model.concepts import DebateModel


def critical_strength(right: float) -> float:
    """Return kappa_c of a symmetric kernel, r = ``right`` in (1/2, 1).

    Examples
    --------
    >>> round(critical_strength(.75), 3)
    3.641
    """
    r = check_real("right", right, low=0.5, high=1.0, closed=False)
    return 2.0 / ((2.0 * r - 1.0) * log(r / (1.0 - r)))


def with_strength(model: DebateModel, kappa: float) -> DebateModel:
    """Return the model with the evidence of a round weakened to kappa = n beta.

    Examples
    --------
    >>> with_strength(DebateModel.binary(20), 5).tempering
    0.25
    """
    strength = check_real("kappa", kappa, low=0.0, high=float("inf"), closed=False)
    return model.with_(tempering=strength / model.n_read)
