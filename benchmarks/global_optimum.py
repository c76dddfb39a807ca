"""How often the default search reaches the best of many random starts.

``python benchmarks/global_optimum.py [tables] [starts]`` (2,000 and 100 by default): random
histograms with n = 7, M in {50, 200, 1000} and two truths; a miss is a log-likelihood more than
1e-6 below the best of the random starts of the same Newton kernel.
"""

import sys

import numpy as np

from benchmarks.tables import TRUTHS, simulate
from stability._kernels import mixture as kernels
from stability._kernels.lanes import WIDTH
from stability.fit.search import search

N = 7


def best_of_random(hist, starts, rng):
    """Best log-likelihood of a histogram (n + 1,) over random starts in the box."""
    cells = np.flatnonzero(hist)
    k, n, freq = cells, np.full(cells.size, N), hist[cells].astype(float)
    lead, size = np.empty(cells.size), 2
    kernels.lead_factors(k, n, lead)
    buf = np.zeros((kernels.BUFFER, WIDTH))
    pre, q = kernels.component_scratch(size, N, cells.size)
    tails, ends = np.empty((3 * N + 3, WIDTH)), np.empty((WIDTH, 4))
    best = -np.inf
    for first in range(0, starts, WIDTH):
        many = min(WIDTH, starts - first)
        buf[:5] = rng.random((5, WIDTH))
        # half of the starts near binomials, where most maxima are
        near = rng.random(WIDTH) < 0.5
        buf[[2, 4]] = np.where(near, buf[[2, 4]] ** 3, buf[[2, 4]])
        kernels.newton(buf, size, many, k, n, freq, lead, N, pre, q, tails, np.nan, ends)
        best = max(best, ends[:many, 0].max())
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
