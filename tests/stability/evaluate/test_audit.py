"""The audit of a certificate: false alarms, detection, its state, which debates are due."""

import json
from math import inf

import numpy as np
import pytest

from stability import load_smollm_debates
from stability.__main__ import main
from stability.evaluate.audit import Audit, audit
from stability.evaluate.certificate import Certificate
from stability.evaluate.certify import certify


@pytest.fixture(scope="module")
def smollm():
    return load_smollm_debates()


@pytest.fixture(scope="module")
def certificate(smollm):
    return certify(smollm, max_risk=0.1)


def promised(certificate, risk):
    data = {name: getattr(certificate, name) for name in certificate.__dataclass_fields__}
    return Certificate(**{**data, "max_risk": risk})


def crossing(certificate, draws, level=0.05):
    """After how many audited debates each row of losses is flagged; inf for never."""
    lost = np.cumsum(draws, axis=1)
    seen = np.arange(1, draws.shape[1] + 1)
    wealth = np.zeros(draws.shape)
    risk = certificate.max_risk
    for multiple, stake in ((1.5, 0.2), (2.0, 0.5), (3.0, 0.15), (5.0, 0.1), (10.0, 0.05)):
        p = min(multiple * risk, (1 + risk) / 2)
        wealth += stake * np.exp(
            lost * np.log(p / risk) + (seen - lost) * np.log((1 - p) / (1 - risk))
        )
    over = wealth >= 1 / level
    return np.where(over.any(1), over.argmax(1) + 1, inf)


def test_wealth_is_a_mean_of_likelihood_ratios(certificate):
    rng = np.random.default_rng(0)
    draws = rng.random((3, 200)) < 0.25
    for row, first in zip(draws, crossing(certificate, draws), strict=True):
        found = Audit(certificate)
        assert found.wealth == 1.0
        for t, lost in enumerate(row.tolist(), start=1):
            found.update(lost)
            assert found.flagged is bool(t >= first)


def test_a_withdrawn_promise_stays_withdrawn(certificate):
    found = Audit(certificate)
    for lost in [True] * 20 + [False] * 2000:
        found.update(lost)
    assert found.flagged
    assert found.wealth < 1
    assert found.sentence.startswith("Withdrawn: 20 losses in 2020")


@pytest.mark.statistical
@pytest.mark.parametrize("risk", [0.02, 0.05, 0.1])
def test_false_alarms_and_detection(certificate, risk):
    """4,000 audits of 2,000 debates: the standard error of .05 is .0034; four of them.

    Twice the promised risk is found in a few hundred audited debates.
    """
    own = promised(certificate, risk)
    rng = np.random.default_rng([7, int(1000 * risk)])
    false = crossing(own, rng.random((4000, 2000)) < risk)
    assert np.isfinite(false).mean() <= 0.05 + 4 * 0.0034
    true = crossing(own, rng.random((1000, 4000)) < 2 * risk)
    assert np.median(true) < {0.02: 600, 0.05: 250, 0.1: 125}[risk]
    assert np.quantile(true, 0.9) < {0.02: 1300, 0.05: 550, 0.1: 275}[risk]


def test_due_is_a_function_of_seed_and_name(certificate):
    one, same, other = (Audit(certificate, share=0.2, seed=seed) for seed in (1, 1, 2))
    due = [one.due(i) for i in range(5000)]
    assert due == [same.due(i) for i in range(5000)]
    assert due != [other.due(i) for i in range(5000)]
    assert abs(np.mean(due) - 0.2) < 4.5 * np.sqrt(0.2 * 0.8 / 5000)
    assert one.due("question 7") in (True, False)
    assert Audit(certificate, share=1.0).due(3)


def test_state_is_json(certificate, smollm):
    found = audit(certificate, smollm, share=0.3, level=0.01, seed=5)
    again = Audit.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict()
    assert (again.audited, again.losses) == (72, certificate.losses)
    again.update(True)
    assert again.losses == found.losses + 1
    for name, value in (("losses", 73), ("highest", 0.5), ("share", 0)):
        with pytest.raises(ValueError, match=f"`{name}`"):
            Audit.from_dict(found.to_dict() | {name: value})
    with pytest.raises(ValueError, match="missing"):
        Audit.from_dict({})


def test_what_is_refused(certificate, smollm):
    with pytest.raises(ValueError, match="5 agents and 4 rounds"):
        audit(certificate, smollm.select(rounds=3))
    nothing = certify(smollm, max_risk=0.06)
    assert nothing.rule is None or nothing.losses == 0
    with pytest.raises(ValueError, match="must have a rule"):
        Audit(promised(Certificate(**{**vars(certificate), "rule": None}), 0.1))
    for options in ({"share": 0.0}, {"level": 1.0}, {"seed": -1}):
        with pytest.raises(ValueError, match=f"`{next(iter(options))}`"):
            Audit(certificate, **options)
    with pytest.raises(ValueError, match="`lost` must be True or False, got 1"):
        Audit(certificate).update(1)


def run(capsys, *words):
    code = main([str(word) for word in words])
    return code, *capsys.readouterr()


def test_commands(capsys, tmp_path):
    policy, state = tmp_path / "deep" / "policy.json", tmp_path / "state.json"
    code, out, _ = run(capsys, "certify", "smollm2", "--max-risk", 0.1, "--out", policy)
    assert code == 0
    assert "With confidence 0.95" in out
    assert "StableMargin(margin=5, held=1)" in out
    assert Certificate.load(policy).rule is not None
    for seen in (72, 144):
        code, out, _ = run(capsys, "audit", policy, "smollm2", "--state", state)
        assert code == 0
        assert f"in {seen} audited debates" in out
    data = json.loads(state.read_text())
    state.write_text(json.dumps(data | {"losses": 140, "highest": 1e6}))
    code, out, _ = run(capsys, "audit", policy, "smollm2", "--state", state, "--json")
    assert code == 3
    assert json.loads(out)["flagged"]
    other = tmp_path / "other.json"
    run(capsys, "certify", "smollm2", "--max-risk", 0.2, "--out", other)
    code, _, err = run(capsys, "audit", other, "smollm2", "--state", state)
    assert (code, "belongs to another certificate" in err) == (2, True)


def test_exit_codes_of_certify(capsys):
    code, out, _ = run(
        capsys, "certify", "smollm2", "--rule", "PluralityUnchanged()", "--max-risk", 0.05
    )
    assert code == 3
    assert "Nothing can be certified" in out
    code, _, err = run(capsys, "certify", "smollm2", "--max-risk", 0.02)
    assert code == 2
    assert "at least 183 independent debates" in err
    code, out, _ = run(
        capsys, "certify", "smollm2", "--method", "conformal", "--max-risk", 0.1, "--json"
    )
    assert code == 0
    assert json.loads(out)["method"] == "conformal"
    for words in (
        ("--part", "agents"),
        ("--part", "agents=3"),
        ("--rule", "Unanimity()", "--family", "fixed"),
    ):
        assert run(capsys, "certify", "smollm2", *words)[0] == 2
    assert run(capsys, "certify", "smollm2", "--part", "agents=5", "--max-risk", 0.1)[0] == 0
