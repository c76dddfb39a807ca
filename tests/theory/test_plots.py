"""What the pictures show, read back from the axes; every one is also drawn."""

import io

import numpy as np
import pytest

from theory import CountChain, DebateModel, DiversityPruning, plots
from theory.theorems.echo_chamber import chernoff_information


def drawn(ax):
    ax.figure.savefig(io.BytesIO(), format="png")
    return [np.array(line.get_ydata(), float) for line in ax.get_lines()]


def test_laws_are_those_of_the_chain():
    chain = CountChain(DebateModel.binary(5, 0.6))
    lines = drawn(plots.laws(chain, 3))
    assert len(lines) == 3
    for t, line in enumerate(lines):
        assert line.sum() == pytest.approx(1.0)
        assert line @ np.arange(6) / 5 == pytest.approx(chain.accuracy(t))


def test_accuracy_falls_with_the_misled():
    lines = drawn(plots.accuracy_by_misled(DebateModel.shared_misconception(6, 3), (0, 2)))
    assert [len(line) for line in lines] == [7, 7]
    assert all((np.diff(line) < 0).all() for line in lines)


def test_echo_is_that_of_figure_one():
    lines = drawn(plots.echo_by_held(DebateModel.binary(6, 0.5, 0.75), kept=(5,)))
    assert lines[0] == pytest.approx([0.5, 0.7, 0.744, 0.749], abs=5e-4)
    assert lines[1][1:] == pytest.approx([0.625, 0.732, 0.748], abs=5e-4)
    three = drawn(plots.echo_by_held(DebateModel.echo_chamber(5, 3)))
    assert three[0][-1] == pytest.approx(0.8, abs=1e-3)


def test_similarity_by_hand():
    model = DebateModel.shared_misconception(3, 1, weight=0.9, misled=0.2, right=0.8, wrong=0.3)
    a, b = (one.first_law[0] for one in model.types)
    same = a * a + (1 - a) ** 2
    unlike = a * b + (1 - a) * (1 - b)
    assert plots.similarity(model) == pytest.approx((same + 2 * unlike) / 3)
    assert plots.similarity(DebateModel.binary(1)) == 1.0


def test_gains_are_those_of_the_chains():
    models = [DebateModel.binary(5, 0.7, r) for r in (0.6, 0.75, 0.9)]
    lines = drawn(plots.gain_by_similarity(models, t=2, k=3))
    gains = [CountChain(m).accuracy(2) - CountChain(m).accuracy(0) for m in models]
    assert sorted(lines[0]) == pytest.approx(sorted(100 * g for g in gains))
    assert len(lines) == 3  # without, with, and zero


def test_interventions_have_a_line_each():
    model = DebateModel.binary(5, 0.6)
    chains = {
        "none": CountChain(model),
        "diversity": CountChain(model.with_(view=DiversityPruning(3))),
    }
    lines = drawn(plots.interventions(chains, 4))
    assert [len(line) for line in lines] == [4, 4]
    assert lines[0][2] == pytest.approx(chains["none"].accuracy(2))


def test_figures_of_a_debate():
    chain = CountChain(DebateModel.binary(5, 0.6))
    lines = drawn(plots.figures(chain, 4))
    assert lines[0] == pytest.approx([chain.accuracy(t) for t in range(4)])
    assert lines[1] == pytest.approx([chain.majority_accuracy(t) for t in range(4)])
    assert lines[2] == pytest.approx([chain.echo(t) for t in range(4)])


def test_phases_and_gap():
    ax = plots.phases(n=6, t=3)
    drawn(ax)
    values = ax.collections[0].get_array()
    assert values.shape == (13, 21)
    assert values[0, 0] > values[0, -1]
    ax = plots.gap_by_size(DebateModel.binary(3), sizes=(10, 20))
    gaps, slope = drawn(ax)
    rate = chernoff_information([0.75, 0.25], [0.25, 0.75])
    assert np.log(slope[0] / slope[1]) == pytest.approx(10 * rate)
    assert gaps[1] == slope[1]
