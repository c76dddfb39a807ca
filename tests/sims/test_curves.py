"""Changes of mind against n, and accuracy against the share of misled agents."""

import numpy as np
import pytest

from sims import Scenario, accuracy_by_misled, change_by_size
from theory import CountChain, DebateModel, critical_share

SURE = DebateModel.binary(1, 0.8, 0.7)
SHARED = DebateModel.shared_misconception(7, 3, weight=0.9, misled=0.2, right=0.8, wrong=0.3)


@pytest.mark.statistical
def test_changes_are_those_of_the_chain():
    """Six comparisons at five standard errors: a false alarm once in 300,000 choices of seeds."""
    for t in (0, 2):
        table = change_by_size({"all": SURE}, (3, 8, 15), t=t, debates=20_000, seed=5)
        for n, change, error in table[["n", "change", "change_se"]].itertuples(index=False):
            exact = CountChain(SURE.with_(sizes=(n,))).switch(t)
            assert abs(change - exact) < 5 * error


@pytest.mark.statistical
def test_changes_die_out_where_all_are_read_and_not_on_a_ring():
    debates = {"all": SURE, "ring": Scenario(SURE, graph="ring")}
    table = change_by_size(debates, (9, 41), t=3, debates=4000, seed=1)
    few, many, ring, large = table["change"].tolist()
    assert many < few / 10
    assert abs(large - ring) < 0.1 * ring


@pytest.mark.statistical
def test_accuracy_by_misled_is_that_of_the_chain():
    """Eight comparisons at five standard errors."""
    table = accuracy_by_misled(SHARED, (7,), t=3, debates=40_000, seed=2)
    assert table["m"].tolist() == list(range(8))
    for m, accuracy, error in table[["m", "accuracy", "accuracy_se"]].itertuples(index=False):
        kinds = [(kind, size) for kind, size in zip(SHARED.types, (7 - m, m), strict=True) if size]
        model = SHARED.with_(types=tuple(k for k, _ in kinds), sizes=tuple(s for _, s in kinds))
        assert abs(accuracy - CountChain(model).accuracy(3)) < 5 * error


@pytest.mark.statistical
def test_large_debates_change_sides_at_the_critical_share():
    table = accuracy_by_misled(SHARED, (101,), debates=2000, seed=1)
    share = critical_share(*SHARED.types)
    assert (table["accuracy"][table["misled"] < share - 0.15] > 0.7).all()
    assert (table["accuracy"][table["misled"] > share + 0.15] < 0.4).all()
    assert np.diff(table["accuracy"]).max() < 0.01


def test_one_agent_and_graphs():
    assert len(accuracy_by_misled(SHARED, (1,), debates=50)) == 2
    held = accuracy_by_misled(Scenario(SHARED, graph="ring"), (1, 3), debates=50)
    assert held["m"].tolist() == [0, 1, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: change_by_size({"a": SHARED}), "one type of agent, got 2 types"),
        (lambda: change_by_size({"a": SURE}, [0]), "`sizes` must be a whole number >= 1, got 0"),
        (lambda: change_by_size({"a": SURE}, t=-1), "`t` must be a whole number >= 0, got -1"),
        (lambda: change_by_size({"a": SURE}, debates=1), "`debates` must be a whole number >= 2"),
        (
            lambda: change_by_size({"a": Scenario(SURE, graph=[[True]])}),
            "graphs by name: a matrix is of one size",
        ),
        (lambda: accuracy_by_misled(SURE), "two types of agents, got 1"),
        (lambda: accuracy_by_misled(SHARED, [2.5]), "`sizes` must be a whole number >= 1, got 2.5"),
        (lambda: critical_share(SURE.types[0], SURE.types[0]), "differ in their first law"),
        (
            lambda: critical_share(SHARED.types[0], DebateModel.echo_chamber(3).types[0]),
            "one kernel of two concepts",
        ),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()
