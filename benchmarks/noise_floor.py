"""Measure the constants of ``stability.fit.null``: sqrt(M) times the 95 % quantile of D.

Seven agents; items of probability .65 Beta(8, 2) + .35 Beta(2, 5), kept between the two rounds;
with probability s an agent repeats its answer, otherwise it draws anew from its item. Run with
``python benchmarks/noise_floor.py [pairs]``; prints a row for each M, s and space with the
standard error of the constant (by the order statistics around the quantile).
"""

import sys

import numpy as np

from stability.fit import fit_mixtures, histogram, ks_distance

AGENTS = 7


def pair(rng, items, stick):
    easy = rng.random(items) < 0.65
    p = np.where(easy, rng.beta(8, 2, items), rng.beta(2, 5, items))[:, None]
    first = rng.random((items, AGENTS)) < p
    again = np.where(rng.random((items, AGENTS)) < stick, first, rng.random((items, AGENTS)) < p)
    return histogram(first.sum(axis=1), AGENTS), histogram(again.sum(axis=1), AGENTS)


def quantile(values):
    """95 % quantile and its standard error from the neighbouring order statistics."""
    ranked = np.sort(values)
    spread = np.sqrt(values.size * 0.95 * 0.05)
    middle = 0.95 * values.size
    low, high = ranked[int(middle - spread)], ranked[min(values.size - 1, int(middle + spread))]
    return np.quantile(values, 0.95), (high - low) / 2


def main(pairs):
    print("   M     s  space        c = sqrt(M) q95    SE    q95")
    for items in (100, 200, 500, 1000, 2000):
        for stick in (0.0, 0.5, 0.8, 0.95):
            rng = np.random.default_rng([items, int(100 * stick)])
            hists = np.array([pair(rng, items, stick) for _ in range(pairs)])
            first, again = (fit_mixtures(hists[:, r], AGENTS) for r in (0, 1))
            gaps = np.abs(np.cumsum(hists[:, 0] - hists[:, 1], axis=1)).max(axis=1) / items
            found = {"empirical": gaps}
            found["predictive"] = np.array([ks_distance(first[i], again[i]) for i in range(pairs)])
            found["latent"] = np.array(
                [ks_distance(first[i], again[i], space="latent", grid=1000) for i in range(pairs)]
            )
            for space, values in found.items():
                q95, error = quantile(values)
                root = items**0.5
                print(
                    f"{items:5d} {stick:5.2f}  {space:10s} {root * q95:12.2f} {root * error:11.2f}"
                    f" {q95:7.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
