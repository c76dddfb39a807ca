"""Pictures of the rounds: the counts of each with their fit, and how far they lie apart.

``histogram`` draws one round: how many items have k agents right (or agreeing), and how many the
fitted mixture expects, sum_n M_n P(k of n), M_n being the items with n agents. ``distances``
draws D_t = sup |F_t - F_(t-1)| beside the share of items whose leading answer changed, with what
the rule made of it. ``overview`` puts both on one page.
"""

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stability.evaluate.detect import first_ks_rule
from stability.evaluate.trace import StabilityTrace, plural
from stability.fit import MixtureFit, noise_floor
from stability.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    SKY,
    VERMILION,
    bare,
    open_axes,
    percent,
    say,
    whole_numbers,
)
from stability.rules import rule_to_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = {
    "predictive": ("D of the fitted counts", BLUE, "-", "o"),
    "empirical": ("D of the observed counts", SKY, "--", "s"),
    "latent": ("D of the fitted Beta mixtures", PURPLE, ":", "^"),
}
_COLUMNS = 5


def histogram(
    fit: MixtureFit | None,
    ax: "Axes | None" = None,
    *,
    title: str | None = None,
    legend: bool = True,
) -> "Axes":
    """Draw the counts of one round and what the fit expects.

    Parameters
    ----------
    fit : MixtureFit or None
        As in ``trace.fits``; None (no item could be counted) draws a sentence that says so.
    ax : matplotlib Axes, optional
    title : str, optional
        By default the observed mean share.
    legend : bool

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from stability import fit_mixture, plots
    >>> fit = fit_mixture([0, 1, 4, 5], 5, freq=[20, 10, 20, 50])
    >>> ax = plots.histogram(fit, Figure().subplots())
    >>> ax.get_title(), len(ax.patches)
    ('68.0 %', 6)
    """
    ax = open_axes(ax)
    ax.set_xlabel("agents counted (k)")
    ax.set_ylabel("items")
    bare(ax)
    if fit is None:
        say(ax, "no item could be counted")
        ax.set_title(title or "")
        return ax
    counts = fit.counts
    most = int(counts.n.max())
    observed = np.bincount(counts.k, weights=counts.freq, minlength=most + 1)
    places = np.arange(most + 1)
    ax.bar(places, observed, width=0.8, color=SKY, alpha=0.6, label="observed")
    ax.plot(
        places,
        expected_items(fit),
        color=VERMILION,
        marker="o",
        markersize=4,
        linewidth=1.2,
        label="fitted mixture",
    )
    whole_numbers(ax.xaxis)
    whole_numbers(ax.yaxis, 5)
    ax.set_xlim(-0.6, most + 0.6)
    share = float((counts.freq * counts.k / counts.n).sum() / counts.freq.sum())
    ax.set_title(percent(share) if title is None else title)
    if legend:
        ax.legend(frameon=False)
    return ax


def expected_items(fit: MixtureFit) -> npt.NDArray[np.float64]:
    """Return how many items the fit expects with k = 0..max n; sums to the number of items.

    Examples
    --------
    >>> from stability import fit_mixture
    >>> expected_items(fit_mixture([0, 1], 1, n_components=1)).tolist()
    [1.0, 1.0]
    """
    counts = fit.counts
    expected = np.zeros(int(counts.n.max()) + 1)
    for n in np.unique(counts.n).tolist():
        expected[: n + 1] += counts.freq[counts.n == n].sum() * fit.law(n)
    return expected


