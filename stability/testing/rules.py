"""The contract of a stopping rule: a suite that users run on their own rules.

A rule is anything with ``start(n_agents)``, ``step(state, round_)`` and ``scope``; what is stored
needs ``to_dict``, ``state.to_dict`` and ``state_from_dict``. Clauses that need a trait are chosen
by it: a rule with a ``seed`` owes no invariance of items, one with ``patience`` stops a debate in
which nothing moves at exactly that t, one of the empirical Kolmogorov-Smirnov distance bounds the
change of accuracy.
"""

import json
import pickle
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from stability import Monitor, NeedsAnswersError, Round, RoundRefusedError, Rule, rule_from_dict
from stability.testing.clauses import Clause, Report, run_suite
from stability.testing.strategies import rounds_of, streams

Rounds = list[Round]
# agents and items that a stream has at most, unless more items are asked for
_MOST = 64


def check_rule(
    rule: Any, *, max_examples: int = 40, min_items: int | None = None, raises: bool = True
) -> Report:
    """Run the contract of a stopping rule.

    Parameters
    ----------
    rule : Rule, or anything with ``start``, ``step`` and ``scope``
    max_examples : int
        >= 1, for each clause.
    min_items : int, optional
        Least number of items drawn; 2 for batch rules, else 1.
    raises : bool
        Whether violations raise.

    Returns
    -------
    Report

    Raises
    ------
    ContractError
        When a clause is violated; the report is on it.

    Examples
    --------
    >>> from stability import Unanimity
    >>> check_rule(Unanimity(), max_examples=5).violated
    ()
    """
    least = min_items or (2 if getattr(rule, "scope", "item") == "batch" else 1)
    suite = _Suite(rule)
    debates = streams(min_items=least, max_items=max(5, least), graded=True)
    pairs = st.tuples(debates, debates)
    clauses = [
        Clause("runs", "every valid debate is followed to its end", debates, suite.runs),
        Clause("decision", "a decision agrees with itself", debates, suite.well_formed),
        Clause("pure", "a step twice says the same and changes nothing", debates, suite.pure),
        Clause("latched", "an item that stopped stays stopped", debates, suite.latched),
        Clause("order", "a repeated or skipped round is refused", debates, suite.refuses),
        Clause("apart", "two debates of one rule do not share a memory", pairs, suite.apart),
    ]
    if hasattr(rule, "state_from_dict"):
        said = "a state that went through JSON at every round says the same"
        clauses.append(Clause("state_json", said, debates, suite.state_json))
    if hasattr(rule, "to_dict"):
        clauses.append(
            Clause("rule_json", "a rule that went through JSON is equal", st.just(None), suite.json)
        )
    said = "a rule and a state that were pickled at every round say the same"
    clauses.append(Clause("pickle", said, debates, suite.pickled))
    if not hasattr(rule, "seed"):
        moved = st.tuples(debates, st.permutations(range(_MOST)))
        said = "reordered items have reordered decisions"
        clauses.append(Clause("items", said, moved, suite.reordered))
        said = "reordered agents have the same decisions, unless a tie opens the debate"
        clauses.append(Clause("agents", said, moved, suite.agents))
    if isinstance(getattr(rule, "patience", None), int):
        said = "a debate in which nothing moves stops at t = patience exactly"
        clauses.append(Clause("patience", said, st.integers(least, least + 3), suite.patient))
    if (
        getattr(rule, "space", None) == "empirical"
        and getattr(rule, "epsilon", None) != "calibrated"
    ):
        said = "D of a repeated round is 0, and bounds the change of accuracy"
        clauses.append(Clause("distance", said, debates, suite.distance))
    return run_suite(repr(rule), clauses, max_examples, raises)


