"""Pictures of what is known of a fit: profiles, intervals side by side, bands of the CDF."""

from typing import TYPE_CHECKING

import numpy as np

from stability.fit import Bootstrap, MixtureFit, Posterior
from stability.fit.profile import PROFILED, cutoff, profile_curve, profile_interval
from stability.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    SKY,
    VERMILION,
    bare,
    open_axes,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {"weights": "weight", "mean": "mean", "rho": "rho"}
_POINTS = 81


def profile(
    fit: MixtureFit,
    parameter: str = "mean",
    component: int = 0,
    level: float = 0.95,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the profile log-likelihood of a parameter, with its interval.

    A parabola is what a Wald interval takes it for; it stands beside, where there is one.

    Examples
    --------
    >>> from stability import fit_mixture, plots
    >>> fit = fit_mixture([0, 1, 6, 7], 7, freq=[40, 20, 30, 110])
    >>> plots.profile(fit, "weights").get_xlabel()
    'weight of component 0'
    """
    found = profile_interval(fit, parameter, component, level)
    drop, best = cutoff(level), float(getattr(fit, parameter)[component])
    ax = open_axes(ax, (6.0, 3.8))
    reach = 0.35 * max(found.high - found.low, 1e-3)
    grid = np.linspace(max(0.0, found.low - reach), min(1.0, found.high + reach), _POINTS)
    ax.plot(grid, -profile_curve(fit, parameter, component, grid), color=BLUE, label="profile")
    error = getattr(fit.standard_errors(), parameter)[component]
    if error is not None:
        ax.plot(
            grid,
            -0.5 * ((grid - best) / error) ** 2,
            "--",
            color=VERMILION,
            label="parabola (Wald)",
        )
    ax.axhline(-drop, color=GREY, linewidth=0.8, linestyle=":")
    ax.plot([found.low, found.high], [-drop, -drop], color=BLUE, linewidth=3, alpha=0.4)
    ax.plot([best], [0.0], "o", color=BLUE)
    ax.set_ylim(-2.2 * drop, 0.15 * drop)
    ax.set_xlabel(f"{_NAMES[parameter]} of component {component}")
    ax.set_ylabel("log-likelihood below its maximum")
    ax.legend(frameon=False, loc="lower center")
    bare(ax)
    return ax


def intervals(
    fit: MixtureFit,
    sampled: Posterior | None = None,
    drawn: Bootstrap | None = None,
    level: float = 0.95,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the intervals of all parameters side by side: Wald, profile, bootstrap, posterior.

    Parameters
    ----------
    fit : MixtureFit
    sampled : Posterior, optional
        With as many components.
    drawn : Bootstrap, optional
        Of ``what="params"``.
    level : float
        In (0, 1).
    ax : matplotlib.axes.Axes, optional
    """
    rows = [
        (name, c)
        for name in (PROFILED if fit.n_components > 1 else PROFILED[1:])
        for c in range(fit.n_components)
    ]
    if sampled is not None and sampled.n_components != fit.n_components:
        raise ValueError(
            f"`sampled` must have {fit.n_components} components, got {sampled.n_components}"
        )
    if drawn is not None and drawn.what != "params":
        raise ValueError(f"`drawn` must be a bootstrap of 'params', got {drawn.what!r}")
    ax = open_axes(ax, (6.4, 0.8 + 0.62 * len(rows)))
    errors = fit.standard_errors()
    ends = None if drawn is None else {name: drawn.interval(name, level) for name in PROFILED}
    for place, (name, c) in enumerate(rows):
        found: list[tuple[str, str, tuple[float, float] | None]] = [
            ("Wald", VERMILION, errors.interval(name, c, level)),
            ("profile", BLUE, profile_interval(fit, name, c, level)[:2]),
        ]
        if ends is not None:
            found.append(("bootstrap", GREEN, (float(ends[name][0][c]), float(ends[name][1][c]))))
        if sampled is not None:
            found.append(("posterior", PURPLE, sampled.interval(f"{name}[{c}]", level)))
        for line, (kind, colour, interval) in enumerate(found):
            height = -place + 0.14 * (len(found) - 1 - 2 * line) / 2
            if interval is not None:
                ax.plot(
                    interval,
                    [height, height],
                    color=colour,
                    linewidth=2,
                    label=kind if place == 0 else None,
                )
        ax.plot([getattr(fit, name)[c]], [-place], "|", color="black", markersize=14)
    ax.set_yticks(
        [-place for place in range(len(rows))], [f"{_NAMES[name]}[{c}]" for name, c in rows]
    )
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel(f"estimate and {100 * level:g} % intervals")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    bare(ax)
    return ax


def cdf_band(
    fit: MixtureFit, drawn: Bootstrap, level: float = 0.95, ax: "Axes | None" = None
) -> "Axes":
    """Draw the distribution function of the counts with its band, and that of the items.

    Parameters
    ----------
    fit : MixtureFit
    drawn : Bootstrap
        Of ``what="cdf"``.
    level : float
        In (0, 1), of the whole band.
    ax : matplotlib.axes.Axes, optional
    """
    if drawn.what != "cdf":
        raise ValueError(f"`drawn` must be a bootstrap of 'cdf', got {drawn.what!r}")
    centre = drawn.estimates["cdf"]
    low, high = drawn.band(level)
    n = centre.size - 1
    k = np.arange(n + 1)
    ax = open_axes(ax, (6.0, 3.8))
    ax.fill_between(
        k, low, high, step="post", color=SKY, alpha=0.4, label=f"{100 * level:g} % band"
    )
    ax.step(k, centre, where="post", color=BLUE, label="fit")
    here = fit.counts.n == n
    freq = np.bincount(fit.counts.k[here], weights=fit.counts.freq[here], minlength=n + 1)
    ax.plot(k, np.cumsum(freq) / freq.sum(), "o", color="black", markersize=4, label="items")
    whole_numbers(ax.xaxis)
    ax.set_ylim(0.0, 1.02)
    ax.set_xlabel(f"correct agents of {n}, at most")
    ax.set_ylabel("share of items")
    ax.legend(frameon=False, loc="upper left")
    bare(ax)
    return ax
