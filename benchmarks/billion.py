"""A billion debates of the echo chamber reduced to a table: time and memory.

Run it with ``python benchmarks/billion.py [DEBATES]``. Asked: below 3 minutes on two cores and
below 500 MB. The accuracies are set beside the exact chain, in standard errors.
"""

import resource
import sys
import time

from sims import SCENARIOS, simulate
from theory import CountChain


def main():
    debates = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**9
    scenario = SCENARIOS["echo_chamber"]
    simulate(scenario, debates=1000, rounds=10, record="accuracy")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    found = simulate(scenario, debates=debates, rounds=10, record="accuracy", threads=2)
    taken = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    frame = found.to_frame()
    chain = CountChain(scenario.model)
    exact = [chain.accuracy(t) for t in range(10)]
    frame["errors_off"] = (frame["accuracy"] - exact) / frame["standard_error"]
    print(frame.to_string(index=False))
    print(
        f"\n{debates:.0e} debates of 10 rounds on two threads: {taken:.1f} s, "
        f"{debates / taken / 1e6:.1f} M a second; "
        f"peak memory {after:.0f} MB, {before:.0f} MB before"
    )


if __name__ == "__main__":
    main()
