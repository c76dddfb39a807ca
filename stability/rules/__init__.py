"""Stopping rules: frozen configurations with a pure ``start`` and ``step``.

What to use when: one live debate without labels, ``single_debate_rule``; a batch of debates,
``FlipRateBelow``; a batch as in the paper, ``KSRule.paper()``; always with ``MaxRounds`` as the
end.
"""

from stability.rules.base import Rule, rule_from_dict
from stability.rules.combine import AllOf, AnyOf, Patience
from stability.rules.consensus import (
    NoAnswerChanged,
    PluralityShare,
    PluralityUnchanged,
    Unanimity,
)
from stability.rules.decision import Decision, Reason
from stability.rules.flips import FlipRateBelow
from stability.rules.ks import KSRule
from stability.rules.limits import MaxRounds, MinRounds
from stability.rules.margin import StableMargin
from stability.rules.paired import PairedEquivalence
from stability.rules.sequential import SPRT, BetaPosterior
from stability.rules.single import single_debate_rule
from stability.rules.spread import EntropyBelow, JensenShannonBelow
from stability.rules.state import RuleState
from stability.rules.swap import SwapTest
from stability.rules.text import rule_from_text, rule_to_text

__all__ = [
    "SPRT",
    "AllOf",
    "AnyOf",
    "BetaPosterior",
    "Decision",
    "EntropyBelow",
    "FlipRateBelow",
    "JensenShannonBelow",
    "KSRule",
    "MaxRounds",
    "MinRounds",
    "NoAnswerChanged",
    "PairedEquivalence",
    "Patience",
    "PluralityShare",
    "PluralityUnchanged",
    "Reason",
    "Rule",
    "RuleState",
    "StableMargin",
    "SwapTest",
    "Unanimity",
    "rule_from_dict",
    "rule_from_text",
    "rule_to_text",
    "single_debate_rule",
]
