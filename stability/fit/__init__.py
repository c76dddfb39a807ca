"""Fits of Beta-Binomial mixtures to counts, and distances between fits: arrays in, results out."""

from stability.fit.betabinom import BetaBinomial
from stability.fit.distance import EmpiricalDistance, empirical_distance, ks_distance
from stability.fit.mixture import fit_mixture, fit_mixtures
from stability.fit.null import noise_floor, stickiness
from stability.fit.result import MixtureFit, MixtureFits
from stability.fit.status import FitStatus
from stability.fit.table import CountTable, count_table, histogram

__all__ = [
    "BetaBinomial",
    "CountTable",
    "EmpiricalDistance",
    "FitStatus",
    "MixtureFit",
    "MixtureFits",
    "count_table",
    "empirical_distance",
    "fit_mixture",
    "fit_mixtures",
    "histogram",
    "ks_distance",
    "noise_floor",
    "stickiness",
]
