"""The contract suite on other people's estimators of the Beta-Binomial.

Run it with ``python benchmarks/third_party.py``, where scipy and, if wanted, ``pip install bbmix
betabinomial scikit-learn`` are installed. Prints which clauses each violates, with the smallest
example. They promise maximum likelihood; none of them takes frequencies, so rows are repeated.
"""

import contextlib
import importlib
import io
import sys
import warnings

import numpy as np
from scipy import stats

from stability.testing import check_estimator


def rows(k, n, freq):
    return (np.repeat(values, np.asarray(freq)) for values in (k, n))


def scipy_fit(k, n, freq):
    """scipy.stats.fit of betabinom: one n, given by fixed bounds."""
    k, n = rows(k, n, freq)
    size = int(n[0])
    found = stats.fit(stats.betabinom, k, bounds=[(size, size), (1e-3, 1e3), (1e-3, 1e3)])
    return found.params.a, found.params.b, k, n


def betabinomial_infer(k, n, freq):
    """The fixed-point iteration of the package betabinomial."""
    model = importlib.import_module("betabinomial").BetaBinomial()
    k, n = rows(k, n, freq)
    with contextlib.redirect_stderr(io.StringIO()):
        model.infer(k[None, :], n[None, :])
    return float(model.alpha[0, 0]), float(model.beta[0, 0]), k, n


def bbmix_em(k, n, freq):
    """The EM of the package bbmix with one component."""
    model = importlib.import_module("bbmix.models").MixtureBetaBinomial(n_components=1)
    k, n = rows(k, n, freq)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        params = model.fit((k, n), max_iters=200, init_method="random")
    return float(params[0]), float(params[1]), k, n


READ = {
    "pmf": lambda found, k, n: stats.betabinom.pmf(k, n, found[0], found[1]),
    "loglik": lambda found: float(
        stats.betabinom.logpmf(found[2], found[3], found[0], found[1]).sum()
    ),
    "mean": lambda found: found[0] / (found[0] + found[1]),
}


def main():
    warnings.simplefilter("ignore")
    # what they see is printed by some of them
    for fit, examples in ((scipy_fit, 10), (betabinomial_infer, 40), (bbmix_em, 15)):
        try:
            importlib.import_module(
                {"betabinomial_infer": "betabinomial", "bbmix_em": "bbmix.models"}.get(
                    fit.__name__, "scipy"
                )
            )
        except ImportError as error:
            print(f"{fit.__name__}: not installed ({error})\n")
            continue
        report = check_estimator(
            fit,
            **READ,
            claims={"maximum_likelihood", "mirror", "permutation", "frequency"},
            tolerance=1e-2,
            equal_n=True,
            max_examples=examples,
            raises=False,
        )
        print(str(report)[:4000], "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
