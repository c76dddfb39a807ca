"""Size and power of the bootstrap likelihood-ratio test of K = 1 against K = 2; n = 7, M = 200.

Run it with ``python benchmarks/ratio_size.py [REPLICATES]``: the share rejected at .05 with B = 99,
inside the parameter space, at rho = 0 and near it, and for two groups. The chi-square with three
degrees of freedom stands beside it.
"""

import sys

import numpy as np
from scipy import stats

from stability import BetaBinomial, select_components

CASES = {
    "mu .6, rho .20": [(1.0, 0.6, 0.2)],
    "mu .6, rho .05": [(1.0, 0.6, 0.05)],
    "mu .6, rho .01": [(1.0, 0.6, 0.01)],
    "mu .6, rho 0": [(1.0, 0.6, 0.0)],
    "mu .9, rho .10": [(1.0, 0.9, 0.1)],
    "two groups": [(0.4, 0.25, 0.05), (0.6, 0.8, 0.05)],
}


def main():
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("case             rejected at .05    SE   by chi2_3")
    for name, parts in CASES.items():
        law = sum(w * BetaBinomial.from_mean(m, r).pmf(np.arange(8), 7) for w, m, r in parts)
        rng = np.random.default_rng([7, 200])
        hits = np.zeros(2)
        for i in range(replicates):
            hist = rng.multinomial(200, law)
            (one,) = select_components(hist, 7, replicates=99, seed=i).tests
            hits += [one.p <= 0.05, stats.chi2.sf(one.statistic, 3) <= 0.05]
        share, wrong = hits / replicates
        error = np.sqrt(share * (1 - share) / replicates)
        print(f"{name:16} {share:10.3f}    {error:7.3f}   {wrong:.3f}")


if __name__ == "__main__":
    main()
