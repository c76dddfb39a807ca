"""A clause is a property with a name; a report says which were checked and which are violated."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption


class Clause(NamedTuple):
    """What must hold, for all examples.

    Attributes
    ----------
    name : str
    says : str
        The property in words.
    examples : hypothesis strategy
    holds : callable
        Takes an example and raises AssertionError, or anything else, where it does not hold.
    """

    name: str
    says: str
    examples: st.SearchStrategy[Any]
    holds: Callable[[Any], None]


@dataclass(frozen=True)
class Violation:
    """A clause that does not hold.

    Attributes
    ----------
    clause, says : str
    example : object
        The smallest example that was found.
    message : str
        What happened on it.
    """

    clause: str
    says: str
    example: Any
    message: str

    def __str__(self) -> str:
        return f"{self.clause}: {self.says}\n    example: {self.example}\n    {self.message}"


@dataclass(frozen=True)
class Report:
    """What came out of a suite.

    Attributes
    ----------
    subject : str
    checked : tuple of str
        Names of the clauses that were run.
    violations : tuple of Violation
    """

    subject: str
    checked: tuple[str, ...]
    violations: tuple[Violation, ...]

    @property
    def violated(self) -> tuple[str, ...]:
        """Names of the violated clauses."""
        return tuple(one.clause for one in self.violations)

    def __str__(self) -> str:
        head = f"{self.subject}: {len(self.violations)} of {len(self.checked)} clauses violated"
        return "\n".join([head, *(f"  {one}" for one in self.violations)])


class ContractError(AssertionError):
    """A suite found violations; ``report`` has them."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def run_suite(subject: str, clauses: list[Clause], max_examples: int, raises: bool) -> Report:
    """Run all clauses, none of which hides another.

    Examples
    --------
    >>> def small(x):
    ...     assert x < 7, f"{x} is not"
    >>> clause = Clause("small", "is below 7", st.integers(0, 100), small)
    >>> report = run_suite("integers", [clause], 100, raises=False)
    >>> report.violations[0].example, report.violations[0].message
    (7, 'AssertionError: 7 is not')
    """
    found = [falsify(clause, max_examples) for clause in clauses]
    report = Report(
        subject,
        tuple(clause.name for clause in clauses),
        tuple(one for one in found if one is not None),
    )
    if raises and report.violations:
        raise ContractError(report)
    return report


def falsify(clause: Clause, max_examples: int) -> Violation | None:
    """Look for an example on which a clause does not hold; the same one in every run."""
    last: list[tuple[Any, BaseException]] = []

    @settings(
        max_examples=max_examples,
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(clause.examples)
    def check(example: Any) -> None:
        try:
            clause.holds(example)
        except UnsatisfiedAssumption:
            raise
        except Exception as error:
            last.append((example, error))
            raise

    try:
        check()
    except Exception:  # whatever a user's code raises is the finding
        if not last:
            raise
        # hypothesis ends with the smallest example
        example, error = last[-1]
        return Violation(clause.name, clause.says, example, f"{type(error).__name__}: {error}")
    return None
