"""Validation at the public door: each message names the argument, the rule and the value."""

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


def check_int(name: str, value: Any, *, minimum: int, maximum: int | None = None) -> int:
    """Return ``value`` as int; refuse bool, non-integers and values out of range."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise ValueError(f"`{name}` must be an integer, got {value!r}")
    number = int(value)
    if number < minimum or (maximum is not None and number > maximum):
        upper = "" if maximum is None else f" and <= {maximum}"
        raise ValueError(f"`{name}` must be >= {minimum}{upper}, got {value!r}")
    return number


def check_real(name: str, value: Any, *, low: float, high: float, closed: bool = True) -> float:
    """Return ``value`` as float inside the interval, its ends included or not; NaN is refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"`{name}` must be a number, got {value!r}")
    number = float(value)
    inside = low <= number <= high if closed else low < number < high
    if not inside:
        left, right = "[]" if closed else "()"
        raise ValueError(f"`{name}` must lie in {left}{low:g}, {high:g}{right}, got {value!r}")
    return number


def check_choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return ``value`` as str when it is one of ``options``."""
    allowed = [str(option) for option in options]
    if not isinstance(value, str) or str(value) not in allowed:
        raise ValueError(f"`{name}` must be one of {', '.join(allowed)}, got {value!r}")
    return str(value)


def check_fields(name: str, data: Any, fields: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Refuse what is not a mapping with these fields; ``optional`` ones may be missing."""
    wanted, extra = set(fields), set(optional)
    found = set(data) if isinstance(data, Mapping) else set()
    if not isinstance(data, Mapping) or not wanted <= found <= wanted | extra:
        got = f"got {data!r}"
        if isinstance(data, Mapping):
            unknown = sorted(map(str, found - wanted - extra))
            got = f"missing {sorted(wanted - found)}, unknown {unknown}"
        raise ValueError(f"`{name}` must have the fields {sorted(wanted | extra)}; {got}")


def check_array(name: str, value: Any, ndim: int) -> Float64:
    """Return a read-only float64 array of finite numbers >= 0, not empty."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"`{name}` must hold numbers, got {value!r}") from None
    if array.ndim != ndim or array.size == 0:
        raise ValueError(
            f"`{name}` must have {ndim} dimension{'s' * (ndim > 1)} and not be empty, got shape "
            f"{array.shape}"
        )
    bad = np.argwhere(~(np.isfinite(array) & (array >= 0.0)))
    if len(bad):
        place = tuple(bad[0].tolist())
        where = ", ".join(map(str, place))
        raise ValueError(f"`{name}` must be finite and >= 0: {name}[{where}]={array[place]}")
    array.setflags(write=False)
    return array


def check_rows(name: str, array: Float64, tolerance: float = 1e-9) -> Float64:
    """Return the rows divided by their sums, which must be 1 within ``tolerance``."""
    sums = np.atleast_1d(array.sum(axis=-1))
    bad = np.flatnonzero(np.abs(sums - 1.0) > tolerance)
    if bad.size:
        row = "" if array.ndim == 1 else f" row {bad[0]}"
        raise ValueError(f"`{name}`{row} must sum to 1, got {sums[bad[0]]:.12g}")
    totals = array.sum(axis=-1, keepdims=True)
    # rows that sum to 1 up to rounding stay as they are, so that what was saved is read back
    near = np.abs(totals - 1.0) <= array.shape[-1] * np.finfo(float).eps
    scaled: Float64 = np.where(near, array, array / totals)
    scaled.setflags(write=False)
    return scaled
