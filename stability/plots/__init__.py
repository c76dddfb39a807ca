"""Pictures: the rounds of a debate, what stopping rules save and change, certificates.

Every function takes the axes it draws on and returns them; without axes it opens a pyplot figure.
"""

from stability.plots.certificate import certificate
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
    "certificate",
    "distances",
    "expected_items",
    "finding",
    "frontier",
    "heat_map",
    "histogram",
    "histograms",
    "overview",
]
