"""How much further would the counts move, if their changes went on shrinking as they last did?

Let m_1, m_2 be the mean changes of the share of right (or agreeing) agents in the last two steps,
over the same items, and r = m_2 / m_1. If every later change were r times the one before it, what
remains would be

    m_2 (r + r^2 + ...) = m_2 r / (1 - r),    -1 < r < 1.

This extrapolates three rounds and bounds nothing: debates need not go on as they did.

The means are close to bivariate normal with the covariance V of the items' changes over M. The
intervals are the ranges of r and of the remainder over the ellipse (m - mean)' V^-1 (m - mean) <=
z^2; for r this is Fieller's interval (J. R. Stat. Soc. B 16, 1954, 175-185). Where r may be 1 (or
-1), or the first change 0, no remainder is given.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
_Z = 1.959963984540054  # both tails of the normal law together .05
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 721)
_CIRCLE = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])


@dataclass(frozen=True)
class Drift:
    """Extrapolated further change of the mean share, from the last three rounds.

    Attributes
    ----------
    change : float
        m_2, the signed mean change of the last step, in [-1, 1].
    ratio, ratio_low, ratio_high : float
        r and its .95 interval, inside (-1, 1).
    remaining, low, high : float
        m_2 r / (1 - r) and its .95 interval.
    n_items : int
        Items counted in all three rounds.
    """

    change: float
    ratio: float
    ratio_low: float
    ratio_high: float
    remaining: float
    low: float
    high: float
    n_items: int

    @property
    def sentence(self) -> str:
        """What it says, and what it does not."""
        return (
            f"If changes went on shrinking as they last did (ratio {self.ratio:.2f}), the mean "
            f"share would move by {100 * self.remaining:+.1f} points more "
            f"[{100 * self.low:+.1f}, {100 * self.high:+.1f}]; this is an extrapolation, not a "
            "bound."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def drift(oldest: Float, before: Float, now: Float) -> Drift | None:
    """Extrapolate from the shares of three rounds.

    Parameters
    ----------
    oldest, before, now : ndarray of float64, shape (M,)
        The same items in three consecutive rounds, in [0, 1].

    Returns
    -------
    Drift or None
        None for fewer than two items, or when the interval of r reaches 1 or -1 or is not bounded
        (the first change may be 0).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first = np.zeros(400)
    >>> second = (rng.random(400) < .4).astype(float)
    >>> third = np.maximum(second, rng.random(400) < .2)
    >>> found = drift(first, second, third)
    >>> round(found.ratio, 2), round(found.remaining, 3), found.low < .04 < found.high
    (0.36, 0.074, True)
    >>> drift(first, first, second) is None
    True
    """
    if now.size < 2:
        return None
    changes = np.stack([before - oldest, now - before])
    middle = changes.mean(axis=1)
    centred = changes - middle[:, None]
    covariance = centred @ centred.T / (now.size - 1) / now.size
    values, vectors = np.linalg.eigh(covariance)
    axes = vectors * np.sqrt(np.maximum(values, 0.0))
    first, second = middle[:, None] + _Z * axes @ _CIRCLE
    if first.min() <= 0.0 <= first.max():
        return None
    ratios = second / first
    if ratios.min() <= -1.0 or ratios.max() >= 1.0:
        return None
    remainders = second * ratios / (1.0 - ratios)
    ratio = float(middle[1] / middle[0])
    return Drift(
        change=float(middle[1]),
        ratio=ratio,
        ratio_low=float(ratios.min()),
        ratio_high=float(ratios.max()),
        remaining=float(middle[1] * ratio / (1.0 - ratio)),
        low=float(remainders.min()),
        high=float(remainders.max()),
        n_items=int(now.size),
    )
