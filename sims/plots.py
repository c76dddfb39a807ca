"""Pictures of simulated debates: accuracy by round, interventions, echo chambers, rules.

Every function draws what another one measured, takes the axes it draws on and returns them;
without axes it makes a figure of its own. Bands are 95 % intervals of the simulation, by the normal
approximation. Colours are those of Okabe and Ito; lines differ in style as well.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sims.debates.result import Simulation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#5A5A5A", "#000000")
_STYLES = ("-", "--", "-.", ":")
_Z = 1.959964
Float64 = npt.NDArray[np.float64]
FIGURES = {
    "false_stop": "share that stop while accuracy still changes",
    "never_stop": "share that never stop",
    "stop_round": "mean round of the stop",
    "to_come": "accuracy to come at the stop",
    "changed": "share of leading answers that change after the stop",
    "cost": "answers asked for an item",
}


def accuracy_by_round(
    found: Simulation | Mapping[str, Simulation],
    exact: Mapping[str, npt.ArrayLike] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the accuracy by round with its band, a line a simulation.

    Parameters
    ----------
    found : Simulation, or mapping of names to them
    exact : mapping of names to arrays, shape (rounds,), optional
        Exact accuracies, drawn as crosses.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> from sims import SCENARIOS, plots, simulate
    >>> found = simulate(SCENARIOS["ring"], debates=100, rounds=3)
    >>> plots.accuracy_by_round({"ring": found}).get_ylabel()
    'accuracy'
    """
    named = {"": found} if isinstance(found, Simulation) else dict(found)
    if not named:
        raise ValueError("`found` must hold at least one simulation, got none")
    ax = _axes(ax, (7.0, 4.2))
    for place, (name, one) in enumerate(named.items()):
        _band(ax, np.arange(one.rounds), one.accuracy, one.standard_error, place, name)
        if exact is not None and name in exact:
            values = np.asarray(exact[name])
            ax.plot(values, "x", color=_COLOURS[place % 8], markersize=6)
    if exact:
        ax.plot([], [], "x", color="black", label="exact")
    _whole(ax)
    ax.set_xlabel("round t")
    ax.set_ylabel("accuracy")
    if len(named) > 1 or exact:
        _aside(ax)
    return ax


def ablation(found: Mapping[str, Simulation], ax: "Axes | None" = None) -> "Axes":
    """Draw the accuracy by round of the 2^3 combinations of interventions.

    A colour a view (none, diversity, quality, both), dashes where answers are refuted.

    Parameters
    ----------
    found : mapping of names to Simulation
        Named as in `theory.ablation`: "none", "diversity + refutation" and so on.
    ax : matplotlib.axes.Axes, optional
    """
    if not found:
        raise ValueError("`found` must hold at least one simulation, got none")
    ax = _axes(ax, (7.6, 4.2))
    views: dict[str, int] = {}
    for name, one in found.items():
        words = name.split(" + ")
        view = " + ".join(word for word in words if word not in ("refutation", "none"))
        place = views.setdefault(view, len(views))
        style = "--" if "refutation" in words else "-"
        _band(ax, np.arange(one.rounds), one.accuracy, one.standard_error, place, name, style=style)
    _whole(ax)
    ax.set_xlabel("round t")
    ax.set_ylabel("accuracy")
    _aside(ax)
    return ax


