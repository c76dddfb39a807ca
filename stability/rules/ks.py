"""Stop a batch of debates when the distribution of counts has settled.

In round t item i has k_i of n_i agents that are right (or that agree). Let F_t be the law of
these counts over the items, as fitted by a mixture of Beta-Binomials or as observed, and

    D_t = sup |F_t - F_(t-1)|.

The rule stops at the first t at which D_t < epsilon held ``patience`` times in a row. Source: the
adaptive stability detection of multi-agent debate judges (arXiv 2510.12697), with
epsilon = .05, patience 2 and the latent Beta mixtures on a grid of 1000 points.

The noise of D. Two rounds whose law is the same have D of the order c / sqrt(M), so that below
some M no threshold can tell a change from noise; see ``stability.fit.null``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability._kernels.histogram import histogram_of_used
from stability._kernels.votes import agreement, correct_counts
from stability.errors import NeedsAnswersError
from stability.fit.distance import empirical_distance, ks_distance
from stability.fit.mixture import fit_table
from stability.fit.null import noise_floor, stickiness
from stability.fit.result import MixtureFit
from stability.fit.table import count_table, one_table
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.decision import RUNNING, STABLE, UNDECIDABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory, make_known

make_known(MixtureFit)

Int64 = npt.NDArray[np.int64]
# Up to this many agents the counts are collected in a histogram.
_FEW = 255


class _Counts(NamedTuple):
    """Counts of one round; ``used`` marks the items that can be compared."""

    k: Int64
    n: Int64
    used: npt.NDArray[np.bool_]
    reference: npt.NDArray[np.int32] | None


class _Compared(NamedTuple):
    """The distance of two rounds, and over how many items."""

    distance: float
    below: bool
    n_items: int
    warnings: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class KSRule(Rule):
    """Stop all items once the distribution of counts moved by less than epsilon, twice.

    Formula: D_t < epsilon, strictly, for ``patience`` comparisons in a row; the first compares
    t = 1 with t = 0, so that the earliest stop is t = ``patience``. Source: arXiv 2510.12697.

    What a stop certifies: each of the last ``patience`` *steps* moved the distribution of counts
    by less than epsilon. What it does not say: that many such steps add up to little; that no
    item changed its answer (changes in both directions cancel); that the answers are right. On
    the recorded sources of 3 to 5 rounds with n >= 3 it saved no round: it is the
    paper-faithful mode, never the only choice. It counts all M items, also those that another
    rule of a composite has stopped.

    Cost: one full search for the best fit a round (the fit does not depend on the rounds before
    it); ``"empirical"`` needs no fit.

    Parameters
    ----------
    epsilon : float
        In (0, 1).
    patience : int
        >= 1.
    space : {"predictive", "latent", "empirical"}
        Whose distribution functions are compared: of fitted counts of n agents, of the fitted
        Beta mixtures on [0, 1], or of the observed counts (items with equal n in both rounds;
        compared as integers with the exact decimal epsilon).
    n_components : int
        Components of the mixture, 1 to 3.
    observable : {"auto", "correct", "agreement"}
        What is counted: agents that are right, or agents that give the leading answer.
        ``"auto"`` takes grades where the first round has them.
    reference : {"current", "first", "previous"}
        Whose leading answer "agreement" means: of this round, of round 0, of the round before.
    floor : {"warn", "refuse"}
        What to do while M <= 1/epsilon or epsilon lies below the noise floor of M items: decide
        as published and say so in ``certifies`` and ``warnings``, or not stop, with the reason
        ``undecidable``; a comparison that is refused does not count towards ``patience``.
    grid : int, optional
        Points of the grid on which latent functions are compared; None takes the supremum.

    Raises
    ------
    ValueError
        When a parameter is out of range.

    Examples
    --------
    >>> from stability.log.round import Round
    >>> rule = KSRule()
    >>> state = rule.start(n_agents=7)
    >>> counts = [0, 1, 3, 5, 6, 7, 7, 7] * 50
    >>> for _ in range(3):
    ...     state, decision = rule.step(state, Round.from_counts(counts, 7))
    >>> decision.round, decision.stop, decision.statistic
    (2, True, 0.0)
    """

    epsilon: float = 0.05
    patience: int = 2
    space: Literal["predictive", "latent", "empirical"] = "predictive"
    n_components: int = 2
    observable: Literal["auto", "correct", "agreement"] = "auto"
    reference: Literal["current", "first", "previous"] = "current"
    floor: Literal["warn", "refuse"] = "warn"
    grid: int | None = None

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, low=0.0, high=1.0, closed_low=False, closed_high=False)
        check_int("patience", self.patience, minimum=1)
        check_choice("space", self.space, ("predictive", "latent", "empirical"))
        check_int("n_components", self.n_components, minimum=1, maximum=3)
        check_choice("observable", self.observable, ("auto", "correct", "agreement"))
        check_choice("reference", self.reference, ("current", "first", "previous"))
        check_choice("floor", self.floor, ("warn", "refuse"))
        if self.grid is not None:
            check_int("grid", self.grid, minimum=2)
            if self.space != "latent":
                raise ValueError(
                    f"`grid` belongs to space='latent', got grid={self.grid}, space={self.space!r}"
                )

    @classmethod
    def paper(cls) -> Self:
        """Return the published rule: latent space on 1000 points, epsilon .05, patience 2.

        Examples
        --------
        >>> KSRule.paper().space, KSRule.paper().grid
        ('latent', 1000)
        """
        return cls(epsilon=0.05, patience=2, space="latent", grid=1000)

    @property
    def scope(self) -> Scope:
        """All items stop together."""
        return "batch"

    @property
    def latest_stop(self) -> int | None:
        """None: the distribution may move for ever."""
        return None

    def stop_round(self, distances: Sequence[float]) -> int | None:
        """Return the t at which a recorded series of distances stops, None when it does not.

        Parameters
        ----------
        distances : sequence of float
            D_1, D_2, ..., each in [0, 1]; entry 0 compares t = 1 with t = 0.

        Raises
        ------
        ValueError
            When a distance lies outside [0, 1] or is NaN.

        Examples
        --------
        >>> KSRule().stop_round([.23, .11, .03, .01])
        4
        >>> KSRule().stop_round([.05, .05]) is None
        True
        """
        streak = 0
        for t, value in enumerate(distances, start=1):
            distance = check_real(f"distances[{t - 1}]", value, low=0.0, high=1.0)
            streak = streak + 1 if distance < self.epsilon else 0
            if streak >= self.patience:
                return t
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        # What is counted, the streak, the codes of round 0, the last counts, the last fit.
        return (None, 0, None, None, None)

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        observable, streak, first, before, fit_before = memory
        if observable is None:
            graded = seen.k is not None or seen.correct is not None
            observable = self.observable
            if observable == "auto":
                observable = "correct" if graded else "agreement"
        if observable == "agreement" and self.reference == "first" and first is None:
            first = seen.winner
        counts = self._count(observable, seen, first)
        full = np.zeros(min(seen.n_agents, _FEW) + 1, np.int64)
        n_used, least, most = histogram_of_used(counts.k, counts.n, counts.used, full)
        missing = seen.n_items - n_used
        if observable == "correct" and n_used == 0 and bool(counts.n.any()):
            raise NeedsAnswersError(
                f"KSRule(observable='correct') needs graded answers; none of the "
                f"{seen.n_items} items of round {seen.round} is graded"
            )
        warnings = _left_out(missing, seen, observable)
        fit = None
        if self.space != "empirical" and n_used > 0:
            if least == most:
                table = one_table(full, most)
            else:
                table = count_table(counts.k[counts.used], counts.n[counts.used])
            fit = fit_table(*table, self.n_components)
            if not fit.converged:
                warnings += (f"The fit of round {seen.round}: {fit.status.sentence}",)
        compared = None
        noisy = ""
        waiting = RUNNING
        if seen.round > 0:
            old = _Counts(*before)
            compared = self._compare(old, counts, fit_before, fit, seen.n_agents)
            if compared is None:
                warnings += (f"Rounds {seen.round - 1} and {seen.round} have no item in common.",)
                streak = 0
            else:
                streak = streak + 1 if compared.below else 0
                noisy = self._noise(compared.n_items, observable, old, counts, seen)
                warnings += compared.warnings
                if noisy:
                    warnings += (noisy,)
                    if self.floor == "refuse":
                        streak, waiting = 0, UNDECIDABLE
        stop = np.full(seen.n_items, streak >= self.patience)
        memory = (
            observable,
            min(streak, self.patience),
            first,
            (counts.k, counts.n, counts.used, counts.reference),
            fit,
        )
        return memory, judgement(
            stop,
            STABLE,
            self._certifies(observable, noisy),
            waiting=waiting,
            statistic=None if compared is None else compared.distance,
            threshold=float(self.epsilon),
            warnings=warnings,
        )

    def _count(self, observable: str, seen: Seen, first: npt.NDArray[np.int32] | None) -> _Counts:
        if observable == "correct":
            if seen.k is not None:
                assert seen.n is not None
                return _frozen(seen.k, seen.n, seen.n > 0, None)
            codes = seen.answer_codes(self)
            if seen.correct is None:
                raise NeedsAnswersError(
                    "KSRule(observable='correct') needs graded answers; this round holds no "
                    "grades: give `correct`, or use observable='agreement'"
                )
            k, n = np.empty(seen.n_items, np.int64), np.empty(seen.n_items, np.int64)
            used = np.empty(seen.n_items, np.bool_)
            correct_counts(codes, seen.correct, k, n, used)
            return _frozen(k, n, used, None)
        codes = seen.answer_codes(self)
        reference = first
        if self.reference == "previous" and seen.before is not None:
            reference = seen.before.winner
        elif self.reference != "first":
            # those who agree with the leader were counted with the votes
            k, n = seen.top.astype(np.int64), seen.spoke.astype(np.int64)
            return _frozen(k, n, n > 0, seen.winner)
        assert reference is not None
        k, n = np.empty(seen.n_items, np.int64), np.empty(seen.n_items, np.int64)
        agreement(codes, reference, k, n)
        return _frozen(k, n, n > 0, reference)

    def _compare(
        self,
        old: _Counts,
        new: _Counts,
        fit_old: MixtureFit | None,
        fit_new: MixtureFit | None,
        n_agents: int,
    ) -> _Compared | None:
        """Return D between two rounds, None where nothing can be compared."""
        if self.space == "empirical":
            same = old.used & new.used & (old.n == new.n)
            if not same.any():
                return None
            measured = empirical_distance(old.k[same], old.n[same], new.k[same], new.n[same])
            unlike = int((old.used & new.used & ~same).sum())
            warnings: tuple[str, ...] = ()
            if unlike:
                warnings = (f"{unlike} items whose number of agents changed are not compared.",)
            below = measured.below(self.epsilon)
            return _Compared(measured.value, below, measured.n_items, warnings)
        if fit_old is None or fit_new is None:
            return None
        if self.space == "predictive":
            distance = ks_distance(fit_old, fit_new, space="predictive", n=n_agents)
            warnings = ()
        else:
            distance = ks_distance(fit_old, fit_new, space="latent", grid=self.grid)
            warnings = _at_bound(fit_old, fit_new)
        n_items = min(fit_old.n_items, fit_new.n_items)
        return _Compared(distance, distance < self.epsilon, n_items, warnings)

    def _noise(
        self,
        n_items: int,
        observable: str,
        old: _Counts,
        new: _Counts,
        seen: Seen,
    ) -> str:
        """Say that the threshold lies inside sampling noise, or nothing."""
        # Items that stick to their answers only lower the floor: without it is the highest.
        # Far from 1 the float decides; near it the decimal counts: .05 * 20 is 1.
        resolved = self.epsilon * n_items > 1.5 or Fraction(str(self.epsilon)) * n_items > 1
        if resolved and self.epsilon >= noise_floor(n_items, space=self.space):
            return ""
        stick = 0.0
        before = seen.before
        if seen.codes is not None and before is not None and before.codes is not None:
            stick = stickiness(
                _grades(before.codes, before.correct, old, observable),
                _grades(seen.codes, seen.correct, new, observable),
            )
        level = noise_floor(n_items, space=self.space, stickiness=stick)
        if resolved and self.epsilon >= level:
            return ""
        one = "" if resolved else f" (one item alone moves the observed D by 1/{n_items})"
        return (
            f"The threshold {self.epsilon} lies inside sampling noise: with {n_items} items{one} "
            f"two rounds of one unchanged distribution differ by up to {level:.3f} in 95 of 100 "
            f"cases (stickiness of the answers {stick:.2f})."
        )

    def _certifies(self, observable: str, noisy: str) -> str:
        what = "of correct agents" if observable == "correct" else "of agreeing agents"
        said = (
            f"Each of the last {self.patience} steps moved the distribution of the number {what} "
            f"by D < {self.epsilon} ({self.space}); many such steps may add up, changes in both "
            "directions cancel, and an unmoved distribution is not a right one"
        )
        if noisy:
            said += ", and this threshold lies inside sampling noise, so that the stop says little"
        return said + "."


def _frozen(
    k: Int64, n: Int64, used: npt.NDArray[np.bool_], reference: npt.NDArray[np.int32] | None
) -> _Counts:
    for array in (k, n, used):
        array.setflags(write=False)
    return _Counts(k, n, used, reference)


def _left_out(missing: int, seen: Seen, observable: str) -> tuple[str, ...]:
    if not missing:
        return ()
    why = "without an agent that spoke" if observable == "agreement" else "that are not graded"
    return (f"{missing} of {seen.n_items} items {why} are left out of round {seen.round}.",)


def _at_bound(*fits: MixtureFit) -> tuple[str, ...]:
    bound = next((flag for fit in fits for flag in fit.flags if flag.at_bound), None)
    if bound is None:
        return ()
    return (
        f"A fit lies at a bound of the model ({bound}), where the latent distance can be large "
        "although the counts barely moved.",
    )


def _grades(
    codes: npt.NDArray[np.int32],
    correct: npt.NDArray[np.int8] | None,
    counts: _Counts,
    observable: str,
) -> npt.NDArray[np.int8]:
    """Return 1, 0 or -1 (silent, or the item is left out) for each answer, as it was counted."""
    if observable == "correct":
        assert correct is not None
        grades = np.where(codes == -1, np.int8(0), correct)
    else:
        assert counts.reference is not None
        grades = ((codes == counts.reference[:, None]) & (codes >= 0)).astype(np.int8)
    grades[(codes == -2) | ~counts.used[:, None]] = -1
    return grades
