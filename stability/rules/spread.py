"""Rules on how the votes of one item are spread over its answers.

With p_l the share of label l among the agents that spoke, the entropy of a round is
H(p) = - sum_l p_l log2 p_l bits: 0 for one answer, log2 s for s agents that all differ. How far
two rounds lie apart is their Jensen-Shannon divergence,

    JS(p, q) = H((p + q) / 2) - H(p) / 2 - H(q) / 2,

0 for equal shares and 1 bit for shares without a common label. An unread answer counts as a label
that nobody else gave: what could not be read must not look like agreement. Sources: Shannon, Bell
Syst. Tech. J. 27 (1948) 379-423; Lin, IEEE Trans. Inf. Theory 37 (1991) 145-151.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
import numpy.typing as npt

from stability._check import check_real
from stability._kernels.votes import (
    pack,
    packed_divergence,
    packed_entropy,
    packs,
    vote_divergence,
    vote_entropy,
)
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import CONSENSUS, STABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory


@final
@dataclass(frozen=True, slots=True)
class EntropyBelow(Rule):
    """Stop an item when the entropy of its votes is below a number of bits.

    Formula: H(p) < bits, strictly, for the shares p of this round. 4 of 5 agents are .72 bits, 3
    of 5 against 2 are .97, so that with two answers the entropy is a function of the share of the
    leader, and with more it also asks that the rest agree on few others. A stop certifies that
    the votes lie together in this round, not that they stay or are right. Cost: O(n) an item.
    Source: Shannon (1948); the use as a confidence of a vote is common.

    Parameters
    ----------
    bits : float
        Positive; above log2 n every item stops that has a readable answer.

    Raises
    ------
    ValueError
        When ``bits`` is not a positive number.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = EntropyBelow(.75)
    >>> answers = [["A", "A", "A", "A", "B"], ["A", "A", "A", "B", "B"]]
    >>> _, decision = rule.step(rule.start(5), Round.from_answers(answers))
    >>> decision.stop_items.tolist(), round(decision.statistic, 3)
    ([True, False], 0.971)
    """

    bits: float

    def __post_init__(self) -> None:
        _check_bits(self.bits)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: the votes may stay divided."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:  # noqa: ARG002
        codes = seen.answer_codes(self)
        found, terms = np.empty(seen.n_items), _terms(seen.n_agents)
        width = packs(seen.n_agents, seen.n_labels)
        if width:
            packed_entropy(_packed(codes, width), width, seen.n_labels, terms, found)
        else:
            vote_entropy(codes, terms, _scratch(seen), found)
        said = (
            f"The votes of this round have an entropy below {self.bits} bits; agents that agree "
            "may change their minds, and need not be right."
        )
        return None, _judged(found, found < self.bits, CONSENSUS, said, self.bits)


@final
@dataclass(frozen=True, slots=True)
class JensenShannonBelow(Rule):
    """Stop an item when its votes are spread as in the round before, under the same leader.

    Formula: JS(p(t), p(t-1)) < bits, strictly, and the leading answer is that of the round
    before; the earliest stop is t = 1. The second condition is needed: 3 to 2 that flips to 2 to
    3 are .029 bits apart. A stop certifies that the shares hardly moved in one step, not that the
    same agents gave the same answers, that more steps add up to little, or that the leader is
    right. Cost: O(n) an item. Source: Lin (1991).

    Parameters
    ----------
    bits : float
        Positive. One of five agents that changes sides moves 4 to 1 by .03 to .11 bits.

    Raises
    ------
    ValueError
        When ``bits`` is not a positive number.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = JensenShannonBelow()
    >>> state = rule.start(n_agents=5)
    >>> for answers in (["A", "A", "A", "B", "B"], ["A", "A", "B", "B", "B"]):
    ...     state, decision = rule.step(state, Round.from_answers(answers))
    >>> decision.stop, round(decision.statistic, 3)
    (False, 0.029)
    """

    bits: float = 0.05

    def __post_init__(self) -> None:
        _check_bits(self.bits)

    @property
    def scope(self) -> Scope:
        """Items stop alone."""
        return "item"

    @property
    def latest_stop(self) -> int | None:
        """None: the votes may move for ever."""
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        return None

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:  # noqa: ARG002
        codes = seen.answer_codes(self)
        found = np.full(seen.n_items, np.inf)
        if seen.before is not None and seen.before.codes is not None:
            terms, before = _terms(2 * seen.n_agents), seen.before.codes
            width = packs(seen.n_agents, seen.n_labels)
            if width:
                votes = _packed(codes, width), _packed(before, width)
                packed_divergence(*votes, width, seen.n_labels, terms, found)
            else:
                vote_divergence(codes, before, terms, _scratch(seen), _scratch(seen), found)
        stop = (found < self.bits) & seen.unchanged()
        said = (
            f"The shares of the votes moved by less than {self.bits} bits in the last step and the "
            "leading answer stayed; many such steps may add up, and it need not be right."
        )
        return None, _judged(found, stop, STABLE, said, self.bits)


def _check_bits(bits: float) -> None:
    check_real("bits", bits, low=0.0, high=np.inf, closed_low=False, closed_high=False)


def _judged(
    found: npt.NDArray[np.float64],
    stop: npt.NDArray[np.bool_],
    reason: int,
    said: str,
    bits: float,
) -> Judgement:
    """Judge by the figures of the items; the statistic is the largest that is a number."""
    finite = found[np.isfinite(found)]
    largest = float(finite.max()) if finite.size else None
    return judgement(stop, reason, said, statistic=largest, threshold=float(bits))


def _packed(codes: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.uint64]:
    packed = np.empty(len(codes), np.uint64)
    pack(codes, width, packed)
    return packed


def _scratch(seen: Seen) -> npt.NDArray[np.int32]:
    return np.zeros(max(1, seen.n_labels), np.int32)


@lru_cache
def _terms(most: int) -> npt.NDArray[np.float64]:
    """Return x log2 x for x = 0..most."""
    x = np.arange(most + 1, dtype=np.float64)
    terms = x * np.log2(np.maximum(x, 1.0))
    terms.setflags(write=False)
    return terms
