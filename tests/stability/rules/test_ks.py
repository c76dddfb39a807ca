import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stability.errors import NeedsAnswersError, ScopeError
from stability.fit.distance import ks_distance
from stability.fit.mixture import fit_mixture
from stability.fit.null import noise_floor, stickiness
from stability.fit.plurality import cut_distance, folded_law, folded_table
from stability.fit.swap import swaps
from stability.log import DebateLog
from stability.log.round import SILENT, Round
from stability.rules import KSRule, MaxRounds, Patience, Unanimity, rule_from_dict

SERIES = Path(__file__).parents[2] / "reference" / "ks-series.csv"
SPACES = ("predictive", "latent", "empirical")
SLOW = settings(max_examples=12, deadline=None)


def run(rule, rounds, *, through_json=False):
    state = rule.start(n_agents=max(one.n_agents for one in rounds))
    decisions = []
    for one in rounds:
        state, decision = rule.step(state, one)
        decisions.append(decision)
        if through_json:
            rule = rule_from_dict(json.loads(json.dumps(rule.to_dict())))
            state = rule.state_from_dict(json.loads(json.dumps(state.to_dict())))
    return decisions


def settling(n_items=300, n_rounds=5, n=7, seed=0):
    """Counts (T, M) that move less from round to round."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(n_items) < 0.4, rng.beta(2, 6, n_items), rng.beta(6, 3, n_items))
    rows = [rng.binomial(n, p)]
    for t in range(1, n_rounds):
        moved = rng.random(n_items) < 0.5 ** (t - 1)
        rows.append(
            np.where(moved, np.minimum(rows[-1] + rng.integers(0, 2, n_items), n), rows[-1])
        )
    return np.array(rows)


def counts(rows, n=7):
    return [Round.from_counts(row, n, index=t) for t, row in enumerate(rows)]


def graded(k, n=7, index=None):
    """Answers "A" (right) and "B" (wrong) with k right ones, the right agents last."""
    right = np.arange(n) >= n - np.asarray(k)[:, None]
    codes = np.where(right, 0, 1).astype(np.int32)
    return Round.from_codes(codes, ("A", "B"), correct=right.astype(np.int8), index=index)


@pytest.mark.parametrize(
    "row", list(csv.DictReader(SERIES.read_text().splitlines())), ids=lambda row: row["model"]
)
def test_the_published_series_stop_as_listed(row):
    series = [float(row[f"D{t}"]) for t in range(1, 10) if row[f"D{t}"]]
    columns = {"05_m1": (0.05, 1), "05_m2": (0.05, 2), "05_m3": (0.05, 3)}
    columns |= {"02_m2": (0.02, 2), "10_m2": (0.10, 2)}
    for name, (epsilon, patience) in columns.items():
        rule = KSRule(epsilon=epsilon, patience=patience)
        assert rule.stop_round(series) == int(row[f"stop_eps{name}"]), name


def test_stop_round_is_strict_and_checks():
    assert KSRule(patience=1).stop_round([0.05, 0.049999]) == 2
    assert KSRule(epsilon=0.1, patience=1).stop_round([0.1]) is None
    assert KSRule().stop_round([0.01, 0.06, 0.01]) is None
    assert KSRule().stop_round([]) is None
    for bad in (1.1, -0.1, float("nan")):
        with pytest.raises(ValueError, match=r"`distances\[1\]` must lie in"):
            KSRule().stop_round([0.1, bad])


def test_defaults_and_the_paper():
    assert KSRule() == KSRule(0.05, 2, "predictive", 2, "auto", "current", "warn", None)
    assert KSRule.paper() == KSRule(space="latent", grid=1000)
    assert KSRule().scope == "batch"
    assert (KSRule() | MaxRounds(3)).scope == Patience(KSRule(), 2).scope == "batch"


@pytest.mark.parametrize("space", SPACES)
def test_the_earliest_stop_is_round_2(space):
    decisions = run(KSRule(space=space), counts([settling()[0]] * 4))
    assert [d.stop for d in decisions] == [False, False, True, True]
    assert [d.statistic for d in decisions] == [None, 0.0, 0.0, 0.0]
    assert decisions[2].reason == "stable"
    assert decisions[2].threshold == 0.05
    assert "each of the last 2 steps" in decisions[2].certifies.lower()


@pytest.mark.parametrize("rule", [KSRule(), KSRule(space="empirical"), KSRule.paper()])
def test_the_statistic_is_the_distance_of_full_fits(rule):
    rows = settling()
    decisions = run(rule, counts(rows))
    again = run(rule, counts(rows), through_json=True)
    assert [d.to_dict() for d in decisions] == [d.to_dict() for d in again]
    for t in range(1, len(rows)):
        if rule.space == "empirical":
            expected = ks_distance(rows[t - 1], rows[t], space="empirical", n=7)
        else:
            fits = [fit_mixture(rows[s], 7) for s in (t - 1, t)]
            options = {"n": 7} if rule.space == "predictive" else {"grid": 1000}
            expected = ks_distance(*fits, space=rule.space, **options)
        assert decisions[t].statistic == expected
    series = [d.statistic for d in decisions[1:]]
    assert rule.stop_round(series) == next((d.round for d in decisions if d.stop), None)


@SLOW
@given(
    st.integers(0, 50),
    st.integers(1, 3),
    st.sampled_from(["warn", "refuse"]),
    st.sampled_from(SPACES),
)
def test_patience_of_the_rule_is_patience_of_rules(seed, m, floor, space):
    rounds = counts(settling(n_items=60 + seed * 9, seed=seed))
    built_in = run(KSRule(patience=m, floor=floor, space=space), rounds)
    composed = run(Patience(KSRule(patience=1, floor=floor, space=space), m), rounds)
    for one, other in zip(built_in, composed, strict=True):
        assert (one.stop, one.reason, one.statistic) == (other.stop, other.reason, other.statistic)


@SLOW
@given(st.integers(0, 50), st.sampled_from(SPACES), st.randoms(use_true_random=False))
def test_order_of_items_and_mirrored_counts(seed, space, random):
    rows, rule = settling(n_items=100, n_rounds=3, seed=seed), KSRule(space=space)
    order = list(range(100))
    random.shuffle(order)
    plain = [d.statistic for d in run(rule, counts(rows))]
    assert [d.statistic for d in run(rule, counts(rows[:, order]))] == plain
    mirrored = [d.statistic for d in run(rule, counts(7 - rows))]
    assert mirrored[1:] == pytest.approx(plain[1:], abs=1e-9)


def test_an_empirical_distance_of_exactly_epsilon_does_not_stop():
    before = np.repeat([0, 1, 2, 3, 4, 5, 6, 7], 25)
    for moved, below in ((10, False), (9, True)):
        after = before.copy()
        after[:moved] += 1
        decision = run(KSRule(patience=1, space="empirical"), counts([before, after]))[-1]
        assert decision.statistic == moved / 200
        assert decision.stop is below


def test_unread_is_wrong_and_silent_reduces_n():
    answers = [["A", None, SILENT], ["A", "A", "B"], ["B", "B", "B"], ["A", SILENT, SILENT]] * 20
    grades = [[1, 0, -1], [1, 1, 0], [0, 0, 0], [1, -1, -1]] * 20
    later = [["A", "A", "A"]] * 80
    right = [[1, 1, 1]] * 80
    rounds = [Round.from_answers(answers, correct=grades), Round.from_answers(later, correct=right)]
    fits = fit_mixture([1, 2, 0, 1] * 20, [2, 3, 3, 1] * 20), fit_mixture([3] * 80, 3)
    assert run(KSRule(), rounds)[-1].statistic == ks_distance(*fits, n=3)
    empirical = run(KSRule(space="empirical"), rounds)[-1]
    assert empirical.statistic == ks_distance([2, 0] * 20, [3] * 40, space="empirical", n=3)
    assert "40 items whose number of agents changed are not compared." in empirical.warnings


# The floor.


def test_a_threshold_inside_the_noise_is_said_in_words():
    row = settling(n_items=72)[0]
    floor = noise_floor(72, space="predictive")
    assert floor > 0.05
    warned = run(KSRule(), counts([row] * 3))
    assert warned[0].warnings == ()
    assert warned[2].stop
    assert f"differ by up to {floor:.3f} in 95 of 100 cases" in warned[2].warnings[0]
    assert "with 72 items" in warned[2].warnings[0]
    assert "inside sampling noise" in warned[2].certifies
    refused = run(KSRule(floor="refuse"), counts([row] * 3))
    assert [(d.stop, str(d.reason)) for d in refused] == [
        (False, "running"),
        (False, "undecidable"),
        (False, "undecidable"),
    ]
    assert refused[2].warnings == warned[2].warnings
    # In a composite the cap still ends the debate, and the waiting reason is passed on.
    capped = run(KSRule(floor="refuse") | MaxRounds(3), counts([row] * 3))
    assert [str(d.reason) for d in capped] == ["running", "undecidable", "cap_reached"]


def test_enough_items_resolve_the_threshold():
    decision = run(KSRule(floor="refuse"), counts([settling(n_items=2000)[0]] * 3))[-1]
    assert (decision.stop, decision.warnings) == (True, ())
    assert "noise" not in decision.certifies


@pytest.mark.parametrize(("n_items", "resolved"), [(20, False), (21, True)])
def test_one_item_must_move_the_observed_distance_by_less_than_epsilon(n_items, resolved):
    # Answers that never change have the highest stickiness, so the noise floor is at its lowest.
    row = settling(n_items=n_items)[0]
    decision = run(KSRule(floor="refuse", patience=1), [graded(row), graded(row)])[-1]
    said = "one item alone moves the observed D by 1/20" in " ".join(decision.warnings)
    assert said is not resolved


@pytest.mark.parametrize("observable", ["correct", "agreement"])
def test_stickiness_lowers_the_floor(observable):
    row = settling(n_items=300)[0]
    a, b = graded(row), graded(row)
    assert noise_floor(300, space="predictive") > 0.05
    stick = stickiness(a.correct, b.correct)
    assert noise_floor(300, space="predictive", stickiness=stick) <= 0.05
    assert run(KSRule(floor="refuse", observable=observable), [a, b, b])[-1].stop
    # The same counts without answers say nothing about who kept his.
    assert not run(KSRule(floor="refuse"), counts([row] * 3))[-1].stop


# What is counted.


def test_ungraded_items_are_left_out_and_counted():
    row = settling(n_items=100)[0]
    full = graded(row)
    grades = full.correct.copy()
    grades[:30] = -1
    partly = Round.from_codes(full.codes, full.labels, correct=grades)
    decision = run(KSRule(epsilon=0.01), [partly, partly])[-1]
    assert decision.warnings[0] == "30 of 100 items that are not graded are left out of round 1."
    assert "with 70 items" in decision.warnings[1]
    empirical = run(KSRule(epsilon=0.01, space="empirical"), [full, partly])[-1]
    assert empirical.statistic == 0.0
    assert "with 70 items" in empirical.warnings[1]


def test_grades_are_needed_for_correct_only():
    one = Round.from_answers([["A", "B"], ["A", "A"]])
    with pytest.raises(NeedsAnswersError, match="give `correct`"):
        run(KSRule(observable="correct"), [one])
    none = Round.from_answers([["A", "B"], ["A", "A"]], correct=[[-1, -1], [-1, -1]])
    with pytest.raises(NeedsAnswersError, match="none of the 2 items of round 0 is graded"):
        run(KSRule(observable="correct"), [none])
    with pytest.raises(NeedsAnswersError, match="KSRule needs the answers"):
        run(KSRule(observable="agreement"), [Round.from_counts([1, 2], 2)])
    assert run(KSRule(), [one, one])[-1].statistic == 0.0


@pytest.mark.parametrize("reference", ["current", "first", "previous"])
def test_agreement_is_that_of_the_log(reference):
    rng = np.random.default_rng(4)
    log = DebateLog(rng.choice([0, 0, 1, 2, -1, -2], size=(4, 50, 5)), ["A", "B", "C"])
    k, n = log.agreement_counts(reference)
    rule = KSRule(observable="agreement", reference=reference, patience=9)
    decisions = run(rule, list(log.rounds()), through_json=True)
    for t in range(1, 4):
        fits = [fit_mixture(k[s][n[s] > 0], n[s][n[s] > 0]) for s in (t - 1, t)]
        if reference == "current":
            # of three labels one has two votes of five, unless some answers were not read
            least = min(2, *(k[s][n[s] > 0].min() for s in (t - 1, t)))
            assert decisions[t].statistic == cut_distance(*fits, n=5, lowest=least)
        else:
            assert decisions[t].statistic == ks_distance(*fits, n=5)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("observable", ["correct", "agreement"])
def test_a_round_in_which_nobody_speaks(space, observable):
    spoke = graded(settling(n_items=40)[0])
    nobody = Round.from_answers([[SILENT] * 7] * 40, correct=[[-1] * 7] * 40)
    rule = KSRule(space=space, observable=observable, patience=1)
    decisions = run(rule, [spoke, nobody, spoke, spoke], through_json=True)
    assert [d.statistic for d in decisions] == [None, None, None, 0.0]
    assert [d.stop for d in decisions] == [False, False, False, True]
    assert "Rounds 0 and 1 have no item in common." in decisions[1].warnings


def test_a_fit_at_a_bound_is_flagged_in_latent_space():
    row = np.repeat([0, 7], 300)
    decision = run(KSRule.paper(), counts([row, row]))[-1]
    assert any(text.startswith("A fit lies at a bound") for text in decision.warnings)
    assert run(KSRule(), counts([row, row]))[-1].warnings == ()


def test_stopped_items_still_count_in_the_batch():
    row = np.array([7] * 100 + [3] * 100)
    rule = Unanimity() | KSRule(patience=1, space="empirical")
    first, later = graded(row, index=0), graded(np.r_[[0] * 100, [2] * 100], index=1)
    decisions = run(rule, [first, later])
    assert decisions[0].stop_items.tolist() == [True] * 100 + [False] * 100
    # The 100 stopped items keep their 7, so that only the others moved.
    assert decisions[1].statistic == 0.5
    assert decisions[1].answers[:100].tolist() == ["A"] * 100


# What is refused.


def test_one_item_is_no_batch():
    message = "KSRule compares .* use single_debate_rule"
    for rule in (KSRule(), Unanimity() | Patience(KSRule(), 2) | MaxRounds(3)):
        with pytest.raises(ScopeError, match=message):
            rule.start(n_agents=3, n_items=1)
        with pytest.raises(ScopeError, match=message):
            rule.step(rule.start(n_agents=3), Round.from_answers(["A", "A", "B"]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "`epsilon` must lie in"),
        ({"epsilon": 1.0}, "`epsilon` must lie in"),
        (
            {"epsilon": "automatic"},
            "`epsilon` must be a number in .* 'calibrated', got",
        ),
        ({"epsilon": "calibrated", "space": "predictive"}, "`space` must be 'empirical' when"),
        ({"epsilon": "calibrated", "space": "latent"}, "`space` must be 'empirical' when"),
        ({"patience": 0}, "`patience`"),
        ({"space": "observed"}, "`space` must be one of predictive, latent, empirical"),
        ({"n_components": 4}, "`n_components`"),
        ({"observable": "right"}, "`observable`"),
        ({"reference": "last"}, "`reference`"),
        ({"floor": "ignore"}, "`floor`"),
        ({"grid": 1000}, "`grid` belongs to space='latent'"),
        ({"grid": 1, "space": "latent"}, "`grid`"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        KSRule(**parameters)


def test_votes_are_read_late_and_still_keep_ties():
    # This rule never asks for a vote, so that each is taken when the last decision is read.
    rule, tie = MaxRounds(10**6), [["A", "B"]] * 2
    flipped = [["B", "A"]] * 2
    state = rule.start(n_agents=2)
    for t in range(1500):
        state, decision = rule.step(state, Round.from_answers(flipped if t % 2 else tie))
    assert decision.answers.tolist() == ["A", "A"]
    assert decision.support.tolist() == [0.5, 0.5]


def two_answers(ks, n=5):
    """A round in which k of n agents give "A", the others "B"."""
    codes = np.where(np.arange(n) < np.asarray(ks)[:, None], 0, 1).astype(np.int32)
    return Round.from_codes(codes, ("A", "B"), correct=(codes == 0).astype(np.int8))


def test_mirrored_counts_have_no_folded_distance_but_all_answers_changed():
    """The accuracy of the leading answers falls from .77 to .23, and the folded law stays."""
    before = [5] * 40 + [4] * 37 + [1] * 20 + [0] * 3
    after = [5 - k for k in before]
    for space in SPACES:
        rule = KSRule(space=space, observable="agreement", patience=1)
        decision = run(rule, [two_answers(before), two_answers(after)], through_json=True)[-1]
        assert decision.statistic == 0.0
        assert decision.stop
        assert decision.flip_share == 1.0
        assert "100.0 % of the leading answers changed in the last round" in decision.certifies
        mirrored = "cannot be told apart" in decision.certifies
        assert mirrored
    graded_rule = KSRule(observable="correct", patience=1)
    assert run(graded_rule, [two_answers(before), two_answers(after)])[-1].statistic > 0.5


def test_two_answers_fold_the_fit():
    rng = np.random.default_rng(7)
    rows = [rng.binomial(5, rng.beta(4, 2, 200)) for _ in range(2)]
    rule = KSRule(observable="agreement", patience=1)
    said = run(rule, [two_answers(row) for row in rows])[-1]
    fits = []
    for row in rows:
        lead = np.maximum(row, 5 - row)
        table = folded_table(lead, np.full(200, 5))
        fits.append(fit_mixture(table.k, table.n, freq=table.freq))
    laws = [folded_law(fit, 5) for fit in fits]
    assert all(law.shape == (3,) and law.sum() == pytest.approx(1.0) for law in laws)
    gap = np.abs(np.cumsum(laws[0] - laws[1])[:-1]).max()
    assert said.statistic == pytest.approx(gap, abs=1e-9)
    # the fit sees both ways alike, so that its mean is one half
    assert fits[0].mean @ fits[0].weights == pytest.approx(0.5, abs=1e-6)


def test_a_third_answer_ends_the_folding():
    first = two_answers([5, 4, 3, 5] * 30)
    second = Round.from_answers([list("AAAAA"), list("AAABC"), list("AABBC"), list("AAAAB")] * 30)
    rule = KSRule(observable="agreement", patience=1)
    plain = Round.from_codes(first.codes, first.labels)
    said = run(rule, [plain, second, second], through_json=True)
    k = [[5, 4, 3, 5] * 30, [5, 3, 2, 4] * 30]
    expected = cut_distance(*(fit_mixture(row, 5) for row in k), n=5, lowest=2)
    assert said[1].statistic == pytest.approx(expected, abs=1e-12)
    assert said[2].statistic == 0.0


def test_the_reference_is_stated():
    for reference, words in (("current", "this round"), ("first", "round 0")):
        rule = KSRule(observable="agreement", reference=reference, patience=1)
        said = run(rule, [two_answers([5, 4, 3] * 20)] * 2)[-1].certifies
        assert f"the leading answer of {words}" in said


def test_calibrated_is_the_swap_quantile_of_the_observed_distance():
    rows = settling(n_items=300, n_rounds=3)
    rule = KSRule(epsilon="calibrated", patience=1)
    assert rule.space == "empirical"
    decisions = run(rule, [graded(row) for row in rows], through_json=True)
    used, agents = np.ones(300, bool), np.full(300, 7)
    for t in (1, 2):
        pair = swaps((rows[t - 1], agents, used), (rows[t], agents, used), 7)
        q = pair.quantile(0.95, 999, (0, t))
        assert decisions[t].statistic == pytest.approx(pair.distance / 300)
        assert decisions[t].threshold == pytest.approx(q / 300)
    assert [d.stop for d in decisions] == [False, False, False]  # the counts still move
    still = run(rule, [graded(rows[2])] * 2)[-1]
    assert (still.stop, still.statistic, still.threshold) == (True, 0.0, 0.0)
    assert "No change" in still.certifies
    assert "would have been seen in 9 of 10 cases" in still.certifies


def test_calibration_needs_answers():
    with pytest.raises(NeedsAnswersError, match="needs the answers of the agents"):
        run(KSRule(epsilon="calibrated"), counts(settling(n_rounds=1)))
    with pytest.raises(ValueError, match="`epsilon` must be a number to replay"):
        KSRule(epsilon="calibrated").stop_round([0.1])


def test_drift_is_read_from_three_rounds_and_survives_json():
    rows = settling(n_items=2000, n_rounds=4, seed=3)
    decisions = run(KSRule(patience=9), counts(rows), through_json=True)
    assert decisions[0].drift is decisions[1].drift is None
    found = decisions[3].drift
    step = (rows[3] - rows[2]).mean() / 7
    assert found.change == pytest.approx(step)
    assert found.ratio == pytest.approx(step / ((rows[2] - rows[1]).mean() / 7))
    assert found.low < found.remaining < found.high
    assert "extrapolation, not a bound" in found.sentence
    again = type(decisions[3]).from_dict(json.loads(json.dumps(decisions[3].to_dict())))
    assert again.drift == found
    inside = run(KSRule(patience=9) | MaxRounds(9), counts(rows))[3].drift
    assert inside == found
    assert run(Unanimity(), [two_answers([5, 4])] * 4)[3].drift is None
