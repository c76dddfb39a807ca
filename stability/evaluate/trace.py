"""What was seen when a rule ran over a log: a row of figures a round, and the verdict.

The figures describe the log as it was recorded; the decisions are the rule's, for which the
answers of a stopped item stay as they were. D_t compares round t with round t - 1; beside it
stand the share of items whose plurality changed and the share that is unanimous, because D can
be small while answers move both ways.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stability.fit import FitStatus, MixtureFit
from stability.rules import Decision, Rule, rule_to_text

if TYPE_CHECKING:
    import pandas as pd

_LEGEND = (
    "share: mean share of them; D: distance from the round before, of the fitted counts, of the "
    "fitted Beta mixtures, of the observed counts; flips: items whose leading answer changed; "
    "unan: unanimous items; stop: items the rule has stopped; active: items still asked."
)
SPACES = ("predictive", "latent", "empirical")


@dataclass(frozen=True)
class RoundReport:
    """The figures of one round; the names are the columns of ``StabilityTrace.to_frame``.

    Attributes
    ----------
    round : int
        t, from 0.
    items : int
        Items that were counted; items without a grade, or in which nobody spoke, are left out.
    active : int
        Items asked in this round: neither ended in the log nor stopped by the rule before.
    share : float
        Mean over the counted items of k / n: of agents right, or of agents that agree. NaN
        when no item is counted.
    predictive, latent, empirical : float
        D against the round before in the three spaces; NaN at t = 0 and where there is nothing
        to compare.
    excluded : int
        Items that ``empirical`` leaves out: counted in one of the two rounds only, or with
        another n.
    flip_share : float
        Share of all items whose plurality differs from the round before; NaN at t = 0.
    unanimous : float
        Share of all items in which every agent that spoke gave one readable answer.
    fit_status : str
        Status of the mixture fitted to the counts; "" when no item is counted.
    stopped : int
        Items that the rule has stopped by this round.
    stop : bool
        Whether it has stopped all.
    reason : str
    statistic, threshold : float
        What the rule measured and compared it with; NaN for none.
    """

    round: int
    items: int
    active: int
    share: float
    predictive: float
    latent: float
    empirical: float
    excluded: int
    flip_share: float
    unanimous: float
    fit_status: str
    stopped: int
    stop: bool
    reason: str
    statistic: float
    threshold: float


@dataclass(frozen=True, eq=False, repr=False)
class StabilityTrace:
    """What `detect` returns.

    Attributes
    ----------
    rule : Rule
    n_items, n_agents : int
        M and the largest number of agents of an item, the reference n of ``predictive``.
    observable : str
        "correct" or "agreement": what the counts count.
    reference : str
        The plurality that "agreement" refers to; "" for "correct".
    rounds : tuple of RoundReport, length T
    fits : tuple of MixtureFit or None, length T
        The fit of each round's counts; ``fit.counts`` is the count table. None where no item
        is counted.
    decisions : tuple of Decision, length T
    notes : tuple of str
        What was left out, one sentence each.
    flip_rule : Decision or None
        What `FlipRateBelow` says of the same rounds, at its stop or in the last one; None for one
        item.
    """

    rule: Rule
    n_items: int
    n_agents: int
    observable: str
    reference: str
    rounds: tuple[RoundReport, ...]
    fits: tuple[MixtureFit | None, ...]
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...]
    flip_rule: Decision | None = None

    @property
    def stop_round(self) -> int | None:
        """The t at which all items had stopped; None when some went on to the end."""
        return next((said.round for said in self.decisions if said.stop), None)

    @cached_property
    def distances(self) -> Mapping[str, npt.NDArray[np.float64]]:
        """D in each space, float64 of shape (T - 1,): entry 0 is D_1, between t = 0 and t = 1."""
        columns = {}
        for space in SPACES:
            column = np.array([getattr(row, space) for row in self.rounds[1:]], np.float64)
            column.setflags(write=False)
            columns[space] = column
        return MappingProxyType(columns)

    @property
    def verdict(self) -> str:
        """What the rule says in one sentence, and what that certifies."""
        last = self.decisions[-1]
        if self.stop_round is None:
            done = int(last.stop_items.sum())
            some = f"; it stopped {done} of {plural(self.n_items, 'item')}" if done else ""
            return (
                f"{rule_to_text(self.rule)} did not stop the whole debate in "
                f"{plural(len(self.rounds), 'round')} ({last.reason}){some}."
            )
        said = self.decisions[self.stop_round]
        name = rule_to_text(self.rule)
        return f"{name} stops at t = {self.stop_round} ({said.reason}): {said.certifies}"

    @property
    def beside(self) -> tuple[str, ...]:
        """What stands beside the verdict: the rule on changed answers, and the drift."""
        lines = []
        said = self.flip_rule
        if said is not None:
            when = f"stops at t = {said.round}" if said.stop else f"does not stop ({said.reason})"
            limit = ""
            if said.statistic is not None:
                limit = (
                    f"; in round {said.round} at most {100 * said.statistic:.1f} % of the leading "
                    "answers changed, at confidence 0.95"
                )
            lines.append(f"Beside it, FlipRateBelow() {when}{limit}.")
        drift = self.decisions[-1 if self.stop_round is None else self.stop_round].drift
        if drift is not None:
            lines.append(drift.sentence)
        return tuple(lines)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the decision that counts: at the stop, else in the last round."""
        return self.decisions[-1 if self.stop_round is None else self.stop_round].warnings

    def to_frame(self) -> "pd.DataFrame":
        """Return the figures as a data frame: a row a round, the columns of `RoundReport`."""
        import pandas as pd

        return pd.DataFrame([self._row(report) for report in self.rounds])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; NaN becomes None."""
        rows = []
        for report, fit in zip(self.rounds, self.fits, strict=True):
            row: dict[str, Any] = {}
            for name, value in self._row(report).items():
                missing = isinstance(value, float) and math.isnan(value)
                row[name] = None if missing else value
            rows.append({**row, "fit": None if fit is None else fit.to_dict()})
        return {
            "rule": self.rule.to_dict(),
            "n_items": self.n_items,
            "n_agents": self.n_agents,
            "observable": self.observable,
            "reference": self.reference,
            "stop_round": self.stop_round,
            "verdict": self.verdict,
            "beside": list(self.beside),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "rounds": rows,
        }

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return the heads and the cells of the readable table, as text."""
        heads = (
            "t",
            "items",
            "active",
            "share",
            "D_pred",
            "D_lat",
            "D_emp",
            "flips",
            "unan",
            "stop",
            "reason",
        )
        body = tuple(
            (
                str(row.round),
                str(row.items),
                str(row.active),
                _figure(row.share),
                _figure(row.predictive),
                _figure(row.latent),
                _figure(row.empirical),
                _figure(row.flip_share),
                _figure(row.unanimous),
                str(row.stopped),
                row.reason,
            )
            for row in self.rounds
        )
        return heads, body

    def account(self) -> tuple[str, ...]:
        """Return the lines around the table: what was counted, fits, verdict, warnings, notes."""
        counted = "agents that are right"
        if self.observable == "agreement":
            counted = f"agents that agree with the {self.reference} plurality"
        lines = [
            f"{plural(self.n_items, 'item')}, {plural(self.n_agents, 'agent')}, "
            f"{plural(len(self.rounds), 'round')}; counted: {counted}.",
            _LEGEND,
        ]
        seen: dict[FitStatus, list[str]] = {}
        for t, fit in enumerate(self.fits):
            for flag in () if fit is None else fit.flags:
                seen.setdefault(flag, []).append(str(t))
        for flag, at in seen.items():
            lines.append(f"Fit at t = {', '.join(at)}: {flag}. {flag.sentence}")
        return (*lines, f"Verdict: {self.verdict}", *self.warnings, *self.beside, *self.notes)

    def summary(self) -> str:
        """Return a readable account: the table of rounds, then what it says."""
        heads, body = self.table()
        width = [max(len(row[c]) for row in (heads, *body)) for c in range(len(heads))]
        lines = [
            "  ".join(cell.rjust(size) for cell, size in zip(row, width, strict=True))
            for row in (heads, *body)
        ]
        return "\n".join([*lines, *self.account()])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"StabilityTrace({rule_to_text(self.rule)}, {plural(len(self.rounds), 'round')}, "
            f"{plural(self.n_items, 'item')}, stop_round={self.stop_round})"
        )

    @staticmethod
    def _row(report: RoundReport) -> dict[str, Any]:
        return {field.name: getattr(report, field.name) for field in fields(report)}


def plural(number: int, word: str) -> str:
    """Return a number with what it counts.

    Examples
    --------
    >>> plural(1, "round"), plural(2, "round")
    ('1 round', '2 rounds')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
