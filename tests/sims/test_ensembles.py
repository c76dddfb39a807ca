"""Ensemble size, and what debate adds by the dispersion of first answers."""

import numpy as np
import pytest

from sims import SCENARIOS, ensemble_size, gain_by_dispersion, named_scenario, returns_end, simulate
from theory import CountChain


def exact_vote(chain, t, correct):
    states = chain.states
    leads = states == states.max(axis=1, keepdims=True)
    return float(chain.law(t) @ (leads[:, correct] / leads.sum(axis=1)))


@pytest.mark.statistical
def test_votes_are_those_of_the_exact_chain():
    table = ensemble_size(["weak_majority", "echo_chamber"], [1, 4, 9], rounds=4, debates=20_000)
    for row in table.to_dict("records"):
        model = named_scenario(row["scenario"], row["n"]).model
        chain = CountChain(model)
        # 24 comparisons: five standard errors
        for name, exact in (
            ("vote", exact_vote(chain, 3, model.correct)),
            ("first_vote", exact_vote(chain, 0, model.correct)),
            ("agents", chain.accuracy(3)),
            (
                "agreement",
                float(chain.law(3) @ chain.states.max(axis=1)) / row["n"],
            ),
        ):
            assert abs(row[name] - exact) < 5 * 0.5 / np.sqrt(20_000)
        assert row["answers"] == 4 * row["n"]


def test_returns_end_where_nothing_better_comes():
    table = ensemble_size(["weak_majority"], [1, 3, 5], debates=2000)
    best = table["vote"].max()
    n = returns_end(table, 0.05)["weak_majority"]
    assert table.set_index("n")["vote"][n] >= best - 0.05
    assert all(table[table["n"] < n]["vote"] < best - 0.05)
    assert returns_end(table, 1.0) == {"weak_majority": 1}
    with pytest.raises(ValueError, match="`margin` must lie in"):
        returns_end(table, -1)


def test_gains_by_dispersion_add_up():
    found = simulate(SCENARIOS["weak_majority"], debates=5000, rounds=3)
    table = gain_by_dispersion(found)
    # two answers of seven agents: 0, 6/49 * 2, ...
    assert table["dispersion"].tolist() == [2 * k * (7 - k) / 49 for k in range(4)]
    assert table["debates"].sum() == 5000
    whole = np.average(table["gain"], weights=table["debates"])
    vote = [(found.counts[:, t, 0] > 3.5).mean() for t in (0, 2)]
    assert whole == pytest.approx(vote[1] - vote[0], abs=1e-12)


def test_debate_helps_where_first_answers_are_dispersed():
    table = gain_by_dispersion(simulate(SCENARIOS["weak_majority"], debates=50_000, rounds=6))
    low, high = table.iloc[0], table.iloc[-1]
    assert low["gain"] + 5 * low["gain_se"] < 0 < high["gain"] - 5 * high["gain_se"]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="`scenarios` must be of echo_chamber"):
        ensemble_size(["nowhere"], [3])
    with pytest.raises(ValueError, match="`debates` must be a whole number >= 2"):
        ensemble_size(["ring"], [3], debates=1)
    with pytest.raises(ValueError, match="must have its counts recorded"):
        gain_by_dispersion(simulate(SCENARIOS["ring"], debates=5, rounds=2, record="accuracy"))
