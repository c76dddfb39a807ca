"""Stop a batch of debates when the distribution of counts has settled.

In round t item i has k_i of n_i agents that are right (or that agree). Let F_t be the law of
these counts over the items, as fitted by a mixture of Beta-Binomials or as observed, and

    D_t = sup |F_t - F_(t-1)|.

The rule stops at the first t at which D_t < epsilon held ``patience`` times in a row. Source: the
adaptive stability detection of multi-agent debate judges (arXiv 2510.12697), with
epsilon = .05, patience 2 and the latent Beta mixtures on a grid of 1000 points.

The noise of D. Two rounds whose law is the same have D of the order c / sqrt(M), so that below
some M no threshold can tell a change from noise; see ``stability.fit.null``. A calibrated threshold
is the .95 quantile of D when nothing changes, found by swapping the two rounds within items
(``stability.fit.swap``).

Without labels. What is counted is how many agents agree with a stated reference. The leading answer
of the same round cannot have few votes: with two answers its law is folded, with more it is cut
(``stability.fit.plurality``). Such counts do not see which answer leads: where 77 of 100 items have
the right leader and all leaders change sides, the counts stay and D is 0. The share of leading
answers that changed is therefore part of the decision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability._kernels.histogram import histogram_of_used
from stability.errors import NeedsAnswersError
from stability.fit.distance import empirical_distance, ks_distance
from stability.fit.mixture import fit_table
from stability.fit.null import noise_floor, stickiness
from stability.fit.plurality import cut_distance, folded_distance, folded_table
from stability.fit.result import MixtureFit
from stability.fit.swap import PERMUTATIONS, swaps
from stability.fit.table import count_table, one_table
from stability.rules.base import Judgement, Rule, Scope, judgement
from stability.rules.counts import (
    OBSERVABLES,
    REFERENCES,
    Counts,
    count,
    grades,
    left_out,
    resolve,
)
from stability.rules.decision import RUNNING, STABLE, UNDECIDABLE
from stability.rules.seen import Seen
from stability.rules.state import Memory, make_known

make_known(MixtureFit)

# Up to this many agents the counts are collected in a histogram.
_FEW = 255
# Of the swap null of D: its quantile is the calibrated threshold.
_CALIBRATED = 0.95


class _Compared(NamedTuple):
    """The distance of two rounds, what it was compared with, and over how many items."""

    distance: float
    below: bool
    n_items: int
    warnings: tuple[str, ...]
    threshold: float
    detectable: float | None


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

    A *calibrated* threshold is passed by an unchanged debate in 95 of 100 comparisons, whatever
    M and however sticky the agents. That controls never stopping, not stopping too early: D at or
    below it means that no change was detected, and ``certifies`` says how small a change would
    have been (9 of 10 times).

    Cost: one full search for the best fit a round (the fit does not depend on the rounds before
    it); ``"empirical"`` needs no fit; calibration draws 999 patterns of swaps.

    Parameters
    ----------
    epsilon : float or "calibrated"
        In (0, 1). Calibrated implies ``space="empirical"`` and needs answers, not counts alone;
        D <= threshold then passes.
    patience : int
        >= 1.
    space : {"predictive", "latent", "empirical"}
        Whose distribution functions are compared: of fitted counts of n agents (the default), of
        the fitted Beta mixtures on [0, 1], or of the observed counts (items with equal n in both
        rounds; compared as integers with the exact decimal epsilon).
    n_components : int
        Components of the mixture, 1 to 3.
    observable : {"auto", "correct", "agreement"}
        What is counted: agents that are right, or agents that give the leading answer.
        ``"auto"`` takes grades where the first round has them.
    reference : {"current", "first", "previous"}
        Whose leading answer "agreement" means: of this round, of round 0, of the round before.
        Fits of agreement with the current one respect the least count there can be (see the
        module; in ``latent`` space only with two answers).
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

    epsilon: float | Literal["calibrated"] = 0.05
    patience: int = 2
    # None becomes what epsilon implies, so that another space can be refused when it was asked for
    space: Literal["predictive", "latent", "empirical"] = None  # type: ignore[assignment]
    n_components: int = 2
    observable: Literal["auto", "correct", "agreement"] = "auto"
    reference: Literal["current", "first", "previous"] = "current"
    floor: Literal["warn", "refuse"] = "warn"
    grid: int | None = None

    def __post_init__(self) -> None:
        calibrated = self.epsilon == "calibrated"
        if isinstance(self.epsilon, str) and not calibrated:
            raise ValueError(
                f"`epsilon` must be a number in (0, 1) or 'calibrated', got {self.epsilon!r}"
            )
        if not calibrated:
            check_real(
                "epsilon", self.epsilon, low=0.0, high=1.0, closed_low=False, closed_high=False
            )
        if getattr(self, "space") is None:  # noqa: B009  # the type says what it becomes
            object.__setattr__(self, "space", "empirical" if calibrated else "predictive")
        check_int("patience", self.patience, minimum=1)
        check_choice("space", self.space, ("predictive", "latent", "empirical"))
        if calibrated and self.space != "empirical":
            raise ValueError(
                f"`space` must be 'empirical' when epsilon='calibrated', got {self.space!r}"
            )
        check_int("n_components", self.n_components, minimum=1, maximum=3)
        check_choice("observable", self.observable, OBSERVABLES)
        check_choice("reference", self.reference, REFERENCES)
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
            When a distance lies outside [0, 1] or is NaN, or the threshold is calibrated, which
            takes the answers.

        Examples
        --------
        >>> KSRule().stop_round([.23, .11, .03, .01])
        4
        >>> KSRule().stop_round([.05, .05]) is None
        True
        """
        if isinstance(self.epsilon, str):
            raise ValueError("`epsilon` must be a number to replay distances, got 'calibrated'")
        streak = 0
        for t, value in enumerate(distances, start=1):
            distance = check_real(f"distances[{t - 1}]", value, low=0.0, high=1.0)
            streak = streak + 1 if distance < self.epsilon else 0
            if streak >= self.patience:
                return t
        return None

    def _begin(self, n_agents: int) -> Memory:  # noqa: ARG002
        # What is counted, the streak, the codes of round 0, the counts of the last round and of
        # the one before it, the last fit and how it was made.
        return (None, 0, None, None, None, None, None)

    def _judge(self, memory: Memory, seen: Seen) -> tuple[Memory, Judgement]:
        observable, streak, first, before, older, fit_before, made_before = memory
        if observable is None:
            observable = resolve(self.observable, seen)
        calibrated = isinstance(self.epsilon, str)
        if calibrated and seen.codes is None:
            raise NeedsAnswersError(
                "KSRule(epsilon='calibrated') needs the answers of the agents; this round was "
                "built from counts"
            )
        if observable == "agreement" and self.reference == "first" and first is None:
            first = seen.winner
        counts = count(self, observable, seen, self.reference, first)
        full = np.zeros(min(seen.n_agents, _FEW) + 1, np.int64)
        n_used, least, most = histogram_of_used(counts.k, counts.n, counts.used, full)
        warnings = left_out(seen.n_items - n_used, seen, observable)
        made = self._support(observable, counts, seen)
        fit = None
        if self.space != "empirical" and n_used > 0:
            fit = self._fit(counts, made, full if least == most else None, most)
            if not fit.converged:
                warnings += (f"The fit of round {seen.round}: {fit.status.sentence}",)
        compared = None
        noisy = ""
        waiting = RUNNING
        threshold = None if calibrated else float(self.epsilon)
        if seen.round > 0:
            old = Counts(*before)
            support = made
            if fit_before is not None and (made_before < 0) != (made < 0):
                # another answer has come up, and the laws must be of one kind
                fit_before = self._fit(old, made, None, most)
            elif made > 0:
                support = min(made, made_before)
            compared = self._compare(old, counts, fit_before, fit, support, seen)
            if compared is None:
                warnings += (f"Rounds {seen.round - 1} and {seen.round} have no item in common.",)
                streak = 0
            else:
                streak = streak + 1 if compared.below else 0
                threshold = compared.threshold
                warnings += compared.warnings
                if not calibrated:
                    noisy = self._noise(compared.n_items, observable, old, counts, seen)
                if noisy:
                    warnings += (noisy,)
                    if self.floor == "refuse":
                        streak, waiting = 0, UNDECIDABLE
        stop = np.full(seen.n_items, streak >= self.patience)
        kept = tuple(counts)
        memory = (
            observable,
            min(streak, self.patience),
            first,
            kept,
            None if before is None else before[:3],
            fit,
            made,
        )
        return memory, judgement(
            stop,
            STABLE,
            self._certifies(observable, noisy, compared, made, seen),
            waiting=waiting,
            statistic=None if compared is None else compared.distance,
            threshold=threshold,
            warnings=warnings,
            counts=tuple(part for part in (older, before, kept) if part is not None),
        )

    def _support(self, observable: str, counts: Counts, seen: Seen) -> int:
        """Return the least count there can be: 0 where any is, -1 where the law is folded."""
        if observable != "agreement" or self.reference != "current":
            return 0
        if seen.n_labels <= 2 and bool((2 * counts.k >= counts.n).all()):
            return -1
        # an unread answer takes votes away from all, so that what was seen counts as well
        possible = -(-seen.n_agents // max(seen.n_labels, 1))
        return int(counts.k.min(where=counts.used, initial=possible))

    def _fit(
        self, counts: Counts, made: int, full: npt.NDArray[np.int64] | None, most: int
    ) -> MixtureFit:
        """Fit the counts; ``full`` is their histogram where all items have n = ``most``."""
        if full is not None:
            table = one_table(full + full[most::-1] if made < 0 else full, most)
        elif made < 0:
            table = folded_table(counts.k[counts.used], counts.n[counts.used])
        else:
            table = count_table(counts.k[counts.used], counts.n[counts.used])
        return fit_table(*table, self.n_components)

    def _compare(
        self,
        old: Counts,
        new: Counts,
        fit_old: MixtureFit | None,
        fit_new: MixtureFit | None,
        made: int,
        seen: Seen,
    ) -> _Compared | None:
        """Return D between two rounds, None where nothing can be compared."""
        if isinstance(self.epsilon, str):
            return self._calibrated(old, new, seen)
        threshold = float(self.epsilon)
        if self.space == "empirical":
            same = old.used & new.used & (old.n == new.n)
            if not same.any():
                return None
            measured = empirical_distance(old.k[same], old.n[same], new.k[same], new.n[same])
            unlike = int((old.used & new.used & ~same).sum())
            below = measured.below(threshold)
            return _Compared(
                measured.value, below, measured.n_items, _unlike(unlike), threshold, None
            )
        if fit_old is None or fit_new is None:
            return None
        warnings: tuple[str, ...] = ()
        n_items = min(fit_old.n_items, fit_new.n_items)
        if made < 0:
            distance = folded_distance(
                fit_old, fit_new, space=self.space, n=seen.n_agents, grid=self.grid
            )
            n_items //= 2
        elif self.space == "latent":
            distance = ks_distance(fit_old, fit_new, space="latent", grid=self.grid)
        elif made > 0:
            distance = cut_distance(fit_old, fit_new, n=seen.n_agents, lowest=made)
        else:
            distance = ks_distance(fit_old, fit_new, space="predictive", n=seen.n_agents)
        if self.space == "latent":
            warnings = _at_bound(fit_old, fit_new)
        return _Compared(distance, distance < threshold, n_items, warnings, threshold, None)

    def _calibrated(self, old: Counts, new: Counts, seen: Seen) -> _Compared | None:
        """Compare the observed D with what swapping the rounds within items gives."""
        pair = swaps(old[:3], new[:3], seen.n_agents)
        if pair.n_items == 0:
            return None
        threshold = pair.quantile(_CALIBRATED, PERMUTATIONS, (0, seen.round))
        return _Compared(
            pair.distance / pair.n_items,
            pair.distance <= threshold,
            pair.n_items,
            _unlike(pair.unlike),
            threshold / pair.n_items,
            pair.detectable(threshold / pair.n_items),
        )

    def _noise(
        self,
        n_items: int,
        observable: str,
        old: Counts,
        new: Counts,
        seen: Seen,
    ) -> str:
        """Say that the threshold lies inside sampling noise, or nothing."""
        assert not isinstance(self.epsilon, str)
        # Items that stick to their answers only lower the floor: without it is the highest.
        # Far from 1 the float decides; near it the decimal counts: .05 * 20 is 1.
        resolved = self.epsilon * n_items > 1.5 or Fraction(str(self.epsilon)) * n_items > 1
        if resolved and self.epsilon >= noise_floor(n_items, space=self.space):
            return ""
        stick = 0.0
        before = seen.before
        if seen.codes is not None and before is not None and before.codes is not None:
            stick = stickiness(
                grades(before.codes, before.correct, old, observable),
                grades(seen.codes, seen.correct, new, observable),
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

    def _certifies(
        self, observable: str, noisy: str, compared: _Compared | None, made: int, seen: Seen
    ) -> str:
        what = "of correct agents"
        if observable == "agreement":
            whose = {"current": "this round", "first": "round 0", "previous": "the round before"}
            what = f"of agents that give the leading answer of {whose[self.reference]}"
        if compared is not None and compared.detectable is not None:
            said = (
                f"No change of the distribution of the number {what} was detected in the last "
                f"{self.patience} steps; a step of D >= {compared.detectable:.3f} would have been "
                "seen in 9 of 10 cases, smaller ones pass, and changes in both directions cancel"
            )
        else:
            said = (
                f"Each of the last {self.patience} steps moved the distribution of the number "
                f"{what} by D < {self.epsilon} ({self.space}); many such steps may add up, changes "
                "in both directions cancel, and an unmoved distribution is not a right one"
            )
        if observable == "agreement":
            if made < 0:
                said += "; with two answers a law and its mirror image cannot be told apart"
            if seen.before is not None and seen.before.winner is not None:
                flips = float((seen.winner != seen.before.winner).mean())
                said += f"; {100 * flips:.1f} % of the leading answers changed in the last round"
        if noisy:
            said += ", and this threshold lies inside sampling noise, so that the stop says little"
        return said + "."


def _unlike(number: int) -> tuple[str, ...]:
    if not number:
        return ()
    return (f"{number} items whose number of agents changed are not compared.",)


def _at_bound(*fits: MixtureFit) -> tuple[str, ...]:
    bound = next((flag for fit in fits for flag in fit.flags if flag.at_bound), None)
    if bound is None:
        return ()
    return (
        f"A fit lies at a bound of the model ({bound}), where the latent distance can be large "
        "although the counts barely moved.",
    )
