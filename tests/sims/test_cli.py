"""The command ``sims``."""

import json

import pandas as pd
import pytest

from sims import SCENARIOS, Scenario
from sims.__main__ import main
from theory import CountChain, DebateModel

MODEL = DebateModel.shared_misconception(5, 2)


@pytest.fixture
def run(capsys):
    def call(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def files(tmp_path):
    (tmp_path / "model.json").write_text(MODEL.to_json())
    (tmp_path / "scenario.json").write_text(Scenario(MODEL, graph="ring", silent=0.1).to_json())
    return tmp_path


def test_run_sets_the_exact_chain_beside_it(run, files):
    code, out, err = run("run", files / "model.json", "--debates", "2e4", "--rounds", 3)
    assert (code, err) == (0, "")
    assert out.startswith("20000 debates of 5 agents, seed 0")
    assert "exact" in out
    code, out, _ = run("run", files / "model.json", "--rounds", 3, "--seed", 4, "--json")
    data = json.loads(out)
    assert data["exact"] == [CountChain(MODEL).accuracy(t) for t in range(3)]
    # six standard errors for three comparisons
    for mean, error, exact in zip(
        data["accuracy"], data["standard_error"], data["exact"], strict=True
    ):
        assert abs(mean - exact) < 6 * error


def test_run_a_scenario_and_write_the_table(run, files):
    for name in ("deep/table.csv", "table.parquet"):
        path = files / name
        code, out, _ = run(
            "run", files / "scenario.json", "--debates", 500, "--rounds", 2, "--out", path
        )
        assert code == 0
        assert "No exact chain" in out
        read = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
        assert read.columns.tolist() == ["t", "accuracy", "standard_error"]
        assert len(read) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--debates", 0), "`debates` must lie in"),
        (("--debates", 1.5), "`debates` must be a whole number"),
        (("--rounds", 0), "`rounds` must lie in"),
        (("--threads", 0), "`threads` must lie in"),
        (("--out", "table.xlsx"), "must end in .csv or .parquet"),
    ],
)
def test_refusals_are_one_line(run, files, words, said):
    code, out, err = run("run", files / "model.json", *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_named_scenarios(run):
    code, out, _ = run("scenarios")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(SCENARIOS)
    code, out, _ = run("scenarios", "ring")
    assert Scenario.from_json(out) == SCENARIOS["ring"]
    assert "`name` must be one of echo_chamber" in run("scenarios", "square")[2]
    code, out, _ = run("run", "weak_majority", "--debates", 1000, "--rounds", 2)
    assert code == 0
    assert "exact" in out


def test_files_that_hold_neither(run, files):
    assert run("run", files / "none.json")[0] == 2
    (files / "bad.json").write_text("{")
    assert "not JSON" in run("run", files / "bad.json")[2]
    (files / "list.json").write_text("[]")
    assert "`model` must have the fields" in run("run", files / "list.json")[2]


def test_check_sets_both_verdicts_side_by_side(run):
    code, out, err = run("check", "EL-5.4", "EL-6.1", "--debates", "2e4", "--seed", 1)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.startswith("EL-")]
    assert len(rows) == 7
    assert all("violated" in row or "holds" in row for row in rows)
    code, out, _ = run("check", "EL-6.2", "--debates", 2e4, "--json")
    data = json.loads(out)
    assert code == 0
    assert all(row["simulated"]["method"] == "monte-carlo" for row in data)
    code, _, err = run("check", "HT-1")
    assert code == 2
    assert "`theorem` must be one of EL-5.1" in err


def test_a_contradiction_has_an_exit_code(run, monkeypatch):
    from sims.cli import check

    monkeypatch.setattr(check, "contradicts", lambda *_: True)
    assert run("check", "EL-6.2", "--debates", 100)[0] == 3
