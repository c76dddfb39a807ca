"""How often the default search reaches the best of many random starts.

``python benchmarks/global_optimum.py [tables] [starts]`` (2,000 and 100 by default): random
histograms with n = 7, M in {50, 200, 1000} and two truths; a miss is a log-likelihood more than
1e-6 below the best of the random starts of the same Newton kernel.
"""

import sys

import numpy as np

from benchmarks.tables import TRUTHS, simulate
from stability._kernels import mixture as kernels
from stability.fit.search import search

N = 7


def best_of_random(hist, starts, rng):
    """Best log-likelihood of a histogram (n + 1,) over random starts in the box."""
    cells = np.flatnonzero(hist)
    k, n, freq = cells, np.full(cells.size, N), hist[cells].astype(float)
    lead, size = np.empty(cells.size), 2
    kernels.lead_factors(k, n, lead)
    buf, free = np.empty(kernels.BUFFER), np.empty(8, np.int64)
    pre, q = np.empty((size * (N + 1), 16)), np.empty((size * cells.size, 5))
    tails, nowhere = np.empty((3, N + 1)), np.full(5, np.nan)
    best = -np.inf
    for _ in range(starts):
        buf[:5] = rng.random(5)
        # half of the starts near binomials, where most maxima are
        if rng.random() < 0.5:
            buf[[2, 4]] = rng.random(2) ** 3
        level = kernels.newton(
            buf, size, k, n, freq, lead, N, pre, q, tails, free, -np.inf, nowhere, np.inf
        )[1]
        best = max(best, level)
    return best


def main(tables, starts):
    rng = np.random.default_rng(20)
    cases = [(name, items) for name in TRUTHS for items in (50, 200, 1000)]
    missed = above = done = 0
    for row, (name, items) in enumerate(cases):
        share = tables // len(cases) + (row < tables % len(cases))
        hist = simulate(share, items, N, TRUTHS[name], 100 + row)
        ours = search(np.arange(N + 1), np.full(N + 1, N), hist.astype(float), 2)[1][:, 0]
        best = np.array([best_of_random(one, starts, rng) for one in hist])
        misses = int((ours < best - 1e-6).sum())
        higher = int((ours > best + 1e-6).sum())
        print(
            f"{name:12s} M={items:5d}: {share} tables, {misses} missed, {higher} above", flush=True
        )
        missed, above, done = missed + misses, above + higher, done + share
    print(
        f"reached the best of {starts} random starts in {100 * (1 - missed / done):.2f} % of "
        f"{done} tables; above it in {above}"
    )


if __name__ == "__main__":
    main(*(int(a) for a in (sys.argv[1:] + ["2000", "100"][len(sys.argv) - 1 :])))
