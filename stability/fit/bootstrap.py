"""The bootstrap of a mixture fit: how its figures vary when the items are drawn anew.

``parametric`` draws the items from the fitted mixture, each with its own n; ``items`` draws them
from the table with replacement, n and all. Items of one cell are interchangeable, so that a
resample is a multinomial draw over cells, and its refit costs as much as that of a histogram. Each
refit is a full search, in numba.

Near a bound of the parameter space, where half of all small two-component fits lie, neither is
guaranteed to cover (Andrews, Econometrica 68 (2000)); components are ordered by their means in each
replicate. Label-free figures, mean and CDF, do not have the second problem.

Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability._kernels.ends import CAPPED
from stability._kernels.mixture import mixture_law
from stability.fit.distance import modal_n
from stability.fit.mixture import check_threads
from stability.fit.result import read_ends
from stability.fit.search import search

if TYPE_CHECKING:
    import pandas as pd

    from stability.fit.result import MixtureFit

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Replicates of a figure.

    Attributes
    ----------
    what : {"params", "cdf", "mean"}
    method : {"parametric", "items"}
    estimates : mapping of str to ndarray
        Of the fit itself: "weights", "mean", "rho" (K,) for params; "cdf" (n + 1,) at the modal n;
        "mean" (), the mean of the mixture, for mean.
    draws : mapping of str to ndarray, shape (B, ...)
        Of the refits, read-only.
    seed : int
    capped : int
        Refits that ended at the iteration cap; they are kept.
    """

    what: str
    method: str
    estimates: Mapping[str, Float]
    draws: Mapping[str, Float]
    seed: int
    capped: int

    @property
    def replicates(self) -> int:
        """B."""
        return len(next(iter(self.draws.values())))

    def standard_error(self, name: str) -> Float:
        """Return the standard deviation of the replicates, shape (...)."""
        return np.asarray(self._named(name).std(axis=0, ddof=1))

    def interval(
        self, name: str, level: float = 0.95, kind: str = "percentile"
    ) -> tuple[Float, Float]:
        """Return the ends of an interval, each of shape (...).

        Parameters
        ----------
        name : str
            Of ``draws``.
        level : float
            In (0, 1).
        kind : {"percentile", "basic"}
            Quantiles q of the replicates, or 2 estimate - q turned round, cut to [0, 1].
        """
        draws = self._named(name)
        check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
        check_choice("kind", kind, ("percentile", "basic"))
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
        if kind == "basic":
            centre = 2.0 * self.estimates[name]
            low, high = np.clip(centre - high, 0.0, 1.0), np.clip(centre - low, 0.0, 1.0)
        return np.asarray(low), np.asarray(high)

    def band(self, level: float = 0.95) -> tuple[Float, Float]:
        """Return a band that holds the whole CDF at once: estimate +- the quantile of sup |.|."""
        draws, centre = self._named("cdf"), self.estimates["cdf"]
        check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
        half = float(np.quantile(np.abs(draws - centre).max(axis=1), level))
        low, high = np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
        low[-1] = high[-1] = 1.0
        return low, high

    def to_frame(self) -> "pd.DataFrame":
        """Return a row a number: name, place, estimate, standard_error, low and high at 95 %."""
        import pandas as pd

        rows = []
        for name, centre in self.estimates.items():
            error, (low, high) = self.standard_error(name), self.interval(name)
            for place in np.ndindex(centre.shape):
                rows.append(
                    {
                        "name": name,
                        "place": place[0] if place else 0,
                        "estimate": float(centre[place]),
                        "standard_error": float(error[place]),
                        "low": float(low[place]),
                        "high": float(high[place]),
                    }
                )
        return pd.DataFrame(rows)

    def _named(self, name: str) -> Float:
        return self.draws[check_choice("name", name, self.draws)]


