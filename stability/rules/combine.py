"""Rules made of rules: either, both, and several times in a row.

For unlatched judgements s_a(t), s_b(t) of an item: (a | b)(t) = s_a or s_b, (a & b)(t) = s_a
and s_b, Patience(a, m)(t) = s_a(t) and ... and s_a(t - m + 1). The item stops at the first t at
which the root says so. Hence ``a | b`` stops at the earlier of the two stops, while ``a & b``
waits for a round in which both say stop, which may be later than either's own stop.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import numpy.typing as npt

from stability._check import check_int
from stability.rules.base import Judgement, Rule, Scope
from stability.rules.decision import CAP_REACHED, RUNNING
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class AnyOf(Rule):
    """``a | b``: stop an item when any of the rules says so.

    A stop certifies what the rule that stopped the item certifies, and the decision gives its
    reason; where several stop it, that of the first in the order written, a cap coming last.
    Cost: the sum of its rules; the votes are counted once.

    Parameters
    ----------
    rules : tuple of Rule
        Two or more; nested ``AnyOf`` are flattened.

    Raises
    ------
    ValueError
        When fewer than two rules are given.

    Examples
    --------
    >>> from stability.rules.consensus import Unanimity
    >>> from stability.rules.limits import MaxRounds
    >>> Unanimity() | MaxRounds(10)
    AnyOf(rules=(Unanimity(hold=0), MaxRounds(rounds=10)))
    """

    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        flat = _flat(AnyOf, self.rules)
        object.__setattr__(self, "rules", flat)

    @property
    def scope(self) -> Scope:
        """``"batch"`` when a rule is."""
        return _scope(self.rules)

    @property
    def latest_stop(self) -> int | None:
        """The earliest of the rules'."""
        ends = [rule.latest_stop for rule in self.rules if rule.latest_stop is not None]
        return min(ends) if ends else None

    def _begin(self, n_agents: int) -> Memory:
        return tuple(rule._begin(n_agents) for rule in self.rules)

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        memories, said = _judge_all(self.rules, memory, seen)
        stop = np.logical_or.reduce([part.stop for part in said])
        codes = np.zeros(seen.n_items, np.int8)
        # First those that go on, then the caps, then the rest: later ones write over.
        for part in reversed(said):
            going = ~part.stop & (part.reason_codes != RUNNING)
            np.copyto(codes, part.reason_codes, where=going)
        for caps in (True, False):
            for part in reversed(said):
                here = part.stop & ((part.reason_codes == CAP_REACHED) == caps)
                np.copyto(codes, part.reason_codes, where=here)
        acting = [part for part in said if part.stop.any()] or said
        return memories, _joined(self.rules, said, acting, stop, codes)


@final
@dataclass(frozen=True, slots=True)
class AllOf(Rule):
    """``a & b``: stop an item when all of the rules say so in the same round.

    A stop certifies what all its rules certify; the reason is that of the first in the order
    written that is not a cap. Cost: the sum of its rules; the votes are counted once.

    Parameters
    ----------
    rules : tuple of Rule
        Two or more; nested ``AllOf`` are flattened.

    Raises
    ------
    ValueError
        When fewer than two rules are given.

    Examples
    --------
    >>> from stability.rules.consensus import Unanimity
    >>> from stability.rules.limits import MinRounds
    >>> Unanimity() & MinRounds(3)
    AllOf(rules=(Unanimity(hold=0), MinRounds(rounds=3)))
    """

    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        flat = _flat(AllOf, self.rules)
        object.__setattr__(self, "rules", flat)

    @property
    def scope(self) -> Scope:
        """``"batch"`` when a rule is."""
        return _scope(self.rules)

    @property
    def latest_stop(self) -> int | None:
        """The latest of the rules', None when one has none."""
        ends = [rule.latest_stop for rule in self.rules]
        known = [end for end in ends if end is not None]
        return max(known) if len(known) == len(ends) else None

    def _begin(self, n_agents: int) -> Memory:
        return tuple(rule._begin(n_agents) for rule in self.rules)

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        memories, said = _judge_all(self.rules, memory, seen)
        stop = np.logical_and.reduce([part.stop for part in said])
        codes = np.zeros(seen.n_items, np.int8)
        for part in reversed(said):
            going = ~part.stop & (part.reason_codes != RUNNING)
            np.copyto(codes, part.reason_codes, where=going & ~stop)
        for caps in (True, False):
            for part in reversed(said):
                here = stop & ((part.reason_codes == CAP_REACHED) == caps)
                np.copyto(codes, part.reason_codes, where=here)
        return memories, _joined(self.rules, said, said, stop, codes)


