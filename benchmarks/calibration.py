"""Simulation-based calibration of the posterior: ranks of label-free figures must be uniform.

Run it with ``python benchmarks/calibration.py [REPLICATES]``: truths from the priors, two rounds of
60 items and 7 agents, 99 thinned draws each; the overall mean, P(k <= 2) and D of the two rounds.
Prints the p-value of a chi-square over ten bins, which is small when the posterior is wrong.
"""

import sys
import warnings

import numpy as np
from scipy import stats

from stability import BetaBinomial, Priors, posterior


def one_round(prior, rng, seed):
    weights, mean, rho = prior.rvs(2, rng)
    law = sum(
        w * BetaBinomial.from_mean(m, r).pmf(np.arange(8), 7)
        for w, m, r in zip(weights, mean, rho, strict=True)
    )
    freq = rng.multinomial(60, law / law.sum())
    found = posterior(range(8), 7, freq=freq, draws=250, warmup=200, sweeps=20, seed=seed)
    kept = slice(None, None, 10)
    cdf = found.cdf(7).reshape(-1, 8)[kept][:99]
    return float(weights @ mean), np.cumsum(law), found.draws["overall"].reshape(-1)[kept][:99], cdf


def main():
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    warnings.simplefilter("ignore")
    rng, prior = np.random.default_rng(77), Priors()
    ranks = {"overall mean": [], "P(k <= 2)": [], "D": []}
    for i in range(replicates):
        first, second = (one_round(prior, rng, 2 * i + part) for part in range(2))
        ranks["overall mean"].append((first[2] < first[0]).sum())
        ranks["P(k <= 2)"].append((first[3][:, 2] < first[1][2]).sum())
        truth = np.abs(first[1] - second[1]).max()
        ranks["D"].append((np.abs(first[3] - second[3]).max(axis=1) < truth).sum())
    print("figure        ranks in ten bins                        p")
    for name, values in ranks.items():
        bins = np.bincount(np.array(values) // 10, minlength=10)
        shown = " ".join(map(str, bins))
        print(f"{name:12}  {shown:38}  {stats.chisquare(bins).pvalue:.3f}")


if __name__ == "__main__":
    main()
