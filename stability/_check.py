"""Validation at the public door: each message names the argument, the rule and the value."""

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any


def check_int(name: str, value: Any, *, minimum: int, maximum: int | None = None) -> int:
    """Return ``value`` as int; refuse bool, non-integers and values out of range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"`{name}` must be an integer, got {value!r}")
    number = int(value)
    if number < minimum or (maximum is not None and number > maximum):
        upper = "" if maximum is None else f" and <= {maximum}"
        raise ValueError(f"`{name}` must be >= {minimum}{upper}, got {value!r}")
    return number


def check_real(
    name: str,
    value: Any,
    *,
    low: float,
    high: float,
    closed_low: bool = True,
    closed_high: bool = True,
) -> float:
    """Return ``value`` as float inside the interval; NaN is refused."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"`{name}` must be a number, got {value!r}")
    number = float(value)
    above = number >= low if closed_low else number > low
    below = number <= high if closed_high else number < high
    if not (above and below):
        left, right = "[" if closed_low else "(", "]" if closed_high else ")"
        raise ValueError(f"`{name}` must lie in {left}{low}, {high}{right}, got {value!r}")
    return number


def check_choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return ``value`` as str when it is one of ``options``."""
    allowed = [str(option) for option in options]
    if not isinstance(value, str) or str(value) not in allowed:
        raise ValueError(f"`{name}` must be one of {', '.join(allowed)}, got {value!r}")
    return str(value)


def check_fields(name: str, data: Any, fields: Iterable[str]) -> None:
    """Refuse what is not a mapping with exactly these fields."""
    wanted = set(fields)
    found = set(data) if isinstance(data, Mapping) else set()
    if found != wanted:
        got = f"got {data!r}"
        if isinstance(data, Mapping):
            got = f"missing {sorted(wanted - found)}, unknown {sorted(map(str, found - wanted))}"
        raise ValueError(f"`{name}` must have the fields {sorted(wanted)}; {got}")
