"""Fits of Beta-Binomial mixtures to counts, and distances between fits: arrays in, results out."""

from stability.fit.betabinom import BetaBinomial
from stability.fit.bootstrap import Bootstrap, bootstrap
from stability.fit.distance import EmpiricalDistance, empirical_distance, ks_distance
from stability.fit.drift import Drift
from stability.fit.goodness import Goodness, Overdispersion, goodness_of_fit, overdispersion
from stability.fit.mixture import fit_mixture, fit_mixtures
from stability.fit.null import detection_power, noise_floor, null_distances, stickiness
from stability.fit.posterior import Posterior, Priors, SamplingWarning, posterior
from stability.fit.result import MixtureFit, MixtureFits
from stability.fit.selection import RatioTest, Selection, select_components
from stability.fit.status import FitStatus
from stability.fit.swap import swap_test
from stability.fit.table import CountTable, count_table, histogram

__all__ = [
    "BetaBinomial",
    "Bootstrap",
    "CountTable",
    "Drift",
    "EmpiricalDistance",
    "FitStatus",
    "Goodness",
    "MixtureFit",
    "MixtureFits",
    "Overdispersion",
    "Posterior",
    "Priors",
    "RatioTest",
    "SamplingWarning",
    "Selection",
    "bootstrap",
    "count_table",
    "detection_power",
    "empirical_distance",
    "fit_mixture",
    "fit_mixtures",
    "goodness_of_fit",
    "histogram",
    "ks_distance",
    "noise_floor",
    "null_distances",
    "overdispersion",
    "posterior",
    "select_components",
    "stickiness",
    "swap_test",
]
