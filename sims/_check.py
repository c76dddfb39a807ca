"""Validation at the public door: each message names the argument, the rule and the value."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np


def check_whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number as int, also one written as a float; refuse all else.

    Examples
    --------
    >>> check_whole("debates", 1e3, 1)
    1000
    """
    rule = f">= {low}" if high is None else f"in {low}..{high}"
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if isinstance(value, float | np.floating):
        whole = bool(np.isfinite(value)) and float(value).is_integer()
    if not whole:
        raise ValueError(f"`{name}` must be a whole number {rule}, got {value!r}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"`{name}` must be a whole number {rule}, got {value!r}")
    return number


def check_number(
    name: str, value: Any, low: float, high: float, *, closed: tuple[bool, bool] = (True, True)
) -> float:
    """Return a number in an interval as float; NaN is refused.

    Examples
    --------
    >>> check_number("share", 1, 0, 1)
    1.0
    """
    left, right = "[" if closed[0] else "(", "]" if closed[1] else ")"
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        above = value >= low if closed[0] else value > low
        below = value <= high if closed[1] else value < high
        if above and below:
            return float(value)
    raise ValueError(f"`{name}` must lie in {left}{low:g}, {high:g}{right}, got {value!r}")


def check_flag(name: str, value: Any) -> bool:
    """Return True or False; nothing else counts as either.

    Examples
    --------
    >>> check_flag("common", np.True_)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"`{name}` must be True or False, got {value!r}")
    return bool(value)


def check_wholes(name: str, values: Any, low: int) -> list[int]:
    """Return several whole numbers, or one, as a list.

    Examples
    --------
    >>> check_wholes("sizes", np.arange(1, 4), 1), check_wholes("sizes", 5, 1)
    ([1, 2, 3], [5])
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        values = [values]
    return [check_whole(name, value, low) for value in values]
