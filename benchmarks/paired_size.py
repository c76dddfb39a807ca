"""How often `PairedEquivalence` errs at the margin, and how often it stops where nothing changes.

Run with ``python -m benchmarks.paired_size [runs]``. Size: the true mean change is exactly delta,
and a stop is an error. Adversaries: all-or-nothing items (a share delta of them changes by one, or
a share more changes both ways), rare jumps hidden among many small symmetric changes, skewed
changes, and the item model of the plans with a drift put at delta. The largest size over the
numbers of items is what counts. Power: the item model without a change, at the items of `plan`.
"""

import sys

import numpy as np

from stability.evaluate.plan import plan
from stability.rules.paired import least_items, p_value

DELTA, LEVEL = 0.02, 0.05


def stopped(d, level):
    """Whether each run (rows of d, shape (runs, M)) is called equivalent at this level."""
    items = d.shape[1]
    columns = (d != 0).sum(1), d.sum(1), (d**2).sum(1), (d**3).sum(1)
    cells = zip(*(column.tolist() for column in columns), strict=True)
    return np.array([p_value(items, c, tuple(sums), DELTA, level) <= level for c, *sums in cells])


def all_or_nothing(rng, shape, loss=DELTA, churn=0.0):
    u = rng.random(shape)
    return np.where(u < loss + churn, -1.0, np.where(u < loss + 2 * churn, 1.0, 0.0))


def hidden_jumps(rng, shape, share=0.45, size=1 / 7):
    small = np.where(rng.random(shape) < share, rng.choice([-size, size], shape), 0.0)
    return np.where(rng.random(shape) < DELTA, -1.0, small)


def skewed(rng, shape):
    # -3/7 rarely, +1/7 often: the mean is -delta
    down, up = 0.1, (0.1 * 3 - 7 * DELTA) / 1
    u = rng.random(shape)
    return np.where(u < down, -3 / 7, np.where(u < down + up, 1 / 7, 0.0))


def model(rng, shape, stick=0.8, change=-DELTA, n=7, lag=1):
    easy = rng.random(shape) < 0.65
    p = np.where(easy, rng.beta(8, 2, shape), rng.beta(2, 5, shape))[..., None]
    first = rng.random((*shape, n)) < p
    kept = rng.random((*shape, n)) < stick**lag
    second = np.where(kept, first, rng.random((*shape, n)) < p)
    if change:
        mean = 0.65 * 0.8 + 0.35 * 2 / 7
        second &= rng.random((*shape, n)) >= -change / mean
    return second.mean(-1) - first.mean(-1)


ADVERSARIES = {
    "all or nothing, -.02": all_or_nothing,
    "all or nothing, -.05": lambda rng, shape: all_or_nothing(rng, shape, 0.05),
    "all or nothing, -.02, churn .02": lambda rng, shape: all_or_nothing(rng, shape, DELTA, 0.02),
    "jumps under small changes": hidden_jumps,
    "jumps under rarer ones": lambda rng, shape: hidden_jumps(rng, shape, 0.1),
    "skewed": skewed,
    "item model, s = .8": model,
    "item model, s = 0": lambda rng, shape: model(rng, shape, stick=0.0),
}


def sizes(runs, looks):
    level = LEVEL / looks
    least = least_items(DELTA, level)
    numbers = [*range(least, least + 60, 6), 300, 350, 400, 500, 700, 1000, 2000]
    numbers = sorted({number for number in numbers if number >= least})
    print(f"Level of one look {level:.4f}; at least {least} items; {runs} runs a cell.")
    for name, draw in ADVERSARIES.items():
        rng = np.random.default_rng(1)
        found = {m: stopped(draw(rng, (runs, m)), level).mean() for m in numbers}
        worst = max(found, key=found.get)
        error = np.sqrt(level * (1 - level) / runs)
        told = "  ".join(f"{m}: {found[m]:.4f}" for m in numbers[:: max(1, len(numbers) // 5)])
        print(f"{name:32s} worst {found[worst]:.4f} at M = {worst} (SE {error:.4f})   {told}")


def powers(runs):
    print("Power where nothing changes, at the items of the plan (asked .9):")
    for lag, stick, looks in ((1, 0.8, 1), (1, 0.0, 1), (3, 0.8, 1), (3, 0.8, 7)):
        found = plan(7, delta=DELTA, lag=lag, looks=looks, stickiness=stick)
        rng = np.random.default_rng(2)
        d = model(rng, (runs, found.items), stick=stick, change=0.0, lag=lag)
        share = stopped(d, LEVEL / looks).mean()
        print(f"lag {lag}, s = {stick}, looks {looks}: M = {found.items}, power {share:.3f}")


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    for looks in (1, 7):
        sizes(runs, looks)
    powers(runs)
