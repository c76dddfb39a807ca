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
        (("--debates", 0), "`debates` must be a whole number in"),
        (("--debates", 1.5), "`debates` must be a whole number"),
        (("--rounds", 0), "`rounds` must be a whole number in"),
        (("--threads", 0), "`threads` must be a whole number in"),
        (("--out", "table.xlsx"), "must end in .csv or .parquet"),
    ],
)
def test_refusals_are_one_line(run, files, words, said):
    code, out, err = run("run", files / "model.json", *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_interventions_are_compared(run, files):
    words = ("run", "shared_misconception", "--agents", 5, "--debates", 2000, "--rounds", 3)
    code, out, err = run(
        *words, "--intervention", "refutation+diversity", "--intervention", "none", "-o",
        files / "t.csv", "--plot", files / "t.png",
    )  # fmt: skip
    assert (code, err) == (0, "")
    read = pd.read_csv(files / "t.csv")
    assert read["intervention"].tolist() == ["diversity + refutation"] * 3 + ["none"] * 3
    # nine standard errors for six comparisons
    assert ((read["accuracy"] - read["exact"]).abs() < 9 * read["standard_error"]).all()
    assert (files / "t.png").stat().st_size > 10_000
    data = json.loads(run(*words, "--intervention", "all", "--json")[1])
    assert len({row["intervention"] for row in data}) == 8
    for more, said in (
        (("--intervention", "magic"), "must be one of none, refutation, diversity"),
        (("--plot", "t.docx"), "`--plot` must end in one of"),
        (("--agents", 0), "`agents` must be a whole number >= 1, got 0"),
    ):
        code, out, err = run(*words, *more)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
    assert (
        "goes with a debate that is the model's own"
        in run("run", "ring", "--intervention", "quality")[2]
    )
    assert "`--agents` goes with the name" in run("run", files / "model.json", "--agents", 3)[2]


def test_pictures(run, files):
    code, out, _ = run("run", "ring", "--debates", 200, "--plot", files / "a.svg")
    assert code == 0
    assert f"Picture: {files / 'a.svg'}" in out
    code, _, _ = run(
        "characteristics", "Unanimity", "--replicates", 3, "--items", 5, "--plot", files / "c.png",
        "--figure", "cost",
    )  # fmt: skip
    assert code == 0
    assert (files / "c.png").stat().st_size > 3000


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
    code, _, err = run("run", files / "none.json")
    assert code == 2
    assert "`SCENARIO` must be one of echo_chamber" in err
    (files / "bytes.json").write_bytes(b"\xff\xfe")
    assert "is not text" in run("run", files / "bytes.json")[2]
    (files / "bad.json").write_text("{")
    assert "not JSON" in run("run", files / "bad.json")[2]
    (files / "list.json").write_text("[]")
    assert "`model` must have the fields" in run("run", files / "list.json")[2]


def test_what_does_not_fit_into_memory_is_said_in_a_line(run, monkeypatch):
    from sims.cli import run as command

    def full(*_, **__):
        raise MemoryError("Unable to allocate 149 GiB")

    monkeypatch.setattr(command, "simulate", full)
    code, _, err = run("run", "echo_chamber")
    assert (code, err) == (2, "sims: not enough memory: Unable to allocate 149 GiB\n")


def test_many_agents_are_drawn_without_a_chain(run):
    code, out, _ = run("run", "echo_chamber", "--agents", 20_000, "--debates", 2, "--rounds", 2)
    assert code == 0
    assert "No exact chain" in out


def test_check_sets_both_verdicts_side_by_side(run):
    code, out, err = run("check", "EL-5.4", "EL-6.1", "--debates", "2e4", "--seed", 1)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.startswith("EL-")]
    assert len(rows) == 19
    assert all("violated" in row or "holds" in row for row in rows)
    assert "6 of 8 see it by more than 5" in out
    assert out.index("Beyond the exact chain") < out.index("errors correlated by 0.3")
    code, out, _ = run("check", "EL-6.2", "--debates", 2e4, "--json")
    data = json.loads(out)
    assert code == 0
    assert all(row["simulated"]["method"] == "monte-carlo" for row in data)
    assert all(row["contradiction"] is False for row in data)
    assert [row["exact"] is None for row in data] == [False] * 5 + [True] * 3
    for names, said in (
        (["EL-D5.3"], "`theorem` must be one of EL-5.1"),
        (["EL-5.4", "--all"], "`--all` goes without names, got EL-5.4"),
    ):
        code, _, err = run("check", *names)
        assert code == 2
        assert said in err


def test_a_contradiction_has_an_exit_code(run, monkeypatch):
    """The negative control: the command itself, where the simulator has another kernel."""
    from sims import check_by_simulation
    from sims.cli import check

    def wrong(name, what, **options):
        if isinstance(what, DebateModel):
            what = check.flattened(what)
        return check_by_simulation(name, what, **options)

    monkeypatch.setattr(check, "check_by_simulation", wrong)
    code, out, _ = run("check", "EL-6.2", "--debates", 2e4)
    assert code == 3
    assert "Contradiction: EL-6.2, printed, close is not correct." in out


def test_a_control_that_sees_nothing_has_an_exit_code(run, monkeypatch):
    from sims.cli import check

    monkeypatch.setattr(check, "flattened", lambda model: model)
    code, out, _ = run("check", "EL-6.2", "--debates", 2e4)
    assert code == 3
    assert "more --debates are needed" in out


def test_numbers_that_json_has_not_are_null(run, files):
    (files / "silent.json").write_text(Scenario(MODEL, silent=0.9999).to_json())
    code, out, _ = run("run", files / "silent.json", "--debates", 1, "--rounds", 1, "--json")
    assert code == 0
    assert json.loads(out)["standard_error"] == [None]
    code, out, _ = run("check", "EL-OBJ", "--debates", 2e4, "--json")
    assert code == 0
    assert all(row["simulated"]["method"] == "monte-carlo" for row in json.loads(out))


def test_an_interrupt_is_a_line_and_a_code(run, monkeypatch):
    import signal

    from sims.cli import run as command

    for sign, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        monkeypatch.setattr(
            command, "simulate", lambda *_, sign=sign, **__: signal.raise_signal(sign)
        )
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            assert run("run", "ring") == (code, "", "sims: interrupted.\n")
        finally:
            signal.signal(signal.SIGINT, before)
