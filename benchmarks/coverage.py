"""Coverage of profile and Wald intervals: n = 15, M = 500, two separated components.

Run it with ``python benchmarks/coverage.py [REPLICATES] [SEEDS]``: .4 BB(mu .2, rho .05) + .6 BB(mu
.8, rho .08). Asked: profile intervals of means and weights between 93 and 97 % over 2,000
replicates. With several seeds the failure rate over seeds is printed last.
"""

import sys

import numpy as np

from stability import BetaBinomial, fit_mixture

TRUTH = {"weights": (0.4, 0.6), "mean": (0.2, 0.8), "rho": (0.05, 0.08)}
FIGURES = [("mean", 0), ("mean", 1), ("weights", 0), ("rho", 0), ("rho", 1)]


def run(replicates, seed):
    k = np.arange(16)
    law = sum(
        w * BetaBinomial.from_mean(m, r).pmf(k, 15) for w, m, r in zip(*TRUTH.values(), strict=True)
    )
    rng = np.random.default_rng([15, 500, seed])
    hits = np.zeros((len(FIGURES), 2))
    without = np.zeros(len(FIGURES))
    for _ in range(replicates):
        fit = fit_mixture(k, 15, freq=rng.multinomial(500, law))
        errors = fit.standard_errors()
        for place, (name, c) in enumerate(FIGURES):
            truth = TRUTH[name][c]
            found = fit.profile_interval(name, c)
            hits[place, 0] += found.low <= truth <= found.high
            wald = errors.interval(name, c)
            without[place] += wald is None
            hits[place, 1] += wald is not None and wald[0] <= truth <= wald[1]
    return hits / replicates, without


def main():
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failures = 0
    for seed in range(seeds):
        shares, without = run(replicates, seed)
        if seed == 0:
            print("figure       profile    SE    Wald   without Wald")
            for (name, c), (profile, wald), none in zip(FIGURES, shares, without, strict=True):
                error = np.sqrt(profile * (1 - profile) / replicates)
                figures = f"{profile:.4f}  {error:.4f}  {wald:.4f}  {none:.0f}"
                print(f"{name}[{c}]".ljust(12), figures)
        failures += bool(((shares[:3, 0] < 0.93) | (shares[:3, 0] > 0.97)).any())
    print(f"outside 93..97 % for a mean or a weight: {failures} of {seeds} seeds")


if __name__ == "__main__":
    main()