class _Suite:
    """The properties, on one rule."""

    def __init__(self, rule: Any) -> None:
        self._rule = rule

    def _run(self, rounds: Rounds) -> list[Any]:
        """All decisions."""
        state, found = self._rule.start(n_agents=rounds[0].n_agents), []
        for one in rounds:
            state, decision = self._rule.step(state, one)
            found.append(decision)
        return found

    def runs(self, rounds: Rounds) -> None:
        self._run(rounds)

    def well_formed(self, rounds: Rounds) -> None:
        for t, decision in enumerate(self._run(rounds)):
            stopped = np.asarray(decision.stop_items)
            assert stopped.shape == (rounds[t].n_items,), f"t={t}: stop_items is {stopped!r}"
            assert decision.stop == bool(stopped.all()), (
                f"t={t}: stop is {decision.stop}, stop_items {stopped.tolist()}"
            )
            support = np.asarray(decision.support)
            assert ((support >= 0) & (support <= 1)).all(), f"t={t}: support is {support}"
            assert decision.round == t, f"the decision after round {t} says round {decision.round}"
            assert isinstance(decision.certifies, str), f"certifies is {decision.certifies!r}"
            assert decision.certifies, "a decision must say what it certifies"
            for name in ("statistic", "threshold"):
                value = getattr(decision, name)
                assert value is None or np.isfinite(value), f"t={t}: {name} is {value}"

    def pure(self, rounds: Rounds) -> None:
        state = self._rule.start(n_agents=rounds[0].n_agents)
        for t, one in enumerate(rounds):
            before = _frozen(state)
            after, decision = self._rule.step(state, one)
            _, again = self._rule.step(state, one)
            _same(decision, again, f"t={t}, a second time")
            assert _frozen(state) == before, f"t={t}: the step changed the state it was given"
            state = after

    def latched(self, rounds: Rounds) -> None:
        held = np.zeros(rounds[0].n_items, np.bool_)
        for t, decision in enumerate(self._run(rounds)):
            stopped = np.asarray(decision.stop_items)
            assert (stopped >= held).all(), f"t={t}: stopped {held.tolist()}, {stopped.tolist()}"
            held = stopped

    def refuses(self, rounds: Rounds) -> None:
        state = self._rule.start(n_agents=rounds[0].n_agents)
        state, _ = self._rule.step(state, rounds[0])
        codes = np.zeros((3, rounds[0].n_items, rounds[0].n_agents), np.int32)
        others = rounds_of(codes, True)
        for one, what in ((others[0], "repeated"), (others[2], "skipped")):
            try:
                self._rule.step(state, one)
            except RoundRefusedError:
                continue
            raise AssertionError(f"a {what} round was taken")

    def apart(self, pair: tuple[Rounds, Rounds]) -> None:
        """Two debates side by side say what each says alone."""
        alone = [self._run(rounds) for rounds in pair]
        states = [self._rule.start(n_agents=rounds[0].n_agents) for rounds in pair]
        for t in range(max(map(len, pair))):
            for side, rounds in enumerate(pair):
                if t < len(rounds):
                    states[side], decision = self._rule.step(states[side], rounds[t])
                    _same(decision, alone[side][t], f"t={t}, beside another debate")
        if isinstance(self._rule, Rule):
            monitors = [Monitor(self._rule) for _ in pair]
            for t in range(max(map(len, pair))):
                for side, rounds in enumerate(pair):
                    if t < len(rounds):
                        decision = monitors[side].update(rounds[t])
                        _same(decision, alone[side][t], f"t={t}, in a monitor beside another")

    def state_json(self, rounds: Rounds) -> None:
        plain = self._run(rounds)
        state = self._rule.start(n_agents=rounds[0].n_agents)
        for t, one in enumerate(rounds):
            state = self._rule.state_from_dict(json.loads(json.dumps(state.to_dict())))
            state, decision = self._rule.step(state, one)
            _same(decision, plain[t], f"t={t}, after an interruption")

    def json(self, _: None) -> None:
        data = json.loads(json.dumps(self._rule.to_dict()))
        other = rule_from_dict(data)
        assert other == self._rule, f"{self._rule!r} came back as {other!r}"

    def pickled(self, rounds: Rounds) -> None:
        plain = self._run(rounds)
        rule = pickle.loads(pickle.dumps(self._rule))
        state = rule.start(n_agents=rounds[0].n_agents)
        for t, one in enumerate(rounds):
            state = pickle.loads(pickle.dumps(state))
            state, decision = rule.step(state, one)
            _same(decision, plain[t], f"t={t}, pickled")

    def reordered(self, example: tuple[Rounds, list[int]]) -> None:
        rounds, places = example
        order = [place for place in places if place < rounds[0].n_items]
        moved = [_select(one, items=order) for one in rounds]
        for t, (one, other) in enumerate(zip(self._run(rounds), self._run(moved), strict=True)):
            here, there = np.asarray(one.stop_items)[order], np.asarray(other.stop_items)
            assert (here == there).all(), (
                f"t={t}, items {order}: {here.tolist()} and {there.tolist()}"
            )

    def agents(self, example: tuple[Rounds, list[int]]) -> None:
        rounds, places = example
        # a tie in round 0 is settled by the first agent, in later ones by the round before
        assume(not _tied(rounds[0]))
        order = [place for place in places if place < rounds[0].n_agents]
        moved = [_select(one, agents=order) for one in rounds]
        for t, (one, other) in enumerate(zip(self._run(rounds), self._run(moved), strict=True)):
            here, there = np.asarray(one.stop_items), np.asarray(other.stop_items)
            assert (here == there).all(), (
                f"t={t}, agents {order}: {here.tolist()} and {there.tolist()}"
            )

    def patient(self, items: int) -> None:
        patience = self._rule.patience
        codes = np.zeros((patience + 2, items, 3), np.int32)
        for t, decision in enumerate(self._run(rounds_of(codes, True))):
            assert decision.stop == (t >= patience), (
                f"{items} items that never move: stop is {decision.stop} at t={t}"
            )

    def distance(self, rounds: Rounds) -> None:
        first = rounds[0]
        twice = [first, _select(first, index=1)]
        again = self._run(twice)[-1].statistic
        assert again in (None, 0.0), f"D of a repeated round is {again}"
        state = self._rule.start(n_agents=first.n_agents)
        shares: list[float] = []
        for t, one in enumerate(rounds):
            k, n, graded = one.correct_counts()
            state, decision = self._rule.step(state, one)
            equal = graded.all() and (n == one.n_agents).all()
            shares.append(float(np.mean(k / n)) if equal else float("nan"))
            if decision.stop:
                return
            if t and np.isfinite(shares[-2:]).all() and decision.statistic is not None:
                change = abs(shares[-1] - shares[-2])
                assert change <= decision.statistic + 1e-12, (
                    f"t={t}: accuracy changed by {change}, D is {decision.statistic}"
                )


