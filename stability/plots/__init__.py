"""Pictures: the rounds of a debate, and what stopping rules save and change.

Every function takes the axes it draws on and returns them; without axes it opens a pyplot figure.
"""

from stability.plots.replay import frontier, heat_map
from stability.plots.rounds import (
    distances,
    expected_items,
    finding,
    histogram,
    histograms,
    overview,
)

__all__ = [
    "distances",
    "expected_items",
    "finding",
    "frontier",
    "heat_map",
    "histogram",
    "histograms",
    "overview",
]
