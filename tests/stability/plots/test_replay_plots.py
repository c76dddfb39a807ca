"""What the pictures of a replay show, read back from the axes; every figure is also drawn."""

import io
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stability import DebateLog, KSRule, MaxRounds, Unanimity, load_smollm_debates, plots
from stability.evaluate.replay import RULES, replay
from stability.evaluate.sweep import sweep_ks


@pytest.fixture(scope="module")
def frame():
    return replay(load_smollm_debates(), resamples=1)


def picture():
    return Figure(figsize=(9, 4.6), layout="constrained").subplots()


def test_points_are_the_rows_of_the_frame(frame):
    ax = plots.frontier(frame, picture())
    (line,) = ax.get_lines()
    fixed = frame[frame["kind"] == "baseline"]
    assert np.array_equal(line.get_xdata(), fixed["rounds"])
    assert np.array_equal(line.get_ydata(), 100 * fixed["answers_changed"])
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections])
    rules = frame[frame["kind"] == "rule"]
    expected = np.stack([rules["rounds"], 100 * rules["answers_changed"]], axis=1)
    assert sorted(drawn.tolist()) == sorted(expected.tolist())
    names = [name for text in ax.texts for name in text.get_text().split("\n")]
    assert sorted(names) == sorted(
        [*rules["rule"], "round-0 vote", "t = 1", "t = 2", "full debate"]
    )
    # Each name hangs on its own point.
    for text in ax.texts:
        for name in text.get_text().split("\n"):
            row = rules[rules["rule"] == name]
            if len(row):
                assert text.xy == pytest.approx(
                    (row["rounds"].item(), 100 * row["answers_changed"].item()), abs=1e-5
                )


def clashes(ax):
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    legend = ax.get_legend()
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    texts += legend.get_texts() if legend else []
    # Of an annotation the text alone, without its line.
    boxes = [(t.get_text(), t._get_layout(renderer)[0].translated(*place(t))) for t in texts]
    outside = [name for name, box in boxes if box.x1 > ax.figure.bbox.x1 or box.x0 < 0]
    return outside + [(a[0], b[0]) for a, b in combinations(boxes, 2) if a[1].overlaps(b[1])]


def place(text):
    return text.get_transform().transform(text.get_position())


def test_no_text_lies_on_another(frame):
    assert clashes(plots.frontier(frame, picture())) == []


def test_many_rules_on_one_height_are_told_apart():
    # 24 rules, all of which change nothing
    log = DebateLog(np.zeros((12, 5, 2), int), "A")
    rules = {f"{kind} {t}": MaxRounds(t) for t in range(1, 13) for kind in ("first", "second")}
    ax = plots.frontier(replay(log, rules, resamples=1), picture())
    assert clashes(ax) == []


def test_rules_that_could_not_run_are_named_without_a_point():
    log = DebateLog([[[0, 1]], [[0, 0]]], "AB")
    ax = plots.frontier(replay(log, [KSRule(), Unanimity()]), picture())
    names = [text.get_text() for text in ax.texts]
    assert "KSRule(): could not run" in names
    assert "Unanimity()" in names
    ax.figure.savefig(io.BytesIO(), format="png", dpi=40)


@pytest.mark.parametrize(
    "log",
    [DebateLog([[[0]]], "A"), DebateLog(np.zeros((3, 4, 2), int), "A")],
    ids=["1x1x1", "nothing changes"],
)
def test_degenerate_logs_are_drawn(log):
    ax = plots.frontier(replay(log, resamples=1), picture())
    ax.figure.savefig(io.BytesIO(), format="png", dpi=40)
    assert len(ax.collections) == 2
    assert len(replay(log, resamples=1)) == log.n_rounds + len(RULES)


def test_cells_are_those_of_the_sweep():
    frame = sweep_ks(load_smollm_debates(), [0.03, 0.05, 0.2], [1, 2], space="empirical")
    ax = plots.heat_map(frame, picture(), value="rounds_saved")
    cells = ax.get_images()[0].get_array()
    for row in frame.to_dict("records"):
        place = row["patience"] - 1, [0.03, 0.05, 0.2].index(row["epsilon"])
        stopped = not pd.isna(row["stop_round"])
        assert np.ma.getmaskarray(cells)[place] == (not stopped)
        assert not stopped or cells[place] == pytest.approx(100 * row["rounds_saved"])
    assert {bool(gone) for gone in np.ma.getmaskarray(cells).ravel()} == {True, False}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.03", "0.05", "0.2"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "2"]
    assert clashes(ax) == []


def test_signed_changes_have_a_middle():
    ax = plots.heat_map(
        sweep_ks(load_smollm_debates(), [0.05, 0.2], [1]), picture(), value="accuracy_change"
    )
    image = ax.get_images()[0]
    assert image.norm.vmin == -image.norm.vmax
    assert all("\n+" in t.get_text() or "\n-" in t.get_text() for t in ax.texts)


def test_a_heat_map_of_nothing():
    frame = sweep_ks(load_smollm_debates().select(rounds=1), [0.05], [1, 2])
    ax = plots.heat_map(frame, picture())
    assert [text.get_text() for text in ax.texts] == ["–", "–"]
    ax.figure.savefig(io.BytesIO(), format="png", dpi=40)
    bare = DebateLog(np.zeros((2, 3, 2), int), "A")
    with pytest.raises(ValueError, match="nothing is graded"):
        plots.heat_map(sweep_ks(bare, [0.05], [1]), picture(), value="accuracy_change")
    with pytest.raises(ValueError, match="`value` must be one of"):
        plots.heat_map(frame, picture(), value="rounds")


def test_without_axes_a_figure_is_opened(frame, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    try:
        plots.frontier(frame)
        plots.heat_map(sweep_ks(load_smollm_debates(), [0.05], [1]))
        assert len(plt.get_fignums()) == 2
    finally:
        plt.close("all")
