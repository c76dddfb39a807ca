"""Profile-likelihood intervals of the parameters of a mixture.

With l_max the maximum and l(psi) the maximum over all other parameters at a fixed value psi, the
interval holds the values that the likelihood ratio does not reject, 2 (l_max - l(psi)) <=
chi2_1(level). It respects the range of the parameter and does not depend on how the parameter is
written; where the range ends it is conservative. The maximum over the others is followed from the
fit outwards, so that a component keeps its name.

Source: Venzon and Moolgavkar, Applied Statistics 37 (1988).
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_real
from stability._kernels import inference as kernels
from stability.fit.inference import cells_of, entry_of, point_of, standard_errors

if TYPE_CHECKING:
    from stability.fit.result import MixtureFit

Float = npt.NDArray[np.float64]
PROFILED = ("weights", "mean", "rho")
_EDGE = 1e-9


class Profile(NamedTuple):
    """A profile interval: its ends, and whether they are where the range of the parameter ends."""

    low: float
    high: float
    low_at_bound: bool
    high_at_bound: bool


def profile_interval(
    fit: "MixtureFit", parameter: str, component: int = 0, level: float = 0.95
) -> Profile:
    """Return the profile-likelihood interval of a weight, a mean or a correlation.

    Parameters
    ----------
    fit : MixtureFit
    parameter : {"weights", "mean", "rho"}
    component : int
        0..K - 1, in the order of the means.
    level : float
        In (0, 1).

    Returns
    -------
    Profile
        An end at the bound of the range means that the data do not exclude the bound; a component
        without weight has the interval [0, 1] in mean and rho.

    Raises
    ------
    ValueError
        When an argument is out of range; a weight has no interval for K = 1.

    Examples
    --------
    >>> from stability import fit_mixture
    >>> fit = fit_mixture([0, 1, 6, 7], 7, freq=[40, 20, 30, 110])
    >>> found = profile_interval(fit, "weights", 0)
    >>> round(found.low, 3), round(found.high, 3)
    (0.239, 0.366)
    """
    one = _Search(fit, parameter, component)
    drop = cutoff(level)
    error = getattr(standard_errors(fit), one.name)[one.component]
    # where the end would be if the log-likelihood were a parabola; a tenth where it is not
    first = 0.1 if error is None else min(max(error * float(np.sqrt(2.0 * drop)), 1e-4), 0.25)
    ends = []
    for up in (False, True):
        out = np.empty(2)
        code = kernels.profile_end(
            *one.cells,
            one.size,
            one.best,
            one.peak,
            one.at,
            drop,
            up,
            one.low,
            one.high,
            first,
            out,
        )
        # the bound of a mean is approached, and not evaluated
        value = float(up) if code and one.name == "mean" else float(out[0])
        ends.append((value, bool(code)))
    (bottom, at_bottom), (top, at_top) = ends
    return Profile(bottom, top, at_bottom, at_top)


def profile_curve(
    fit: "MixtureFit", parameter: str, component: int, values: npt.ArrayLike
) -> Float:
    """Return l_max - l(psi) at values psi of a parameter, shape (V,), >= 0 up to rounding.

    Parameters
    ----------
    fit, parameter, component
        As for `profile_interval`.
    values : array_like, shape (V,)
        In [0, 1].

    Examples
    --------
    >>> from stability import fit_mixture
    >>> fit = fit_mixture([0, 1, 6, 7], 7, freq=[40, 20, 30, 110])
    >>> falls = profile_curve(fit, "weights", 0, [.25, .3, .35])
    >>> bool(falls[0] > falls[1] < falls[2])
    True
    """
    one = _Search(fit, parameter, component)
    places = np.asarray(values, np.float64)
    if places.ndim != 1 or not ((places >= 0.0) & (places <= 1.0)).all():
        raise ValueError(f"`values` must be (V,) numbers in [0, 1], got {values!r}")
    found = np.empty(places.size)
    held = np.zeros(one.best.size, np.bool_)
    held[one.at] = True
    centre = one.best[one.at]
    # from the fit outwards on either side, each search from the end of the last
    for side in (places >= centre, places < centre):
        here = one.best.copy()
        for place in sorted(np.flatnonzero(side), key=lambda i: abs(places[i] - centre)):
            here[one.at] = min(max(places[place], one.low[one.at]), one.high[one.at])
            value = kernels.maximise(*one.cells, one.size, held, one.low, one.high, here, 100, 1e-8)
            found[place] = one.peak - value
    return found


def cutoff(level: float) -> float:
    """Return by how much the log-likelihood may fall, half the quantile of chi-square.

    Examples
    --------
    >>> round(cutoff(.95), 4)
    1.9207
    """
    from scipy.special import chdtri

    check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
    return float(chdtri(1.0, 1.0 - level)) / 2.0


class _Search:
    """What a profile needs: the cells, the maximum, the coordinate, the box."""

    def __init__(self, fit: "MixtureFit", parameter: str, component: int) -> None:
        check_choice("parameter", parameter, PROFILED)
        size = self.size = fit.n_components
        self.name, c = entry_of(parameter, component, size)
        self.component = c
        if self.name == "weights" and size == 1:
            raise ValueError("`parameter` must be 'mean' or 'rho' where K = 1: its weight is 1")
        # the component goes first: its weight is then a stick of its own
        order = [c, *(other for other in range(size) if other != c)]
        x = point_of(fit.weights[order], fit.mean[order], fit.rho[order])
        self.at = {"weights": 0, "mean": size - 1, "rho": 2 * size - 1}[self.name]
        self.low, self.high = np.zeros(x.size), np.ones(x.size)
        means = slice(size - 1, 2 * size - 1)
        # logarithms of the means are not evaluated at their bounds, unless a fit lies there
        self.low[means] = np.minimum(_EDGE, x[means])
        self.high[means] = np.maximum(1.0 - _EDGE, x[means])
        self.cells = cells_of(fit.counts)
        self.best = np.clip(x, self.low, self.high)
        nothing = np.zeros(x.size, np.bool_)
        self.peak = float(
            kernels.maximise(*self.cells, size, nothing, self.low, self.high, self.best, 50, 1e-12)
        )
