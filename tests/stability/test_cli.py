import gzip
import json
import re
import shutil
import sys
from types import ModuleType

import pytest
from matplotlib.figure import Figure

from stability import __version__
from stability.__main__ import main


@pytest.fixture
def run(capsys):
    def call(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def picture(monkeypatch):
    """Stand in for the plots: what is asked for, and a file that shows it was written."""
    asked = []

    class Plain(Figure):
        def savefig(self, path, **options):
            path.write_text(json.dumps(options))

    module = ModuleType("stability.plots")
    module.overview = lambda trace: asked.append(trace) or Plain()
    monkeypatch.setitem(sys.modules, "stability.plots", module)
    monkeypatch.setattr("stability.plots", module, raising=False)
    return asked


def test_detect_prints_a_table_and_a_verdict(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run("detect", "smollm2")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "flips" in out
    assert "unan" in out
    assert any(line.startswith("Verdict: KSRule(") for line in lines)
    assert "noise" in out
    # The table fits a terminal of 80 columns without folding: a line a round.
    assert len([line for line in lines if line[:3].strip() in {"0", "1", "2", "3"}]) == 4


def test_detect_json(run):
    code, out, _ = run("detect", "smollm2", "--rule", "unanimity", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["rule"]["kind"] == "Unanimity"
    assert [row["stopped"] for row in found["rounds"]] == [12, 20, 28, 32]
    assert found["rounds"][0]["predictive"] is None


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["--epsilon", ".1", "--patience", "1", "--space", "latent"], "KSRule"),
        (["--observable", "agreement"], "KSRule"),
        (["--rule", "plurality", "--patience", "2"], "PluralityUnchanged"),
        (["--rule", "beta"], "BetaPosterior"),
        (["--rule", "single"], "AnyOf"),
    ],
)
def test_rules_of_detect(run, words, rule):
    code, out, _ = run("detect", "smollm2", *words, "--json")
    found = json.loads(out)
    assert (code, found["rule"]["kind"]) == (0, rule)
    if rule == "KSRule" and len(words) == 6:
        expected = {"epsilon": 0.1, "patience": 1, "space": "latent"}
        assert expected.items() <= found["rule"].items()
    assert found["observable"] == ("agreement" if "agreement" in words else "correct")


def test_options_of_reading(run, tmp_path):
    path = tmp_path / "mine.tsv.gz"
    text = "question,round,agent,answer,seed,memo\n" + "".join(
        f"{q},{t},{a},{'AB'[q % 2]},{s},x\n"
        for q in range(2)
        for t in range(2)
        for a in range(2)
        for s in range(2)
    )
    path.write_bytes(gzip.compress(text.encode()))
    words = ("detect", path, "--column", "item=question", "--ignore", "memo", "--json")
    code, out, _ = run(*words, "--key", "seed", "--format", "csv", "--rule", "unanimity")
    assert code == 0
    assert json.loads(out)["n_items"] == 4
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("stability: mine.tsv.gz, line 3:")
    assert "key=['seed'] would make it unique" in err


def test_plot(run, picture, tmp_path):
    path = tmp_path / "new" / "a.png"
    code, out, _ = run("detect", "smollm2", "--plot", path)
    assert code == 0
    assert path.exists()
    assert out.endswith(f"Picture: {path}\n")
    assert [trace.n_items for trace in picture] == [72]


def test_demo(run, picture, tmp_path):
    path = tmp_path / "demo.png"
    code, out, err = run("demo", "--plot", path)
    assert (code, err) == (0, "")
    assert path.exists()
    assert len(picture) == 1
    assert "Verdict: KSRule(" in out
    assert "72 items" in out
    assert "noise" in out
    assert "Unanimity: Unanimity" in out
    assert "34.7%" in out
    assert out.splitlines()[-1] == f"Picture: {path}"


def test_fit(run):
    code, out, _ = run("fit", "smollm2", "--round", "0")
    assert code == 0
    assert out.splitlines()[0] == "round 0, observable correct, left_out 0"
    code, out, _ = run("fit", "smollm2", "--round", "3", "--components", "1", "--json")
    found = json.loads(out)
    assert (code, found["round"], found["n_items"]) == (0, 3, 72)
    code, out, _ = run("fit", "alcohol_week1", "--json")
    assert json.loads(out)["loglik"] == pytest.approx(-809.3253127206, abs=1e-8)


