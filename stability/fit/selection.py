"""How many components do the counts support?

K components have 3K - 1 parameters and a table of n + 1 cells has n free ones: with n < 3K - 1 the
parameters are not identifiable, and such a K is not compared. For the others

    AIC = 2 p - 2 l,   BIC = p log M - 2 l,   ICL = BIC - 2 sum_i sum_c r_ic log r_ic,

with p = 3K - 1 and the responsibilities r, and the likelihood-ratio test of K against K + 1:
2 (l_{K+1} - l_K), cut at 0, against its law under the fitted K components. A chi-square would be
wrong: under the null the weight lies at its bound and the added component is not identifiable. The
law is found by the parametric bootstrap, a full search for both in each of B replicates,
p = (1 + hits) / (1 + B). It is a bootstrap at a fitted null: close to its level inside the
parameter space, and without a guarantee where the null itself lies at rho = 0 or near it.

Source: McLachlan, Applied Statistics 36 (1987), the bootstrap test; Biernacki, Celeux and Govaert,
IEEE TPAMI 22 (2000), ICL.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stability._check import check_int, check_real
from stability.fit.bootstrap import refit, resample
from stability.fit.mixture import MAX_COMPONENTS, fit_mixture
from stability.fit.result import MixtureFit

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("aic", "bic", "icl", "lrt")


@dataclass(frozen=True)
class RatioTest:
    """The likelihood-ratio test of K components against K + 1.

    Attributes
    ----------
    null, alternative : int
        K and K + 1.
    statistic : float
        2 (l_{K+1} - l_K), at least 0.
    p : float
        (1 + replicates at or above the statistic) / (1 + B).
    replicates : int
        B.
    """

    null: int
    alternative: int
    statistic: float
    p: float
    replicates: int


@dataclass(frozen=True, eq=False)
class Selection:
    """Fits with K = 1, 2, ... compared.

    Attributes
    ----------
    fits : mapping of int to MixtureFit
        By K, those that are identifiable; K = 1 always.
    icl : mapping of int to float
    tests : tuple of RatioTest
        Of neighbouring K.
    not_identifiable : tuple of int
        K that n is too small for.
    level : float
        Of the tests in ``best["lrt"]``.
    best : mapping of str to int
        K by "aic", "bic" and "icl", the least value; by "lrt" the first K that is not rejected
        against K + 1.
    """

    fits: Mapping[int, MixtureFit]
    icl: Mapping[int, float]
    tests: tuple[RatioTest, ...]
    not_identifiable: tuple[int, ...]
    level: float
    best: Mapping[str, int]

    def to_frame(self) -> "pd.DataFrame":
        """Return a row a K: n_components, parameters, loglik, aic, bic, icl, lrt, p, status."""
        import pandas as pd

        tests = {one.alternative: one for one in self.tests}
        rows = []
        for size, fit in self.fits.items():
            one = tests.get(size)
            rows.append(
                {
                    "n_components": size,
                    "parameters": fit.n_parameters,
                    "loglik": fit.loglik,
                    "aic": fit.aic,
                    "bic": fit.bic,
                    "icl": self.icl[size],
                    "lrt": None if one is None else one.statistic,
                    "p": None if one is None else one.p,
                    "status": fit.status.value,
                }
            )
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """Return the comparison as a readable table."""
        first = self.fits[1]
        lines = [f"Components of {first.n_items} items", "  K      loglik       aic       bic"]
        lines[-1] += "       icl   2(l_K - l_K-1)   p"
        tests = {one.alternative: one for one in self.tests}
        for size, fit in self.fits.items():
            line = f"  {size} {fit.loglik:11.2f} {fit.aic:9.2f} {fit.bic:9.2f} "
            line += f"{self.icl[size]:9.2f}"
            if size in tests:
                line += f" {tests[size].statistic:16.2f}   {tests[size].p:.3g}"
            lines.append(line)
        picks = ", ".join(f"{name.upper()} {size}" for name, size in self.best.items())
        lines.append(f"chosen by {picks}")
        if self.tests:
            lines.append(
                f"p by the parametric bootstrap, B = {self.tests[0].replicates}, level "
                f"{self.level:g}"
            )
        if self.not_identifiable:
            names = ", ".join(map(str, self.not_identifiable))
            lines.append(f"not compared, n is too small for them: K = {names}")
        return "\n".join(lines)


def select_components(
    hist: npt.ArrayLike,
    n: int,
    *,
    max_components: int = MAX_COMPONENTS,
    replicates: int = 199,
    level: float = 0.05,
    seed: int = 0,
) -> Selection:
    """Compare numbers of components.

    Parameters
    ----------
    hist : array_like of int, shape (n + 1,)
        Items with k = 0..n correct agents.
    n : int
        Agents, >= 1.
    max_components : {1, 2, 3}
    replicates : int
        B >= 19, of each test.
    level : float
        In (0, 1), of the tests.
    seed : int
        >= 0.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        When an argument is out of range.

    Examples
    --------
    >>> found = select_components([40, 20, 5, 2, 2, 4, 30, 110], 7)
    >>> found.best["bic"], found.tests[0].p
    (2, 0.005)
    """
    agents = check_int("n", n, minimum=1)
    most = check_int("max_components", max_components, minimum=1, maximum=MAX_COMPONENTS)
    check_int("replicates", replicates, minimum=19)
    check_int("seed", seed, minimum=0)
    check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
    if np.shape(hist) != (agents + 1,):
        raise ValueError(
            f"`hist` must have the shape (n + 1,) = ({agents + 1},), got {np.shape(hist)}"
        )
    table = {"k": range(agents + 1), "n": agents, "freq": hist}
    known = [size for size in range(1, most + 1) if size == 1 or agents >= 3 * size - 1]
    fits = {size: fit_mixture(**table, n_components=size) for size in known}  # type: ignore[arg-type]
    icl = {size: fit.bic + 2.0 * _entropy(fit) for size, fit in fits.items()}
    sources = np.random.SeedSequence(seed).spawn(len(known))
    tests = tuple(
        _test(fits[size], fits[size + 1], replicates, np.random.default_rng(source))
        for size, source in zip(known[:-1], sources, strict=False)
    )
    best = {
        "aic": min(known, key=lambda size: fits[size].aic),
        "bic": min(known, key=lambda size: fits[size].bic),
        "icl": min(known, key=lambda size: icl[size]),
        "lrt": next((one.null for one in tests if one.p > level), known[-1]),
    }
    missing = tuple(size for size in range(1, most + 1) if size not in known)
    return Selection(fits, icl, tests, missing, level, best)


def _test(
    null: MixtureFit, other: MixtureFit, replicates: int, rng: np.random.Generator
) -> RatioTest:
    """The bootstrap test of one more component."""
    statistic = max(0.0, 2.0 * (other.loglik - null.loglik))
    drawn = ratio_null(null, replicates, rng)
    # equal up to the rounding of two log-likelihoods
    slack = 1e-9 * max(1.0, abs(null.loglik))
    hits = int((drawn >= statistic - slack).sum())
    return RatioTest(
        null.n_components,
        other.n_components,
        statistic,
        (1 + hits) / (1 + replicates),
        replicates,
    )


def ratio_null(
    null: MixtureFit, replicates: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return 2 (l_{K+1} - l_K), cut at 0, of tables drawn from a fit with K components.

    Examples
    --------
    >>> fit = fit_mixture([2, 3, 4, 5], 7, n_components=1)
    >>> bool((ratio_null(fit, 5, np.random.default_rng(0)) >= 0).all())
    True
    """
    k, n, tables = resample(null, "parametric", replicates, rng)
    few, more = (
        refit(k, n, tables, size)[1] for size in (null.n_components, null.n_components + 1)
    )
    found: npt.NDArray[np.float64] = np.maximum(0.0, 2.0 * (more - few))
    return found


def _entropy(fit: MixtureFit) -> float:
    """-sum over items and components of r log r."""
    shares = fit.responsibilities(fit.counts.k, fit.counts.n)
    logs = np.log(np.where(shares > 0.0, shares, 1.0))
    return -float(fit.counts.freq @ (shares * logs).sum(axis=1))
