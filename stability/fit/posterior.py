"""The posterior of a mixture: what the data support under weakly informative priors.

The priors are those of ordinary debates, and arguments:

    w ~ Dirichlet(1, ..., 1),    mu_c ~ Beta(1, 1),    rho_c ~ Beta(1, 4),

the last with mean .2 and its mode at the binomial limit. Components are exchangeable under them;
each draw is put in the order of the means. The chains are sampled coordinate by coordinate by
slices (Neal, Annals of Statistics 31 (2003)): a height below the density is drawn, and the interval
(0, 1) is shrunk around the current value until a point lies above it. There is nothing to tune, and
bounds need no transform.

R-hat (rank-normalised, split), effective sample sizes and Monte Carlo standard errors are those of
ArviZ (Vehtari et al., Bayesian Analysis 16 (2021)). Where they are bad a warning says so, and
``warnings`` keeps it.
"""

import warnings as _warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stability._check import check_int, check_real
from stability._kernels import inference as kernels
from stability.fit.inference import Cells, cells_of
from stability.fit.table import CountTable, count_table

if TYPE_CHECKING:
    import pandas as pd

Float = npt.NDArray[np.float64]
_PROPOSALS = 60
LARGEST_RHAT, LEAST_ESS = 1.01, 400.0
_MOST_ITEMS = 100_000


class SamplingWarning(UserWarning):
    """The chains have not converged, or are too short."""


@dataclass(frozen=True)
class Priors:
    """Priors of a mixture.

    Parameters
    ----------
    weight : float
        > 0, concentration of the symmetric Dirichlet of the weights.
    mean, rho : (float, float)
        > 0, shapes of the Betas of every mean and correlation.
    """

    weight: float = 1.0
    mean: tuple[float, float] = (1.0, 1.0)
    rho: tuple[float, float] = (1.0, 4.0)

    def __post_init__(self) -> None:
        for name, values in (("weight", (self.weight,)), ("mean", self.mean), ("rho", self.rho)):
            if len(values) != (1 if name == "weight" else 2):
                raise ValueError(f"`{name}` must be two numbers > 0, got {values!r}")
            for value in values:
                check_real(name, value, low=0.0, high=1e6, closed_low=False)

    def rvs(self, size: int, rng: np.random.Generator) -> Float:
        """Draw (weights, means, correlations) of K components, shape (3, K).

        Examples
        --------
        >>> Priors().rvs(2, np.random.default_rng(0)).shape
        (3, 2)
        """
        weights = rng.dirichlet(np.full(size, self.weight))
        return np.stack([weights, rng.beta(*self.mean, size), rng.beta(*self.rho, size)])


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of a posterior, in chains.

    Attributes
    ----------
    draws : mapping of str to ndarray
        "weights", "mean", "rho" (C, D, K), components in the order of their means;
        "overall" (C, D), the mean of the mixture.
    n_components : int
    priors : Priors
    counts : CountTable
    diagnostics : mapping of str to mapping
        For each of the figures, such as "mean[0]": rhat, ess_bulk, ess_tail, mcse.
    warnings : tuple of str
        What is wrong with the chains; empty when nothing is.
    """

    draws: Mapping[str, Float]
    n_components: int
    priors: Priors
    counts: CountTable
    diagnostics: Mapping[str, Mapping[str, float]]
    warnings: tuple[str, ...]

    @property
    def chains(self) -> int:
        """C."""
        return len(self.draws["overall"])

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of a figure such as "mean[0]" or "overall"."""
        check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
        values = _figures(self.draws)
        if name not in values:
            raise ValueError(f"`name` must be one of {', '.join(values)}, got {name!r}")
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(values[name], [tail, 1.0 - tail]).tolist()
        return low, high

    def cdf(self, n: int) -> Float:
        """Return the distribution functions of counts 0..n, shape (C, D, n + 1)."""
        from stability.fit.bootstrap import laws

        check_int("n", n, minimum=1)
        parts = np.stack([self.draws[name] for name in ("weights", "mean", "rho")])
        flat = laws(np.ascontiguousarray(parts.reshape(3, -1, self.n_components)), n)
        below = np.minimum(np.cumsum(flat, axis=1), 1.0)
        below[:, -1] = 1.0
        found: Float = below.reshape(*self.draws["overall"].shape, n + 1)
        return found

    def summary(self, level: float = 0.95) -> "pd.DataFrame":
        """Return a row a figure: mean, sd, low, high, rhat, ess_bulk, ess_tail, mcse."""
        import pandas as pd

        rows = {}
        for name, values in _figures(self.draws).items():
            low, high = self.interval(name, level)
            rows[name] = {
                "mean": float(values.mean()),
                "sd": float(values.std(ddof=1)),
                "low": low,
                "high": high,
                **self.diagnostics[name],
            }
        return pd.DataFrame.from_dict(rows, orient="index")

    def log_likelihood(self) -> Float:
        """Return the log-probability of each item's count, shape (C, D, M).

        Raises
        ------
        ValueError
            For more than 100,000 items.
        """
        items = int(self.counts.freq.sum())
        if items > _MOST_ITEMS:
            raise ValueError(
                f"the log-likelihood of each item is kept for at most {_MOST_ITEMS} items, "
                f"got {items}"
            )
        cells = cells_of(self.counts)
        points = _points(self.draws)
        found = np.empty((len(points), cells.k.size))
        for row, x in zip(found, points, strict=True):
            kernels.cell_logs(cells.k, cells.n, cells.lead, self.n_components, x, row)
        shape = (*self.draws["overall"].shape, items)
        spread: Float = np.repeat(found, self.counts.freq, axis=1).reshape(shape)
        return spread

    def to_arviz(self) -> Any:
        """Return draws, pointwise log-likelihood ("k") and counts for ArviZ.

        `arviz.loo` and `arviz.compare` rank numbers of components by it.
        """
        from stability.arviz import to_arviz

        return to_arviz(
            self.draws,
            dims={name: ["component"] for name in ("weights", "mean", "rho")} | {"k": ["item"]},
            log_likelihood={"k": self.log_likelihood()},
            observed={"k": np.repeat(self.counts.k, self.counts.freq)},
        )

    def to_xarray(self) -> Any:
        """Return the draws as an xarray.Dataset over (chain, draw, component)."""
        import xarray as xr

        axes = ("chain", "draw", "component")
        return xr.Dataset(
            {name: (axes[: values.ndim], values) for name, values in self.draws.items()}
        )


