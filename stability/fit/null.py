"""The noise floor of the distance: how large D is between two rounds of an unchanged debate.

When nothing changes, D still moves, because M items are a sample. For the observed and for the
predictive D the 95 % quantile is close to c / sqrt(M), with a c that falls with the stickiness of
the agents: with probability s an agent repeats its last answer, otherwise it draws anew from its
item. The latent D is another matter: a few answers an item hardly tell the law of a probability,
so that its quantile is .45 at M = 100 and still .18 at M = 2000, whatever the stickiness; below
.05 it comes only at about 26,000 items.

The figures were measured by simulation with n = 7 agents whose items follow
.65 Beta(8, 2) + .35 Beta(2, 5), each item keeping its probability between the rounds, K = 2;
``benchmarks/noise_floor.py`` measures them again. For another number of agents, another law of the
items or the observed D of your M, `null_distances` draws the null law itself, and `detection_power`
says how often a change of given size exceeds its quantile. Where two rounds are at hand, the swap
null (``stability.fit.swap``) needs no model.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability.fit.distance import SPACES
from stability.fit.result import Float, MixtureFit

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
# (weight, alpha, beta) of the items that the figures are for
ITEM_LAW = ((0.65, 8.0, 2.0), (0.35, 2.0, 5.0))
_CELLS = 4_000_000  # random numbers drawn at a time


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


def null_distances(
    n_items: int,
    n_agents: int,
    *,
    stickiness: float = 0.0,
    change: float = 0.0,
    model: MixtureFit | None = None,
    pairs: int = 2000,
    seed: int = 0,
) -> Float:
    """Draw the observed D between two rounds of a debate that does not change, or changes little.

    Each item has a probability p of a right answer. An agent repeats its answer with probability
    s, else it draws anew from p. With a change, each wrong (or, where it is negative, each right)
    answer of the second round is then turned with one probability, so that the mean share moves by
    ``change``.

    Parameters
    ----------
    n_items, n_agents : int
        M and n, >= 1.
    stickiness : float
        s in [0, 1].
    change : float
        In (-1, 1), of the mean share of right answers; it must be possible.
    model : MixtureFit, optional
        The law of p; None takes .65 Beta(8, 2) + .35 Beta(2, 5).
    pairs : int
        >= 1, pairs of rounds drawn.
    seed : int
        >= 0; the same seed gives the same distances.

    Returns
    -------
    ndarray of float64, shape (pairs,)
        D of the observed counts, in [0, 1].

    Raises
    ------
    ValueError
        When an argument is out of range.

    Examples
    --------
    >>> found = null_distances(200, 7, stickiness=.8, pairs=500)
    >>> bool(abs((found < .05).mean() - .96) < .03)
    True
    """
    items = check_int("n_items", n_items, minimum=1)
    agents = check_int("n_agents", n_agents, minimum=1)
    held = check_real("stickiness", stickiness, low=0.0, high=1.0)
    moved = check_real("change", change, low=-1.0, high=1.0, closed_low=False, closed_high=False)
    number = check_int("pairs", pairs, minimum=1)
    rng = np.random.Generator(np.random.Philox(key=check_int("seed", seed, minimum=0)))
    laws = ITEM_LAW if model is None else _laws(model)
    mean = sum(weight * alpha / (alpha + beta) for weight, alpha, beta in laws)
    room = 1.0 - mean if moved >= 0.0 else mean
    if abs(moved) > room:
        raise ValueError(f"`change` must lie in [{-mean:.4g}, {1 - mean:.4g}], got {moved}")
    turned = abs(moved) / room if moved else 0.0
    found = np.empty(number)
    block = max(1, _CELLS // (items * agents))
    for start in range(0, number, block):
        stop = min(start + block, number)
        shape = (stop - start, items)
        p = _probabilities(laws, shape, rng)[:, :, None]
        first = rng.random((*shape, agents)) < p
        second = rng.random((*shape, agents)) < p
        if held > 0.0:
            second = np.where(rng.random((*shape, agents)) < held, first, second)
        if turned > 0.0:
            hit = rng.random((*shape, agents)) < turned
            second = second | hit if moved > 0.0 else second & ~hit
        gaps = np.zeros(shape[0], np.int64)
        k, k_new = first.sum(axis=2), second.sum(axis=2)
        for level in range(agents):
            below = (k <= level).sum(axis=1) - (k_new <= level).sum(axis=1)
            np.maximum(gaps, np.abs(below), out=gaps)
        found[start:stop] = gaps / items
    return found


def detection_power(
    n_items: int,
    n_agents: int,
    change: float,
    *,
    stickiness: float = 0.0,
    confidence: float = 0.95,
    model: MixtureFit | None = None,
    pairs: int = 2000,
    seed: int = 0,
) -> float:
    """Return how often D exceeds its null quantile when the mean share moves by ``change``.

    Parameters
    ----------
    change : float
        As in `null_distances`, which takes the other parameters too.
    confidence : float
        In (0, 1), of the null quantile.

    Returns
    -------
    float
        In [0, 1], with a standard error of at most 1 / (2 sqrt(pairs)).

    Examples
    --------
    >>> powers = [detection_power(200, 7, change, pairs=400) for change in (0.0, 0.05, 0.1)]
    >>> powers[0] <= 0.05 < powers[1] < powers[2]
    True
    """
    level = check_real(
        "confidence", confidence, low=0.0, high=1.0, closed_low=False, closed_high=False
    )
    drawn = [
        null_distances(
            n_items,
            n_agents,
            stickiness=stickiness,
            change=moved,
            model=model,
            pairs=pairs,
            seed=seed + place,
        )
        for place, moved in enumerate((0.0, change))
    ]
    quantile = np.quantile(drawn[0], level, method="inverted_cdf")
    return float((drawn[1] > quantile).mean())


def _laws(model: MixtureFit) -> tuple[tuple[float, float, float], ...]:
    columns = (model.weights, model.mean, model.rho)
    parts = zip(*(column.tolist() for column in columns), strict=True)
    # alpha + beta = 1/rho - 1; at the bounds as near as a Beta law comes
    sums = (
        (weight, mean, min(max(1.0 / rho - 1.0, 1e-9), 1e9) if rho > 0 else 1e9)
        for weight, mean, rho in parts
    )
    return tuple((weight, mean * size, (1.0 - mean) * size) for weight, mean, size in sums)


def _probabilities(
    laws: tuple[tuple[float, float, float], ...],
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> Float:
    which = rng.choice(len(laws), shape, p=[law[0] for law in laws])
    p = np.empty(shape)
    for place, (_, alpha, beta) in enumerate(laws):
        here = which == place
        number = int(here.sum())
        if alpha <= 0.0 or beta <= 0.0:
            p[here] = float(beta <= 0.0)
        else:
            p[here] = rng.beta(alpha, beta, number)
    return p
