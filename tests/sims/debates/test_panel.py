"""Panels: laws against closed forms, and draws against laws."""

import json

import numpy as np
import pytest
from scipy.stats import betabinom, chi2

import sims.debates.simulate as module
from sims import Panel, simulate

LEVEL = 1e-6
STILL = Panel()
PANELS = {
    "still": STILL,
    "sticky": Panel(n_agents=5, stickiness=0.8),
    "rising": Panel(stickiness=0.8, drift=0.1, ratio=0.9),
    "falling": Panel(n_agents=4, drift=-0.3, ratio=0.5, stickiness=0.2),
    "one item kind": Panel(n_agents=3, items=((1.0, 2.0, 3.0),), n_answers=4),
}


def test_the_law_of_a_still_panel_is_the_mixture():
    k = np.arange(8)
    exact = 0.65 * betabinom.pmf(k, 7, 8, 2) + 0.35 * betabinom.pmf(k, 7, 2, 5)
    for t in (0, 5):
        np.testing.assert_allclose(STILL.count_law(t), exact, rtol=1e-12)


@pytest.mark.parametrize("name", PANELS)
def test_law_and_accuracy_agree(name):
    panel = PANELS[name]
    for t in (0, 1, 4, 40):
        law = panel.count_law(t)
        assert law.sum() == pytest.approx(1.0, abs=1e-12)
        mean = law @ np.arange(panel.n_agents + 1) / panel.n_agents
        assert mean == pytest.approx(panel.accuracy(t), abs=1e-12)
        assert panel.accuracy(10_000) - panel.accuracy(t) == pytest.approx(panel.to_come(t))


@pytest.mark.statistical
@pytest.mark.parametrize("name", PANELS)
def test_counts_have_their_law(name):
    """30 seeds of 5,000 items, three rounds: 90 statistics, each beyond its bound once in 10^6."""
    panel = PANELS[name]
    for seed in range(30):
        found = simulate(panel, debates=5000, rounds=6, seed=seed)
        assert found.counts.sum(axis=2).min() == panel.n_agents
        for t in (0, 2, 5):
            seen = np.bincount(found.counts[:, t, 0], minlength=panel.n_agents + 1)
            expected = 5000 * panel.count_law(t)
            statistic = ((seen - expected) ** 2 / expected).sum()
            assert chi2.sf(statistic, panel.n_agents) > LEVEL


@pytest.mark.statistical
def test_another_law_is_found_out():
    found = simulate(PANELS["rising"], debates=20_000, rounds=6, seed=1)
    seen = np.bincount(found.counts[:, 5, 0], minlength=8)
    expected = 20_000 * STILL.count_law(5)
    assert chi2.sf(((seen - expected) ** 2 / expected).sum(), 7) < LEVEL


@pytest.mark.statistical
def test_agents_keep_their_answers():
    """Right in both rounds: s E p + (1 - s) E p^2 where nothing drifts; within 5 errors."""
    panel = PANELS["sticky"]
    found = simulate(panel, debates=20_000, rounds=3, seed=2, record="answers")
    right = found.answers == 0
    both = (right[:, 1] & right[:, 2]).mean(axis=1)
    first = 0.65 * 0.8 + 0.35 * 2 / 7
    second = 0.65 * 8 * 9 / (10 * 11) + 0.35 * 2 * 3 / (7 * 8)
    error = both.std() / np.sqrt(len(both))
    assert abs(both.mean() - (0.8 * first + 0.2 * second)) < 5 * error


@pytest.mark.statistical
def test_wrong_answers_are_equally_likely():
    found = simulate(PANELS["one item kind"], debates=20_000, rounds=2, seed=3)
    wrong = found.counts[:, 1, 1:].sum(axis=0)
    # answers of an item hang together: an agent's chance of one wrong answer is a third of all
    assert chi2.sf(((wrong - wrong.mean()) ** 2 / wrong.mean()).sum(), 2) > LEVEL


def test_draws_do_not_depend_on_blocks_threads_or_parts(monkeypatch):
    panel = PANELS["rising"]
    whole = simulate(panel, debates=1000, rounds=4, seed=9, record="answers", threads=1)
    monkeypatch.setattr(module, "_BLOCK", 77)
    again = simulate(panel, debates=1000, rounds=4, seed=9, record="answers", threads=2)
    assert (whole.answers == again.answers).all()
    assert (whole.moments == again.moments).all()
    part = simulate(panel, debates=300, rounds=4, seed=9, record="answers", first=600)
    assert (part.answers == whole.answers[600:900]).all()
    counted = simulate(panel, debates=1000, rounds=4, seed=9)
    assert (counted.counts[:, :, 0] == (whole.answers == 0).sum(axis=2)).all()


def test_all_right_and_all_wrong_are_panels():
    sure = Panel(items=((0.5, 1e6, 1e-6), (0.5, 1e-6, 1e6)), n_agents=1)
    found = simulate(sure, debates=1000, rounds=2)
    assert set(np.unique(found.counts)) <= {0, 1}
    assert sure.count_law(1) == pytest.approx([0.5, 0.5])


def test_json_comes_back():
    for panel in PANELS.values():
        assert Panel.from_json(panel.to_json()) == panel
    assert Panel.from_dict({}) == STILL


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_agents": 0}, "`n_agents` must be a whole number >= 1, got 0"),
        ({"n_agents": True}, "`n_agents`"),
        ({"n_answers": 1}, "`n_answers`"),
        ({"stickiness": 1.0}, r"`stickiness` must lie in \[0, 1\), got 1.0"),
        ({"stickiness": float("nan")}, "`stickiness`"),
        ({"drift": -1}, r"`drift` must lie in \(-1, 1\)"),
        ({"drift": 0.3, "ratio": 0.1, "stickiness": 0.8}, "`drift` must lie within 0.08444"),
        ({"drift": 0.5}, "`drift` must lie within 0.38"),
        ({"ratio": "x"}, "`ratio`"),
        ({"items": ()}, "`items` must be rows"),
        ({"items": ((1.0, 2.0),)}, "`items`"),
        ({"items": ((0.5, 2.0, 1.0),)}, "`items`"),
        ({"items": ((1.0, 0.0, 1.0),)}, "`items`"),
        ({"items": 3}, "`items`"),
    ],
)
def test_bad_panels_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        Panel(**options)


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"agents": 3})])
def test_bad_json_is_refused(text):
    with pytest.raises(ValueError, match="panel"):
        Panel.from_json(text)


def test_bad_parts_are_refused():
    with pytest.raises(ValueError, match="`first` must be a whole number in"):
        simulate(STILL, debates=10, rounds=1, first=2**32 - 5)
    with pytest.raises(ValueError, match="drawn agent by agent"):
        simulate(STILL, debates=10, rounds=1, method="tabulated")
