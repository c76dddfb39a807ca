"""The mean of anything that can be measured on a debate, with its error.

A measure is a function of a `Simulation` that returns a number for every debate. Debates are drawn
in batches and reduced to sums, so that memory does not grow with their number.

Control variates. Where the exact chain of a model is known, so are the means of the right answers
x_t by round, mu_t. The estimate is then

    mean(y) - b' (mean(x) - mu),    b = S_xx^-1 S_xy,

whose variance is that of the residuals of y on x (Owen, Monte Carlo theory, methods and examples,
section 8.9). For a scenario, which has no chain, the debate of its bare model is drawn from the
same random numbers and is the control.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sims._check import check_flag, check_number, check_whole
from sims.debates.panel import Panel
from sims.debates.result import Simulation
from sims.debates.scenario import Scenario
from sims.debates.simulate import simulate
from sims.montecarlo import intervals
from theory import CountChain, DebateModel

Float64 = npt.NDArray[np.float64]
Measure = Callable[[Simulation], npt.ArrayLike]
Debated = DebateModel | Scenario | Panel
# debates for each control variate, at least
_ROWS = 10
_BATCH = 16_384


@dataclass(frozen=True)
class Estimate:
    """A mean and its error.

    Attributes
    ----------
    mean, standard_error : float
    low, high : float
        Of the interval.
    confidence : float
    interval : str
        "normal", "clopper-pearson", or "anytime ..." where the draws were ended by their error.
    debates : int
    reached : bool
        Whether the standard error asked for was reached; True where none was.
    plain_error : float
        The standard error without control variates.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    confidence: float
    interval: str
    debates: int
    reached: bool
    plain_error: float

    def __str__(self) -> str:
        text = (
            f"{self.mean:.5g} (standard error {self.standard_error:.2g}; {self.confidence:.0%} "
            f"{self.interval} interval {self.low:.5g} to {self.high:.5g}; {self.debates} debates)"
        )
        return text if self.reached else f"{text}; the error asked for was not reached"


def estimate(
    measure: Measure,
    model: Debated,
    *,
    rounds: int,
    debates: int = 100_000,
    seed: int = 0,
    against: Debated | None = None,
    error: float | None = None,
    control: bool = False,
    bounds: tuple[float, float] | None = None,
    confidence: float = 0.95,
    record: str = "counts",
    threads: int | None = None,
) -> Estimate:
    """Estimate the mean of a measure over debates.

    Parameters
    ----------
    measure : callable
        From a Simulation to finite numbers, shape (debates,).
    model : theory.DebateModel, Scenario or Panel
    rounds, seed, threads
        As for `simulate`.
    debates : int
        >= 2: how many, or at most how many where ``error`` is given.
    against : like ``model``, optional
        Estimate the mean difference ``model`` less ``against`` over pairs of debates that share
        their random numbers, agent by agent.
    error : float, optional
        > 0: stop at the first of 1, 2, 4, ... batches of 16,384 whose standard error is at most
        this, and above 0. The interval is then one that holds at all times at once.
    control : bool
        Use the right answers of every round, whose mean an exact chain gives, as control variates;
        needs 10 debates for each of them.
    bounds : (float, float), optional
        Range of the measure (of the difference, with ``against``). With ``error`` the interval is
        then never below its level, also with few draws; without it, only in the limit.
    confidence : float
        In (0, 1).
    record : {"counts", "answers", "accuracy"}
        What the measure is given.

    Returns
    -------
    Estimate
        A measure of True and False, or of 0 and 1 with ``bounds=(0, 1)``, has a Clopper-Pearson
        interval; means and differences that of Student.

    Raises
    ------
    ValueError
        When an argument is out of range, the measure is not a finite number a debate, or lies out
        of ``bounds``.

    Examples
    --------
    >>> model = DebateModel.binary(7, .6, .75)
    >>> agreed = lambda found: found.counts[:, -1].max(axis=1) == 7
    >>> found = estimate(agreed, model, rounds=4, debates=20_000)
    >>> found.interval, bool(found.low < CountChain(model).law(3)[[0, -1]].sum() < found.high)
    ('clopper-pearson', True)
    """
    if isinstance(confidence, bool) or not isinstance(confidence, float) or not 0 < confidence < 1:
        raise ValueError(f"`confidence` must lie in (0, 1), got {confidence!r}")
    if error is not None:
        check_number("error", error, 0.0, np.inf, closed=(False, False))
    if not callable(measure):
        raise ValueError(f"`measure` must be a function of a Simulation, got {measure!r}")
    control = check_flag("control", control)
    debates = check_whole("debates", debates, 2)
    rounds = check_whole("rounds", rounds, 1)
    if bounds is not None:
        numbers = isinstance(bounds, tuple | list) and all(
            isinstance(one, int | float) and np.isfinite(one) for one in bounds
        )
        if not numbers or len(bounds) != 2 or not bounds[0] < bounds[1]:
            raise ValueError(f"`bounds` must be (low, high), finite and low < high, got {bounds!r}")
    if bounds is not None and control:
        raise ValueError("`bounds` must be None with control=True: residuals have no known range")
    draws = _Draws(measure, model, against, rounds, seed, record, threads, bounds, control)
    columns = sum(len(means) for _, means in draws.controls)
    if debates < _ROWS * (columns + 1) and columns:
        raise ValueError(
            f"`debates` must be >= {_ROWS * (columns + 1)} with control=True over {rounds} rounds, "
            f"got {debates}"
        )
    total, looked, reached = debates, _BATCH, error is None
    while draws.n < total:
        draws.add(min(_BATCH, total - draws.n))
        if error is not None and draws.n >= min(looked, total):
            looked *= 2
            # of what n draws did not show, n draws say nothing: an error of 0 is none
            reached = 0.0 < draws.errors()[1] <= error
            if reached:
                break
    return draws.result(confidence, error is not None, reached, bounds)


