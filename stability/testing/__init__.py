"""Contract suites for your own estimators and rules, and strategies to test them with.

``check_estimator(fit, ...)`` and ``check_rule(rule)`` run a suite of clauses, each over examples
drawn by hypothesis; every violated clause is reported with its shrunk example. What an estimator
claims beyond the basic clauses is said by ``claims``; what a rule can do is read off the rule.
``strategies`` draws count tables, mixtures, streams of rounds and debate logs, with the degenerate
ones weighted in.

Source of the pattern: the shared checks of river (`river.checks`) and of scikit-learn.
"""

from stability.testing import strategies
from stability.testing.clauses import Clause, ContractError, Report, Violation
from stability.testing.estimators import CLAIMS, check_estimator
from stability.testing.rules import check_rule

__all__ = [
    "CLAIMS",
    "Clause",
    "ContractError",
    "Report",
    "Violation",
    "check_estimator",
    "check_rule",
    "strategies",
]
