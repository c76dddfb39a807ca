"""What the picture of a certificate shows, read back from the axes."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stability import DebateLog, certify, load_smollm_debates, plots
from stability.fit.share import upper_limit
from stability.rules import MaxRounds, rule_to_text


def draw(found):
    ax = plots.certificate(found, Figure(figsize=(7.5, 4.6), layout="constrained").subplots())
    FigureCanvasAgg(ax.figure).draw()
    return ax


def dots(ax):
    return {text.get_text(): text for text in ax.get_legend().get_texts()}


def test_dots_and_bars_are_those_of_the_rules():
    found = certify(load_smollm_debates(), max_risk=0.1)
    ax = draw(found)
    drawn = [tuple(point) for held in ax.collections[:-1] for point in held.get_offsets().tolist()]
    expected = [(100 * one.saved, 100 * one.losses / 72) for one in found.tested]
    assert sorted(drawn) == sorted(expected)
    (ring,) = ax.collections[-1].get_offsets().tolist()
    assert ring == [100 * found.saved, 100 * found.losses / 72]
    tops = {line.get_ydata()[1] for line in ax.get_lines() if len(line.get_ydata()) == 2}
    chosen = 100 * upper_limit(found.losses, 72, 1 - 0.05 / 2)
    assert chosen == pytest.approx(100 * found.risk_high)
    assert any(top == pytest.approx(chosen) for top in tops)
    assert ax.get_title() == rule_to_text(found.rule)
    assert {"margin, passed", "posterior, not passed", "certified"} <= set(dots(ax))


def test_filled_markers_are_the_rules_that_passed():
    found = certify(load_smollm_debates(), max_risk=0.1)
    passed = sum(one.passed for one in found.tested)
    counted = {True: 0, False: 0}
    for held in draw(found).collections[:-1]:
        counted[", passed" in held.get_label()] += len(held.get_offsets())
    assert counted == {True: passed, False: len(found.tested) - passed}


@pytest.mark.parametrize("options", [{"method": "conformal", "families": ["margin"]}, {}])
def test_nothing_to_certify_and_other_methods_are_drawn(options):
    log = DebateLog([[[0, 0]] * 100, [[0, 0]] * 100], ["A"])
    ax = draw(certify(log, **options))
    assert ax.get_title().startswith("StableMargin")
    moved = DebateLog([[[0, 0]] * 100, [[1, 1]] * 100], ["A", "B"])
    ax = draw(certify(moved, [MaxRounds(1)]))
    assert ax.get_title() == "Nothing can be certified"
    assert "certified" not in dots(ax)
