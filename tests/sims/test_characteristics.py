"""Operating characteristics of rules: known figures, exact identities, every rule by name."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import stability
from sims import SCENARIOS, Panel, Scenario, operating_characteristics, simulate
from sims.__main__ import main
from sims.characteristics import every_rule, to_come
from stability import KSRule, MaxRounds, PairedEquivalence, Unanimity, rule_from_text
from theory import CountChain, DebateModel

KS = KSRule(space="empirical", floor="warn")


# Stopped by t = 10; the published figures have errors of their own and hold within .03. 600 batches
# have a standard error of at most .0204: four of them on top keep ten comparisons from flaking.
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("stickiness", "shares"),
    [
        (0.0, {50: 0.05, 100: 0.27, 200: 0.93}),
        (0.5, {50: 0.18, 100: 0.58, 200: 0.99}),
        (0.8, {50: 0.76, 100: 0.98, 200: 1.0}),
        (0.95, {20: 0.15}),
    ],
)
def test_the_distance_rule_stops_as_often_as_published(stickiness, shares):
    panel = Panel(stickiness=stickiness)
    found = operating_characteristics([KS], {"still": panel}, items=list(shares), replicates=600)
    assert found["items"].tolist() == list(shares)
    for stopped, wanted in zip(1.0 - found["never_stop"], shares.values(), strict=True):
        error = np.sqrt(max(wanted * (1 - wanted), 0.01) / 600)
        assert abs(stopped - wanted) < 0.03 + 4 * error


def test_the_distance_rule_stops_a_drifting_debate_with_most_of_it_to_come():
    found = operating_characteristics([KS], ["drifting"], items=500, replicates=40).iloc[0]
    assert found["never_stop"] == 0.0
    assert found["false_stop"] == 1.0
    assert abs(found["stop_round"] - 2.0) < 0.15
    assert abs(found["to_come"] - 0.08) < 0.003


def test_figures_are_those_of_the_rule_on_the_same_debates():
    panel = replace(SCENARIOS["drifting"], n_agents=5)
    rule = Unanimity()
    found = operating_characteristics([rule], {"p": panel}, items=30, rounds=6, replicates=2).iloc[
        0
    ]
    # once more by hand, from the seeds of the sweep
    from sims.montecarlo.work import Block

    given = {
        "name": "p",
        "scenario": json.dumps(panel.to_dict()),
        "items": 30,
        "rounds": 6,
        "rules": json.dumps(["Unanimity()"]),
        "margin": 0.02,
    }
    block = Block("sims.characteristics:replicate", given, 0, 2, 0, False)
    at, changed, false = [], [], []
    for r in range(2):
        drawn = simulate(panel, debates=30, rounds=6, seed=block.seed_of(r), record="answers")
        assert drawn.answers is not None
        agreed = (drawn.answers == drawn.answers[:, :, :1]).all(axis=2)
        first = np.where(agreed.any(axis=1), agreed.argmax(axis=1), -1)
        at += first.tolist()
        winners = drawn.to_log().plurality()
        held = np.where(first < 0, 5, first)
        changed += (winners[held, np.arange(30)] != winners[-1]).tolist()
        false += [t >= 0 and abs(panel.to_come(int(t))) > 0.02 for t in first]
    stopped = [t for t in at if t >= 0]
    assert found["never_stop"] == pytest.approx(at.count(-1) / 60, abs=1e-12)
    assert found["stop_round"] == pytest.approx(np.mean(stopped), abs=1e-12)
    assert found["to_come"] == pytest.approx(
        np.mean([panel.to_come(t) for t in stopped]), abs=1e-12
    )
    assert found["changed"] == pytest.approx(np.mean(changed), abs=1e-12)
    assert found["false_stop"] == pytest.approx(np.mean(false), abs=1e-12)
    assert found["cost"] == pytest.approx(
        5 * np.mean([6 if t < 0 else t + 1 for t in at]), abs=1e-12
    )


@pytest.mark.statistical
def test_an_equivalence_test_keeps_its_level_where_accuracy_drifts():
    # a steady change of one point and a half a round, against a margin of one: level .05 for the
    # whole debate, 200 batches, 4.5 standard errors
    panel = Panel(stickiness=0.9, drift=-0.3, ratio=0.95)
    rule = PairedEquivalence(delta=0.01, lag=1)
    found = operating_characteristics(
        [rule], {"p": panel}, items=2000, rounds=8, replicates=200, margin=0.02
    ).iloc[0]
    assert found["false_stop"] <= 0.05 + 4.5 * np.sqrt(0.05 * 0.95 / 200)


def test_every_rule_of_stability_is_found_by_name():
    names = {
        name
        for name in stability.__all__
        if isinstance(getattr(stability, name), type)
        and issubclass(getattr(stability, name), stability.Rule)
        and name != "Rule"
    }
    text = " ".join(every_rule())
    parsed = [rule_from_text(one) for one in every_rule()]
    assert len(parsed) == len(names) == 18
    kinds = {type(one).__name__ for one in parsed}
    assert names - kinds <= {"MinRounds"}
    assert all(name in text or name in kinds for name in names)
    found = operating_characteristics(None, ["sticky"], items=20, rounds=4, replicates=2)
    assert len(found) == len(names)


def test_a_rule_that_always_stops_at_a_round_has_the_exact_figures():
    found = operating_characteristics(
        [MaxRounds(3)], ["drifting"], items=10, rounds=5, replicates=3
    ).iloc[0]
    panel = SCENARIOS["drifting"]
    assert (found["never_stop"], found["stop_round"], found["cost"]) == (0.0, 2.0, 21.0)
    assert found["to_come"] == pytest.approx(panel.to_come(2), abs=1e-12)
    assert found["to_come_se"] == pytest.approx(0.0, abs=1e-12)


def test_what_is_to_come_is_exact_where_a_chain_is():
    model = DebateModel.binary(5, weight=0.6, right=0.75)
    chain = CountChain(model)
    exact = [chain.accuracy(5) - chain.accuracy(t) for t in range(6)]
    assert to_come(json.dumps(model.to_dict()), 6) == pytest.approx(exact, abs=1e-12)
    assert to_come(json.dumps(Scenario(model).to_dict()), 6) == pytest.approx(exact, abs=1e-12)
    # a complete graph that is written out has the same law; it is drawn
    drawn = to_come(json.dumps(Scenario(model, graph="complete").to_dict()), 6)
    assert drawn == pytest.approx(exact, abs=6 * 2 * 0.0014)


def test_engines_give_one_table(tmp_path):
    given = {"items": [5, 8], "rounds": 3, "replicates": 3}
    tables = [
        operating_characteristics(["Unanimity", KS], ["ring"], **given, **more)
        for more in ({"workers": 1}, {"engine": "loky", "workers": 2, "out": tmp_path})
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)


@pytest.mark.parametrize(
    ("rules", "scenarios", "options", "said"),
    [
        ([], ["ring"], {}, "must not be empty"),
        (["Nobody"], ["ring"], {}, "Nobody"),
        (["Unanimity", "Unanimity()"], ["ring"], {}, "`rules` must all be different"),
        (["Unanimity"], ["nowhere"], {}, "`scenarios` must be of echo_chamber"),
        (["Unanimity"], {"x": 1}, {}, "`scenarios` must hold debates, 'x' is 1"),
        (["KSRule"], ["ring"], {"items": 1}, "`items` must be a whole number >= 2, got 1"),
        (["Unanimity"], ["ring"], {"replicates": 1}, "`replicates` must be a whole number >= 2"),
        (["Unanimity"], ["ring"], {"rounds": 1}, "`rounds` must be a whole number >= 2"),
        (["Unanimity"], ["ring"], {"margin": -1}, "`margin` must lie in"),
    ],
)
def test_bad_input_is_named(rules, scenarios, options, said):
    with pytest.raises(ValueError, match=said):
        operating_characteristics(rules, scenarios, **options)


def test_the_command_prints_and_writes(tmp_path, capsys):
    out = tmp_path / "deep" / "t.csv"
    words = ["characteristics", "Unanimity", "KSRule", "--scenario", "ring", "--items", "20"]
    words += ["--replicates", "4", "--rounds", "3", "--out", str(out)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "KSRule()" in said
    assert " nan" not in said
    assert len(pd.read_csv(out)) == 2
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["rule"] for row in rows] == ["Unanimity()", "KSRule()"]
    assert main([*words[:-1], "t.xls"]) == 2
    assert "must end in .csv or .parquet" in capsys.readouterr().err