def test_datasets(run):
    code, out, _ = run("datasets")
    assert code == 0
    assert "smollm2" in out
    assert "Geissler" in out
    code, out, _ = run("datasets", "--json")
    assert [one["kind"] for one in json.loads(out)].count("counts") == 14


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["detect", "nowhere.csv"], "neither a file nor a packaged recording (smollm2)"),
        (["detect", "smollm2", "--epsilon", "2"], "epsilon"),
        (["detect", "smollm2", "--rule", "beta", "--epsilon", ".1"], "belongs to --rule ks"),
        (["fit", "smollm2"], "`--round` is needed"),
        (["fit", "smollm2", "--round", "4"], "`--round` must be >= 0 and <= 3, got 4"),
        (["fit", "smollm2", "--round", "0", "--components", "9"], "components"),
        (["fit", "geissler12", "--round", "0"], "count table"),
        (["fit", "geissler12", "--observable", "correct"], "`--observable` belongs to a log"),
        (["fit", "geissler12", "--key", "a"], "`--key` belongs to a file; geissler12 is packaged"),
        (["detect", "smollm2", "--column", "foo"], "`--column` belongs to a file"),
        (["detect", "smollm2", "--ignore", "a"], "`--ignore` belongs to a file"),
        (["detect", "smollm2", "--format", "csv"], "`--format` belongs to a file"),
        (["fit", "smollm2", "--round", "0", "--unread", "wrong"], "`--unread` belongs to a file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, words, message):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("stability: ")
    assert err.count("\n") == 1
    assert message in err


def test_bad_files(run, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("item,round,agent,answer\nq,0,a,A\nq,2,a,A\n")
    code, _, err = run("detect", path)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("stability: bad.csv, line 3: the rounds of a debate must have no gap")
    for pair in ("item", "format=csv"):
        code, _, err = run("detect", path, "--column", pair)
        assert (code, err.count("\n")) == (2, 1)
        assert err.startswith("stability: `--column` must be NAME=COLUMN, NAME one of dataset,")
        assert err.endswith(f"got {pair!r}\n")


@pytest.mark.parametrize("words", [[], ["detect"], ["detect", "smollm2", "--epsilon", "x"]])
def test_bad_usage(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage: stability" in capsys.readouterr().err


def test_a_rule_is_a_name_or_what_python_writes(run):
    code, out, _ = run("detect", "smollm2", "--rule", "Unanimity(hold=1) | MaxRounds(3)")
    assert code == 0
    assert "Unanimity(hold=1) | MaxRounds(rounds=3) stops at t = 2" in out
    code, _, err = run("detect", "smollm2", "--rule", "magic")
    assert code == 2
    assert err.startswith("stability: the `kind` of a rule must be one of AllOf, AnyOf,")
    code, _, err = run("detect", "smollm2", "--rule", "MaxRounds(3)", "--epsilon", ".1")
    assert (code, err) == (2, "stability: `--epsilon` belongs to --rule ks, got MaxRounds(3)\n")


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"stability {__version__}\n"


def test_outlook_gives_ranges_over_sources(run, root, tmp_path):
    other = tmp_path / "other.csv.gz"
    shutil.copy(root / "stability" / "datasets" / "data" / "smollm2-local.csv.gz", other)
    code, out, _ = run("outlook", "smollm2", other, "--least", 1)
    assert code == 0
    assert re.search(r"unanimous +held +3\+ +2 +52 +0\.000 +0\.000 +0", out)
    told = json.loads(run("outlook", "smollm2", "--json")[1])
    assert told["ended_early"] == {"smollm2": 0}
    assert told["states"][0]["lowest"] is None
    assert "smollm2" in run("outlook", "smollm2", "--by-source")[1]


def test_outlook_wants_files_of_different_names(run):
    code, _, err = run("outlook", "smollm2", "smollm2")
    assert code == 2
    assert "different names, got 'smollm2' twice" in err


def test_replay_prints_the_table_and_what_to_know_of_it(run):
    code, out, err = run(
        "replay", "smollm2", "--rule", "Unanimity", "--rule", "KSRule() | MaxRounds(3)"
    )
    assert (code, err) == (0, "")
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    assert rows["Unanimity()"][1:4] == ["3.17", "20.8", "%"]
    assert rows["KSRule() | MaxRounds(rounds=3)"][3] == "3.00"
    assert "72 items" in out


def test_replay_of_several_logs_and_their_pictures(run, root, tmp_path):
    path = root / "stability" / "datasets" / "data" / "smollm2-local.csv.gz"
    copy = tmp_path / "again.csv.gz"
    shutil.copy(path, copy)
    words = ("replay", path, copy, "--rule", "Unanimity()", "--published")
    code, out, _ = run(*words, "--plot", tmp_path / "deep" / "cost.png")
    assert code == 0
    assert re.search(r"Unanimity\(\) +20\.8 / 1\.4 +20\.8 / 1\.4", out)
    assert re.search(r"again +Unanimity\(\) +4\.00 +26\.39 +3\.17", out)
    drawn = sorted(one.name for one in (tmp_path / "deep").iterdir())
    assert drawn == ["cost-again.png", "cost-smollm2-local.png"]


def test_replay_json_has_no_nan(run):
    code, out, _ = run("replay", "smollm2", "--rule", "Unanimity()", "--json")
    (rows,) = json.loads(out).values()
    assert code == 0
    assert rows[-1]["rounds"] == pytest.approx(3.1667, abs=1e-4)
    assert rows[-1]["stop_round"] is None


def test_replay_of_a_part(run, tmp_path):
    path = tmp_path / "log.csv"
    rows = [
        f"{team},q{item},{t},{agent},A"
        for team in ("main", "retry")
        for item in range(2)
        for t in range(2)
        for agent in range(2 if team == "main" else 3)
    ]
    path.write_text("\n".join(["team,item,round,agent,answer", *rows]))
    words = ("replay", path, "--key", "team", "--rule", "Unanimity()")
    assert "(2 rounds, 2 items" in run(*words, "--only", "team=main")[1]
    out = run(*words, "--by", "agents")[1]
    assert "log, agents 2" in out
    assert "log, agents 3" in out
    for bad, message in (("main", "KEY=VALUE"), ("team=x", "some debate has")):
        code, _, err = run(*words, "--only", bad)
        assert (code, message in err) == (2, True)
    assert run(*words, "--by", "colour")[0] == 2
