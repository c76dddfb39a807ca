"""What the pictures share: colours, bare axes, whole numbers.

Colours are those of Okabe and Ito, which the colour-blind tell apart; lines and markers also
differ in style.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

SKY, BLUE, VERMILION, GREEN, PURPLE = "#56B4E9", "#0072B2", "#D55E00", "#009E73", "#CC79A7"
GREY = "#5A5A5A"


def open_axes(ax: "Axes | None", size: tuple[float, float] | None = None) -> "Axes":
    """Return the axes given, or those of a new pyplot figure of ``size`` inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def bare(ax: "Axes") -> None:
    """Take the frame away above and on the right."""
    ax.spines[["top", "right"]].set_visible(False)


def say(ax: "Axes", text: str) -> None:
    """Write a sentence where there is nothing to draw."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", wrap=True)
    ax.set_axis_off()


def whole_numbers(axis: "Axis", nbins: int = 9) -> None:
    """Mark whole numbers only, at most ``nbins``."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins, integer=True, min_n_ticks=1))


def percent(share: float) -> str:
    """Return a share in per cent, for a title."""
    return f"{100 * share:.1f} %"