def histograms(
    trace: StabilityTrace, axes: npt.NDArray[np.object_] | None = None
) -> npt.NDArray[np.object_]:
    """Draw the counts of every round, one axes a round, on one scale.

    Parameters
    ----------
    trace : StabilityTrace
    axes : array of Axes, any shape with at least T elements, optional
        Those left over are hidden.

    Returns
    -------
    array of Axes, shape (T,)

    Raises
    ------
    ValueError
        When there are fewer axes than rounds.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from stability import detect, load_smollm_debates, plots
    >>> trace = detect(load_smollm_debates())
    >>> axes = plots.histograms(trace, Figure().subplots(1, 4))
    >>> [ax.get_title() for ax in axes]
    ['t = 0: 27.2 % right', 't = 1: 25.6 % right', 't = 2: 23.9 % right', 't = 3: 24.2 % right']
    """
    n_rounds = len(trace.rounds)
    if axes is None:
        import matplotlib.pyplot as plt

        rows, columns = _grid(n_rounds)
        size = (2.2 * columns + 0.4, 2.2 * rows + 0.6)
        figure = plt.figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
        _fill(axes, trace)
        _legend_below(figure, axes)
        figure.suptitle(
            f"{plural(trace.n_items, 'item')} by the number of agents that {_counted(trace)}"
        )
    else:
        axes = np.asarray(axes, dtype=object)
        if axes.size < n_rounds:
            raise ValueError(
                f"`axes` must hold an axes a round: {axes.size} axes, {n_rounds} rounds"
            )
        _fill(axes, trace)
    shown: npt.NDArray[np.object_] = axes.ravel()[:n_rounds]
    return shown


def distances(trace: StabilityTrace, ax: "Axes | None" = None) -> "Axes":
    """Draw D and the flip share by round, with the threshold, the streak and the stop.

    The line of the space that the rule compares (else the predictive one) is heavy, the other
    two are light. Shaded: rounds in which the distance that the rule measured lies below its
    threshold. Dotted: the 95 % quantile of D of as many items when nothing changes and every
    answer is drawn anew; answers that are repeated only lower it.

    Parameters
    ----------
    trace : StabilityTrace
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from stability import detect, load_smollm_debates, plots
    >>> ax = plots.distances(detect(load_smollm_debates()), Figure().subplots())
    >>> ax.get_title()
    'KSRule() stops at t = 3, where 20.8 % of the leading answers still change'
    """
    ax = open_axes(ax)
    ax.set_title(_lines(finding(trace)))
    bare(ax)
    last = len(trace.rounds) - 1
    if last == 0:
        say(ax, "one round: nothing to compare")
        return ax
    ax.set_xlabel("round t, compared with t - 1")
    ax.set_ylabel("D, share of items")
    rounds = np.arange(1, last + 1)
    rule = first_ks_rule(trace.rule)
    main = "predictive" if rule is None else rule.space
    for space in sorted(_LINES, key=lambda space: space != main):
        label, colour, style, marker = _LINES[space]
        heavy = space == main
        ax.plot(
            rounds,
            trace.distances[space],
            label=f"{label} ({space})",
            color=colour,
            linestyle="-" if heavy else style,
            marker=marker,
            linewidth=2.4 if heavy else 1.2,
            markersize=6 if heavy else 4,
            alpha=1.0 if heavy else 0.75,
            zorder=3 if heavy else 2,
        )
    flips = [row.flip_share for row in trace.rounds[1:]]
    ax.plot(
        rounds,
        flips,
        label="items whose leading answer changed",
        color=GREEN,
        linestyle="-.",
        marker="D",
        markersize=5,
    )
    if rule is not None:
        _draw_rule(ax, trace, rule.epsilon == "calibrated")
        items = min(row.items for row in trace.rounds)
        if items:
            ax.axhline(
                noise_floor(items, space=main),
                color=GREY,
                linestyle=(0, (1, 2)),
                linewidth=1.3,
                label=f"95 % of chance differences of {plural(items, 'item')}",
            )
    if trace.stop_round is not None:
        ax.axvline(trace.stop_round, color="black", linewidth=1.2, label="stop")
    whole_numbers(ax.xaxis)
    ax.set_xlim(0.5 if trace.stop_round != 0 else -0.5, last + 0.5)
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0)
    return ax


def overview(trace: StabilityTrace) -> "Figure":
    """Draw the counts of every round above the distances between them.

    Returns
    -------
    Figure
        Not registered with pyplot: save it with ``figure.savefig(path)``.

    Examples
    --------
    >>> from stability import detect, load_smollm_debates, plots
    >>> figure = plots.overview(detect(load_smollm_debates()))
    >>> len(figure.subfigs)
    2
    """
    from matplotlib.figure import Figure

    rows, columns = _grid(len(trace.rounds))
    heights = (2.3 * rows + 0.7, 3.5)
    figure = Figure(figsize=(11.0, sum(heights)), layout="constrained")
    parts: npt.NDArray[np.object_] = np.asarray(
        figure.subfigures(2, 1, height_ratios=heights, hspace=0.04), dtype=object
    )
    upper, lower = parts
    axes = upper.subplots(rows, columns, sharey=True, squeeze=False)
    _fill(axes, trace)
    _legend_below(upper, axes)
    upper.suptitle(
        f"{plural(trace.n_items, 'item')} by the number of agents that {_counted(trace)}"
    )
    distances(trace, lower.subplots())
    return figure


