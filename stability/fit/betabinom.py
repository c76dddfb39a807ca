"""The Beta-Binomial distribution of a count, in its shapes or in its mean and correlation.

An item draws p ~ Beta(alpha, beta) and n agents answer it correctly with probability p each, so
P(K = k) = C(n, k) B(k + alpha, n - k + beta) / B(alpha, beta). With mu = alpha / (alpha + beta),
the mean share, and rho = 1 / (alpha + beta + 1), the correlation between two agents on one item,
rho = 0 is the binomial law and rho = 1 puts all mass on 0 and n. (mu, rho) cannot hold
alpha = 1e150, beta = 1e-12, and (alpha, beta) cannot hold the limits: an object keeps the pair it
was given and everything is computed from that pair.

All probabilities are products of ratios in doubled precision with at most one logarithm (see
``stability._kernels.betabinom``); parameters enter as exact ratios of integers. The work grows
with n (about 20 ns a factor; a whole law at n = 1e5 takes milliseconds), not with the shapes.

Source: J. G. Skellam, "A probability distribution derived from the binomial distribution by
regarding the probability of success as variable between the sets of trials", Journal of the
Royal Statistical Society B 10 (1948).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stability._check import check_real
from stability._kernels import betabinom as kernels
from stability.fit.counts import check_agents, check_counts
from stability.fit.ratios import exponent, halves, quotient, two_parts

_F64 = NDArray[np.float64]
_I64 = NDArray[np.int64]


@final
@dataclass(frozen=True, init=False, repr=False)
class BetaBinomial:
    """Law of the number of correct agents on one item.

    Parameters
    ----------
    alpha, beta : float
        Shapes of the Beta law of the item's probability, in (0, inf). Use `from_mean` for the
        limits.

    Notes
    -----
    ``alpha``, ``beta``, ``mu`` and ``rho`` are readable on every object. Those that were not
    given are derived, each correctly rounded: ``alpha`` and ``beta`` of ``from_mean(mu, 0.0)``
    are inf (0 for the side that has no mass), those of ``from_mean(mu, 1.0)`` are 0.
    Two objects are equal when they were given the same pair in the same form.

    ``k`` and ``n`` of the methods are integers (2.0 is accepted) and broadcast against each
    other; scalars give a float, arrays give float64 arrays. A ``k`` outside 0..n is a value of
    probability 0, n = 0 is the law of an item that nobody answered.

    The error of `logpmf` is below 1e-13 + 2.3e-16 |logpmf| for the floats that were given.

    Raises
    ------
    ValueError
        If a parameter lies outside its interval or is NaN; from the methods, if ``k`` or ``n``
        is not an integer, is NaN or does not fit, or if ``n`` is negative.

    Examples
    --------
    >>> from stability.fit.betabinom import BetaBinomial
    >>> law = BetaBinomial(2.0, 2.0)
    >>> law.pmf([0, 1, 2], 2).tolist()
    [0.3, 0.4, 0.3]
    >>> law.mean(7), law.rho
    (3.5, 0.2)
    >>> BetaBinomial.from_mean(0.25, 1.0).pmf([0, 1, 2], 2).tolist()
    [0.75, 0.0, 0.25]
    """

    _given: tuple[str, float, float]

    def __init__(self, alpha: float, beta: float) -> None:
        a = check_real("alpha", alpha, low=0, high=math.inf, closed_low=False, closed_high=False)
        b = check_real("beta", beta, low=0, high=math.inf, closed_low=False, closed_high=False)
        object.__setattr__(self, "_given", ("shapes", a, b))

    @classmethod
    def from_mean(cls, mu: float, rho: float) -> "BetaBinomial":
        """Return the law of mean share ``mu`` and correlation ``rho``, each in [0, 1].

        rho = 0 is the binomial law, rho = 1 has P(n) = mu and P(0) = 1 - mu, mu = 0 and mu = 1
        are point masses; all of them are exact.

        Examples
        --------
        >>> from stability.fit.betabinom import BetaBinomial
        >>> BetaBinomial.from_mean(0.5, 0.0).pmf(1, 2)
        0.5
        """
        mean = check_real("mu", mu, low=0, high=1)
        correlation = check_real("rho", rho, low=0, high=1)
        law = object.__new__(cls)
        object.__setattr__(law, "_given", ("mean", mean, correlation))
        return law

    def __getstate__(self) -> dict[str, Any]:
        # A pickled array comes back writable, for which the kernels would be compiled again.
        return {name: value for name, value in vars(self).items() if name != "_law"}

    def __repr__(self) -> str:
        form, x, y = self._given
        if form == "shapes":
            return f"BetaBinomial(alpha={x!r}, beta={y!r})"
        return f"BetaBinomial.from_mean(mu={x!r}, rho={y!r})"

    @property
    def alpha(self) -> float:
        """Shape of the correct side, in [0, inf]."""
        form, x, _ = self._given
        a, _, _, t = self._weights
        return x if form == "shapes" else quotient(a, t)

    @property
    def beta(self) -> float:
        """Shape of the wrong side, in [0, inf]."""
        form, _, y = self._given
        _, b, _, t = self._weights
        return y if form == "shapes" else quotient(b, t)

    @property
    def mu(self) -> float:
        """Mean share of correct agents, alpha / (alpha + beta)."""
        right, _, whole = self._shares
        return right / whole

    @property
    def rho(self) -> float:
        """Correlation between two agents on one item, 1 / (alpha + beta + 1)."""
        form, _, y = self._given
        _, _, s, t = self._weights
        return y if form == "mean" else t / (s + t)

    def logpmf(self, k: ArrayLike, n: ArrayLike) -> Any:
        """Return log P(K = k), float or float64 array of the broadcast shape; -inf outside 0..n.

        Examples
        --------
        >>> from stability.fit.betabinom import BetaBinomial
        >>> round(BetaBinomial(0.5e15, 0.5e15).logpmf(500, 1000), 6)
        -3.679919
        """
        return self._mass(k, n, log=True)

    def pmf(self, k: ArrayLike, n: ArrayLike) -> Any:
        """Return P(K = k), float or float64 array of the broadcast shape; 0 outside 0..n.

        The relative error is that of the last bit, also where exp(logpmf) has lost digits.

        Examples
        --------
        >>> from stability.fit.betabinom import BetaBinomial
        >>> BetaBinomial(1.0, 1.0).pmf([-1, 0, 3, 4], 3).tolist()
        [0.0, 0.25, 0.25, 0.0]
        """
        return self._mass(k, n, log=False)

    def cdf(self, k: ArrayLike, n: ArrayLike) -> Any:
        """Return P(K <= k), float or float64 array; exactly 1 from k = n on, monotone in k.

        Summed from the end that holds less mass, so that ``cdf + sf`` is 1. Each distinct n
        costs one pass over its n + 1 counts.

        Examples
        --------
        >>> from stability.fit.betabinom import BetaBinomial
        >>> round(BetaBinomial(2.0, 2.0).cdf(500, 1000), 9)
        0.500748504
        """
        return self._tail(k, n, upper=False)

    def sf(self, k: ArrayLike, n: ArrayLike) -> Any:
        """Return P(K > k), float or float64 array; a small tail keeps its relative accuracy.

        Examples
        --------
        >>> from stability.fit.betabinom import BetaBinomial
        >>> round(1e40 * BetaBinomial(1.0, 1e20).sf(1, 3), 9)
        6.0
        """
        return self._tail(k, n, upper=True)

    def mean(self, n: ArrayLike) -> Any:
        """Return the expected count n mu, float or float64 array of the shape of ``n``.

        Examples
        --------
        >>> from stability.fit.betabinom import BetaBinomial
        >>> BetaBinomial(1.0, 3.0).mean([4, 8]).tolist()
        [1.0, 2.0]
        """
        size = check_agents(n)
        return _unwrap(size * self.mu)

    def var(self, n: ArrayLike) -> Any:
        """Return the variance n mu (1 - mu) (1 + (n - 1) rho) of the count.

        Examples
        --------
        >>> from stability.fit.betabinom import BetaBinomial
        >>> BetaBinomial.from_mean(0.5, 1.0).var(4)
        4.0
        """
        size = check_agents(n)
        right, wrong, whole = self._shares
        share = right * wrong / whole**2
        return _unwrap(size * share * (1.0 + (size - 1.0) * self.rho))

    def rvs(
        self,
        n: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        *,
        rng: np.random.Generator,
    ) -> Any:
        """Draw counts by inversion of the cdf: one uniform a draw, whatever the shapes.

        Parameters
        ----------
        n : int or array of int
            Number of agents of each draw.
        size : int or tuple of int, optional
            Shape of the result; ``n`` is broadcast to it. Default: the shape of ``n``.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        int, or int64 array
            Exact up to the 53 bits of a uniform, limits and tiny shapes included (a draw through
            a Beta variate would be NaN or lose the side next to 1 there). Each distinct n costs
            one pass over its n + 1 counts.

        Examples
        --------
        >>> import numpy as np
        >>> from stability.fit.betabinom import BetaBinomial
        >>> law = BetaBinomial.from_mean(0.5, 1.0)
        >>> sorted(set(law.rvs(7, 100, rng=np.random.default_rng(1)).tolist()))
        [0, 7]
        """
        if not isinstance(rng, np.random.Generator):
            raise ValueError(f"`rng` must be a numpy.random.Generator, got {rng!r}")
        agents = check_agents(n)
        shape = agents.shape if size is None else _check_size(size)
        try:
            agents = np.broadcast_to(agents, shape)
        except ValueError:
            raise ValueError(
                f"`n` must broadcast to `size`: shape {agents.shape} against {shape}"
            ) from None
        flat = agents.ravel()
        u = rng.random(flat.size)
        out = np.empty(flat.size, dtype=np.int64)
        self._by_agents(kernels.quantile_array, flat, (u, flat), out)
        draws = out.reshape(shape)
        return int(draws) if draws.ndim == 0 else draws

    # -- exact parameters: integers in one common unit, so that nothing is rounded twice ----------

    @cached_property
    def _weights(self) -> tuple[int, int, int, int]:
        """A, B, S = A + B and t of the kernels, up to a common factor that cancels there."""
        form, x, y = self._given
        (x_top, x_unit), (y_top, y_unit) = x.as_integer_ratio(), y.as_integer_ratio()
        if form == "shapes":
            unit = max(x_unit, y_unit)  # both are powers of two
            a, b = x_top * (unit // x_unit), y_top * (unit // y_unit)
            return a, b, a + b, unit
        rest = y_unit - y_top
        return x_top * rest, (x_unit - x_top) * rest, x_unit * rest, x_unit * y_top

    @cached_property
    def _shares(self) -> tuple[int, int, int]:
        """Numerators of mu and 1 - mu, and their denominator."""
        form, x, _ = self._given
        if form == "shapes":
            a, b, s, _ = self._weights
            return a, b, s
        top, unit = x.as_integer_ratio()
        return top, unit - top, unit

    @cached_property
    def _law(self) -> _F64:
        """The (6, 5) array of the kernels."""
        a, b, s, t = self._weights
        right, wrong, whole = self._shares
        rows: list[tuple[float, ...]] = []
        for x in (a, b, s):
            p = exponent(max(x, t), 1)
            rows.append((*two_parts(x, 1, p), *halves(two_parts(t, 1, p)[0]), p))
        for x in (wrong, right * b, right):
            p = exponent(x, whole)
            rows.append((*two_parts(x, whole, p), 0.0, 0.0, p))
        law = np.array(rows, dtype=np.float64)
        law.setflags(write=False)
        return law

    # -- from checked arguments to a kernel ------------------------------------------------------

    def _mass(self, k: ArrayLike, n: ArrayLike, *, log: bool) -> Any:
        counts, agents, shape = check_counts(k, n)
        if agents.max(initial=0) < counts.size:
            present = np.flatnonzero(np.bincount(agents))
            ends = np.cumsum(present + 1)
            if ends[-1] < counts.size:  # fewer distinct values than were asked for
                starts = np.zeros(present[-1] + 1, dtype=np.int64)
                starts[present] = ends - present - 1
                rows = np.repeat(present, present + 1)
                law = self._mass(np.arange(len(rows)) - starts[rows], rows, log=log)
                out = np.empty(counts.size)
                kernels.look_up(counts, agents, starts, law, -math.inf if log else 0.0, out)
                return out.reshape(shape)
        out = np.empty(counts.size)
        within = (counts >= 0) & (counts <= agents)
        steps = 2 * int(agents[within].sum(dtype=np.float64))
        lengths = _lengths(counts[within], agents[within])
        # the tables pay off when they are shorter than the products they replace
        if steps <= sum(lengths):
            kernels.mass_direct(self._law, counts, agents, log, out)
        else:
            tables = self._tables(lengths)
            kernels.mass_tables(self._law, counts, agents, log, *tables, out)
        return _unwrap(out.reshape(shape))

    def _tail(self, k: ArrayLike, n: ArrayLike, *, upper: bool) -> Any:
        counts, agents, shape = check_counts(k, n)
        out = np.empty(counts.size)
        self._by_agents(kernels.tails_array, agents, (counts, agents), out, upper)
        return _unwrap(out.reshape(shape))

    def _by_agents(
        self,
        run: Callable[..., None],
        agents: _I64,
        inputs: tuple[NDArray[Any], _I64],
        out: NDArray[Any],
        *options: bool,
    ) -> None:
        """Run a kernel that needs the whole law of each distinct n."""
        length = int(agents.max(initial=0)) + 1
        order = np.argsort(agents, kind="stable")
        tables = self._tables((length, length, length))
        scratch = np.empty(length), np.empty(length)
        run(self._law, *inputs, order, *options, *tables, *scratch, out)

    def _tables(self, lengths: tuple[int, int, int]) -> tuple[_F64, _I64, _I64]:
        """Running products of A, B and S one after the other, and where each begins."""
        starts = np.array([0, lengths[0], lengths[0] + lengths[1]], dtype=np.int64)
        total = sum(lengths)
        parts = np.empty((total, 2))
        exponents = np.empty(total, dtype=np.int64)
        for row, (start, length) in enumerate(zip(starts.tolist(), lengths, strict=True)):
            end = start + length
            kernels.fill_rising(self._law, row, parts[start:end], exponents[start:end])
        return parts, exponents, starts


def _lengths(counts: _I64, agents: _I64) -> tuple[int, int, int]:
    """Table lengths that these counts need."""
    return (
        int(counts.max(initial=0)) + 1,
        int((agents - counts).max(initial=0)) + 1,
        int(agents.max(initial=0)) + 1,
    )


def _unwrap(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values


def _check_size(size: int | tuple[int, ...]) -> tuple[int, ...]:
    shape = size if isinstance(size, tuple) else (size,)
    for length in shape:
        if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 0:
            raise ValueError(f"`size` must be an integer >= 0 or a tuple of them, got {size!r}")
    return tuple(int(length) for length in shape)
