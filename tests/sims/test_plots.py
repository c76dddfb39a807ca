"""What the pictures show: the numbers they were given, with bands, and labels that fit."""

import numpy as np
import pandas as pd
import pytest

from sims import SCENARIOS, plots, simulate
from theory import ablation


@pytest.fixture(autouse=True)
def _closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_accuracy_by_round_has_bands_of_the_standard_error():
    found = {name: simulate(SCENARIOS[name], debates=200, rounds=4) for name in ("ring", "sticky")}
    ax = plots.accuracy_by_round(found, {"ring": [0.1, 0.2, 0.3, 0.4]})
    np.testing.assert_array_equal(lines(ax)["ring"].get_ydata(), found["ring"].accuracy)
    band = ax.collections[0].get_paths()[0].vertices
    low, high = band[:, 1].min(), band[:, 1].max()
    one = found["ring"]
    assert low == pytest.approx((one.accuracy - 1.959964 * one.standard_error).min())
    assert high == pytest.approx((one.accuracy + 1.959964 * one.standard_error).max())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ring", "sticky", "exact"]
    assert plots.accuracy_by_round(found["ring"]).get_legend() is None
    assert plots.accuracy_by_round(found["ring"], ax=ax) is ax


def test_ablation_has_a_colour_a_view_and_dashes_for_the_refutation():
    model = SCENARIOS["shared_misconception"].model
    found = {
        name: simulate(one, debates=50, rounds=2, record="accuracy")
        for name, one in ablation(model).items()
    }
    drawn = lines(plots.ablation(found))
    assert list(drawn) == list(found)
    for view in ("diversity", "quality", "quality + diversity"):
        assert drawn[view].get_color() == drawn[f"{view} + refutation"].get_color()
        assert drawn[view].get_linestyle() == "-"
        assert drawn[f"{view} + refutation"].get_linestyle() == "--"
    assert len({line.get_color() for line in drawn.values()}) == 4


def test_the_slope_goes_through_the_last_point_that_is_known():
    table = pd.DataFrame(
        {
            "scenario": "all",
            "n": [4, 16, 64, 100],
            "change": [0.4, 0.1, 0.001, 0.0],
            "change_se": [0.01, 0.01, 0.001, 0.001],
        }
    )
    ax = plots.change_by_size(table, rate=0.05)
    (slope,) = [line for label, line in lines(ax).items() if label.startswith("exp")]
    x, y = slope.get_data()
    assert np.interp(16, x, y) == pytest.approx(0.1, rel=0.01)
    assert y[0] == pytest.approx(0.1 * np.exp(0.05 * 12) * 2.0)
    assert ax.get_yscale() == "log"


def test_the_critical_share_is_marked():
    table = pd.DataFrame(
        {"n": 3, "misled": [0.0, 0.5, 1.0], "accuracy": [0.8, 0.5, 0.3], "accuracy_se": 0.01}
    )
    ax = plots.accuracy_by_misled(table, 0.54)
    assert ax.texts[0].get_text() == "critical share 0.54"
    assert ax.get_lines()[-1].get_xdata()[0] == 0.54


def characteristics(rules, items):
    return pd.DataFrame(
        [
            {
                "scenario": scenario,
                "items": size,
                "rule": rule,
                "false_stop": 0.25,
                "to_come": np.nan if size == 50 else -0.04,
                "cost": 21.0,
            }
            for scenario in ("stationary", "drifting")
            for size in items
            for rule in rules
        ]
    )


def test_heat_maps_have_a_cell_for_every_row_of_the_table():
    ax = plots.characteristics(characteristics(["A()", "B()"], [50, 100]), "to_come")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["A()", "B()"]
    assert ax.get_xticklabels()[0].get_text() == "stationary\nM = 50"
    assert [text.get_text() for text in ax.texts] == ["-", "-0.040"] * 4
    ax = plots.characteristics(characteristics(["A()"], [50, 100]), "false_stop")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["stationary", "drifting"]
    assert ax.get_title().startswith("A(): share")
    ax = plots.characteristics(characteristics(["A()", "B()"], [50]), "cost")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["stationary", "drifting"]
    # nothing stopped anywhere
    ax = plots.characteristics(characteristics(["A()"], [50]), "to_come")
    assert {text.get_text() for text in ax.texts} == {"-"}


def test_sizes_and_gains():
    table = pd.DataFrame({"scenario": "a", "n": [1, 3], "vote": [0.5, 0.6], "vote_se": 0.01})
    assert plots.ensemble_size(table).get_ylabel() == "accuracy of the last vote"
    gains = pd.DataFrame(
        {"dispersion": [0.0, 0.4], "debates": [20, 100], "gain": [0.1, 0.2], "gain_se": 0.01}
    )
    # the dispersion that was seen in 20 debates only is left out
    ax = plots.gain_by_dispersion({"a": gains})
    assert lines(ax)["a"].get_ydata().tolist() == [0.2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plots.accuracy_by_round({}), "at least one simulation"),
        (lambda: plots.ablation({}), "at least one simulation"),
        (
            lambda: plots.characteristics(characteristics(["A()"], [50]), "speed"),
            "`figure` must be one of false_stop, .* got 'speed'",
        ),
        (lambda: plots.ensemble_size(pd.DataFrame(), "x"), "`figure` must be one of vote"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()
