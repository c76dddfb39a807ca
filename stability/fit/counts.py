"""Checks of count arguments: k agents out of n, in arrays that broadcast against each other.

Integers are taken from any numeric type that holds them (2.0 is a count, 2.5 is not). The message
of a refusal names the argument, its place in the array and the value.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_I64 = NDArray[np.int64]

LARGEST = 2**53  # beyond, float64 does not hold every integer and the kernels count in float64


def check_agents(n: ArrayLike) -> _I64:
    """Return ``n`` as int64, in its own shape; refuse what is negative or no integer."""
    agents = check_integers("n", n)
    if agents.ndim == 0 and int(agents) >= 0:
        return agents
    if agents.min(initial=0) < 0:
        at = _first(agents < 0)
        raise ValueError(f"`n` must be >= 0: {_where('n', at)}={agents[at]}")
    return agents


def check_counts(k: ArrayLike, n: ArrayLike) -> tuple[_I64, _I64, tuple[int, ...]]:
    """Return k and n, broadcast and flat, and their common shape; k may lie outside 0..n."""
    counts, agents = check_integers("k", k), check_agents(n)
    if counts.shape != agents.shape:
        try:
            counts, agents = np.broadcast_arrays(counts, agents)
        except ValueError:
            raise ValueError(
                f"`k` and `n` must broadcast against each other: shapes {counts.shape} "
                f"and {agents.shape}"
            ) from None
    # copies: what broadcasting returns may warn when it is used as an array to write to
    return counts.flatten(), agents.flatten(), counts.shape


def check_integers(name: str, value: Any) -> _I64:
    """Return ``value`` as int64; refuse NaN, fractions, text, bool and what does not fit."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return np.array(value, dtype=np.int64)
    raw = np.asarray(value)
    if raw.size == 0:
        return raw.astype(np.int64)
    if raw.dtype.kind not in "iuf":
        raise ValueError(f"`{name}` must hold integers, got {value!r}")
    if raw.dtype.kind == "f":
        bad = ~(raw == np.floor(raw)) | np.isinf(raw)
        if bad.any():
            at = _first(bad)
            number = float(raw[at])
            hint = " (was a proportion passed as a count?)" if 0.0 < number < 1.0 else ""
            raise ValueError(f"`{name}` must hold integers: {_where(name, at)}={number}{hint}")
    if int(raw.max()) > LARGEST or int(raw.min()) < -LARGEST:
        far = (raw > LARGEST) | (raw < -LARGEST)
        at = _first(far)
        raise ValueError(f"`{name}` must lie within +-2**53: {_where(name, at)}={raw[at]}")
    return raw.astype(np.int64)


def _first(bad: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0])


def _where(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name
