"""The first call of each path of `simulate` in a fresh interpreter, compiled and from the cache.

Run it with ``python benchmarks/first_call.py``. Asked: below 10 s cold and .2 s cached. "numba
alone" is a kernel that adds one: what numba itself takes for the first kernel of a process, as it
loads its types and, for its linear algebra, scipy.linalg. The last column is the first call after
that.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PATHS = {
    "numba alone": "add_one(1)",
    "tabulated": "simulate(model, debates=1000, rounds=10)",
    "direct": "simulate(model, debates=1000, rounds=10, record='answers')",
    "scenario": "simulate(Scenario(model, graph='ring'), debates=1000, rounds=10)",
    "panel": "simulate(Panel(), debates=1000, rounds=10)",
}
CODE = """
import time
from one import add_one
from sims import Panel, Scenario, simulate
from theory import DebateModel
model = DebateModel.echo_chamber(7, 3)
if {warm}:
    add_one(1)
start = time.perf_counter()
{call}
print(time.perf_counter() - start)
"""


ONE = """
import numba

@numba.njit(cache=True)
def add_one(x):
    return x + 1
"""


def seconds(call, folder, warm=False):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(call=call, warm=warm)],
        env=os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache", "PYTHONPATH": folder},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def main():
    print("path         cold (s)  cached (s)  cached, after numba alone (s); medians of 5")
    for name, call in PATHS.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "one.py").write_text(ONE)
            cold = seconds(call, folder)
            cached, warm = (
                sorted(seconds(call, folder, after) for _ in range(5))[2] for after in (False, True)
            )
        print(f"{name:11}  {cold:8.2f}  {cached:10.3f}  {warm:10.3f}")


if __name__ == "__main__":
    main()