def change_by_size(
    table: "pd.DataFrame", rate: float | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw how often the leading concept changes, against n, with the slope of the theory.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `sims.change_by_size`. Where no change was seen there is no point.
    rate : float, optional
        C: a line proportional to exp(-C n) / sqrt(n), the rate at which a sum of n terms ends on
        the wrong side (Bahadur and Rao), through the last point of the first scenario that is known
        to a fifth.
    ax : matplotlib.axes.Axes, optional
    """
    ax = _axes(ax, (6.4, 4.2))
    for place, (name, part) in enumerate(table.groupby("scenario", sort=False)):
        seen = part[part["change"] > 0]
        n, y = seen["n"].to_numpy(), seen["change"].to_numpy()
        low = np.minimum(_Z * seen["change_se"].to_numpy(), 0.9 * y)
        ax.errorbar(
            n,
            y,
            [low, _Z * seen["change_se"].to_numpy()],
            fmt=_STYLES[place % 4],
            marker="o",
            markersize=4,
            capsize=2,
            color=_COLOURS[place % 8],
            label=str(name),
        )
        if place == 0 and rate is not None and len(n):
            reach = np.linspace(table["n"].min(), table["n"].max(), 100)
            known = np.flatnonzero(seen["change_se"].to_numpy() <= 0.2 * y)
            at = known[-1] if len(known) else -1
            line = y[at] * np.exp(-rate * (reach - n[at])) * np.sqrt(n[at] / reach)
            ax.plot(reach, line, ":", color="black", label=f"exp(-{rate:.3f} n) / sqrt(n)")
    ax.set_yscale("log")
    ax.set_xlabel("agents n")
    ax.set_ylabel("P(the leading concept changes)")
    ax.legend(frameon=False)
    return ax


def accuracy_by_misled(
    table: "pd.DataFrame", critical: float | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the accuracy against the share of misled agents, a line an n, with the critical share.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `sims.accuracy_by_misled`.
    critical : float, optional
        `theory.critical_share`, a vertical line.
    ax : matplotlib.axes.Axes, optional
    """
    ax = _axes(ax, (6.4, 4.2))
    for place, (n, part) in enumerate(table.groupby("n", sort=False)):
        _band(
            ax,
            part["misled"].to_numpy(),
            part["accuracy"].to_numpy(),
            part["accuracy_se"].to_numpy(),
            place,
            f"n = {n}",
        )
    if critical is not None:
        ax.axvline(critical, color="black", linewidth=0.8, linestyle=":")
        ax.annotate(
            f"critical share {critical:.2f}",
            (critical, 1.0),
            (4, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
        )
    ax.set_xlabel("share of agents that are misled")
    ax.set_ylabel("accuracy")
    ax.legend(frameon=False, loc="lower left")
    return ax


def characteristics(
    table: "pd.DataFrame", figure: str = "false_stop", ax: "Axes | None" = None
) -> "Axes":
    """Draw one operating characteristic of stopping rules as a heat map.

    With several rules they are the rows, and scenarios and sizes the columns; with one rule the
    scenarios are the rows, the sizes the columns. A dash stands where no batch stopped.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `sims.operating_characteristics`.
    figure : {"false_stop", "never_stop", "stop_round", "to_come", "changed", "cost"}
    ax : matplotlib.axes.Axes, optional
    """
    if figure not in FIGURES:
        raise ValueError(f"`figure` must be one of {', '.join(FIGURES)}, got {figure!r}")
    rules, sizes = table["rule"].nunique(), table["items"].nunique()
    frame = table.assign(
        column=table["scenario"]
        if sizes == 1
        else table["scenario"] + "\nM = " + table["items"].astype(str)
    )
    row, column = ("scenario", "items") if rules == 1 else ("rule", "column")
    order = [list(dict.fromkeys(frame[one])) for one in (row, column)]
    grid = frame.pivot(index=row, columns=column, values=figure)
    values = grid.reindex(index=order[0], columns=order[1]).to_numpy(float)
    if ax is None:
        ax = _axes(None, (3.5 + 1.0 * values.shape[1], 1.4 + 0.34 * values.shape[0]))
    share = figure in ("false_stop", "never_stop", "changed")
    top = 1.0 if share else float(np.nanmax(np.abs(values), initial=1e-12))
    low = -top if figure == "to_come" else 0.0
    image = ax.imshow(
        values, aspect="auto", vmin=low, vmax=top, cmap="RdBu" if low < 0 else "cividis"
    )
    for (i, j), value in np.ndenumerate(values):
        text = "-" if np.isnan(value) else f"{value:.3f}" if top <= 1 else f"{value:.1f}"
        ax.text(j, i, text, ha="center", va="center", color=_ink(image, value), fontsize=9)
    ax.set_xticks(range(values.shape[1]), [str(one) for one in order[1]])
    ax.set_yticks(range(values.shape[0]), [str(one) for one in order[0]])
    ax.tick_params(length=0)
    if rules == 1:
        ax.set_xlabel("items M")
    title = FIGURES[figure]
    ax.set_title(title if rules > 1 else f"{table['rule'].iloc[0]}: {title}", fontsize=10)
    return ax


def ensemble_size(table: "pd.DataFrame", figure: str = "vote", ax: "Axes | None" = None) -> "Axes":
    """Draw the accuracy of the vote, or another column, against n, a line a scenario.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `sims.ensemble_size`.
    figure : {"vote", "first_vote", "agents", "agreement", "unanimous", "answers"}
    ax : matplotlib.axes.Axes, optional
    """
    known = ("vote", "first_vote", "agents", "agreement", "unanimous", "answers")
    if figure not in known:
        raise ValueError(f"`figure` must be one of {', '.join(known)}, got {figure!r}")
    ax = _axes(ax, (7.2, 4.2))
    for place, (name, part) in enumerate(table.groupby("scenario", sort=False)):
        error = part["vote_se"].to_numpy() if figure == "vote" else np.zeros(len(part))
        _band(ax, part["n"].to_numpy(), part[figure].to_numpy(), error, place, str(name))
    _whole(ax)
    ax.set_xlabel("agents n")
    words = {
        "vote": "accuracy of the last vote",
        "first_vote": "accuracy of the first vote",
        "agents": "accuracy of an agent",
        "agreement": "share of the leading answer",
        "unanimous": "share of unanimous debates",
        "answers": "answers asked",
    }
    ax.set_ylabel(words[figure])
    _aside(ax)
    return ax


def gain_by_dispersion(tables: "Mapping[str, pd.DataFrame]", ax: "Axes | None" = None) -> "Axes":
    """Draw what debate adds to the vote against the dispersion of first answers.

    Parameters
    ----------
    tables : mapping of names to pandas.DataFrame
        Of `sims.gain_by_dispersion`; dispersions seen in fewer than 30 debates are left out.
    ax : matplotlib.axes.Axes, optional
    """
    ax = _axes(ax, (7.2, 4.2))
    for place, (name, table) in enumerate(tables.items()):
        part = table[table["debates"] >= 30]
        error = part["gain_se"].to_numpy(float)
        _band(ax, part["dispersion"].to_numpy(), part["gain"].to_numpy(), error, place, name)
    ax.axhline(0.0, color="black", linewidth=0.7)
    ax.set_xlabel("dispersion of first answers: P(two draws differ)")
    ax.set_ylabel("accuracy that debate adds to the vote")
    _aside(ax)
    return ax


def _band(
    ax: "Axes",
    x: Any,
    y: Float64,
    error: Float64,
    place: int,
    label: str,
    style: str | None = None,
) -> None:
    """A line with its 95 % band."""
    colour = _COLOURS[place % 8]
    ax.plot(x, y, style or _STYLES[place % 4], marker=".", color=colour, label=label)
    ax.fill_between(x, y - _Z * error, y + _Z * error, color=colour, alpha=0.2, linewidth=0)


def _ink(image: Any, value: float) -> str:
    """Black or white, whichever is read on the colour of the value."""
    if np.isnan(value):
        return "black"
    red, green, blue, _ = image.cmap(image.norm(value))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def _axes(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=size, layout="constrained")[1]
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _aside(ax: "Axes") -> None:
    """The legend beside the picture, where it covers no line."""
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _whole(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(9, integer=True))
