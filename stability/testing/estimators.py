"""The contract of an estimator of counts: a suite that users run on their own code.

An estimator is a function ``fit(k, n, freq) -> result`` of integer arrays of shape (R,): k right of
n agents on freq items. What can be read off a result is said by functions: ``pmf(result, k, n)``,
``loglik(result)``, ``mean(result)`` (of the probability of a right answer), ``trace(result)``.
"""

import pickle
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from stability import BetaBinomial
from stability.testing.clauses import Clause, Report, run_suite
from stability.testing.strategies import Counts, count_tables, mixtures

Fit = Callable[..., Any]
_MOST = 12  # rows of a drawn table
CLAIMS = {
    "maximum_likelihood": "the log-likelihood is at least that of any one Beta-Binomial",
    "mirror": "exchanging right and wrong mirrors the law",
    "permutation": "the order of the rows does not matter",
    "frequency": "freq copies of a row are freq items",
    "scaling": "twice the items have the same law",
    "sample_mean": "the mean is sum k / sum n",
    "pickle": "a result can be pickled",
}
# Calls that are not valid: what is wrong, the arguments, and the names one of which is said.
_INVALID: list[tuple[str, tuple[Any, Any, Any], tuple[str, ...]]] = [
    ("k > n", ([5], [3], [1]), ("k", "n")),
    ("k < 0", ([-1], [3], [1]), ("k",)),
    ("k is not whole", ([0.5], [3], [1]), ("k",)),
    ("k is NaN", ([float("nan")], [3], [1]), ("k",)),
    ("n < 0", ([0], [-3], [1]), ("n",)),
    ("no item", ([], [], []), ("k", "n", "freq")),
    ("freq < 0", ([1], [3], [-1]), ("freq",)),
    ("shapes differ", ([1, 2], [3, 3, 3], [1, 1, 1]), ("k", "n", "freq")),
]


def check_estimator(
    fit: Fit,
    *,
    pmf: Callable[[Any, Any, Any], Any] | None = None,
    loglik: Callable[[Any], float] | None = None,
    mean: Callable[[Any], float] | None = None,
    trace: Callable[[Any], Any] | None = None,
    claims: Collection[str] = frozenset(),
    tolerance: float = 1e-6,
    equal_n: bool = False,
    max_examples: int = 60,
    raises: bool = True,
) -> Report:
    """Run the contract of an estimator.

    Basic clauses, for every estimator: valid tables are fitted, degenerate ones too; no result
    holds NaN; probabilities lie in [0, 1] and sum to 1; the log-likelihood is that of the law; the
    mean lies in [0, 1]; the trace does not fall; the same table gives the same result; arguments
    are not changed; an invalid table is a ValueError that names the argument. Clauses that need a
    function which is not given are left out.

    Parameters
    ----------
    fit : callable
        ``fit(k, n, freq)``, see the module.
    pmf, loglik, mean, trace : callable, optional
    claims : collection of str
        Of ``CLAIMS``: what is promised beyond the basic clauses.
    tolerance : float
        > 0: absolute, of probabilities and means, and relative, of log-likelihoods.
    equal_n : bool
        Whether only tables with one n are drawn, for estimators that take no others.
    max_examples : int
        >= 1, for each clause.
    raises : bool
        Whether violations raise.

    Returns
    -------
    Report

    Raises
    ------
    ContractError
        When a clause is violated; the report is on it. Examples are shrunk, and the same in every
        run.
    ValueError
        For unknown claims, or claims that need a function which is not given.

    Examples
    --------
    >>> from stability import fit_mixture
    >>> report = check_estimator(
    ...     lambda k, n, freq: fit_mixture(k, n, freq=freq, n_components=1),
    ...     pmf=lambda fit, k, n: fit.pmf(k, n),
    ...     loglik=lambda fit: fit.loglik,
    ...     claims={"maximum_likelihood", "mirror"},
    ...     max_examples=5,
    ... )
    >>> report.violated
    ()
    """
    unknown = set(claims) - set(CLAIMS)
    if unknown:
        raise ValueError(f"`claims` must be of {sorted(CLAIMS)}, got {sorted(unknown)}")
    if not tolerance > 0.0:
        raise ValueError(f"`tolerance` must be > 0, got {tolerance!r}")
    for claim, needed, given in (
        ("maximum_likelihood", "loglik", loglik),
        ("sample_mean", "mean", mean),
        ("mirror", "pmf", pmf),
        ("scaling", "pmf", pmf),
    ):
        if claim in claims and given is None:
            raise ValueError(f"`claims` with {claim!r} needs `{needed}`")
    suite = _Suite(fit, pmf, loglik, mean, trace, tolerance)
    tables = count_tables(equal_n=equal_n)
    clauses = [
        Clause("valid_input", "a valid table is fitted", tables, suite.fitted),
        Clause("no_nan", "nothing read off a result is NaN", tables, suite.no_nan),
        Clause("deterministic", "the same table gives the same result", tables, suite.same_again),
        Clause("not_mutated", "arguments are not changed", tables, suite.not_mutated),
        Clause(
            "invalid_input",
            "an invalid table is a ValueError that names the argument",
            st.sampled_from(_INVALID),
            suite.refused,
        ),
    ]
    if pmf is not None:
        clauses.append(Clause("law", "probabilities lie in [0, 1], sum 1", tables, suite.law))
    if pmf is not None and loglik is not None:
        said = "the log-likelihood is the sum of log-probabilities"
        clauses.append(Clause("loglik_of_law", said, tables, suite.loglik_of_law))
    if mean is not None:
        clauses.append(Clause("mean_in_range", "the mean is in [0, 1]", tables, suite.mean_range))
    if trace is not None:
        clauses.append(Clause("trace", "the trace does not fall", tables, suite.trace_rises))
    more: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = {
        "maximum_likelihood": (
            st.tuples(tables, mixtures(max_components=1, kind="overlapping")),
            suite.likeliest,
        ),
        "mirror": (tables, suite.mirrored),
        "permutation": (st.tuples(tables, st.permutations(range(_MOST))), suite.reordered),
        "frequency": (tables, suite.copied),
        "scaling": (tables, suite.doubled),
        "sample_mean": (tables, suite.sample_mean),
        "pickle": (tables, suite.pickled),
    }
    clauses += [Clause(name, CLAIMS[name], *more[name]) for name in CLAIMS if name in set(claims)]
    return run_suite(getattr(fit, "__name__", repr(fit)), clauses, max_examples, raises)


