"""Draws handed to ArviZ: what is in it, and what is refused."""

import os
import subprocess
import sys

import numpy as np
import pytest

from stability import to_arviz


def test_groups_axes_and_labels():
    rng = np.random.default_rng(1)
    draws = {"mean": rng.normal(size=(4, 50)), "weight": rng.normal(size=(4, 50, 2))}
    found = to_arviz(
        draws,
        dims={"weight": ["component"], "k": ["item"]},
        coords={"component": ["low", "high"]},
        log_likelihood={"k": rng.normal(size=(4, 50, 6))},
        observed={"k": np.arange(6)},
    )
    posterior = found["posterior"]
    np.testing.assert_array_equal(posterior["weight"].values, draws["weight"])
    np.testing.assert_array_equal(posterior["mean"].values, draws["mean"])
    assert posterior["weight"].dims == ("chain", "draw", "component")
    assert posterior["component"].values.tolist() == ["low", "high"]
    assert found["log_likelihood"]["k"].dims == ("chain", "draw", "item")
    assert found["observed_data"]["k"].dims == ("item",)


def test_diagnostics_of_arviz_work_on_it():
    import arviz

    rng = np.random.default_rng(2)
    found = to_arviz({"x": rng.normal(size=(4, 1000))})
    rhat = arviz.rhat(found)
    rhat = rhat["posterior"] if "posterior" in getattr(rhat, "children", ()) else rhat
    assert float(rhat["x"]) == pytest.approx(1.0, abs=0.01)
    # chains that do not agree are seen
    apart = to_arviz({"x": rng.normal(size=(4, 1000)) + np.arange(4.0)[:, None]})
    rhat = arviz.rhat(apart)
    rhat = rhat["posterior"] if "posterior" in getattr(rhat, "children", ()) else rhat
    assert float(rhat["x"]) > 1.2


@pytest.mark.parametrize(
    ("draws", "options", "said"),
    [
        ({}, {}, "at least one variable"),
        ([1.0], {}, "mapping"),
        ({"x": np.zeros(3)}, {}, r"shape \(chains, draws"),
        ({"x": np.zeros((0, 3))}, {}, r"each >= 1, got \(0, 3\)"),
        ({"x": [["a"]]}, {}, "numbers"),
        ({"x": np.zeros((2, 3)), "y": np.zeros((3, 2))}, {}, "2 chains of 3 draws"),
        ({"x": np.zeros((2, 3))}, {"dims": {"y": ["a"]}}, r"\['x'\], got 'y'"),
        ({"x": np.zeros((2, 3, 4))}, {"dims": {"x": "ab"}}, "must name 1 axes"),
        ({"x": np.zeros((2, 3, 4))}, {"dims": {"x": ["a", "b"]}}, "must name 1 axes"),
        (
            {"x": np.zeros((2, 3, 4))},
            {"dims": {"x": ["a"]}, "coords": {"a": [1, 2]}},
            "4 labels for 'a'",
        ),
        ({"x": np.zeros((2, 3))}, {"coords": {"a": [1]}}, r"named in `dims`, got \['a'\]"),
        ({"x": np.zeros((2, 3))}, {"log_likelihood": {"k": np.zeros((2, 4))}}, "2 chains of 3"),
    ],
)
def test_refusals(draws, options, said):
    with pytest.raises(ValueError, match=said):
        to_arviz(draws, **options)


@pytest.mark.integration
def test_arviz_1(root):
    """The same tests under ArviZ 1, where an interpreter that has it is named."""
    python = os.environ.get("ARVIZ1_PYTHON")
    if python is None:
        pytest.skip("ARVIZ1_PYTHON names no interpreter with ArviZ 1")
    code = (
        "import arviz, sys; assert int(arviz.__version__.split('.')[0]) >= 1\n"
        "import pytest\n"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-o',"
        " 'addopts=--import-mode=importlib', '-k', 'not arviz_1',"
        " 'tests/stability/test_arviz.py', 'tests/sims/debates/test_result.py',"
        " 'tests/stability/fit/test_posterior.py']))"
    )
    done = subprocess.run([python, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sys.executable != python
