"""Rules as text: there and back, and what is not a rule is refused without being run."""

import pytest

from stability.rules import (
    AllOf,
    AnyOf,
    BetaPosterior,
    KSRule,
    MaxRounds,
    MinRounds,
    Patience,
    PluralityUnchanged,
    Unanimity,
    rule_from_text,
    rule_to_text,
)

RULES = [
    Unanimity(),
    Unanimity(hold=2),
    KSRule.paper(),
    BetaPosterior(confidence=0.99, pool="all"),
    Unanimity() | MaxRounds(4),
    Unanimity() & MinRounds(2) | MaxRounds(4),
    (Unanimity() | PluralityUnchanged(3)) & MinRounds(2),
    Patience(Unanimity() | PluralityUnchanged(2), 3) | MaxRounds(9),
    Patience(Patience(Unanimity(), 2), 2),
]


@pytest.mark.parametrize("rule", RULES, ids=rule_to_text)
def test_there_and_back(rule):
    assert rule_from_text(rule_to_text(rule)) == rule


@pytest.mark.parametrize("rule", RULES, ids=rule_to_text)
def test_the_text_is_python(rule):
    names = {cls.__name__: cls for cls in (AllOf, AnyOf, *map(type, PARTS))}
    assert eval(rule_to_text(rule), names) == rule


PARTS = (
    BetaPosterior(),
    KSRule(),
    MaxRounds(1),
    MinRounds(1),
    Patience(Unanimity(), 1),
    PluralityUnchanged(),
    Unanimity(),
)


def test_brackets_may_be_left_out_and_values_given_in_order():
    assert rule_from_text(" Unanimity | MaxRounds(4) ") == Unanimity() | MaxRounds(4)
    assert rule_from_text("AnyOf((Unanimity(), MaxRounds(4)))") == Unanimity() | MaxRounds(4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Unanimity(",
        "__import__('os').getcwd()",
        "Unanimity().start(3)",
        "[Unanimity()]",
        "Unanimity() + MaxRounds(3)",
        "Unanimity(hold=len('ab'))",
        "Unanimity(**{'hold': 1})",
        "Unanimity(1, hold=1)",
        "Unanimity() if True else MaxRounds(3)",
        "lambda: 0",
        "(" * 500,
        None,
        3,
    ],
)
def test_what_is_not_a_rule_is_refused(text):
    with pytest.raises(ValueError, match=r"`text` must be|the `kind` of a rule"):
        rule_from_text(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Nobody()", "the `kind` of a rule must be one of AllOf"),
        ("Unanimity(1, 2)", r"Unanimity has the parameters \['hold'\], got 2 values"),
        ("Unanimity(held=2)", "got \\['held'\\]"),
        ("Unanimity(hold=-1)", "`hold` must be >= 0, got -1"),
        ("MaxRounds", "not the parameters of MaxRounds"),
        ("KSRule(epsilon='x')", "`epsilon` must be a number in"),
    ],
)
def test_wrong_names_and_values_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        rule_from_text(text)