class _Suite:
    """The properties, on one estimator."""

    def __init__(
        self,
        fit: Fit,
        pmf: Callable[[Any, Any, Any], Any] | None,
        loglik: Callable[[Any], float] | None,
        mean: Callable[[Any], float] | None,
        trace: Callable[[Any], Any] | None,
        tolerance: float,
    ) -> None:
        self._fit, self._pmf, self._loglik = fit, pmf, loglik
        self._mean, self._trace, self._tolerance = mean, trace, tolerance

    def _fitted(self, table: Counts) -> Any:
        return self._fit(*(column.copy() for column in table))

    def _laws(self, result: Any, sizes: npt.NDArray[np.int64]) -> list[npt.NDArray[np.float64]]:
        """The law of 0..n for each n, by the pmf."""
        assert self._pmf is not None
        return [
            np.array([float(self._pmf(result, k, n)) for k in range(n + 1)])
            for n in np.unique(sizes).tolist()
        ]

    def _close(self, first: list[Any], second: list[Any], what: str) -> None:
        for a, b in zip(first, second, strict=True):
            gap = float(np.abs(np.asarray(a) - np.asarray(b)).max())
            assert gap <= self._tolerance, f"{what}: {np.round(a, 6)} against {np.round(b, 6)}"

    def _alike(self, one: Any, other: Any, sizes: npt.NDArray[np.int64], what: str) -> None:
        """Two results are equal in all that can be read off them."""
        if self._pmf is not None:
            self._close(self._laws(one, sizes), self._laws(other, sizes), what)
        if self._loglik is not None:
            a, b = self._loglik(one), self._loglik(other)
            close = abs(a - b) <= self._tolerance * max(1.0, abs(a))
            assert close, f"{what}: log-likelihoods {a} and {b}"
        if self._mean is not None:
            self._close([self._mean(one)], [self._mean(other)], what)

    def fitted(self, table: Counts) -> None:
        self._fitted(table)

    def no_nan(self, table: Counts) -> None:
        result = self._fitted(table)
        if self._loglik is not None:
            value = self._loglik(result)
            assert np.isfinite(value), f"the log-likelihood is {value}"
        if self._mean is not None:
            value = self._mean(result)
            assert np.isfinite(value), f"the mean is {value}"
        if self._pmf is not None:
            for law in self._laws(result, table.n):
                assert np.isfinite(law).all(), f"the law is {law}"

    def law(self, table: Counts) -> None:
        for law in self._laws(self._fitted(table), table.n):
            inside = ((law >= -self._tolerance) & (law <= 1.0 + self._tolerance)).all()
            assert inside, f"the law is {law}"
            assert abs(law.sum() - 1.0) <= self._tolerance, f"the law sums to {law.sum()}"

    def loglik_of_law(self, table: Counts) -> None:
        assert self._pmf is not None
        assert self._loglik is not None
        result = self._fitted(table)
        used = table.freq > 0
        cells = zip(table.k[used].tolist(), table.n[used].tolist(), strict=True)
        logs = np.log([float(self._pmf(result, k, n)) for k, n in cells])
        value, own = float(table.freq[used] @ logs), self._loglik(result)
        close = abs(value - own) <= self._tolerance * max(1.0, abs(value))
        assert close, f"the law has {value}, the result says {own}"

    def mean_range(self, table: Counts) -> None:
        assert self._mean is not None
        value = self._mean(self._fitted(table))
        assert -self._tolerance <= value <= 1.0 + self._tolerance, f"the mean is {value}"

    def trace_rises(self, table: Counts) -> None:
        assert self._trace is not None
        values = np.asarray(self._trace(self._fitted(table)), np.float64)
        falls = np.diff(values) < -self._tolerance * np.maximum(1.0, np.abs(values[:-1]))
        assert not falls.any(), f"the trace is {values}"

    def same_again(self, table: Counts) -> None:
        self._alike(self._fitted(table), self._fitted(table), table.n, "a second time")

    def not_mutated(self, table: Counts) -> None:
        given = tuple(column.copy() for column in table)
        self._fit(*given)
        for name, before, after in zip(Counts._fields, table, given, strict=True):
            assert np.array_equal(before, after), f"`{name}` was {before} and is {after}"

    def refused(self, case: tuple[str, tuple[Any, Any, Any], tuple[str, ...]]) -> None:
        what, arguments, names = case
        said = None
        try:
            self._fit(*(np.asarray(values) for values in arguments))
        except ValueError as error:
            said = str(error)
        assert said is not None, f"{what}: no error"
        words = said.replace("`", " ").replace("[", " ").replace(",", " ").split()
        assert set(words) & set(names), f"{what}: the error names none of {names}: {said}"

    def likeliest(self, example: tuple[Counts, Any]) -> None:
        assert self._loglik is not None
        table, rival = example
        law = BetaBinomial.from_mean(float(rival.mean[0]), float(rival.rho[0]))
        with np.errstate(divide="ignore"):
            other = float(table.freq @ np.asarray(law.logpmf(table.k, table.n)))
        own = self._loglik(self._fitted(table))
        slack = self._tolerance * max(1.0, abs(own))
        assert own >= other - slack, (
            f"the log-likelihood is {own}; mean {rival.mean[0]:.4f} and rho {rival.rho[0]:.4f} "
            f"have {other}"
        )

    def mirrored(self, table: Counts) -> None:
        other = self._fitted(Counts(table.n - table.k, table.n, table.freq))
        laws = self._laws(self._fitted(table), table.n)
        self._close(laws, [law[::-1] for law in self._laws(other, table.n)], "mirrored")

    def reordered(self, example: tuple[Counts, list[int]]) -> None:
        table, places = example
        order = [place for place in places if place < len(table.k)]
        moved = Counts(*(column[order] for column in table))
        self._alike(self._fitted(table), self._fitted(moved), table.n, f"in the order {order}")

    def copied(self, table: Counts) -> None:
        used = table.freq > 0
        many = Counts(
            np.repeat(table.k, table.freq),
            np.repeat(table.n, table.freq),
            np.ones(int(table.freq.sum()), np.int64),
        )
        self._alike(self._fitted(table), self._fitted(many), table.n[used], "row by row")

    def doubled(self, table: Counts) -> None:
        twice = self._fitted(Counts(table.k, table.n, 2 * table.freq))
        one = self._fitted(table)
        self._close(self._laws(one, table.n), self._laws(twice, table.n), "twice the items")

    def sample_mean(self, table: Counts) -> None:
        assert self._mean is not None
        share = float(table.freq @ table.k) / float(table.freq @ table.n)
        self._close([self._mean(self._fitted(table))], [share], "mean and share")

    def pickled(self, table: Counts) -> None:
        result = self._fitted(table)
        self._alike(result, pickle.loads(pickle.dumps(result)), table.n, "pickled")
