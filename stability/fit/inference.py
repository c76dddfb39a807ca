"""How sure is a fit? Standard errors from the observed information.

At an interior maximum the parameters (logit w, logit mu, rho) have the covariance I^-1, I the
negative Hessian of the log-likelihood, which is analytic here; other parameters follow by the delta
method. A parameter at a bound of its range has no standard error, and those that remain are
conditional on it: its entry is None, with the reason.

Source: Efron and Hinkley, Biometrika 65 (1978).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability._kernels import inference as kernels
from stability.fit.status import FitStatus
from stability.fit.table import CountTable

if TYPE_CHECKING:
    import pandas as pd

    from stability.fit.result import MixtureFit

Float = npt.NDArray[np.float64]
Entries = tuple[float | None, ...]
PARAMETERS = ("weights", "mean", "rho", "alpha", "beta")
# information that is this ill-conditioned, scaled to a unit diagonal, leaves directions unknown
_CONDITION = 1e8


class Cells(NamedTuple):
    """What the kernels need of a table: float64 and int64 arrays of shape (R,)."""

    k: npt.NDArray[np.int64]
    n: npt.NDArray[np.int64]
    freq: Float
    lead: Float


def cells_of(table: CountTable) -> Cells:
    """Copy a table for the kernels, with log C(n, k)."""
    pairs = zip(table.n.tolist(), table.k.tolist(), strict=True)
    lead = [lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) for n, k in pairs]
    return Cells(table.k.copy(), table.n.copy(), table.freq.astype(np.float64), np.array(lead))


def point_of(weights: Float, mean: Float, rho: Float) -> Float:
    """Return the point (sticks, means, correlations), shape (3K - 1,).

    Examples
    --------
    >>> point_of(np.array([.5, .25, .25]), np.zeros(3), np.ones(3)).tolist()
    [0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    """
    rest = 1.0 - np.concatenate([[0.0], np.cumsum(weights)[:-1]])
    with np.errstate(invalid="ignore", divide="ignore"):
        sticks = np.where(rest > 0.0, np.minimum(weights / rest, 1.0), 0.0)[:-1]
    return np.concatenate([sticks, mean, rho])


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Standard errors of a fit by observed information.

    Attributes
    ----------
    weights, mean, rho, alpha, beta : tuple of float or None, K entries
        Standard errors; None where there is none, with the reason in ``reasons``.
    reasons : mapping of str to str
        Why an entry is None, by name such as "rho[0]".
    names : tuple of str
        Free parameters, in the order of ``covariance``: "logit w[0]", "logit mean[0]", "rho[0]".
    covariance : ndarray, shape (F, F)
        Of the free parameters. Weights are held as logits of w_1 and, for K = 3, of
        w_2 / (1 - w_1).
    condition : float
        Condition number of the information scaled to a unit diagonal; 1 where nothing is free.
    ill_conditioned : bool
        Whether it exceeds 1e8: some direction is then hardly known.
    """

    weights: Entries
    mean: Entries
    rho: Entries
    alpha: Entries
    beta: Entries
    reasons: Mapping[str, str]
    names: tuple[str, ...]
    covariance: Float
    condition: float
    estimates: Mapping[str, Float]

    @property
    def ill_conditioned(self) -> bool:
        """Whether the information leaves a direction hardly known."""
        return not self.condition < _CONDITION

    def interval(self, parameter: str, component: int = 0, level: float = 0.95) -> Any:
        """Return the Wald interval (low, high), or None where there is no standard error.

        Of weights and means on the scale of the logit, of alpha and beta on that of the logarithm,
        so that it stays in their range; of rho on its own, cut to [0, 1].
        """
        from scipy.special import expit, logit, ndtri

        name, place = entry_of(parameter, component, len(self.mean))
        error = getattr(self, name)[place]
        check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
        if error is None:
            return None
        z, value = float(ndtri(0.5 + level / 2.0)), float(self.estimates[name][place])
        if name in ("weights", "mean"):
            half = z * error / (value * (1.0 - value))
            return float(expit(logit(value) - half)), float(expit(logit(value) + half))
        if name == "rho":
            return max(0.0, value - z * error), min(1.0, value + z * error)
        factor = float(np.exp(z * error / value))
        return value / factor, value * factor

    def to_frame(self) -> "pd.DataFrame":
        """Return a row a parameter: parameter, component, estimate, standard_error, reason."""
        import pandas as pd

        rows = [
            {
                "parameter": name,
                "component": c,
                "estimate": float(self.estimates[name][c]),
                "standard_error": error,
                "reason": self.reasons.get(f"{name}[{c}]"),
            }
            for name in PARAMETERS
            for c, error in enumerate(getattr(self, name))
        ]
        return pd.DataFrame(rows)


class _Free:
    """Which coordinates of a fit are inside their range, and why the others are not."""

    def __init__(self, fit: "MixtureFit") -> None:
        size = self.size = fit.n_components
        self.x = point_of(fit.weights, fit.mean, fit.rho)
        self.reasons: dict[str, str] = {}
        weights, mean, rho = (list[str | None]([None] * size) for _ in range(3))
        for c in range(size):
            if fit.weights[c] <= 0.0:
                weights[c] = mean[c] = rho[c] = FitStatus.COLLAPSED.sentence
            elif fit.weights[c] >= 1.0 and size > 1:
                weights[c] = FitStatus.COLLAPSED.sentence
            if not 0.0 < fit.mean[c] < 1.0:
                mean[c] = mean[c] or "The mean lies at a bound of its range."
                rho[c] = rho[c] or FitStatus.POINT_MASS.sentence
            if fit.rho[c] <= 0.0:
                rho[c] = rho[c] or FitStatus.BINOMIAL_LIMIT.sentence
            elif fit.rho[c] >= 1.0:
                rho[c] = rho[c] or FitStatus.ALL_OR_NOTHING.sentence
        if size == 1:
            weights[0] = "One component has the weight 1."
        broken = next(
            (
                flag.sentence
                for flag in (FitStatus.NOT_IDENTIFIABLE, FitStatus.SINGLE_ITEM)
                if flag in fit.flags
            ),
            None,
        )
        if broken is not None:
            for entries in (weights, mean, rho):
                entries[:] = [broken] * size
        for name, entries in (("weights", weights), ("mean", mean), ("rho", rho)):
            self.reasons |= {f"{name}[{c}]": why for c, why in enumerate(entries) if why}
        sticks = [0.0 < stick < 1.0 and broken is None for stick in self.x[: size - 1]]
        others = [why is None for why in [*mean, *rho]]
        self.free = np.array(sticks + others, np.bool_)


def standard_errors(fit: "MixtureFit") -> StandardErrors:
    """Return standard errors by observed information; see `StandardErrors`.

    Examples
    --------
    >>> from stability import fit_mixture
    >>> fit = fit_mixture(range(8), 7, freq=[10, 14, 18, 20, 20, 18, 14, 10], n_components=1)
    >>> errors = standard_errors(fit)
    >>> round(errors.mean[0], 4), round(errors.rho[0], 4)
    (0.026, 0.0353)
    """
    part = _Free(fit)
    size, x, free = part.size, part.x, part.free
    k, n, freq, lead = cells_of(fit.counts)
    grad, hess = np.empty(x.size), np.empty((x.size, x.size))
    kernels.derivatives(k, n, freq, lead, size, x, grad, hess)
    # to (logit v, logit mu, rho); the gradient of what is free is 0
    scale = np.ones(x.size)
    scale[: 2 * size - 1] = x[: 2 * size - 1] * (1.0 - x[: 2 * size - 1])
    information = -(hess * np.outer(scale, scale))[np.ix_(free, free)]
    covariance, condition, known = _inverse(information)
    reasons = dict(part.reasons)
    labels = [f"logit w[{c}]" for c in range(size - 1)]
    labels += [f"logit mean[{c}]" for c in range(size)] + [f"rho[{c}]" for c in range(size)]
    if not known:
        why = "The information has no inverse: the data leave a direction unknown."
        for name in ("weights", "mean", "rho"):
            for c in range(size):
                reasons.setdefault(f"{name}[{c}]", why)
    whole = np.zeros((x.size, x.size))
    whole[np.ix_(free, free)] = covariance * np.outer(scale[free], scale[free])
    w, slope = np.empty(size), np.empty((size, size))
    kernels.weights_of(x, size, w, slope)
    slopes = {
        "weights": np.hstack([slope[:, : size - 1], np.zeros((size, 2 * size))]),
        "mean": np.eye(x.size)[size - 1 : 2 * size - 1],
        "rho": np.eye(x.size)[2 * size - 1 :],
    }
    mean, rho = fit.mean, fit.rho
    with np.errstate(divide="ignore", invalid="ignore"):
        total, bend = (1.0 - rho) / rho, -1.0 / rho**2
        slopes["alpha"] = slopes["mean"] * total[:, None] + slopes["rho"] * (mean * bend)[:, None]
        slopes["beta"] = (
            slopes["rho"] * ((1.0 - mean) * bend)[:, None] - slopes["mean"] * total[:, None]
        )
    for c in range(size):
        held = reasons.get(f"mean[{c}]", reasons.get(f"rho[{c}]"))
        if held is not None:
            reasons |= {f"alpha[{c}]": held, f"beta[{c}]": held}
    entries = {}
    for name, jacobian in slopes.items():
        with np.errstate(invalid="ignore", over="ignore"):
            variance = np.einsum("ci,ij,cj->c", jacobian, whole, jacobian)
        entries[name] = tuple(
            None if f"{name}[{c}]" in reasons else float(np.sqrt(variance[c])) for c in range(size)
        )
    covariance.setflags(write=False)
    return StandardErrors(
        **entries,
        reasons=reasons,
        names=tuple(label for label, here in zip(labels, free, strict=True) if here),
        covariance=covariance,
        condition=condition,
        estimates={name: getattr(fit, name) for name in PARAMETERS},
    )


def _inverse(information: Float) -> tuple[Float, float, bool]:
    """Inverse, condition number at unit diagonal, and whether there is an inverse."""
    if information.size == 0:
        return np.zeros((0, 0)), 1.0, True
    diagonal = np.diag(information)
    if not (diagonal > 0.0).all():
        return np.zeros_like(information), np.inf, False
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    if not values[0] > 1e-14 * values[-1]:
        return np.zeros_like(information), np.inf, False
    inverse = (vectors / values) @ vectors.T
    return inverse * np.outer(scale, scale), float(values[-1] / values[0]), True


def entry_of(parameter: str, component: int, size: int) -> tuple[str, int]:
    """Return the name of a parameter and the place of a component, checked.

    Examples
    --------
    >>> entry_of("mean", 1, 2)
    ('mean', 1)
    """
    name = check_choice("parameter", parameter, PARAMETERS)
    return name, check_int("component", component, minimum=0, maximum=size - 1)
