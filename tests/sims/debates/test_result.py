"""What a simulation can be turned into: a dataset, and ensembles for ArviZ."""

import numpy as np
import pytest

from sims import Scenario, simulate
from theory import DebateModel

MODEL = DebateModel.shared_misconception(7, 3, weight=0.9, misled=0.3, right=0.8, wrong=0.3)


def diagnosis(name, found):
    """A diagnostic of ArviZ by round, whatever its version returns."""
    import arviz

    result = getattr(arviz, name)(found)
    if "posterior" in getattr(result, "children", ()):
        result = result["posterior"]
    return np.asarray(result["accuracy"].values)


def test_xarray_has_what_was_kept():
    scenario = Scenario(MODEL, stop_unanimous=True)
    found = simulate(scenario, debates=20, rounds=3, seed=1, record="answers")
    data = found.to_xarray()
    assert dict(data.sizes) == {"round": 3, "debate": 20, "agent": 7}
    np.testing.assert_array_equal(data["accuracy"].values, found.accuracy)
    np.testing.assert_array_equal(data["answers"].values, found.answers)
    np.testing.assert_array_equal(data["held"].values, found.held)
    counts = simulate(MODEL, debates=20, rounds=3, seed=1).to_xarray()
    assert counts["counts"].dims == ("debate", "round", "answer")
    few = simulate(MODEL, debates=20, rounds=3, seed=1, record="accuracy").to_xarray()
    assert set(few.data_vars) == {"accuracy", "standard_error"}


def test_ensembles_agree_and_their_error_is_ours():
    """R-hat is 1 and ArviZ's MCSE of the mean is our standard error.

    With 40,000 independent draws ArviZ's effective sample size has a relative error of about 1 %.
    """
    found = simulate(MODEL, debates=40_000, rounds=4, seed=3)
    draws = found.to_arviz(8)
    share = draws["posterior"]["accuracy"].values
    assert share.shape == (8, 5000, 4)
    np.testing.assert_allclose(share.mean(axis=(0, 1)), found.accuracy, rtol=1e-12)
    assert diagnosis("rhat", draws) == pytest.approx(np.ones(4), abs=0.003)
    assert diagnosis("mcse", draws) == pytest.approx(found.standard_error, rel=0.06)
    assert diagnosis("ess", draws) == pytest.approx(np.full(4, 40_000.0), rel=0.1)


def test_ensembles_of_two_simulators_are_told_apart():
    """The negative control: half the ensembles from another model."""
    other = MODEL.with_(sizes=(1, 6))
    both = [
        simulate(one, debates=4000, rounds=3, seed=3).to_arviz(4)["posterior"]["accuracy"].values
        for one in (MODEL, other)
    ]
    from stability import to_arviz

    mixed = to_arviz({"accuracy": np.concatenate(both)}, dims={"accuracy": ["round"]})
    assert (diagnosis("rhat", mixed) > 1.02).all()


def test_silent_agents_do_not_count_among_those_who_spoke():
    scenario = Scenario(MODEL, silent=0.5, unread=0.1)
    found = simulate(scenario, debates=400, rounds=2, seed=1, record="answers")
    share = found.to_arviz(2)["posterior"]["accuracy"].values.reshape(400, 2)
    spoke = (found.answers != -2).sum(axis=2)
    right = (found.answers == MODEL.correct).sum(axis=2)
    assert (np.isnan(share) == (spoke == 0)).all()
    np.testing.assert_array_equal(share[spoke > 0], (right / np.maximum(spoke, 1))[spoke > 0])


@pytest.mark.parametrize(
    ("what", "record", "ensembles", "said"),
    [
        (MODEL, "counts", 3, "must divide 100 debates, got 3"),
        (MODEL, "counts", 0, "whole number >= 1, got 0"),
        (MODEL, "counts", 2.5, "whole number >= 1, got 2.5"),
        (MODEL, "accuracy", 2, "'counts' or 'answers', it was 'accuracy'"),
        (Scenario(MODEL, silent=0.1), "counts", 2, "'answers' where agents may be silent"),
    ],
)
def test_ensembles_refused(what, record, ensembles, said):
    found = simulate(what, debates=100, rounds=2, record=record)
    with pytest.raises(ValueError, match=said):
        found.to_arviz(ensembles)
