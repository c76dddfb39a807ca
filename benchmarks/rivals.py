"""What a user would write with scipy: textbook EM and direct minimisation, K = 2.

Both work on one table of counts in (alpha, beta) with scipy's betabinom, from one moment start,
like the scripts published with arXiv 2510.12697. They return the log-likelihood they reach.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import betabinom

BOUNDS = [(1e-3, 1e4)] * 2


def _start(k, n):
    p = k.mean() / n
    return np.array([2 * p, 2 * (1 - p) + 1]), np.array([6 * p + 1, 6 * (1 - p)])


def textbook_em(k, n, steps=200, gain=1e-8):
    """EM on per-item counts with an L-BFGS-B M-step (numerical gradient)."""
    first, second = _start(k, n)
    weight, last = 0.5, -np.inf
    for _ in range(steps):
        a = weight * betabinom.pmf(k, n, *first)
        b = (1 - weight) * betabinom.pmf(k, n, *second)
        level = np.log(a + b).sum()
        if level - last < gain:
            break
        last = level
        share = a / (a + b)
        weight = share.mean()
        for part, resp in ((first, share), (second, 1 - share)):

            def loss(x, resp=resp):
                return -(resp * betabinom.logpmf(k, n, *x)).sum()

            part[:] = minimize(loss, part, method="L-BFGS-B", bounds=BOUNDS).x
    return last


def scipy_minimize(k, n):
    """L-BFGS-B on the observed log-likelihood of the items in (w, alpha, beta, alpha, beta)."""
    first, second = _start(k, n)

    def loss(x):
        p = x[0] * betabinom.pmf(k, n, x[1], x[2]) + (1 - x[0]) * betabinom.pmf(k, n, x[3], x[4])
        return -np.log(np.maximum(p, 1e-300)).sum()

    start = np.concatenate([[0.5], first, second])
    bounds = [(1e-6, 1 - 1e-6), *BOUNDS, *BOUNDS]
    return -minimize(loss, start, method="L-BFGS-B", bounds=bounds).fun