def _tied(one: Round) -> bool:
    """Whether two answers lead an item."""
    assert one.codes is not None
    votes = np.stack([(one.codes == a).sum(axis=1) for a in range(len(one.labels))], axis=1)
    leads = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    return bool((leads.sum(axis=1) > 1).any())


def _frozen(state: Any) -> Any:
    """What a state holds, to see whether it was changed."""
    return json.dumps(state.to_dict()) if hasattr(state, "to_dict") else pickle.dumps(state)


def _same(one: Any, other: Any, what: str) -> None:
    """Two decisions are equal in all they say."""
    if hasattr(one, "to_dict"):
        first, second = one.to_dict(), other.to_dict()
        differ = [name for name in first if first[name] != second.get(name)]
        assert not differ, f"{what}: " + ", ".join(
            f"{name} is {second.get(name)!r}, was {first[name]!r}" for name in differ
        )
        return
    for name in ("stop", "stop_items"):
        here, there = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        assert np.array_equal(here, there), f"{what}: {name} is {there}, was {here}"


def _select(
    one: Round,
    items: list[int] | None = None,
    agents: list[int] | None = None,
    index: int | None = None,
) -> Round:
    """The round with reordered items or agents, or another index."""
    codes, correct = one.codes, one.correct
    if codes is None:
        raise NeedsAnswersError("only rounds with answers are reordered")
    rows = slice(None) if items is None else np.array(items)
    columns = slice(None) if agents is None else np.array(agents)
    return Round.from_codes(
        codes[rows][:, columns],
        one.labels,
        correct=None if correct is None else correct[rows][:, columns],
        index=one.index if index is None else index,
    )