class _Draws:
    """Sums of the draws so far: of y, of the controls less their means, and of their products."""

    def __init__(
        self,
        measure: Measure,
        model: Debated,
        against: Debated | None,
        rounds: int,
        seed: int,
        record: str,
        threads: int | None,
        bounds: tuple[float, float] | None,
        control: bool,
    ) -> None:
        self.measure, self.sides = measure, [model] if against is None else [model, against]
        # two sides share their draws agent by agent, and so do a scenario and its model
        apart = against is not None or (control and isinstance(model, Scenario))
        agents = apart and not any(_has_view(side) for side in self.sides)
        self.method = "direct" if agents else "auto"
        self.options: dict[str, Any] = {"rounds": rounds, "seed": seed, "threads": threads}
        self.record, self.bounds = record, bounds
        self.controls = [_exact(side, rounds) for side in self.sides] if control else []
        self.n, self.binary = 0, against is None
        self.shares = bounds is not None and tuple(bounds) == (0, 1)
        self.shift: float | None = None
        self.mean: Float64 = np.zeros(1)
        self.products = np.zeros((1, 1))

    def add(self, batch: int) -> None:
        """Draw the next batch."""
        columns: list[Float64] = []
        values = np.zeros(batch)
        drawn: list[Simulation] = []
        for sign, side in zip((1.0, -1.0), self.sides, strict=False):
            found = self._simulate(side, batch, self.record)
            drawn.append(found)
            measured = np.asarray(self.measure(found))
            if measured.shape != (batch,) or measured.dtype.kind not in "biuf":
                raise ValueError(
                    f"`measure` must return a number for every debate, shape ({batch},), got "
                    f"{measured.dtype} of shape {measured.shape}"
                )
            values += sign * measured
        if not np.isfinite(values).all():
            raise ValueError("`measure` must return finite numbers: one debate has none")
        if self.bounds is not None and (
            values.min() < self.bounds[0] or values.max() > self.bounds[1]
        ):
            raise ValueError(
                f"`bounds` {self.bounds} must hold the measure, got {values.min()}..{values.max()}"
            )
        yes_or_no = measured.dtype.kind == "b" or (
            self.shares and bool(np.isin(values, (0.0, 1.0)).all())
        )
        self.binary = self.binary and yes_or_no
        for found, (base, means) in zip(drawn, self.controls, strict=False):
            if base is not found.model or found.scenario is not None or found.counts is None:
                found = self._simulate(base, batch, "counts")
            assert found.counts is not None
            columns += list((found.counts[:, :, base.correct] / base.n_agents - means).T)
        rows = np.column_stack([values, *columns])
        # about the first values, so that the products keep their digits
        if self.shift is None:
            self.shift = float(values[0]) if not self.binary else 0.0
            self.mean = np.zeros(rows.shape[1])
            self.products = np.zeros((rows.shape[1], rows.shape[1]))
        rows[:, 0] -= self.shift
        self.n += batch
        self.mean += rows.sum(axis=0)
        self.products += rows.T @ rows

    def _simulate(self, side: Debated, batch: int, record: str) -> Simulation:
        return simulate(
            side,
            debates=batch,
            first=self.n,
            record=record,  # type: ignore[arg-type]
            method=self._path(side, record),  # type: ignore[arg-type]
            **self.options,
        )

    def _path(self, side: Debated, record: str) -> str:
        """The path that shares draws; what has no choice takes its own."""
        if isinstance(side, DebateModel) and record != "answers":
            return self.method
        return "auto"

    def _fit(self) -> tuple[float, float, float]:
        """Mean, and the spreads of a draw with and without controls.

        That with controls counts that their observed means are off the known ones:
        s^2 (1 + n d' (n S)^-1 d), S their covariance and d the deviation.
        """
        n, mean = self.n, self.mean / self.n
        spread = self.products / n - np.outer(mean, mean)
        plain = float(np.sqrt(max(spread[0, 0], 0.0) * n / max(n - 1, 1)))
        assert self.shift is not None
        if len(mean) == 1:
            return self.shift + float(mean[0]), plain, plain
        slopes = np.linalg.lstsq(spread[1:, 1:], spread[1:, 0], rcond=1e-10)[0]
        left = max(float(spread[0, 0] - slopes @ spread[1:, 0]), 0.0)
        off = mean[1:]
        stretch = 1.0 + float(off @ np.linalg.lstsq(spread[1:, 1:], off, rcond=1e-10)[0])
        return (
            self.shift + float(mean[0] - slopes @ off),
            float(np.sqrt(left * n / self.free * stretch)),
            plain,
        )

    @property
    def free(self) -> int:
        """Degrees of freedom of the spread."""
        return self.n - len(self.mean)

    def errors(self) -> tuple[float, float]:
        """Return the mean and its standard error so far."""
        mean, spread, _ = self._fit()
        return mean, spread / float(np.sqrt(self.n))

    def result(
        self, confidence: float, stopped: bool, reached: bool, bounds: tuple[float, float] | None
    ) -> Estimate:
        """Return the estimate."""
        mean, spread, plain = self._fit()
        root = float(np.sqrt(self.n))
        exact = self.binary and not self.controls
        if stopped and exact:
            kind, (low, high) = (
                "anytime",
                intervals.anytime_share(round(mean * self.n), self.n, confidence),
            )
        elif stopped and bounds is not None:
            kind, (low, high) = (
                "anytime",
                intervals.anytime_bounded(mean, self.n, bounds, confidence),
            )
        elif stopped:
            kind, (low, high) = (
                "anytime (many draws)",
                intervals.anytime_normal(mean, spread, self.n, confidence, _BATCH),
            )
        elif exact:
            kind, (low, high) = (
                "clopper-pearson",
                intervals.clopper_pearson(round(mean * self.n), self.n, confidence),
            )
        else:
            kind = "student"
            low, high = intervals.student(mean, spread / root, self.free, confidence)
        return Estimate(
            mean=mean,
            standard_error=spread / root,
            low=low,
            high=high,
            confidence=confidence,
            interval=kind,
            debates=self.n,
            reached=reached,
            plain_error=plain / root,
        )


def _has_view(side: Debated) -> bool:
    return isinstance(side, DebateModel) and side.view is not None


def _exact(side: Debated, rounds: int) -> tuple[DebateModel | Panel, Float64]:
    """Return what is known exactly: the debate, and its accuracy by round.

    That of a scenario is its bare model.
    """
    base = side.model if isinstance(side, Scenario) else side
    if isinstance(base, Panel):
        return base, np.array([base.accuracy(t) for t in range(rounds)])
    chain = CountChain(base)
    return base, np.array([chain.accuracy(t) for t in range(rounds)])
