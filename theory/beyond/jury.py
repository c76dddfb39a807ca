"""Juries: what a majority vote is worth when votes are correlated, or when jurors may abstain.

Correlated votes: the probability of a right vote is Beta(p s, (1 - p) s), s = 1 / rho - 1, so that
votes have mean p and intraclass correlation rho, and the number of right votes is Beta-Binomial.
With rho = 1 / (alpha + beta + 1) that is the law which ``stability`` fits to recorded debates. As
n grows the accuracy of the majority tends to P(Beta > 1/2), not to 1. The effective number of votes
n / (1 + (n - 1) rho) is an identity of variances, not of accuracies.

Abstention: a juror speaks with probability ``speaks`` and is then right with probability ``right``.
"""

import numpy as np
import numpy.typing as npt

from theory._check import check_int, check_real

Float64 = npt.NDArray[np.float64]


def jury_accuracy(n: int, p: float, rho: float = 0.0) -> float:
    """Return P(the majority of n votes is right), a tie counting one half.

    Parameters
    ----------
    n : int
        >= 1.
    p : float
        In [0, 1], the mean of the probability of a right vote.
    rho : float
        In [0, 1]: 0 for independent votes, 1 for one vote n times.

    Examples
    --------
    >>> [round(jury_accuracy(n, .6, rho), 4) for n in (1, 101) for rho in (0, .2, 1)]
    [0.6, 0.6, 0.6, 0.9791, 0.6698, 0.6]
    """
    size = check_int("n", n, minimum=1)
    mean = check_real("p", p, low=0.0, high=1.0)
    held = check_real("rho", rho, low=0.0, high=1.0)
    law = _votes(size, mean, held)
    right = np.arange(size + 1)
    return float(law[2 * right > size].sum() + 0.5 * law[2 * right == size].sum())


def jury_limit(p: float, rho: float) -> float:
    """Return the limit of `jury_accuracy` for many jurors: P(Beta(p s, (1 - p) s) > 1/2).

    Examples
    --------
    >>> round(jury_limit(.6, .2), 4), jury_limit(.6, 0)
    (0.6724, 1.0)
    """
    from scipy.special import betainc

    mean = check_real("p", p, low=0.0, high=1.0)
    held = check_real("rho", rho, low=0.0, high=1.0)
    if held == 0.0 or mean in (0.0, 1.0):
        return 0.5 if mean == 0.5 else float(mean > 0.5)
    if held == 1.0:
        return mean
    s = 1.0 / held - 1.0
    return float(betainc((1.0 - mean) * s, mean * s, 0.5))


def effective_votes(n: int, rho: float) -> float:
    """Return n / (1 + (n - 1) rho), the independent votes whose mean has the same variance.

    Examples
    --------
    >>> round(effective_votes(7, .2), 3)
    3.182
    """
    size = check_int("n", n, minimum=1)
    held = check_real("rho", rho, low=0.0, high=1.0)
    return size / (1.0 + (size - 1) * held)


def gated_jury_accuracy(n: int, speaks: float, right: float) -> float:
    """Return P(the majority of those who speak is right); a tie, or silence, counts one half.

    Parameters
    ----------
    n : int
        >= 1.
    speaks, right : float
        In [0, 1]: P(a juror speaks), P(the vote is right | the juror speaks).

    Examples
    --------
    >>> round(gated_jury_accuracy(7, 1, .6), 4), round(gated_jury_accuracy(7, .5, .8), 4)
    (0.7102, 0.8825)
    """
    size = check_int("n", n, minimum=1)
    share = check_real("speaks", speaks, low=0.0, high=1.0)
    correct = check_real("right", right, low=0.0, high=1.0)
    spoke = _votes(size, share, 0.0)
    found = [0.5, *(jury_accuracy(m, correct) for m in range(1, size + 1))]
    return float(spoke @ np.array(found))


def _votes(n: int, p: float, rho: float) -> Float64:
    """Law of the number of right votes, shape (n + 1,)."""
    law = np.zeros(n + 1)
    if p in (0.0, 1.0):
        law[round(n * p)] = 1.0
        return law
    if rho == 1.0:
        law[[0, n]] = 1.0 - p, p
        return law
    # by products of ratios, which need no gamma functions: step i adds rho i / (1 - rho) to p
    s = rho / (1.0 - rho)
    steps = np.arange(n)
    up = np.log(p + s * steps).cumsum()
    down = np.log(1.0 - p + s * steps).cumsum()
    both = np.log1p(s * steps).sum()
    from scipy.special import gammaln

    k = np.arange(n + 1)
    chosen = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    head = np.concatenate([[0.0], up])
    tail = np.concatenate([[0.0], down])[::-1]
    return np.asarray(np.exp(chosen + head + tail - both))
