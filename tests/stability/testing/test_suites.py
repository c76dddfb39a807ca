"""The suites on our own estimators and rules, found by name, and on broken ones."""

import time
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest

import stability
from stability import BetaBinomial, KSRule, MaxRounds, Rule, fit_mixture, rule_from_text
from stability.rules.base import judgement
from stability.rules.decision import STABLE
from stability.testing import CLAIMS, ContractError, check_estimator, check_rule

# Rules without a default for every parameter; a new rule that has none must be named here.
WRITTEN = {
    "AllOf": "Unanimity() & PluralityUnchanged()",
    "AnyOf": "Unanimity() | MaxRounds(5)",
    "EntropyBelow": "EntropyBelow(0.75)",
    "MaxRounds": "MaxRounds(5)",
    "MinRounds": "MinRounds(3)",
    "Patience": "Patience(FlipRateBelow(), 2)",
    "StableMargin": "StableMargin(margin=2, held=2)",
}
RULES = [
    name
    for name in stability.__all__
    if isinstance(getattr(stability, name), type)
    and issubclass(getattr(stability, name), Rule)
    and name != "Rule"
]
MORE = [
    "KSRule(space='empirical')",
    "KSRule(space='latent')",
    "KSRule(epsilon='calibrated')",
    "KSRule(patience=1)",
    "PluralityUnchanged(patience=2)",
    "NoAnswerChanged(patience=2)",
    "BetaPosterior(pool='all')",
]


@pytest.mark.parametrize("text", [WRITTEN.get(name, f"{name}()") for name in RULES] + MORE)
def test_every_public_rule_keeps_the_contract(text):
    assert check_rule(rule_from_text(text), max_examples=8).violated == ()


def read(size, method="auto"):
    def fit(k, n, freq):
        return fit_mixture(k, n, freq=freq, n_components=size, method=method)

    return fit


OURS = {
    "pmf": lambda fit, k, n: fit.pmf(k, n),
    "loglik": lambda fit: fit.loglik,
    "mean": lambda fit: float(fit.weights @ fit.mean),
    "trace": lambda fit: fit.loglik_trace,
}


@pytest.mark.parametrize(("size", "method"), [(1, "auto"), (2, "auto"), (3, "auto"), (1, "em")])
def test_our_estimators_keep_every_claim_but_that_of_a_moment(size, method):
    report = check_estimator(
        read(size, method), **OURS, claims=set(CLAIMS) - {"sample_mean"}, max_examples=15
    )
    assert report.violated == ()
    assert len(report.checked) == 15


def test_a_claim_that_is_not_true_is_violated():
    """One Beta-Binomial of several n does not have the sample mean; the binomial does."""
    found = check_estimator(read(1), **OURS, claims={"sample_mean"}, raises=False)
    assert found.violated == ("sample_mean",)


# --- broken estimators, each with the clause that must see it -------------------------------------


@dataclass
class Binomial:
    """The binomial estimator, which is right: no variation between items."""

    p: float

    def pmf(self, k, n):
        return BetaBinomial.from_mean(self.p, 0.0).pmf(k, n)


def checked(k, n, freq):
    """Refuse what is invalid, as an estimator must."""
    k, n, freq = (np.asarray(values) for values in (k, n, freq))
    if not k.size or k.shape != n.shape or freq.shape != k.shape:
        raise ValueError(f"`k` must have the shape of n and freq, got {k.shape}")
    for name, values in (("k", k), ("n", n), ("freq", freq)):
        if not np.array_equal(values, np.floor(values)) or (values < 0).any():
            raise ValueError(f"`{name}` must be whole numbers >= 0")
    if (k > n).any():
        raise ValueError("`k` must be <= n")
    return k, n, freq


def binomial(k, n, freq):
    k, n, freq = checked(k, n, freq)
    return Binomial(float(freq @ k) / float(freq @ n))


READ = {"pmf": lambda fit, k, n: fit.pmf(k, n), "mean": lambda fit: fit.p}


def test_a_moment_estimator_claims_no_maximum_likelihood_and_is_right():
    claims = {"sample_mean", "mirror", "permutation", "frequency", "scaling", "pickle"}
    assert check_estimator(binomial, **READ, claims=claims).violated == ()


