"""Pictures of a replay: what rules cost against what they change, and epsilon against patience.

``frontier`` sets the rounds a rule spends against the answers it changes; the line joins the
debates of a fixed length, so that a rule below it beats every fixed length of its cost.
``heat_map`` shows a `sweep_ks`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from stability._check import check_choice
from stability.evaluate.trace import plural
from stability.plots.canvas import BLUE, GREY, VERMILION, bare, open_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SIZE = 9.0  # points, of the names of the rules
_LEADING = 1.45
_COLUMN = 1.04  # where the names begin, in widths of the axes
_VALUES = {
    "answers_changed": "answers changed (%)",
    "rounds_saved": "rounds saved (%)",
    "accuracy_change": "change of the accuracy (points)",
}


class _Label(NamedTuple):
    """The names of rules that lie on one point; infinite for rules that could not run."""

    x: float
    y: float
    names: tuple[str, ...]
    colour: str


def frontier(
    frame: "pd.DataFrame", ax: "Axes | None" = None, *, title: str | None = None
) -> "Axes":
    """Draw the rounds spent against the answers changed, a point a rule.

    Circles are rules that stop each item alone, squares those that stop a batch. The names stand
    in a column on the right, each tied to its point; rules on one point share a line to it.

    Parameters
    ----------
    frame : DataFrame
        From `replay`.
    ax : matplotlib Axes, optional
        It needs room on its right for the names.
    title : str, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.replay import replay
    >>> from stability import Unanimity, plots
    >>> ax = plots.frontier(replay(load_smollm_debates(), [Unanimity()]), Figure().subplots())
    >>> ax.get_title()
    'Below the line a rule beats debates of a fixed length (72 items)'
    """
    rules = frame[frame["kind"] == "rule"]
    fixed = frame[frame["kind"] == "baseline"]
    ax = open_axes(ax, (9.0, max(4.4, 1.3 + len(rules) * _SIZE * _LEADING / 72)))
    bare(ax)
    ax.set_xlabel("mean rounds held")
    ax.set_ylabel("answers that differ from the full debate (%)")
    items = plural(int(fixed["items"].iloc[0]), "item")
    said = f"Below the line a rule beats debates of a fixed length ({items})"
    ax.set_title(said if title is None else title)
    x, y = fixed["rounds"].to_numpy(), 100 * fixed["answers_changed"].to_numpy()
    ax.plot(x, y, color=GREY, linewidth=1.4, marker=".", label="fixed length")
    labels = []
    for scope, colour, marker, size, face in (
        ("batch", VERMILION, "s", 80, "none"),
        ("item", BLUE, "o", 40, BLUE),
    ):
        here = rules[rules["scope"] == scope]
        at = here["rounds"].to_numpy(), 100 * here["answers_changed"].to_numpy()
        if len(here):
            ax.scatter(
                *at,
                s=size,
                marker=marker,
                facecolors=face,
                edgecolors=colour,
                linewidths=1.6,
                label=f"stops {'a batch' if scope == 'batch' else 'each item'}",
                zorder=3,
            )
        labels += _gathered(*at, here["rule"].tolist(), colour)
    highest = max([*y, *(label.y for label in labels if np.isfinite(label.y))])
    wide = max(float(x[-1] - 1.0), 0.5)
    ax.set_xlim(1.0 - 0.05 * wide, max(x[-1], 1.0) + 0.05 * wide)
    # Below 0 stands the name of the full debate.
    ax.set_ylim(-0.12 * (highest or 1.0), 1.1 * (highest or 1.0))
    _name_lengths(ax, x, y, fixed["rule"].tolist())
    _name_rules(ax, labels)
    ax.legend(loc="upper right", frameon=False)
    return ax


def heat_map(
    frame: "pd.DataFrame",
    ax: "Axes | None" = None,
    *,
    value: Literal["answers_changed", "rounds_saved", "accuracy_change"] = "answers_changed",
    title: str | None = None,
) -> "Axes":
    """Draw a sweep of epsilon and patience: a cell a pair, with its rounds and its price.

    Parameters
    ----------
    frame : DataFrame
        From `sweep_ks`. In each cell stand the mean rounds held and, below, ``value``; a dash
        where the rule does not stop.
    ax : matplotlib Axes, optional
    value : {"answers_changed", "rounds_saved", "accuracy_change"}
        What the colour shows.
    title : str, optional

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        When ``value`` is another one, or the log that was swept is not graded.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.sweep import sweep_ks
    >>> from stability import plots
    >>> frame = sweep_ks(load_smollm_debates(), [.02, .05, .1], [1, 2], space="empirical")
    >>> ax = plots.heat_map(frame, Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['4.0\\n0.0 %', '3.0\\n20.8 %', '2.0\\n37.5 %', '–', '4.0\\n0.0 %', '3.0\\n20.8 %']
    """
    check_choice("value", value, _VALUES)
    if frame[value].isna().all():
        raise ValueError(f"`value` must be known: no {value} in this sweep (nothing is graded)")
    epsilons, patiences = frame["epsilon"].unique(), frame["patience"].unique()
    ax = open_axes(ax, (1.6 + 0.85 * len(epsilons), 1.6 + 0.75 * len(patiences)))
    cells = np.full((len(patiences), len(epsilons)), np.nan)
    texts = {}
    for row in frame.to_dict("records"):
        place = (
            patiences.tolist().index(row["patience"]),
            epsilons.tolist().index(row["epsilon"]),
        )
        shown = 100 * row[value]
        unit = "" if value == "accuracy_change" else " %"
        sign = "+" if value == "accuracy_change" else ""
        texts[place] = f"{row['rounds']:.1f}\n{shown:{sign}.1f}{unit}"
        if _missing(row["stop_round"]):
            texts[place] = "–"
        else:
            cells[place] = shown
    from matplotlib import colormaps

    colours = colormaps["PuOr" if value == "accuracy_change" else "cividis_r"]
    seen = cells[~np.isnan(cells)]
    top = max(float(np.abs(seen).max()) if seen.size else 0.0, 1.0)
    low = -top if value == "accuracy_change" else 0.0
    ax.set_facecolor("#EEEEEE")
    image = ax.imshow(cells, cmap=colours, vmin=low, vmax=top, aspect="auto", origin="lower")
    for (i, j), text in sorted(texts.items()):
        share = 0.0 if np.isnan(cells[i, j]) else (cells[i, j] - low) / (top - low)
        red, green, blue, _ = colours(share) if text != "–" else (1.0, 1.0, 1.0, 1.0)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        ax.text(j, i, text, ha="center", va="center", color="white" if dark else "black")
    ax.set_xticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons])
    ax.set_yticks(range(len(patiences)), [str(patience) for patience in patiences])
    ax.set_xlabel("epsilon")
    ax.set_ylabel("patience")
    ax.set_title(
        "Rounds held, and what that changes (–: does not stop)" if title is None else title
    )
    ax.figure.colorbar(image, ax=ax, label=_VALUES[value])
    return ax


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _gathered(x: Any, y: Any, names: Sequence[str], colour: str) -> list[_Label]:
    """Join the names of rules on one point."""
    points: dict[tuple[float, float], list[str]] = {}
    for a, b, name in zip(x.tolist(), y.tolist(), names, strict=True):
        ran = not np.isnan(a)
        place = (round(a, 6), round(b, 6)) if ran else (np.inf, np.inf)
        points.setdefault(place, []).append(name if ran else f"{name}: could not run")
    return [_Label(a, b, tuple(held), colour) for (a, b), held in points.items()]


def _name_lengths(ax: "Axes", x: Any, y: Any, names: Sequence[str]) -> None:
    """Name the debates of a fixed length, leaving out those that lie on a name already there."""
    from matplotlib.patheffects import withStroke

    wide, high = np.diff(ax.get_xlim())[0], np.diff(ax.get_ylim())[0]
    last = len(names) - 1
    order = [last, *range(last)]
    taken: list[tuple[float, float]] = []
    for place in order:
        a, b = x[place] / wide, y[place] / high
        if any(abs(a - c) < 0.12 and abs(b - d) < 0.06 for c, d in taken):
            continue
        taken.append((a, b))
        ax.annotate(
            names[place].removeprefix("fixed "),
            (x[place], y[place]),
            (6, -9) if place == last else (6, 5),
            textcoords="offset points",
            ha="right" if place == last else "left",
            va="top" if place == last else "bottom",
            color=GREY,
            fontsize=_SIZE,
            zorder=4,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )


def _name_rules(ax: "Axes", labels: list[_Label]) -> None:
    """Write the names in a column on the right, in an order in which their lines cross little."""
    if not labels:
        return
    labels = sorted(labels, key=lambda label: label.y)
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    lines = sum(len(label.names) for label in labels)
    size = min(_SIZE, height / (lines * _LEADING))
    line = size * _LEADING / height
    to_axes = ax.transData + ax.transAxes.inverted()
    ends = [to_axes.transform((label.x, label.y)) for label in labels]
    middles = _stacked(ends, [len(label.names) for label in labels], line)
    for _ in labels:
        # Neighbours change places while their lines cross.
        for k in range(len(labels) - 1):
            if _cross(ends[k], middles[k], ends[k + 1], middles[k + 1]):
                labels[k : k + 2] = labels[k + 1], labels[k]
                ends[k : k + 2] = ends[k + 1], ends[k]
                middles = _stacked(ends, [len(label.names) for label in labels], line)
    for label, middle in zip(labels, middles, strict=True):
        ran = np.isfinite(label.x)
        ax.annotate(
            "\n".join(label.names),
            (label.x, label.y) if ran else (_COLUMN, middle),
            (_COLUMN, middle),
            xycoords="data" if ran else "axes fraction",
            textcoords="axes fraction",
            ha="left",
            va="center",
            color=label.colour,
            fontsize=size,
            linespacing=_LEADING / 1.2,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": label.colour,
                "linewidth": 0.7,
                "alpha": 0.6,
                "relpos": (0.0, 0.5),
                "shrinkB": 4,
            }
            if ran
            else None,
        )


def _stacked(ends: Sequence[Any], sizes: Sequence[int], line: float) -> list[float]:
    """Return the middles of blocks of lines, each near its point, none on another, within 0..1."""
    bottoms, floor = [], 0.0
    for (_, y), size in zip(ends, sizes, strict=True):
        floor = max(floor, min(y, 1.0) - size * line / 2)
        bottoms.append(floor)
        floor += size * line
    ceiling = 1.0
    for place in reversed(range(len(bottoms))):
        ceiling = bottoms[place] = min(bottoms[place], ceiling - sizes[place] * line)
    return [bottom + size * line / 2 for bottom, size in zip(bottoms, sizes, strict=True)]


def _cross(a: Any, a_end: float, b: Any, b_end: float) -> bool:
    """Say whether a line to the name below crosses a line to the name above it."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    start = max(a[0], b[0])
    lower, upper = (
        point[1] + (end - point[1]) * (start - point[0]) / (_COLUMN - point[0])
        for point, end in ((a, a_end), (b, b_end))
    )
    return bool(lower > upper + 1e-9)