def posterior(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    freq: npt.ArrayLike | None = None,
    n_components: int = 2,
    priors: Priors | None = None,
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    sweeps: int = 20,
    seed: int = 0,
) -> Posterior:
    """Sample the posterior of a mixture of Beta-Binomials.

    Parameters
    ----------
    k, n, freq
        As for `fit_mixture`.
    n_components : {1, 2, 3}
        K.
    priors : Priors, optional
        Those of the module.
    chains : int
        >= 4, started from draws of the prior.
    draws, warmup : int
        >= 4 draws kept of each chain, and >= 0 thrown away before.
    sweeps : int
        >= 1 sweeps over all parameters between two draws.
    seed : int
        >= 0; chains have seeds spawned from it.

    Returns
    -------
    Posterior

    Warns
    -----
    SamplingWarning
        When an R-hat exceeds 1.01 or an effective sample size is below 400.

    Raises
    ------
    ValueError
        When an argument is out of range.

    Examples
    --------
    >>> found = posterior([0, 1, 6, 7], 7, freq=[40, 20, 30, 110])
    >>> low, high = found.interval("overall")
    >>> bool(low < .693 < high), found.warnings
    (True, ())
    """
    size = check_int("n_components", n_components, minimum=1, maximum=3)
    for name, value, least in (
        ("chains", chains, 4),
        ("draws", draws, 4),
        ("warmup", warmup, 0),
        ("sweeps", sweeps, 1),
        ("seed", seed, 0),
    ):
        check_int(name, value, minimum=least)
    prior = Priors() if priors is None else priors
    if not isinstance(prior, Priors):
        raise ValueError(f"`priors` must be Priors, got {priors!r}")
    table = count_table(k, n, freq)
    cells = cells_of(table)
    points = np.empty((chains, draws, 3 * size - 1))
    stuck = 0
    for chain, source in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        stuck += _chain(
            cells, size, prior, warmup, sweeps, np.random.default_rng(source), points[chain]
        )
    kept = _ordered(points, size)
    found = {name: values.copy() for name, values in kept.items()}
    for values in found.values():
        values.setflags(write=False)
    diagnostics = {name: _diagnose(values) for name, values in _figures(found).items()}
    said = _complaints(diagnostics, stuck)
    for sentence in said:
        _warnings.warn(sentence, SamplingWarning, stacklevel=2)
    return Posterior(found, size, prior, table, diagnostics, said)