def finding(trace: StabilityTrace) -> str:
    """Return what the rule did, and how many answers still moved, as a short title.

    Examples
    --------
    >>> from stability import MaxRounds, Unanimity, detect, load_smollm_debates
    >>> finding(detect(load_smollm_debates(), Unanimity()))
    'Unanimity() stops 32 of 72 items; 20.8 % of the leading answers change at t = 3'
    """
    t = trace.stop_round
    last = trace.rounds[-1 if t is None else t]
    at = f"t = {last.round}"
    moved = "" if np.isnan(last.flip_share) else f"{percent(last.flip_share)} of the leading"
    if t is not None:
        said = f"{rule_to_text(trace.rule)} stops at {at}"
        return f"{said}, where {moved} answers still change" if moved else said
    some = f"stops {last.stopped} of {plural(trace.n_items, 'item')}"
    said = f"{rule_to_text(trace.rule)} {some if last.stopped else 'does not stop'}"
    return f"{said}; {moved} answers change at {at}" if moved else said


def _draw_rule(ax: "Axes", trace: StabilityTrace, calibrated: bool) -> None:
    """Draw the threshold, and shade the rounds that count towards the stop, up to it."""
    compared = [row for row in trace.rounds[1:] if np.isfinite(row.threshold)]
    if calibrated:
        ax.plot(
            [row.round for row in compared],
            [row.threshold for row in compared],
            color=VERMILION,
            linestyle=(0, (6, 3)),
            linewidth=1.5,
            marker="_",
            label="calibrated threshold",
        )
    elif compared:
        ax.axhline(
            compared[0].threshold,
            color=VERMILION,
            linestyle=(0, (6, 3)),
            linewidth=1.5,
            label=f"threshold {compared[0].threshold:g}",
        )
    label = "rounds that count towards the stop"
    for row in trace.rounds[: None if trace.stop_round is None else trace.stop_round + 1]:
        passes = row.statistic < row.threshold or (calibrated and row.statistic == row.threshold)
        if passes and row.reason != "undecidable":
            start, end = row.round - 0.5, row.round + 0.5
            if row.round == trace.stop_round:
                end = row.round
            ax.axvspan(start, end, color=VERMILION, alpha=0.12, linewidth=0, label=label)
            label = "_"


def _fill(axes: npt.NDArray[np.object_], trace: StabilityTrace) -> None:
    flat = axes.ravel()
    for place, (ax, row, fit) in enumerate(zip(flat, trace.rounds, trace.fits, strict=False)):
        word = "right" if trace.observable == "correct" else "agree"
        share = "" if np.isnan(row.share) else f": {percent(row.share)} {word}"
        histogram(fit, ax, title=f"t = {row.round}{share}", legend=False)
        ax.set_xlabel(f"agents that {_counted(trace)}")
        if place % axes.shape[-1]:
            ax.set_ylabel("")
    for ax in flat[len(trace.rounds) :]:
        ax.set_visible(False)


def _legend_below(figure: Any, axes: npt.NDArray[np.object_]) -> None:
    handles: dict[str, Any] = {}
    for ax in axes.ravel():
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=2, frameon=False
        )


def _grid(n_rounds: int) -> tuple[int, int]:
    """Return rows and columns; at least three columns, so that no axes is a banner."""
    rows = -(-n_rounds // _COLUMNS)
    return rows, max(3, -(-n_rounds // rows))


def _counted(trace: StabilityTrace) -> str:
    return "are right" if trace.observable == "correct" else "agree"


def _lines(text: str) -> str:
    """Break a title into lines, but not inside "t = 3" or "20.8 %"."""
    held = text.replace(" = ", "\0=\0").replace(" %", "\0%")
    return fill(held, 80).replace("\0", " ")
