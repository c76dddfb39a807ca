"""Simulated count tables shared by the benchmarks: histograms of n agents over M items."""

import numpy as np

SEPARATED = (0.4, (2.0, 6.0), (12.0, 2.0))
OVERLAPPING = (0.5, (3.0, 5.0), (5.0, 3.0))
TRUTHS = {"separated": SEPARATED, "overlapping": OVERLAPPING}


def simulate(tables, items, n, truth, seed):
    """Histograms (tables, n + 1) of a mixture w BB(a, b) + (1 - w) BB(c, d)."""
    rng = np.random.default_rng(seed)
    weight, first, second = truth
    shape = (tables, items)
    p = np.where(rng.random(shape) < weight, rng.beta(*first, shape), rng.beta(*second, shape))
    k = rng.binomial(n, p)
    return np.stack([(k == j).sum(axis=1) for j in range(n + 1)], axis=1)