@final
@dataclass(frozen=True, slots=True)
class Patience(Rule):
    """Stop an item when ``rule`` says stop in ``m`` rounds in a row.

    A stop certifies what ``rule`` certifies, that often. ``KSRule(patience=m)`` is
    ``Patience(KSRule(patience=1), m)``. Cost: that of ``rule``.

    Parameters
    ----------
    rule : Rule
    m : int
        >= 1.

    Raises
    ------
    ValueError
        When ``m`` is not a whole number >= 1.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> from stability.rules.consensus import Unanimity
    >>> rule = Patience(Unanimity(), 2)
    >>> state = rule.start(n_agents=2)
    >>> for _ in range(2):
    ...     state, decision = rule.step(state, Round.from_answers(["A", "A"]))
    >>> decision.stop, decision.round
    (True, 1)
    """

    rule: Rule
    m: int

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Rule):
            raise ValueError(f"`rule` must be a Rule, got {self.rule!r}")
        check_int("m", self.m, minimum=1)

    @property
    def scope(self) -> Scope:
        """That of ``rule``."""
        return self.rule.scope

    @property
    def latest_stop(self) -> int | None:
        """``m`` - 1 rounds after that of ``rule``."""
        end = self.rule.latest_stop
        return None if end is None else end + self.m - 1

    def _begin(self, n_agents: int) -> Memory:
        return (self.rule._begin(n_agents), None)

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        inner, streak = memory
        inner, said = self.rule._judge(inner, seen)
        longer = np.int32(1) if streak is None else streak + np.int32(1)
        streak = np.where(said.stop, longer, np.int32(0))
        streak.setflags(write=False)
        stop = streak >= self.m
        codes = np.where(said.stop & ~stop, np.int8(RUNNING), said.reason_codes)
        certifies = f"{self.m} rounds in a row: {said.certifies}" if self.m > 1 else said.certifies
        judged = replace(said, stop=stop, reason_codes=codes, certifies=certifies)
        return (inner, streak), judged


def _flat(kind: type[AnyOf] | type[AllOf], rules: Iterable[Rule]) -> tuple[Rule, ...]:
    flat: list[Rule] = []
    for rule in rules:
        if not isinstance(rule, Rule):
            raise ValueError(f"`rules` must hold rules, got {rule!r}")
        flat.extend(rule.rules if isinstance(rule, kind) else (rule,))
    if len(flat) < 2:
        raise ValueError(f"`rules` must hold two rules or more, got {len(flat)}")
    return tuple(flat)


def _scope(rules: tuple[Rule, ...]) -> Scope:
    return "batch" if any(rule.scope == "batch" for rule in rules) else "item"


def _judge_all(
    rules: tuple[Rule, ...], memory: Memory, seen: Seen
) -> tuple[Memory, list[Judgement]]:
    judged = [rule._judge(held, seen) for rule, held in zip(rules, memory, strict=True)]
    return tuple(held for held, _ in judged), [said for _, said in judged]


def _joined(
    rules: tuple[Rule, ...],
    said: list[Judgement],
    acting: list[Judgement],
    stop: npt.NDArray[np.bool_],
    codes: npt.NDArray[np.int8],
) -> Judgement:
    """Join the words of ``acting`` and show the measured values of the first batch rule."""
    measuring = [
        part
        for wanted in ("batch", "item")
        for rule, part in zip(rules, said, strict=True)
        if rule.scope == wanted and part.statistic is not None
    ]
    first = measuring[0] if measuring else said[0]
    certifies = "; ".join(dict.fromkeys(part.certifies.removesuffix(".") for part in acting)) + "."
    warnings = tuple(dict.fromkeys(text for part in said for text in part.warnings))
    counts = next((part.counts for part in said if part.counts), ())
    return Judgement(stop, codes, first.statistic, first.threshold, certifies, warnings, counts)
