"""The noise floor of the distance: how large D is between two rounds of an unchanged debate.

When nothing changes, D still moves, because M items are a sample. For the observed and for the
predictive D the 95 % quantile is close to c / sqrt(M), with a c that falls with the stickiness of
the agents: with probability s an agent repeats its last answer, otherwise it draws anew from its
item. The latent D is another matter: a few answers an item hardly tell the law of a probability,
so that its quantile is .45 at M = 100 and still .18 at M = 2000, whatever the stickiness; below
.05 it comes only at about 26,000 items.

The figures were measured by simulation with n = 7 agents whose items follow
.65 Beta(8, 2) + .35 Beta(2, 5), each item keeping its probability between the rounds, K = 2;
``benchmarks/noise_floor.py`` measures them again.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability.fit.distance import SPACES

# c of the 95 % quantile c / sqrt(M) at these values of s
_STICKINESS = (0.0, 0.5, 0.8, 0.95)
_CONSTANTS = {
    "empirical": (1.09, 0.87, 0.63, 0.35),
    "predictive": (1.01, 0.80, 0.54, 0.30),
}
# the 95 % quantile of the latent D itself, by log M; beyond the last entry it falls as 1/sqrt(M)
_LATENT_ITEMS = (100, 200, 500, 1000, 2000)
_LATENT = (0.45, 0.40, 0.29, 0.24, 0.18)
MAX_STICKINESS = 0.95


def noise_floor(n_items: int, *, space: str = "predictive", stickiness: float = 0.0) -> float:
    """Return the 95 % quantile of D when nothing changes.

    Parameters
    ----------
    n_items : int
        M, items compared.
    space : {"predictive", "latent", "empirical"}
    stickiness : float
        s in [0, .95]: share of the answers that are repeated, not drawn anew.

    Returns
    -------
    float
        c(space, s) / sqrt(M), c interpolated linearly in s, at most 1; for ``latent`` the
        measured quantile, interpolated in log M.

    Examples
    --------
    >>> round(noise_floor(400, space="empirical"), 4)
    0.0545
    """
    items = check_int("n_items", n_items, minimum=1)
    chosen = check_choice("space", space, SPACES)
    held = check_real("stickiness", stickiness, low=0.0, high=MAX_STICKINESS)
    return _level(items, chosen, held)


@lru_cache  # a debate asks for the same floor in each of its rounds
def _level(items: int, space: str, stickiness: float) -> float:
    if space == "latent":
        level = float(np.interp(np.log(items), np.log(_LATENT_ITEMS), _LATENT))
        return level * min(1.0, math.sqrt(_LATENT_ITEMS[-1] / items))
    constant = float(np.interp(stickiness, _STICKINESS, _CONSTANTS[space]))
    return min(1.0, constant / math.sqrt(items))


def stickiness(before: npt.NDArray[np.int8], after: npt.NDArray[np.int8]) -> float:
    """Estimate how often an agent keeps its answer beyond what its item explains.

    Parameters
    ----------
    before, after : ndarray of int8, shape (M, n)
        Correctness (1, 0; anything negative is unknown) of the same items and agents in two
        consecutive rounds.

    Returns
    -------
    float
        s = (a - b) / (1 - b), clipped to [0, .95]: a is the share of (item, agent) values that
        stay the same, b the same share between different agents of one item. 0 for one agent, or
        where all agents of all items agree (nothing can be told).

    Examples
    --------
    >>> import numpy as np
    >>> grades = np.array([[1, 0, 1], [0, 1, 1]], dtype=np.int8)
    >>> stickiness(grades, grades)
    0.95
    """
    x, y = np.asarray(before), np.asarray(after)
    if x.shape != y.shape or x.ndim != 2:
        raise ValueError(
            f"`before` and `after` must both be (M, n), got shapes {x.shape} and {y.shape}"
        )
    known_x, known_y = x >= 0, y >= 0
    both = known_x & known_y
    kept = int((both & (x == y)).sum())
    pairs = int(both.sum())
    right_x, right_y = ((x == 1).sum(axis=1), (y == 1).sum(axis=1))
    n_x, n_y = known_x.sum(axis=1), known_y.sum(axis=1)
    same = int((right_x * right_y + (n_x - right_x) * (n_y - right_y)).sum()) - kept
    cross = int((n_x * n_y).sum()) - pairs
    if pairs == 0 or cross == 0 or same == cross:
        return 0.0
    a, b = kept / pairs, same / cross
    return float(min(MAX_STICKINESS, max(0.0, (a - b) / (1.0 - b))))
