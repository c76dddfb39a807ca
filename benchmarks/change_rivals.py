"""Has anything changed between two rounds? Our rules beside detectors of drift, by simulation.

Items follow .65 Beta(8, 2) + .35 Beta(2, 5), n = 7 agents; an agent repeats its answer with
probability s, else draws anew from its item. A change turns one wrong answer in ten into a right
one, which raises the mean share by about .04. Printed by method and s: the share of pairs of
rounds in which the method speaks of a change when there is none (asked: at most .05), when there
is one, and the median time of one comparison.

Rivals: scipy.stats.ks_2samp on the two histograms (independent samples, which rounds of one debate
are not), and river's KSWIN and ADWIN, which read the shares of the items of both rounds as one
stream in its order. Run: python -m benchmarks.change_rivals
"""

import time

import numpy as np

from stability import Round
from stability.rules import KSRule, SwapTest

N, PAIRS = 7, 400


def answers(rng, items, stickiness, turned):
    """Draw the grades (M, n) of two rounds in a row."""
    easy = rng.random(items) < 0.65
    p = np.where(easy, rng.beta(8, 2, items), rng.beta(2, 5, items))
    first = rng.random((items, N)) < p[:, None]
    anew = rng.random((items, N)) < p[:, None]
    second = np.where(rng.random((items, N)) < stickiness, first, anew)
    return first, second | (rng.random((items, N)) < turned)


def by_rule(rule):
    def says_change(pair):
        one, two = (
            Round.from_codes(1 - g.astype(np.int32), ("right", "wrong"), correct=g.astype(np.int8))
            for g in pair
        )
        state, _ = rule.step(rule.start(N), one)
        begun = time.perf_counter()
        _, said = rule.step(state, two)
        return not said.stop, time.perf_counter() - begun

    return says_change


def by_ks_2samp(pair):
    from scipy.stats import ks_2samp

    begun = time.perf_counter()
    p = ks_2samp(pair[0].sum(axis=1), pair[1].sum(axis=1)).pvalue
    return p < 0.05, time.perf_counter() - begun


def by_stream(make):
    def says_change(pair):
        detector, stream = make(), [grades.mean(axis=1).tolist() for grades in pair]
        for value in stream[0]:
            detector.update(value)
        begun = time.perf_counter()
        found = False
        for value in stream[1]:
            detector.update(value)
            found = found or detector.drift_detected
        return found, time.perf_counter() - begun

    return says_change


def methods():
    found = {
        "SwapTest(statistic='D')": by_rule(SwapTest(statistic="D")),
        "SwapTest(statistic='mean')": by_rule(SwapTest(statistic="mean")),
        "KSRule(epsilon='calibrated')": by_rule(KSRule(epsilon="calibrated", patience=1)),
        "KSRule(epsilon=.05)": by_rule(KSRule(epsilon=0.05, patience=1)),
        "scipy ks_2samp, p < .05": by_ks_2samp,
    }
    try:
        from river.drift import ADWIN, KSWIN
    except ImportError:
        print("river is not installed: pip install river")
    else:
        found["river KSWIN(alpha=.05)"] = by_stream(lambda: KSWIN(alpha=0.05, seed=0))
        found["river KSWIN()"] = by_stream(lambda: KSWIN(seed=0))
        found["river ADWIN()"] = by_stream(ADWIN)
    return found


def main():
    print("| method | M | s | false alarms | found | ms |")
    print("|---|---|---|---|---|---|")
    for name, says_change in methods().items():
        for items in (200, 2000):
            pairs = PAIRS if items == 200 else PAIRS // 4
            for stickiness in (0.0, 0.8):
                shares, times = [], []
                for turned in (0.0, 0.1):
                    rng = np.random.default_rng(0)
                    said = [
                        says_change(answers(rng, items, stickiness, turned)) for _ in range(pairs)
                    ]
                    shares.append(np.mean([change for change, _ in said]))
                    times += [seconds for _, seconds in said]
                told = " | ".join(f"{share:.3f}" for share in shares)
                ms = 1e3 * np.median(times)
                print(f"| {name} | {items} | {stickiness} | {told} | {ms:.3g} |", flush=True)


if __name__ == "__main__":
    main()
