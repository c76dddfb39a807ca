"""What the pictures show, read back from the axes; every figure is also drawn."""

import io
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stability import (
    DebateLog,
    KSRule,
    MaxRounds,
    Unanimity,
    detect,
    fit_mixture,
    load_smollm_debates,
    noise_floor,
    plots,
)


@pytest.fixture(scope="module")
def trace():
    return detect(load_smollm_debates())


def drawn(figure):
    """Draw the figure, without the costly search for its layout, and return its axes' titles."""
    figure.set_layout_engine("none")
    figure.savefig(io.BytesIO(), format="png", dpi=40)
    return [ax.get_title() for ax in figure.axes]


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_bars_are_the_counts_and_the_line_is_the_fit(trace):
    fit = trace.fits[0]
    ax = plots.histogram(fit, Figure().subplots())
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == [27, 22, 6, 8, 5, 4]
    assert lines(ax)["fitted mixture"].get_ydata() == pytest.approx(72 * fit.law(5), abs=1e-9)
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > 27


def test_items_with_unlike_numbers_of_agents_are_expected_together():
    fit = fit_mixture([0, 2, 3, 1, 5], [2, 2, 3, 3, 5], n_components=1)
    expected = plots.expected_items(fit)
    by_hand = [
        sum(items * fit.pmf(k, n) for n, items in ((2, 2), (3, 2), (5, 1)) if k <= n)
        for k in range(6)
    ]
    assert expected == pytest.approx(by_hand, abs=1e-12)
    assert expected.sum() == pytest.approx(5)


def test_rounds_share_one_scale(trace):
    figure = plots.overview(trace)
    rounds = [ax for ax in figure.axes if ax.get_title().startswith("t = ")]
    assert len(rounds) == 4
    highest = max(bar.get_height() for ax in rounds for bar in ax.patches)
    assert all(ax.get_ylim()[1] > highest for ax in rounds)
    assert len({ax.get_ylim() for ax in rounds}) == 1


def test_distances_threshold_streak_and_stop(trace):
    ax = plots.distances(trace, Figure().subplots())
    shown = lines(ax)
    for space, label in (
        ("predictive", "D of the fitted counts (predictive)"),
        ("empirical", "D of the observed counts (empirical)"),
        ("latent", "D of the fitted Beta mixtures (latent)"),
    ):
        assert np.array_equal(shown[label].get_ydata(), trace.distances[space])
        assert shown[label].get_xdata().tolist() == [1, 2, 3]
    flips = shown["items whose leading answer changed"].get_ydata()
    assert list(flips) == [row.flip_share for row in trace.rounds[1:]]
    assert shown["threshold 0.05"].get_ydata() == [0.05, 0.05]
    assert shown["stop"].get_xdata() == [3, 3]
    floor = shown["95 % of chance differences of 72 items"].get_ydata()
    assert floor == pytest.approx([noise_floor(72)] * 2)
    # D is .056, .036, .013: the streak holds t = 2 and t = 3, and ends at the stop.
    assert [(p.get_x(), p.get_width()) for p in ax.patches] == [(1.5, 1), (2.5, 0.5)]
    heavy = max(shown.values(), key=lambda line: line.get_linewidth())
    assert heavy.get_label() == "D of the fitted counts (predictive)"


def test_the_space_of_the_rule_is_the_heavy_line():
    trace = detect(load_smollm_debates(), KSRule(space="empirical", epsilon=0.01))
    ax = plots.distances(trace, Figure().subplots())
    heavy = max(ax.get_lines(), key=lambda line: line.get_linewidth())
    assert heavy.get_label() == "D of the observed counts (empirical)"
    assert "stop" not in lines(ax)
    assert len(ax.patches) == 0
    assert ax.get_title().startswith("KSRule(epsilon=0.01, space='empirical') does not stop")


def test_a_rule_without_distance_shows_no_threshold():
    trace = detect(load_smollm_debates(), Unanimity() | MaxRounds(3))
    ax = plots.distances(trace, Figure().subplots())
    assert not any("threshold" in label or "chance" in label for label in lines(ax))
    assert lines(ax)["stop"].get_xdata() == [2, 2]


def test_no_text_lies_on_another(trace):
    figure = plots.overview(trace)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = [figure.subfigs[0]._suptitle]
    for ax in figure.axes:
        texts += [ax.title, ax.xaxis.label, ax.yaxis.label]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = axis.get_view_interval()
            ticks = axis.get_major_ticks()
            texts += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
        texts += ax.get_legend().get_texts() if ax.get_legend() else []
    for part in figure.subfigs:
        texts += [text for legend in part.legends for text in legend.get_texts()]
    # Inner axes hide the tick labels of the shared scale; what is not drawn covers nothing.
    seen = [text for text in texts if text.get_text() and text.get_visible()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in seen]
    outside = [name for name, box in boxes if box.x0 < 0 or box.x1 > figure.bbox.x1]
    clashes = [(a[0], b[0]) for a, b in combinations(boxes, 2) if a[1].overlaps(b[1])]
    assert (len(boxes) > 40, outside, clashes) == (True, [], [])


@pytest.mark.parametrize(
    ("log", "rule"),
    [
        (DebateLog([[[0]]], ["A"]), Unanimity()),
        (DebateLog([[[0], [0]]], ["A"], gold=["A", "A"]), KSRule()),
        (DebateLog(np.ones((3, 30, 4), int), "AB", gold=["B"] * 30), KSRule()),
        (DebateLog(np.full((2, 3, 2), -2), ["A"]), MaxRounds(2)),
        (DebateLog(np.zeros((6, 1, 2), int), ["A"]), MaxRounds(6) | Unanimity(hold=3)),
    ],
    ids=["1x1x1", "one round", "all right", "silent", "two rows"],
)
def test_degenerate_debates_are_drawn(log, rule):
    titles = drawn(plots.overview(detect(log, rule)))
    assert [title[:3] for title in titles].count("t =") == log.n_rounds


def test_given_axes_are_used(trace):
    axes = Figure().subplots(2, 3)
    shown = plots.histograms(trace, axes)
    assert shown.tolist() == axes.ravel()[:4].tolist()
    assert [ax.get_visible() for ax in axes.ravel()] == [True] * 4 + [False] * 2
    with pytest.raises(ValueError, match="3 axes, 4 rounds"):
        plots.histograms(trace, Figure().subplots(1, 3))


def test_without_axes_a_figure_is_opened(trace, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    import matplotlib.pyplot as plt

    try:
        plots.histogram(None)
        plots.distances(trace)
        axes = plots.histograms(trace)
        assert len(plt.get_fignums()) == 3
        assert (
            axes[0].figure._suptitle.get_text() == "72 items by the number of agents that are right"
        )
    finally:
        plt.close("all")
