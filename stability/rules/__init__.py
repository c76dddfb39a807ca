"""Stopping rules: frozen configurations with a pure ``start`` and ``step``.

What to use when: one live debate without labels, ``single_debate_rule``; a batch of debates
whose distribution of counts should settle, ``KSRule``; always with ``MaxRounds`` as the end.
"""

from stability.rules.base import Rule, rule_from_dict
from stability.rules.combine import AllOf, AnyOf, Patience
from stability.rules.consensus import PluralityUnchanged, Unanimity
from stability.rules.decision import Decision, Reason
from stability.rules.ks import KSRule
from stability.rules.limits import MaxRounds, MinRounds
from stability.rules.sequential import BetaPosterior
from stability.rules.single import single_debate_rule
from stability.rules.state import RuleState
from stability.rules.text import rule_from_text, rule_to_text

__all__ = [
    "AllOf",
    "AnyOf",
    "BetaPosterior",
    "Decision",
    "KSRule",
    "MaxRounds",
    "MinRounds",
    "Patience",
    "PluralityUnchanged",
    "Reason",
    "Rule",
    "RuleState",
    "Unanimity",
    "rule_from_dict",
    "rule_from_text",
    "rule_to_text",
    "single_debate_rule",
]