def bootstrap(
    fit: "MixtureFit",
    what: str = "params",
    method: str = "parametric",
    *,
    replicates: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> Bootstrap:
    """Refit a mixture to resampled items.

    Parameters
    ----------
    fit : MixtureFit
        Its ``counts`` are resampled, its K components refitted.
    what : {"params", "cdf", "mean"}
        What is kept of each refit.
    method : {"parametric", "items"}
    replicates : int
        B >= 2.
    seed : int
        >= 0.
    threads : int, optional
        Threads that share the refits; all cores by default. The result does not depend on it.

    Returns
    -------
    Bootstrap

    Raises
    ------
    ValueError
        When an argument is out of range.

    Notes
    -----
    At n = 7, 200 items and K = 2 a refit takes some 100 us.

    Examples
    --------
    >>> from stability import fit_mixture
    >>> fit = fit_mixture([0, 1, 6, 7], 7, freq=[40, 20, 30, 110])
    >>> found = bootstrap(fit, "mean", replicates=500)
    >>> low, high = found.interval("mean")
    >>> bool(low < fit.weights @ fit.mean < high)
    True
    """
    check_choice("what", what, ("params", "cdf", "mean"))
    check_choice("method", method, ("parametric", "items"))
    check_int("replicates", replicates, minimum=2)
    check_int("seed", seed, minimum=0)
    k, n, tables = resample(fit, method, replicates, np.random.default_rng(seed))
    parts, _, capped = refit(k, n, tables, fit.n_components, threads)
    reference = modal_n(fit)
    draws = _figures(what, parts, reference)
    own = np.stack([fit.weights, fit.mean, fit.rho])[:, None, :]
    estimates = {name: values[0] for name, values in _figures(what, own, reference).items()}
    for values in draws.values():
        values.setflags(write=False)
    return Bootstrap(what, method, estimates, draws, seed, capped)


def resample(
    fit: "MixtureFit", method: str, replicates: int, rng: np.random.Generator
) -> tuple[Int64, Int64, Float]:
    """Return cells k, n (R,) and resampled frequencies (B, R).

    Examples
    --------
    >>> from stability import fit_mixture
    >>> fit = fit_mixture([1, 2], [2, 3])
    >>> k, n, tables = resample(fit, "parametric", 4, np.random.default_rng(0))
    >>> n.tolist(), tables.sum(axis=1).tolist()
    ([2, 2, 2, 3, 3, 3, 3], [2.0, 2.0, 2.0, 2.0])
    """
    table = fit.counts
    if method == "items":
        share = table.freq / table.freq.sum()
        drawn = rng.multinomial(fit.n_items, share, size=replicates)
        return table.k.copy(), table.n.copy(), drawn.astype(np.float64)
    sizes, where = np.unique(table.n, return_inverse=True)
    items = np.bincount(where, weights=table.freq).astype(np.int64)
    parts = [
        rng.multinomial(number, fit.law(size), size=replicates)
        for size, number in zip(sizes.tolist(), items.tolist(), strict=True)
    ]
    k = np.concatenate([np.arange(size + 1) for size in sizes.tolist()])
    return k, np.repeat(sizes, sizes + 1), np.concatenate(parts, axis=1).astype(np.float64)


def refit(
    k: Int64, n: Int64, tables: Float, size: int, threads: int | None = None
) -> tuple[Float, Float, int]:
    """Fit every row of tables (B, R): (weights, mean, rho) (3, B, K), loglik (B,), capped.

    Rows are independent, so that threads share them.
    """
    rows = len(tables)
    parts, loglik = np.empty((3, rows, size)), np.empty(rows)
    capped = 0
    workers = check_threads(threads)
    edges = range(0, rows, max(1, min(_BLOCK, -(-rows // workers))))
    blocks = [(start, min(start + edges.step, rows)) for start in edges]

    def run(block: tuple[int, int]) -> int:
        here = slice(*block)
        freq = np.ascontiguousarray(tables[here])
        x, info = search(k, n, freq, size)
        parts[:, here], loglik[here], codes = read_ends(n, freq, size, x, info)
        return int(np.count_nonzero(codes & CAPPED))

    if len(blocks) == 1 or workers == 1:
        capped = sum(map(run, blocks))
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            capped = sum(pool.map(run, blocks))
    return parts, loglik, capped


def laws(parts: Float, n: int) -> Float:
    """Return the laws of the counts 0..n of many mixtures (3, B, K), shape (B, n + 1)."""
    found = np.empty((parts.shape[1], n + 1))
    for row, (w, mean, rho) in zip(found, np.moveaxis(parts, 1, 0), strict=True):
        mixture_law(w, mean, rho, n, row)
    return found


def _figures(what: str, parts: Float, n: int) -> dict[str, Float]:
    """What is kept of fits (3, B, K)."""
    if what == "params":
        return dict(zip(("weights", "mean", "rho"), (part.copy() for part in parts), strict=True))
    if what == "mean":
        return {"mean": (parts[0] * parts[1]).sum(axis=1)}
    below = np.minimum(np.cumsum(laws(np.ascontiguousarray(parts), n), axis=1), 1.0)
    below[:, -1] = 1.0
    return {"cdf": below}
