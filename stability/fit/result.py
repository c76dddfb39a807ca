"""The result of a mixture fit: frozen, with read-only arrays and a status in words.

``mean`` and ``rho`` are primary; ``alpha = mean (1 - rho) / rho`` and ``beta`` are derived and may
be inf (rho = 0) or 0 (rho = 1 or a point mass), never NaN. Components stand in the order of their
means, ties by rho. A component without weight repeats the heaviest one, and a point mass has
rho = 0: their parameters are arbitrary, and this makes equal fits equal.
"""

import reprlib
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar, final

import numpy as np
import numpy.typing as npt

from stability._kernels import ends, mixture
from stability.fit.betabinom import BetaBinomial
from stability.fit.search import count_modes
from stability.fit.status import FitStatus
from stability.fit.table import CountTable

if TYPE_CHECKING:
    import pandas as pd

    from stability.fit.bootstrap import Bootstrap
    from stability.fit.inference import StandardErrors
    from stability.fit.profile import Profile

Float = npt.NDArray[np.float64]
A = TypeVar("A", bound=npt.NDArray[Any])


@final
@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A fitted mixture of K Beta-Binomials.

    Attributes
    ----------
    weights, mean, rho : ndarray, shape (K,)
        Weights (sum 1), means and correlations, in the order of the means.
    loglik : float
        Maximised log-likelihood, binomial coefficients included, <= 0.
    n_items, n_iter : int
        Items fitted; iterations over all starts.
    grad_norm : float
        Largest component of the projected gradient in (w, mean, rho), per item.
    converged : bool
        False only with the status ``iteration cap``.
    status : FitStatus
        The most important thing to know; ``flags`` holds all that apply.
    modes : int
        Distinct local maxima with all weights inside (0, 1) that a full search meets, at least 1;
        counted when first read.
    loglik_trace : ndarray, shape (I,)
        Log-likelihood after each EM iteration of the best start; one entry for ``auto``.
    counts : CountTable
        The distinct (k, n, freq) of the data.
    """

    weights: Float
    mean: Float
    rho: Float
    loglik: float
    n_items: int
    n_iter: int
    grad_norm: float
    converged: bool
    status: FitStatus
    loglik_trace: Float
    counts: CountTable
    flags: tuple[FitStatus, ...] = field(default=())

    @property
    def n_components(self) -> int:
        """K."""
        return self.weights.size

    @cached_property
    def alpha(self) -> Float:
        """Shapes of the correct side, (K,), in [0, inf]."""
        return _frozen(shapes(self.mean, self.rho)[0])

    @cached_property
    def beta(self) -> Float:
        """Shapes of the wrong side, (K,), in [0, inf]."""
        return _frozen(shapes(self.mean, self.rho)[1])

    @cached_property
    def modes(self) -> int:
        """Distinct local maxima with all weights inside (0, 1) that a full search meets."""
        return count_modes(self.counts, self.n_components)

    @cached_property
    def _laws(self) -> tuple[BetaBinomial, ...]:
        pairs = zip(self.mean.tolist(), self.rho.tolist(), strict=True)
        return tuple(BetaBinomial.from_mean(mu, rho) for mu, rho in pairs)

    def _blend(self, values: list[Any]) -> Any:
        total = sum(w * v for w, v in zip(self.weights.tolist(), values, strict=True))
        return np.minimum(total, 1.0) if isinstance(total, np.ndarray) else min(float(total), 1.0)

    def pmf(self, k: npt.ArrayLike, n: npt.ArrayLike) -> Any:
        """Return P(k of n correct), float or array of the broadcast shape."""
        return self._blend([law.pmf(k, n) for law in self._laws])

    def cdf(self, k: npt.ArrayLike, n: npt.ArrayLike) -> Any:
        """Return P(at most k of n correct); exactly 1 from k = n on."""
        below = self._blend([law.cdf(k, n) for law in self._laws])
        ended = np.asarray(k) >= np.asarray(n)
        return np.where(ended, 1.0, below) if np.ndim(below) else (1.0 if ended else below)

    def law(self, n: int) -> Float:
        """Return the probabilities of 0..n correct agents, (n + 1,), summing to 1."""
        out = np.empty(n + 1)
        mixture.mixture_law(self.weights, self.mean, self.rho, n, out)
        return out

    def latent_cdf(self, x: npt.ArrayLike) -> Any:
        """Return P(an item's probability of a right answer <= x), x in [0, 1]."""
        from stability.fit.distance import latent_below

        points = np.asarray(x, dtype=np.float64)
        if not ((points >= 0.0) & (points <= 1.0)).all():
            raise ValueError(f"`x` must lie in [0, 1], got {x!r}")
        value = latent_below(self, points.ravel()).reshape(points.shape)
        return value if points.ndim else float(value)

    def responsibilities(self, k: npt.ArrayLike, n: npt.ArrayLike) -> Float:
        """Return P(component | k, n), shape (..., K); the weights where k is impossible."""
        parts = [np.asarray(law.pmf(k, n)) for law in self._laws]
        joint = np.stack(parts, axis=-1) * self.weights
        total = joint.sum(axis=-1, keepdims=True)
        return np.where(total > 0.0, joint / np.where(total > 0.0, total, 1.0), self.weights)

    @property
    def n_parameters(self) -> int:
        """3K - 1."""
        return 3 * self.n_components - 1

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 (3K - 1) - 2 loglik."""
        return 2.0 * self.n_parameters - 2.0 * self.loglik

    @property
    def bic(self) -> float:
        """Schwarz's criterion, (3K - 1) log M - 2 loglik."""
        return self.n_parameters * float(np.log(self.n_items)) - 2.0 * self.loglik

    def standard_errors(self) -> "StandardErrors":
        """Return standard errors by observed information; None, with the reason, at a bound.

        Examples
        --------
        >>> from stability import fit_mixture
        >>> fit = fit_mixture([0, 1, 6, 7], 7, freq=[40, 20, 30, 110], n_components=1)
        >>> round(fit.standard_errors().mean[0], 4)
        0.0287
        """
        from stability.fit.inference import standard_errors

        return standard_errors(self)

    def profile_interval(
        self, parameter: str, component: int = 0, level: float = 0.95
    ) -> "Profile":
        """Return the profile-likelihood interval of "weights", "mean" or "rho" of a component.

        See `stability.fit.profile.profile_interval`; it stays within the parameter space.
        """
        from stability.fit.profile import profile_interval

        return profile_interval(self, parameter, component, level)

    def bootstrap(
        self,
        what: str = "params",
        method: str = "parametric",
        *,
        replicates: int = 1000,
        seed: int = 0,
    ) -> "Bootstrap":
        """Return refits to resampled items; see `stability.bootstrap`."""
        from stability.fit.bootstrap import bootstrap

        return bootstrap(self, what, method, replicates=replicates, seed=seed)

    def summary(self, level: float = 0.95) -> str:
        """Return the fit as a readable table, with standard errors and Wald intervals.

        Examples
        --------
        >>> from stability import fit_mixture
        >>> print(fit_mixture([3, 4], 7, freq=[10, 10], n_components=1).summary())
                           Beta-Binomial mixture
        ============================================================
        Items:                    20    Log-likelihood:     -25.9336
        Agents:                    7    AIC:                   55.87
        Components:                1    BIC:                   57.86
        Parameters:                2
        ============================================================
                         estimate    std err     [0.025     0.975]
        ------------------------------------------------------------
          mean             0.5000     0.0423     0.4179     0.5821
          rho              0.0000          -          -          -
          alpha               inf          -          -          -
          beta                inf          -          -          -
        ============================================================
        binomial limit: A component shows no more variation between items than a binomial: its \
rho is 0.
        """
        from stability.fit.summary import summary_text

        return summary_text(self, level)

    def to_frame(self, level: float = 0.95) -> "pd.DataFrame":
        """Return a row a parameter: estimate, standard error, Wald interval, reason."""
        from stability.fit.summary import summary_frame

        return summary_frame(self, level)

    def _repr_html_(self) -> str:
        """Return the table of a notebook."""
        from stability.fit.summary import summary_html

        return summary_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; `from_dict` gives an equal fit back."""
        return {
            "weights": self.weights.tolist(),
            "mean": self.mean.tolist(),
            "rho": self.rho.tolist(),
            "loglik": self.loglik,
            "n_items": self.n_items,
            "n_iter": self.n_iter,
            "grad_norm": self.grad_norm,
            "converged": self.converged,
            "status": self.status.value,
            "flags": [flag.value for flag in self.flags],
            "loglik_trace": self.loglik_trace.tolist(),
            "counts": [self.counts.k.tolist(), self.counts.n.tolist(), self.counts.freq.tolist()],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Rebuild a fit from `to_dict`.

        Raises
        ------
        ValueError
            When it is anything else.
        """
        try:
            return cls._of_dict(data)
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(
                f"`data` must be a fit as `to_dict` wrote it, got {reprlib.repr(data)}"
            ) from error

    @classmethod
    def _of_dict(cls, data: dict[str, Any]) -> Self:
        k, n, freq = (_frozen(np.array(column, np.int64)) for column in data["counts"])
        return cls(
            weights=_frozen(np.array(data["weights"], np.float64)),
            mean=_frozen(np.array(data["mean"], np.float64)),
            rho=_frozen(np.array(data["rho"], np.float64)),
            loglik=float(data["loglik"]),
            n_items=int(data["n_items"]),
            n_iter=int(data["n_iter"]),
            grad_norm=float(data["grad_norm"]),
            converged=bool(data["converged"]),
            status=FitStatus(data["status"]),
            flags=tuple(FitStatus(flag) for flag in data["flags"]),
            loglik_trace=_frozen(np.array(data["loglik_trace"], np.float64)),
            counts=CountTable(k, n, freq),
        )


@final
@dataclass(frozen=True, eq=False)
class MixtureFits:
    """Fits of a batch of histograms, as arrays; ``fits[i]`` is one of them.

    ``weights, mean, rho, alpha, beta`` have shape (B, K); ``loglik, n_iter, grad_norm`` (B,);
    ``status`` is a tuple of B `FitStatus`, None for a row that could not be fitted (its numbers
    are NaN, its ``problems`` entry says why).
    """

    n: int
    hist: Float
    weights: Float
    mean: Float
    rho: Float
    alpha: Float
    beta: Float
    loglik: Float
    n_iter: Float
    grad_norm: Float
    status: tuple[FitStatus | None, ...]
    flags: tuple[tuple[FitStatus, ...], ...]
    problems: tuple[str | None, ...]

    def __len__(self) -> int:
        return self.loglik.size

    def __getitem__(self, row: int) -> MixtureFit:
        """Return row ``row`` as a `MixtureFit`; ValueError when it could not be fitted."""
        status = self.status[row]
        if status is None:
            raise ValueError(f"row {row} was not fitted: {self.problems[row]}")
        k = np.flatnonzero(self.hist[row])
        table = CountTable(k, np.full(k.size, self.n), self.hist[row, k].astype(np.int64))
        return MixtureFit(
            weights=_frozen(self.weights[row].copy()),
            mean=_frozen(self.mean[row].copy()),
            rho=_frozen(self.rho[row].copy()),
            loglik=float(self.loglik[row]),
            n_items=int(table.freq.sum()),
            n_iter=int(self.n_iter[row]),
            grad_norm=float(self.grad_norm[row]),
            converged=status is not FitStatus.ITERATION_CAP,
            status=status,
            flags=self.flags[row],
            loglik_trace=_frozen(self.loglik[row : row + 1].copy()),
            counts=table,
        )


def shapes(mean: Float, rho: Float) -> tuple[Float, Float]:
    """Return (alpha, beta) of means and correlations, with inf and 0 at the limits."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        total = np.where(rho > 0.0, (1.0 - rho) / rho, np.inf)
        alpha = np.where(mean > 0.0, mean * total, 0.0)
        beta = np.where(mean < 1.0, (1.0 - mean) * total, 0.0)
    return alpha, beta


def assemble(
    table: CountTable,
    size: int,
    x: Float,
    info: Float,
    trace: Float | None = None,
) -> MixtureFit:
    """Make a result of the end of one search: x (1, 3K - 1) and its info (1, 5)."""
    # a copy of n: numba compiles a kernel once more for arrays that are read-only
    freq = table.freq[None, :].astype(np.float64)
    parts, loglik, codes = read_ends(table.n.copy(), freq, size, x, info)
    flags = _flags(int(codes[0]))
    _, steps, _, _, slope = info[0].tolist()
    for array in (parts, loglik, *table):
        array.setflags(write=False)
    return MixtureFit(
        weights=parts[0, 0],
        mean=parts[1, 0],
        rho=parts[2, 0],
        loglik=float(loglik[0]),
        n_items=sum(table.freq.tolist()),
        n_iter=int(steps),
        grad_norm=slope,
        converged=flags[0] is not FitStatus.ITERATION_CAP,
        status=flags[0],
        loglik_trace=loglik if trace is None else _frozen(trace),
        counts=table,
        flags=flags,
    )


def assemble_many(
    hist: Float, n: int, size: int, x: Float, info: Float, problems: tuple[str | None, ...]
) -> MixtureFits:
    """Make the result of a batch; rows with a problem are NaN and have no status."""
    rows = len(problems)
    good = np.array([problem is None for problem in problems], np.bool_)
    parts, loglik = np.full((3, rows, size), np.nan), np.full(rows, np.nan)
    agents = np.full(n + 1, n)
    parts[:, good], loglik[good], codes = read_ends(agents, hist[good], size, x[good], info[good])
    flags: list[tuple[FitStatus, ...]] = [()] * rows
    for row, code in zip(np.flatnonzero(good).tolist(), codes.tolist(), strict=True):
        flags[row] = _flags(code)
    alpha, beta = shapes(parts[1], parts[2])
    alpha[~good] = np.nan
    beta[~good] = np.nan
    return MixtureFits(
        n=n,
        hist=_frozen(hist),
        weights=_frozen(parts[0]),
        mean=_frozen(parts[1]),
        rho=_frozen(parts[2]),
        alpha=_frozen(alpha),
        beta=_frozen(beta),
        loglik=_frozen(loglik),
        n_iter=_frozen(info[:, 1].copy()),
        grad_norm=_frozen(info[:, 4].copy()),
        status=tuple(flag[0] if flag else None for flag in flags),
        flags=tuple(flags),
        problems=problems,
    )


def read_ends(
    n: npt.NDArray[np.int64], freq: Float, size: int, x: Float, info: Float
) -> tuple[Float, Float, npt.NDArray[np.int64]]:
    """Read B ends: (weight, mean, rho) (3, B, K), log-likelihoods (B,), bits of the flags (B,)."""
    rows = x.shape[0]
    parts, loglik, flags = np.empty((3, rows, size)), np.empty(rows), np.empty(rows, np.int64)
    ends.read_ends(n, freq, x, info, mixture.ITERATION_CAP, parts, loglik, flags)
    return parts, loglik, flags


@cache
def _flags(code: int) -> tuple[FitStatus, ...]:
    """All statuses that apply, the most important first."""
    return tuple(flag for bit, flag in _BITS.items() if code & bit) or (FitStatus.INTERIOR,)


_BITS = {
    ends.CAPPED: FitStatus.ITERATION_CAP,
    ends.SINGLE_ITEM: FitStatus.SINGLE_ITEM,
    ends.NOT_IDENTIFIABLE: FitStatus.NOT_IDENTIFIABLE,
    ends.COLLAPSED: FitStatus.COLLAPSED,
    ends.POINT_MASS: FitStatus.POINT_MASS,
    ends.ALL_OR_NOTHING: FitStatus.ALL_OR_NOTHING,
    ends.BINOMIAL_LIMIT: FitStatus.BINOMIAL_LIMIT,
}


def _frozen(array: A) -> A:
    array.setflags(write=False)
    return array
