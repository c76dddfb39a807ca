"""Pictures: the rounds of a debate, what is known of a fit, stopping rules, certificates.

Every function takes the axes it draws on and returns them; without axes it opens a pyplot figure.
"""

from stability.plots.certificate import certificate
from stability.plots.inference import cdf_band, intervals, profile
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
    "cdf_band",
    "certificate",
    "distances",
    "expected_items",
    "finding",
    "frontier",
    "heat_map",
    "histogram",
    "histograms",
    "intervals",
    "overview",
    "profile",
]