def _chain(
    cells: Cells,
    size: int,
    prior: Priors,
    warmup: int,
    sweeps: int,
    rng: np.random.Generator,
    out: Float,
) -> int:
    """One chain from a draw of the prior: fill out (D, P); returns updates that stayed."""
    free = out.shape[1]
    weights, mean, rho = np.clip(prior.rvs(size, rng), 1e-6, 1.0 - 1e-6)
    rest = np.concatenate([[1.0], 1.0 - np.cumsum(weights)[:-1]])
    sticks = np.clip(weights / np.maximum(rest, 1e-9), 1e-6, 1.0 - 1e-6)[: size - 1]
    x = np.concatenate([sticks, mean, rho])
    stuck = 0
    # random numbers of so many draws at once
    block = max(1, 200_000 // (sweeps * free * (1 + _PROPOSALS)))
    for total, target in ((warmup, np.empty((warmup, free))), (len(out), out)):
        for start in range(0, total, block):
            part = target[start : start + block]
            uniform = 1.0 - rng.random((len(part) * sweeps * free, 1 + _PROPOSALS))
            stuck += kernels.slice_chain(
                cells.k,
                cells.n,
                cells.freq,
                size,
                prior.weight,
                np.array(prior.mean, np.float64),
                np.array(prior.rho, np.float64),
                x,
                sweeps,
                uniform,
                part,
            )
    return stuck


def _ordered(points: Float, size: int) -> dict[str, Float]:
    """Weights, means and correlations of points (C, D, P), each draw in the order of the means."""
    sticks = points[:, :, : size - 1]
    rest = np.cumprod(1.0 - sticks, axis=2)
    ones = np.ones((*points.shape[:2], 1))
    weights = np.concatenate([sticks, ones], axis=2) * np.concatenate([ones, rest], axis=2)
    mean, rho = points[:, :, size - 1 : 2 * size - 1], points[:, :, 2 * size - 1 :]
    order = mean.argsort(axis=2, kind="stable")
    parts = {"weights": weights, "mean": mean, "rho": rho}
    found = {name: np.take_along_axis(part, order, axis=2) for name, part in parts.items()}
    return found | {"overall": (weights * mean).sum(axis=2)}


def _points(draws: Mapping[str, Float]) -> Float:
    """The points of draws, shape (C D, P)."""
    size = draws["weights"].shape[2]
    weights = draws["weights"].reshape(-1, size)
    rest = 1.0 - np.cumsum(weights, axis=1) + weights
    sticks = np.clip(weights / np.maximum(rest, 1e-300), 0.0, 1.0)[:, : size - 1]
    others = [draws[name].reshape(-1, size) for name in ("mean", "rho")]
    return np.ascontiguousarray(np.concatenate([sticks, *others], axis=1))


def _figures(draws: Mapping[str, Float]) -> dict[str, Float]:
    """Figures by name, each (C, D)."""
    size = draws["weights"].shape[2]
    found = {"overall": draws["overall"]}
    for name in ("weights", "mean", "rho"):
        if name == "weights" and size == 1:
            continue
        found |= {f"{name}[{c}]": draws[name][:, :, c] for c in range(size)}
    return found


def _diagnose(values: Float) -> dict[str, float]:
    """What ArviZ says of draws (C, D)."""
    with _warnings.catch_warnings():
        # ArviZ 0.23 announces ArviZ 1 when it is imported
        _warnings.simplefilter("ignore", FutureWarning)
        arviz: Any = import_module("arviz")
    return {
        "rhat": float(arviz.rhat(values)),
        "ess_bulk": float(arviz.ess(values, method="bulk")),
        "ess_tail": float(arviz.ess(values, method="tail", prob=(0.05, 0.95))),
        "mcse": float(np.asarray(arviz.mcse(values, method="mean")).item()),
    }


def _complaints(diagnostics: Mapping[str, Mapping[str, float]], stuck: int) -> tuple[str, ...]:
    """What is wrong, in sentences."""
    said = []
    worst = max(diagnostics, key=lambda name: diagnostics[name]["rhat"])
    rhat = diagnostics[worst]["rhat"]
    if not rhat <= LARGEST_RHAT:
        said.append(
            f"R-hat of {worst} is {rhat:.3f} > {LARGEST_RHAT}: the chains do not agree; sample "
            "longer, or fit fewer components."
        )
    for kind in ("ess_bulk", "ess_tail"):
        sizes = {name: values[kind] for name, values in diagnostics.items()}
        poorest = min(sizes, key=sizes.__getitem__)
        size = sizes[poorest]
        if not size >= LEAST_ESS:
            said.append(
                f"{kind} of {poorest} is {size:.0f} < {LEAST_ESS:.0f}: sample longer (`draws`, "
                "`sweeps`)."
            )
    if stuck:
        said.append(f"{stuck} updates stayed where they were after {_PROPOSALS} proposals.")
    return tuple(said)
