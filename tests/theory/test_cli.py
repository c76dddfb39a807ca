"""The command ``theory``: tables, JSON, exit codes, refusals."""

import json

import pytest

from theory import DebateModel, DiversityPruning
from theory.__main__ import main


@pytest.fixture
def run(capsys, monkeypatch):
    # wide enough for every row, whatever the environment says
    monkeypatch.setenv("COLUMNS", "300")

    def call(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return call


def test_check_prints_a_row_a_theorem(run):
    code, out, err = run("check", "--models", 4)
    assert (code, err) == (0, "")
    rows = [line for line in out.splitlines() if line.startswith(("EL-", "HT-"))]
    assert len(rows) == 13
    assert "false: " in next(row for row in rows if row.startswith("EL-5.2"))
    assert next(row for row in rows if row.startswith("EL-L4.2")).count("no violation") == 2
    echo = next(row for row in rows if row.startswith("EL-5.1"))
    assert "no violation; false in another reading" in echo


def test_check_as_json(run):
    code, out, _ = run("check", "EL-5.4", "HT-1", "--models", 3, "--seed", 5, "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["theorem"] for row in rows] == ["EL-5.4", "HT-1"]
    assert all(row["repaired_violated"] == 0 for row in rows)
    assert rows[0]["counterexample"].startswith("three concepts: -0.0384 (n=5, K=3, L=3")


def test_check_on_a_model(run, tmp_path):
    model = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    path = tmp_path / "model.json"
    path.write_text(model.with_(view=DiversityPruning(4)).to_json())
    code, out, _ = run("check", "EL-6.1", "--model", path)
    assert code == 0
    assert "EL-6.1, printed: violated on this model, by 0.0667." in out
    assert "EL-6.1, repaired: holds on this model" in out
    code, out, _ = run("check", "EL-6.1", "EL-5.1", "--model", path, "--json")
    verdicts = json.loads(out)
    assert [one["holds"] for one in verdicts] == [False, True, None, None]


def test_a_violated_repaired_statement_has_an_exit_code(run, monkeypatch):
    from dataclasses import replace

    from theory.cli import check
    from theory.theorems import THEOREMS
    from theory.theorems.base import Margin

    broken = replace(THEOREMS["EL-L4.2"], margin=lambda *_: Margin(-1.0, {}))
    monkeypatch.setattr(check, "THEOREMS", {"EL-L4.2": broken})
    code, out, _ = run("check", "--models", 1)
    assert code == 3
    assert "VIOLATED" in out


def test_show(run):
    code, out, _ = run("show")
    assert code == 0
    assert len([line for line in out.splitlines() if line.startswith(("EL-", "HT-"))]) == 13
    code, out, _ = run("show", "EL-5.4")
    assert "As printed: If m of n agents share a misconception theta'" in out
    assert "likelihood-ratio order" in out
    assert out.count("Counterexample") == 3
    code, out, _ = run("show", "HT-1", "--json")
    data = json.loads(out)
    assert data["counterexamples"][0]["verdict"]["holds"] is False
    assert DebateModel.from_dict(data["counterexamples"][0]["model"]).n_concepts == 3


def test_debate(run, tmp_path):
    code, out, _ = run("debate", "--rounds", 4, "--plot", tmp_path / "deep" / "debate.png")
    assert code == 0
    assert "quality + diversity + refutation" in out
    assert (tmp_path / "deep" / "debate.png").stat().st_size > 10_000
    code, out, _ = run("debate", "--rounds", 3, "--k", 3, "--mend", 0, "--json")
    data = json.loads(out)
    assert len(data["interventions"]) == 8
    none, refuted = (data["interventions"][name]["accuracy"] for name in ("none", "refutation"))
    assert none == pytest.approx(refuted)  # a refuter that mends nothing


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "EL-9"), "`theorem` must be one of EL-A4.1"),
        (("check", "--models", 0), "`models` must be >= 1"),
        (("check", "--seed", -1), "`seed` must be >= 0"),
        (("check", "--model", "missing.json"), "No such file"),
        (("show", "EL-9"), "`theorem` must be one of"),
        (("debate", "--rounds", 0), "`rounds` must be >= 1"),
        (("debate", "--k", 9), "`k` must be >= 1 and <= 7"),
        (("debate", "--mend", 2), "`mend` must lie in [0, 1]"),
    ],
)
def test_refusals_are_one_line(run, words, said):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_a_damaged_model_is_refused(run, tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"types": []}')
    code, _, err = run("check", "--model", path)
    assert code == 2
    assert "missing ['sizes']" in err
