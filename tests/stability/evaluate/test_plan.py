"""Items needed: the listed figures, exact binomial sums, what is asked for twice."""

import json

import numpy as np
import pytest
from scipy.stats import binom

from stability import load_smollm_debates
from stability.__main__ import main
from stability.evaluate.plan import items_for_certificate, pilot_sd, plan
from stability.fit import fit_mixture
from stability.log import DebateLog
from stability.rules import PairedEquivalence


@pytest.mark.parametrize(
    ("lag", "stick", "looks", "about"),
    [(1, 0.8, 1, 242), (1, 0.0, 1, 1210), (3, 0.8, 1, 592), (3, 0.8, 7, 918)],
)
def test_listed_plans(lag, stick, looks, about):
    found = plan(7, delta=0.02, lag=lag, looks=looks, stickiness=stick)
    assert abs(found.items - about) <= 0.005 * about
    assert found.least == (149 if looks == 1 else 245)
    assert str(found.items) in str(found)
    again = plan(7, delta=0.02, lag=lag, looks=looks, sd=found.sd)
    assert again.items == found.items


def test_a_rule_gives_what_it_has():
    rule = PairedEquivalence(delta=0.03, lag=2, level=0.1, looks=4)
    for found in (plan(7, rule=rule, stickiness=0.5), plan(rule, sd=0.1)):
        assert (found.delta, found.lag, found.level, found.looks) == (0.03, 2, 0.1, 4)
    assert plan(PairedEquivalence(), sd=0.1).looks == 7


def test_another_model():
    # one p for all: E p (1 - p) is that of a binomial
    fit = fit_mixture([5, 5, 5, 5], 10, n_components=1)
    found = plan(10, delta=0.05, lag=1, stickiness=0.0, model=fit)
    assert found.sd == pytest.approx(np.sqrt(2 * 0.25 / 10))
    assert plan(10, delta=0.05, stickiness=1.0).items == 59  # nothing moves: the least there is


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stickiness": 0.5}, "`delta` must be given, or a rule"),
        ({"delta": 0.02}, "exactly one of `stickiness` and `sd`"),
        ({"delta": 0.02, "sd": 0.1, "stickiness": 0.5}, "exactly one of"),
        ({"delta": 0.02, "sd": 0.0}, "`sd`"),
        ({"delta": 0.02, "stickiness": 1.2}, "`stickiness`"),
        ({"delta": 0.02, "sd": 0.1, "power": 1.0}, "`power`"),
        ({"rule": PairedEquivalence(), "sd": 0.1, "lag": 2}, "`lag` must come from the rule"),
        ({"delta": 0.02, "sd": 0.1, "model": fit_mixture([1], 2)}, "`model` belongs to"),
    ],
)
def test_bad_plans(options, message):
    with pytest.raises(ValueError, match=message):
        plan(7, **options)


def test_agents_are_needed_with_stickiness():
    with pytest.raises(ValueError, match="`n_agents` must be given"):
        plan(delta=0.02, stickiness=0.5)


def test_pilot():
    log = load_smollm_debates()
    k, n, _ = log.correct_counts()
    shares = k / n
    assert pilot_sd(log, 1) == pytest.approx((shares[3] - shares[2]).std(ddof=1))
    assert pilot_sd(log, 3) == pytest.approx((shares[3] - shares[0]).std(ddof=1))
    with pytest.raises(ValueError, match="`lag` must be < the rounds of the log, got 4 of 4"):
        pilot_sd(log, 4)
    with pytest.raises(ValueError, match="two items that are counted, got 1"):
        pilot_sd(DebateLog([[[0]], [[0]]], ["A"]), 1)


LISTED = {
    1: {0.05: (59, 93, 124), 0.02: (149, 236, 313), 0.10: (29, 46, 61)},
    2: {0.05: (72, 110, 142), 0.02: (183, 277, 359), 0.10: (36, 54, 70)},
}


@pytest.mark.parametrize("families", [1, 2])
@pytest.mark.parametrize("risk", [0.05, 0.02, 0.10])
def test_items_for_a_certificate(families, risk):
    for losses, items in enumerate(LISTED[families][risk]):
        assert items_for_certificate(risk, losses=losses, families=families) == items
        assert (
            binom.cdf(losses, items, risk) <= 0.05 / families < binom.cdf(losses, items - 1, risk)
        )
    # beyond what a binomial routine counts in 32 bits
    rare = items_for_certificate(1e-9, 0.95)
    assert rare == pytest.approx(np.log(0.05) / np.log1p(-1e-9), rel=1e-7)


def test_bad_certificates():
    for bad in ({"max_risk": 0.0}, {"confidence": 1.0}, {"losses": -1}, {"families": 0}):
        with pytest.raises(ValueError, match=f"`{next(iter(bad))}`"):
            items_for_certificate(**bad)


def run(capsys, *words):
    code = main(["plan", *map(str, words)])
    return code, *capsys.readouterr()


def test_command(capsys):
    code, out, _ = run(capsys, "--agents", 7, "--lag", 1, "--stickiness", 0.8)
    assert code == 0
    assert out.startswith("243 items show, with probability 0.9,")
    code, out, _ = run(capsys, "smollm2", "--lag", 1, "--delta", 0.05, "--json")
    assert json.loads(out)["sd"] == pytest.approx(pilot_sd(load_smollm_debates(), 1))
    out = run(capsys, "--rule", "PairedEquivalence()", "--sd", 0.1)[1]
    assert "over 7 looks" in out
    code, out, _ = run(capsys, "--certificate", "--json")
    assert json.loads(out)["items"][1] == {"losses": 1, "families_1": 93, "families_2": 110}
    assert "two families" in run(capsys, "--certificate", "--max-risk", 0.02)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--certificate", "--lag", "2"], "leave out --certificate"),
        (["--sd", ".1", "--max-risk", ".1"], "give --certificate"),
        (["smollm2", "--sd", ".1"], "leave out --sd"),
        (["smollm2", "--certificate"], "is not needed"),
        (["--rule", "Unanimity()", "--sd", ".1"], "must be a PairedEquivalence"),
        ([], "exactly one of"),
    ],
)
def test_bad_commands(capsys, words, message):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert message in err