def forgets_freq(k, n, freq):
    return binomial(k, n, np.ones_like(np.asarray(freq)))


def rounds_k_up(k, n, freq):
    k, n, freq = checked(k, n, freq)
    return Binomial(float(freq @ k + 0.5) / float(freq @ n + 0.6))


def divides_by_the_variance(k, n, freq):
    found = binomial(k, n, freq)
    found.p = float(np.float64(found.p) * (0.0 / (1.0 - found.p) + 1)) if found.p < 1 else np.nan
    return found


def writes_into_k(k, n, freq):
    found = binomial(k, n, freq)
    np.asarray(k)[:] = 0
    return found


_CALLS = count()


def depends_on_the_call(k, n, freq):
    found = binomial(k, n, freq)
    found.p = found.p * (1 - 1e-3 * (next(_CALLS) % 7))
    return found


def takes_anything(k, n, freq):
    k, n, freq = (np.asarray(values, float) for values in (k, n, freq))
    return Binomial(float(np.clip(np.nanmean(k / n) if k.size else 0.5, 0, 1)))


def believes_the_first_row(k, n, freq):
    k, n, freq = checked(k, n, freq)
    return Binomial(float(k[0] / n[0]))


def fails_at_the_bound(k, n, freq):
    found = binomial(k, n, freq)
    if found.p in (0.0, 1.0):
        raise FloatingPointError("the variance is 0")
    return found


class Leaky(Binomial):
    def pmf(self, k, n):
        return super().pmf(k, n) * (1.0 - 1e-4)


def leaks(k, n, freq):
    return Leaky(binomial(k, n, freq).p)


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (forgets_freq, "frequency"),
        (rounds_k_up, "mirror"),
        (divides_by_the_variance, "no_nan"),
        (writes_into_k, "not_mutated"),
        (depends_on_the_call, "deterministic"),
        (takes_anything, "invalid_input"),
        (believes_the_first_row, "permutation"),
        (fails_at_the_bound, "valid_input"),
        (leaks, "law"),
    ],
)
def test_broken_estimators_are_caught_by_the_clause_meant_for_them(broken, clause):
    claims = {"mirror", "permutation", "frequency"}
    report = check_estimator(broken, **READ, claims=claims, max_examples=30, raises=False)
    assert clause in report.violated
    (violation,) = (one for one in report.violations if one.clause == clause)
    assert str(violation.example) in str(violation)


def test_a_poor_maximum_and_a_falling_trace_are_caught():
    def half_way(k, n, freq):
        fit = fit_mixture(k, n, freq=freq, n_components=1)
        return BetaBinomial.from_mean(0.5 + 0.5 * (float(fit.mean[0]) - 0.5), 0.5), fit.counts

    report = check_estimator(
        half_way,
        loglik=lambda found: float(found[1].freq @ found[0].logpmf(found[1].k, found[1].n)),
        trace=lambda _: [-2.0, -1.0, -1.5],
        claims={"maximum_likelihood"},
        raises=False,
    )
    assert report.violated == ("trace", "maximum_likelihood")


def test_examples_are_small():
    report = check_estimator(fails_at_the_bound, raises=False)
    (one,) = (violation for violation in report.violations if violation.clause == "valid_input")
    assert (one.example.k.tolist(), one.example.n.tolist()) == ([0], [1])
    assert one.message == "FloatingPointError: the variance is 0"


# --- broken rules ---------------------------------------------------------------------------------


class Wrapped:
    """A rule around a right one, to break one thing of it."""

    scope = "item"

    def __init__(self, rule=None):
        self.rule = rule or rule_from_text("Unanimity()")

    def start(self, n_agents):
        return self.rule.start(n_agents)

    def step(self, state, round_):
        return self.rule.step(state, round_)

    def state_from_dict(self, data):
        return self.rule.state_from_dict(data)


def test_a_rule_of_another_kind_is_checked_too():
    report = check_rule(Wrapped(), max_examples=10)
    assert report.violated == ()
    assert "rule_json" not in report.checked


class Forgetful(Wrapped):
    """Keeps what it has seen on itself: two debates share it."""

    def __init__(self):
        super().__init__()
        self.state = None

    def start(self, n_agents):
        self.state = self.rule.start(n_agents)
        return self.state

    def step(self, state, round_):
        del state
        self.state, decision = self.rule.step(self.state, round_)
        return self.state, decision


