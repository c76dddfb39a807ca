"""Rules as text, the way they are written in Python: ``Unanimity(hold=1) | MaxRounds(rounds=4)``.

The text is read as an expression of names of rules, calls with literal values, ``|``, ``&`` and
brackets, and nothing else; no code is run.
"""

import ast
from dataclasses import fields
from typing import Any

from stability.rules.base import Rule, rule_from_dict
from stability.rules.combine import AllOf, AnyOf


def rule_to_text(rule: Rule) -> str:
    """Return a rule as it would be written: without parameters that need not be.

    Examples
    --------
    >>> from stability.rules import KSRule, MaxRounds, Unanimity
    >>> rule_to_text(Unanimity() & KSRule(epsilon=0.1) | MaxRounds(4))
    '(Unanimity() & KSRule(epsilon=0.1)) | MaxRounds(rounds=4)'
    """
    if isinstance(rule, AnyOf | AllOf):
        parts = [rule_to_text(part) for part in rule.rules]
        mixed = (
            f"({text})" if isinstance(part, AnyOf | AllOf) else text
            for part, text in zip(rule.rules, parts, strict=True)
        )
        return (" | " if isinstance(rule, AnyOf) else " & ").join(mixed)
    changed = []
    for field in fields(rule):  # type: ignore[arg-type]  # every rule is a dataclass
        value = getattr(rule, field.name)
        if not _follows(rule, field.name):
            shown = rule_to_text(value) if isinstance(value, Rule) else repr(value)
            changed.append(f"{field.name}={shown}")
    return f"{type(rule).__name__}({', '.join(changed)})"


def _follows(rule: Rule, name: str) -> bool:
    """Say whether the rule is the same when this parameter is not given."""
    given = {field.name: getattr(rule, field.name) for field in fields(rule)}  # type: ignore[arg-type]
    del given[name]
    try:
        return type(rule)(**given) == rule
    except (TypeError, ValueError):
        return False


def rule_from_text(text: str) -> Rule:
    """Read a rule from its text; the inverse of `rule_to_text`.

    Parameters
    ----------
    text : str
        Calls of rules with literal arguments, joined by ``|`` and ``&``; brackets after a name
        may be left out where all parameters have a default.

    Raises
    ------
    ValueError
        When the text is anything else, a name is not a rule's, or a parameter is unknown or out
        of range.

    Examples
    --------
    >>> rule_from_text("Unanimity(hold=1) | MaxRounds(4)")
    AnyOf(rules=(Unanimity(hold=1), MaxRounds(rounds=4)))
    """
    if not isinstance(text, str):
        raise ValueError(f"`text` must be text, got {text!r}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise _refused(text) from error
    return _rule(tree, text)


def _rule(node: ast.expr, text: str) -> Rule:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd):
        left, right = _rule(node.left, text), _rule(node.right, text)
        return left | right if isinstance(node.op, ast.BitOr) else left & right
    if isinstance(node, ast.Name):
        return rule_from_dict({"kind": node.id})
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise _refused(text)
    kind = node.func.id
    data: dict[str, Any] = {"kind": kind}
    rule_from_name = Rule._registry.get(kind)
    names = [] if rule_from_name is None else [one.name for one in fields(rule_from_name)]  # type: ignore[arg-type]
    if rule_from_name is not None and len(node.args) > len(names):
        raise ValueError(f"{kind} has the parameters {names}, got {len(node.args)} values")
    given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
    for name, value in given:
        if name is None or name in data:
            raise _refused(text)
        data[name] = _value(value, text)
    return rule_from_dict(data)


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(part, text) for part in node.elts)
    if isinstance(node, ast.Call | ast.Name | ast.BinOp):
        return _rule(node, text)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError) as error:
        raise _refused(text) from error


def _refused(text: str) -> ValueError:
    return ValueError(
        "`text` must be a rule as Python writes it, such as 'Unanimity(hold=1) | MaxRounds(4)', "
        f"got {text!r}"
    )
