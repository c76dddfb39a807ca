"""Sweeps: one table whatever the engine, and however often they were killed."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims import CellError, resume, sweep
from sims.__main__ import main
from sims.montecarlo.cells import debate
from sims.montecarlo.progress import Progress
from sims.montecarlo.work import Block, find_cell

CELLS = str(Path(__file__).with_name("cells.py"))
DRAW = f"{CELLS}:draw"
GRID = {"a": [1, 2, 3], "b": ["x", "y"]}


def blocks(folder):
    return sorted((folder / "blocks").glob("*.parquet"))


def test_the_table_has_parameters_repeat_seed_and_results_in_order():
    table = sweep(DRAW, GRID, seed=5, repeats=3)
    assert table.columns.tolist() == ["a", "b", "repeat", "seed", "value", "twice", "text", "odd"]
    assert table["a"].tolist() == [a for a in (1, 2, 3) for _ in range(6)]
    assert table["repeat"].tolist() == [0, 1, 2] * 6
    assert table["seed"].nunique() == len(table) == 18
    cell = find_cell(DRAW)
    for row in table.to_dict("records"):
        again = cell(seed=row["seed"], a=row["a"], b=row["b"])
        assert {name: row[name] for name in again} == again


def test_seeds_depend_on_sweep_parameters_and_repeat_alone():
    text = json.dumps([5, 2, {"a": 1}], separators=(",", ":"))
    by_hand = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
    assert Block("c", {"a": 1}, 0, 3, 5, False).seed_of(2) == by_hand
    whole = sweep(DRAW, {"a": [1, 2]}, seed=5, repeats=7, block=7)
    parts = sweep(DRAW, {"a": [2, 1]}, seed=5, repeats=7, block=2)
    pd.testing.assert_frame_equal(
        whole, parts.sort_values(["a", "repeat"]).reset_index(drop=True), check_exact=True
    )


def test_common_seeds_are_shared_by_sets_of_parameters():
    table = sweep(DRAW, {"a": [1, 2]}, repeats=4, common=True)
    one, two = (table[table["a"] == a]["seed"].tolist() for a in (1, 2))
    assert one == two
    assert len(set(one)) == 4


@pytest.mark.parametrize("name", ["draw", "several"])
def test_engines_and_workers_give_one_table(name, tmp_path):
    grid = {"a": [1, 2, 3, 4]}
    serial = sweep(f"{CELLS}:{name}", grid, seed=1, repeats=5, workers=1, block=2)
    for engine, workers, out in (
        ("threads", 3, None),
        ("loky", 2, None),
        ("loky", 2, tmp_path / "a"),
        ("threads", 2, tmp_path / "b"),
    ):
        found = sweep(
            f"{CELLS}:{name}",
            grid,
            seed=1,
            repeats=5,
            engine=engine,
            workers=workers,
            out=out,
            block=2,
        )
        pd.testing.assert_frame_equal(found, serial, check_exact=True)
    for out in (tmp_path / "a", tmp_path / "b"):
        pd.testing.assert_frame_equal(
            pd.read_parquet(out / "table.parquet"), serial, check_exact=True
        )
        pd.testing.assert_frame_equal(resume(out), serial, check_exact=True)


def test_finished_blocks_are_not_run_again_and_parameters_are_never_mixed_up(tmp_path):
    out = tmp_path / "s"
    sweep(DRAW, {"a": [1, 2]}, repeats=4, block=2, out=out)
    first = {path: path.stat().st_mtime_ns for path in blocks(out)}
    assert len(first) == 4
    sweep(DRAW, {"a": [1, 2, 3]}, repeats=4, block=2, out=out)
    now = {path: path.stat().st_mtime_ns for path in blocks(out)}
    assert len(now) == 6
    assert first.items() <= now.items()
    for options in ({"seed": 1}, {"common": True}):
        found = sweep(DRAW, {"a": [1]}, repeats=4, block=2, out=out, **options)
        fresh = sweep(DRAW, {"a": [1]}, repeats=4, block=2, **options)
        pd.testing.assert_frame_equal(found, fresh, check_exact=True)
    assert len(blocks(out)) == 10


def test_a_changed_cell_is_run_again(tmp_path):
    source = tmp_path / "mine.py"
    tables = []
    for number in (1, 2):
        source.write_text(f"def cell(*, seed, a):\n    return {{'value': a + {number}}}\n")
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sims, sys; sims.sweep('mine.py:cell', {'a': [1]}, out='s')",
            ],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
            check=False,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        tables.append(pd.read_parquet(tmp_path / "s" / "table.parquet")["value"].tolist())
    assert tables == [[2], [3]]


def spoil_end(data):
    return data[: len(data) // 2]


def spoil_middle(data):
    # of the data pages, behind the magic word
    return data[:30] + bytes(b ^ 0xFF for b in data[30:60]) + data[60:]


def spoil_all(data):  # noqa: ARG001
    return b""


@pytest.mark.parametrize("spoil", [spoil_end, spoil_middle, spoil_all])
def test_a_damaged_block_is_seen_and_made_again(tmp_path, spoil):
    out = tmp_path / "s"
    whole = sweep(DRAW, GRID, repeats=4, block=2, out=out)
    path = blocks(out)[3]
    good = path.read_bytes()
    path.write_bytes(spoil(good))
    (out / "blocks" / "half.parquet.tmp").write_bytes(good[:50])
    with pytest.warns(UserWarning, match="is damaged and is made again"):
        again = resume(out)
    pd.testing.assert_frame_equal(again, whole, check_exact=True)
    assert path.read_bytes() == good
    assert not list(out.rglob("*.tmp"))


def test_a_block_under_the_name_of_another_is_not_used(tmp_path):
    out = tmp_path / "s"
    whole = sweep(DRAW, {"a": [1, 2]}, out=out)
    one, other = blocks(out)
    one.write_bytes(other.read_bytes())
    with pytest.warns(UserWarning, match="is damaged"):
        pd.testing.assert_frame_equal(resume(out), whole, check_exact=True)


def test_killed_workers_lose_and_double_nothing(tmp_path):
    serial = sweep(DRAW, {"a": list(range(8))}, seed=2, repeats=2, block=1)
    marks = tmp_path / "marks"
    marks.mkdir()
    found = sweep(
        f"{CELLS}:dies_once",
        [{"a": a, "marks": str(marks)} for a in range(8)],
        seed=2,
        repeats=2,
        block=1,
        engine="loky",
        workers=2,
        out=tmp_path / "s",
    )
    assert sorted(path.name for path in marks.iterdir()) == ["1", "4", "7"]
    assert found[["a", "repeat"]].values.tolist() == serial[["a", "repeat"]].values.tolist()
    again = [find_cell(DRAW)(seed=seed, a=a) for seed, a in found[["seed", "a"]].values.tolist()]
    assert found["value"].tolist() == [row["value"] for row in again]


def test_a_cell_that_always_kills_its_process_is_named_and_the_others_are_kept(tmp_path):
    out = tmp_path / "s"
    with pytest.raises(CellError, match=r"died 3 times with \{'a': 1\}, repeats 0\.\.0") as caught:
        sweep(f"{CELLS}:always_dies", {"a": [0, 1, 2, 3]}, engine="loky", workers=2, out=out)
    assert caught.value.__notes__ == [
        f"Finished blocks are kept. Go on with: sims resume {out}",
    ]
    assert len(blocks(out)) >= 1


# The suite may run as a job in the background, where shells have SIGINT ignored from the start.
FOREGROUND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from sims.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("engine", ["threads", "loky"])
def test_a_killed_run_goes_on_where_it_was(tmp_path, engine, sign):
    (tmp_path / "sweep.toml").write_text(
        f'cell = "{CELLS}:slow"\nseed = 3\nrepeats = 20\nblock = 1\nengine = "{engine}"\n'
        'out = "s"\n[grid]\na = [1, 2]\n'
    )
    out = tmp_path / "s"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    process = subprocess.Popen(
        [sys.executable, "-c", FOREGROUND, "sweep", "sweep.toml", "--workers", "2"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while len(blocks(out)) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    # the whole run with its workers, as a machine that goes down or a terminal would
    os.killpg(process.pid, sign)
    _, said = process.communicate(timeout=60)
    there = len(blocks(out))
    assert 3 <= there < 40
    if sign == signal.SIGINT:
        assert process.returncode == 130
        assert f"sims resume {out}" in said
    else:
        assert process.returncode == -signal.SIGKILL
    assert not (out / "table.parquet").exists()
    kept = {path: path.stat().st_mtime_ns for path in blocks(out)}
    found = resume(out, workers=2)
    assert kept.items() <= {path: path.stat().st_mtime_ns for path in blocks(out)}.items()
    serial = sweep(f"{CELLS}:slow", {"a": [1, 2]}, seed=3, repeats=20, block=1, workers=1)
    pd.testing.assert_frame_equal(found, serial, check_exact=True)


def test_a_cell_that_fails_is_named_with_parameters_and_seed(tmp_path):
    for engine in ("threads", "loky"):
        out = tmp_path / engine
        with pytest.raises(CellError, match=r"fails\(a=2, seed=\d+\) of repeat 0 failed: Runtime"):
            sweep(f"{CELLS}:fails", {"a": [1, 2, 3]}, engine=engine, out=out, workers=1)
        assert len(blocks(out)) >= 1


def test_a_folder_is_held_by_one_sweep(tmp_path):
    from sims.montecarlo.checkpoint import Store

    with (
        Store(tmp_path).held(),
        pytest.raises(ValueError, match="is in use by another sweep"),
    ):
        sweep(DRAW, {"a": [1]}, out=tmp_path)


@pytest.mark.parametrize(
    ("cell", "grid", "options", "said"),
    [
        (lambda *, seed: {}, {}, {}, "`cell` must be a function at the top level"),  # noqa: ARG005
        (np.mean.__call__, {}, {}, "`cell` must be a function at the top level"),
        ("nothing", {}, {}, "`cell` must read 'package.module:function'"),
        ("sims.none:cell", {}, {}, "cannot be found"),
        (f"{CELLS}:nobody", {}, {}, "cannot be found"),
        (DRAW, [], {}, "`grid` must have at least one set"),
        (DRAW, 3, {}, "`grid` must be a mapping or a sequence of mappings"),
        (DRAW, {"a": []}, {}, "`grid` must have at least one set"),
        (DRAW, {"a": [1, 1]}, {}, "must not name a set of parameters twice"),
        (DRAW, {"seed": [1]}, {}, "other than seed and repeat"),
        (DRAW, {"a": [float("nan")]}, {}, "`a` of the grid must be finite, got nan"),
        (DRAW, {"a": [{}]}, {}, "`a` must be text, True, False, None or a number"),
        (DRAW, {"a": [2**63]}, {}, "a number of 64 bits, got 9223372036854775808"),
        (DRAW, {"a": 1}, {"repeats": 0}, r"`repeats` must be a whole number in 1\.\."),
        (DRAW, {"a": 1}, {"seed": -1}, r"`seed` must be a whole number in 0\.\."),
        (DRAW, {"a": 1}, {"workers": 1.5}, "`workers` must be a whole number"),
        (DRAW, {"a": 1}, {"engine": "dask"}, "`engine` must be one of threads, loky, got 'dask'"),
    ],
)
def test_bad_input_is_named(cell, grid, options, said):
    with pytest.raises(ValueError, match=said):
        sweep(cell, grid, **options)


def test_results_that_are_no_rows_are_named(tmp_path):
    source = tmp_path / "cells.py"
    source.write_text(
        "def number(*, seed):\n    return [1]\n"
        "def twice(*, seed, a):\n    return {'a': 1}\n"
        "def array(*, seed):\n    return {'x': [1, 2]}\n"
        "def kinds(*, seed, a):\n    return {'x': a}\n"
    )
    for name, grid, said in (
        ("number", [{}], "returned no row: a row must be a mapping"),
        ("twice", {"a": 1}, "a result must have a name of its own, got 'a'"),
        ("array", [{}], "`x` must be text, True, False, None or a number"),
    ):
        with pytest.raises(CellError, match=said):
            sweep(f"{source}:{name}", grid)
    with pytest.raises(ValueError, match="the column 'a' of a sweep must have values of one kind"):
        sweep(f"{source}:kinds", {"a": [1, "x"]})


def test_progress_tells_rate_and_time_left():
    now = [0.0]
    stream = io.StringIO()
    shown = Progress(100, 20, True, stream, lambda: now[0])
    now[0] = 20.0
    shown.add(40)
    now[0] = 40.0
    shown.add(40)
    assert stream.getvalue().splitlines() == [
        "60/100 runs (60%), 2 a second, 0:00:20 left",
        "100/100 runs (100%), 2 a second, 0:00:00 left",
    ]


def test_the_cell_at_hand_is_the_simulation():
    table = sweep(debate, {"scenario": ["echo_chamber"], "rounds": 2, "debates": 50}, seed=9)
    pd.testing.assert_frame_equal(
        table[["t", "accuracy", "standard_error"]],
        pd.DataFrame(
            debate(seed=int(table["seed"][0]), scenario="echo_chamber", rounds=2, debates=50)
        ),
    )


def test_the_command_reads_toml_and_goes_on(tmp_path, capsys):
    file = tmp_path / "sweep.toml"
    file.write_text(
        'cell = "sims.montecarlo.cells:debate"\nout = "deep/s"\nseed = 4\n'
        '[grid]\nscenario = ["ring", "sticky"]\nrounds = 2\ndebates = 100\n'
    )
    assert main(["sweep", str(file), "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "echo" not in out
    assert out.rstrip().endswith("(4 rows)")
    assert main(["resume", str(tmp_path / "deep" / "s"), "--quiet"]) == 0
    assert capsys.readouterr().out == out
    for text, said in (
        ("cell = 1", "it lacks ['grid', 'out']"),
        ("cell = ", "is not TOML"),
        ('cell = 1\nout = "x"\n[grid]\n', "`cell` and `out` must be text"),
        ('cell = "a:b"\nout = "x"\nextra = 1\n[grid]\n', "has ['extra']"),
    ):
        file.write_text(text)
        assert main(["sweep", str(file)]) == 2
        assert said in capsys.readouterr().err
    assert main(["resume", str(tmp_path)]) == 2
    assert "is not the folder of a sweep" in capsys.readouterr().err


def test_what_a_cell_imports_counts_as_its_code(tmp_path):
    """Modules beside the file are found, and a change of one makes its blocks anew."""
    (tmp_path / "beside_the_cell.py").write_text("K = 1\n")
    (tmp_path / "own_cell.py").write_text(
        "import beside_the_cell\n\ndef cell(*, seed, a):\n    return {'v': beside_the_cell.K}\n"
    )
    code = (
        "from sims import sweep\n"
        "print(sweep('own_cell.py:cell', {'a': [3]}, out='s')['v'].tolist())"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    seen = []
    for value in (1, 2):
        (tmp_path / "beside_the_cell.py").write_text(f"K = {value}\n")
        done = subprocess.run(
            [sys.executable, "-B", "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        seen.append(done.stdout.strip())
    assert seen == ["[1]", "[2]"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def cell(:", "cannot be loaded: SyntaxError"),
        ("raise RuntimeError('no')", "cannot be loaded: RuntimeError: no"),
        ("import sys\nsys.exit(7)", "cannot be loaded: SystemExit: 7"),
    ],
)
def test_a_file_that_cannot_be_loaded(tmp_path, text, said):
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=said):
        sweep(f"{path}:cell", {"a": [1]})


def test_workers_end_when_their_sweep_is_killed(tmp_path):
    """SIGKILL of the sweep alone: nobody is left to end its workers, so they end themselves."""
    (tmp_path / "sweep.toml").write_text(
        f'cell = "{CELLS}:slow"\nrepeats = 400\nblock = 1\nengine = "loky"\n'
        'out = "s"\n[grid]\na = [1]\n'
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    process = subprocess.Popen(
        [sys.executable, "-m", "sims", "sweep", "sweep.toml", "--workers", "2", "--quiet"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while len(blocks(tmp_path / "s")) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    end = time.monotonic() + 30
    while time.monotonic() < end and group(process.pid):
        time.sleep(0.1)
    assert group(process.pid) == []


def group(leader):
    """Processes of a process group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, number = path.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(number) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found


def test_flags_are_flags():
    with pytest.raises(ValueError, match="`common` must be True or False, got 'no'"):
        sweep(DRAW, {"a": [1]}, common="no")