class Clocked(Wrapped):
    """Stops or not by the clock."""

    def step(self, state, round_):
        after, decision = self.rule.step(state, round_)
        if time.perf_counter_ns() // 100 % 2:
            return after, decision
        return after, MaxRounds(1).step(MaxRounds(1).start(round_.n_agents), round_)[1]


class Unlatched(Wrapped):
    """Judges each round anew."""

    def step(self, state, round_):
        after, _ = self.rule.step(state, round_)
        fresh = type(round_).from_codes(
            round_.codes, round_.labels, correct=round_.correct, index=0
        )
        return after, self.rule.step(self.rule.start(round_.n_agents), fresh)[1]


class Deaf(Wrapped):
    """Takes any round for the next one."""

    def step(self, state, round_):
        free = type(round_).from_codes(round_.codes, round_.labels, correct=round_.correct)
        return self.rule.step(state, free)


class FirstItem(Wrapped):
    """All items stop with the first."""

    def step(self, state, round_):
        after, decision = self.rule.step(state, round_)
        stop = np.full(round_.n_items, decision.stop_items[0])
        return after, _Said(decision, stop)


class FirstAgent(Wrapped):
    """Stops when the first agent says A."""

    def step(self, state, round_):
        after, decision = self.rule.step(state, round_)
        held = getattr(state, "held", False) or round_.codes[:, 0] == 0
        return after, _Said(decision, np.broadcast_to(held, round_.n_items))


class _Said:
    """A decision with other stops."""

    def __init__(self, decision, stop):
        self.decision, self.stop_items, self.stop = decision, stop, bool(stop.all())

    def __getattr__(self, name):
        if name in ("to_dict", "__getstate__", "__setstate__"):
            raise AttributeError(name)
        return getattr(self.decision, name)


class Impatient(Wrapped):
    """Stops one round before its patience is over."""

    patience = 2

    def __init__(self):
        super().__init__(rule_from_text("PluralityUnchanged(patience=1)"))


class Blurred(Wrapped):
    """Says half of the distance."""

    scope, space = "batch", "empirical"

    def __init__(self):
        super().__init__(KSRule(space="empirical", epsilon=0.001))

    def step(self, state, round_):
        from dataclasses import replace

        after, decision = self.rule.step(state, round_)
        value = decision.statistic
        return after, replace(decision, statistic=None if value is None else value / 3)


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (Forgetful, "apart"),
        (Clocked, "pure"),
        (Unlatched, "latched"),
        (Deaf, "order"),
        (FirstItem, "items"),
        (FirstAgent, "agents"),
        (Impatient, "patience"),
        (Blurred, "distance"),
    ],
)
def test_broken_rules_are_caught_by_the_clause_meant_for_them(broken, clause):
    report = check_rule(broken(), max_examples=40, raises=False)
    assert clause in report.violated, str(report)


@dataclass(frozen=True)
class HidesItsMemory(Rule):
    """A rule of ours whose memory is outside the state."""

    level: float = 0.5
    scope = "item"
    latest_stop = None
    _seen = []  # noqa: RUF012  # this is what is broken

    def _begin(self, n_agents):
        return ("seen", n_agents, 0.5, False, None)

    def _judge(self, memory, seen):
        self._seen.append(seen.round)
        stop = np.full(seen.n_items, len(self._seen) % 3 == 0)
        return memory, judgement(stop, STABLE, "Something was counted.")


def test_a_rule_that_counts_its_calls_is_caught():
    report = check_rule(HidesItsMemory(), raises=False)
    assert {"pure", "apart"} <= set(report.violated)


def test_violations_are_raised_with_their_report():
    with pytest.raises(ContractError, match="order: a repeated or skipped round") as caught:
        check_rule(Deaf())
    assert caught.value.report.violated == ("order",)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"claims": {"speed"}}, "`claims` must be of"),
        ({"claims": {"mirror"}}, "'mirror' needs `pmf`"),
        ({"claims": {"maximum_likelihood"}}, "needs `loglik`"),
        ({"tolerance": 0.0}, "`tolerance` must be > 0"),
    ],
)
def test_refusals(options, said):
    with pytest.raises(ValueError, match=said):
        check_estimator(binomial, **options)
