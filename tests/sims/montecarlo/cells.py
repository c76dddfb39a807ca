"""Cells of the tests of `sweep`; a cell that dies leaves a mark, so that it dies once."""

import os
import signal
import time
from pathlib import Path

import numpy as np


def draw(*, seed, a=0, b="x"):
    value = float(np.random.default_rng(seed).normal())
    return {"value": value, "twice": 2 * a, "text": b * 2, "odd": seed % 2 == 1}


def several(*, seed, a):
    return [{"t": t, "value": seed % (t + 2), "none": None if t else 1.5} for t in range(a)]


def fails(*, seed, a):
    if a == 2:
        raise RuntimeError("not two")
    return {"value": seed}


def dies_once(*, seed, a, marks):
    mark = Path(marks) / f"{a}"
    if a % 3 == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(seed=seed, a=a)


def always_dies(*, seed, a):
    if a == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": seed}


def slow(*, seed, a):
    time.sleep(0.05)
    return draw(seed=seed, a=a)
