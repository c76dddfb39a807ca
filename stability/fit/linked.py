"""One fit to all rounds of a debate: mixtures whose parameters move smoothly from round to round.

With theta_t = (logit v, logit mu, rho) of round t, v the sticks of the weights, it maximises

    sum_t l_t(theta_t) - (lambda / 2) sum_{t >= 1} |theta_t - theta_{t-1}|^2,

so that rounds lend each other strength: lambda = 0 are independent fits, lambda = inf is one fit to
all rounds pooled. lambda is chosen by cross-validation over items, from a grid, when it is not
given: each histogram is cut into folds of items, and the held-out log-likelihood is summed over
rounds. The search starts from the independent fits and from the pooled one.

Source: penalised likelihood with a random-walk prior on the parameters, Fahrmeir and Kaufmann,
Metrika 38 (1991).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stability._check import check_int
from stability._kernels import inference as kernels
from stability.fit.bootstrap import laws
from stability.fit.inference import Cells, cells_of, point_of
from stability.fit.mixture import fit_mixture
from stability.fit.table import count_table

Float = npt.NDArray[np.float64]
GRID = (0.0, 1.0, 10.0, 100.0, 1000.0, 1e5)
_LARGEST = 15.0


@dataclass(frozen=True, eq=False)
class LinkedFit:
    """Mixtures of all rounds.

    Attributes
    ----------
    weights, mean, rho : ndarray, shape (T, K)
    loglik : ndarray, shape (T,)
        Log-likelihood of each round, without the penalty.
    penalty : float
        lambda.
    scores : mapping of float to float, or None
        Held-out log-likelihood by lambda; None where it was given.
    n : int
    """

    weights: Float
    mean: Float
    rho: Float
    loglik: Float
    penalty: float
    scores: dict[float, float] | None
    n: int

    def laws(self) -> Float:
        """Return the law of the counts of each round, shape (T, n + 1)."""
        return laws(np.ascontiguousarray(np.stack([self.weights, self.mean, self.rho])), self.n)


def fit_linked(
    hists: npt.ArrayLike,
    n: int,
    *,
    n_components: int = 2,
    penalty: float | None = None,
    folds: int = 5,
    grid: Sequence[float] = GRID,
    seed: int = 0,
) -> LinkedFit:
    """Fit all rounds at once.

    Parameters
    ----------
    hists : array_like of int, shape (T, n + 1)
        Items with k = 0..n correct agents, a row a round.
    n : int
        Agents, >= 1.
    n_components : {1, 2, 3}
    penalty : float, optional
        lambda >= 0; None chooses it from ``grid`` by ``folds``-fold cross-validation.
    folds : int
        >= 2.
    grid : sequence of float
        >= 0.
    seed : int
        >= 0, of the folds.

    Returns
    -------
    LinkedFit

    Raises
    ------
    ValueError
        When an argument is out of range, or a round has no item.

    Examples
    --------
    >>> rounds = [[9, 5, 3, 4, 6, 13], [8, 5, 2, 4, 6, 15], [9, 4, 2, 3, 6, 16]]
    >>> found = fit_linked(rounds, 5, penalty=100.0)
    >>> bool(np.ptp((found.weights * found.mean).sum(axis=1)) < .1)
    True
    """
    agents = check_int("n", n, minimum=1)
    size = check_int("n_components", n_components, minimum=1, maximum=3)
    check_int("folds", folds, minimum=2)
    check_int("seed", seed, minimum=0)
    table = np.asarray(hists)
    if table.ndim != 2 or table.shape[1] != agents + 1 or len(table) == 0:
        raise ValueError(
            f"`hists` must have the shape (T, n + 1) = (T, {agents + 1}), got {table.shape}"
        )
    for name, given in (("penalty", [] if penalty is None else [penalty]), ("grid", list(grid))):
        if any(not value >= 0.0 for value in given):
            raise ValueError(f"`{name}` must be >= 0, got {given!r}")
    whole = np.stack([_whole(row, agents) for row in table])
    scores = None
    if penalty is None:
        scores = _scores(whole, agents, size, tuple(grid), folds, np.random.default_rng(seed))
        penalty = max(scores, key=scores.__getitem__)
    points, values = _fit(whole, agents, size, float(penalty))
    weights, mean, rho = _parts(points, size)
    return LinkedFit(weights, mean, rho, values, float(penalty), scores, agents)


def _whole(row: npt.NDArray[np.int64], n: int) -> Float:
    """A histogram, checked as a table of counts is."""
    found = np.zeros(n + 1)
    table = count_table(np.arange(n + 1), n, row)
    found[table.k] = table.freq
    return found


def _scores(
    table: Float,
    n: int,
    size: int,
    grid: tuple[float, ...],
    folds: int,
    rng: np.random.Generator,
) -> dict[float, float]:
    """Held-out log-likelihood by lambda."""
    rounds = len(table)
    parts = np.zeros((folds, *table.shape))
    for t in range(rounds):
        items = np.repeat(np.arange(n + 1), table[t].astype(np.int64))
        for place, k in enumerate(rng.permutation(items)):
            parts[place % folds, t, k] += 1.0
    scores = dict.fromkeys(grid, 0.0)
    for fold in parts:
        rest = table - fold
        if (rest.sum(axis=1) == 0.0).any():
            continue
        for penalty in grid:
            points, _ = _fit(rest, n, size, penalty)
            found = laws(np.ascontiguousarray(_parts(points, size)), n)
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(fold > 0.0, fold * np.log(found), 0.0)
            scores[penalty] += float(terms.sum())
    return scores


def _fit(table: Float, n: int, size: int, penalty: float) -> tuple[Float, Float]:
    """Points (T, P) in (v, mu, rho) and log-likelihoods (T,)."""
    from scipy.optimize import minimize

    rounds, free = len(table), 3 * size - 1
    rows = [fit_mixture(range(n + 1), n, freq=row.astype(int), n_components=size) for row in table]
    own = np.stack([_bent(point_of(fit.weights, fit.mean, fit.rho), size) for fit in rows])
    if penalty == 0.0:
        return _straight(own, size), np.array([fit.loglik for fit in rows])
    pooled = fit_mixture(range(n + 1), n, freq=table.sum(axis=0).astype(int), n_components=size)
    one = _bent(point_of(pooled.weights, pooled.mean, pooled.rho), size)
    cells = [_cells(row, n) for row in table]
    bounds = [(-_LARGEST, _LARGEST)] * (2 * size - 1) + [(0.0, 1.0 - 1e-9)] * size

    def loss(flat: Float) -> tuple[float, Float]:
        theta = flat.reshape(rounds, free)
        points = _straight(theta, size)
        total, slope = 0.0, np.zeros_like(theta)
        grad, hess = np.empty(free), np.empty((free, free))
        for t, (k, m, freq, lead) in enumerate(cells):
            total -= kernels.derivatives(k, m, freq, lead, size, points[t], grad, hess)
            slope[t] -= grad
        inner = points[:, : 2 * size - 1]
        slope[:, : 2 * size - 1] *= inner * (1.0 - inner)
        step = np.diff(theta, axis=0)
        total += 0.5 * penalty * float((step**2).sum())
        slope[1:] += penalty * step
        slope[:-1] -= penalty * step
        return total, slope.ravel()

    starts = (own, np.tile(one, (rounds, 1)))
    ends = [
        minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds * rounds)
        for start in starts
    ]
    best = min(ends, key=lambda end: float(end.fun))
    points = _straight(np.asarray(best.x).reshape(rounds, free), size)
    grad, hess = np.empty(free), np.empty((free, free))
    values = [
        kernels.derivatives(k, m, freq, lead, size, x, grad, hess)
        for x, (k, m, freq, lead) in zip(points, cells, strict=True)
    ]
    return points, np.array(values)


def _cells(row: Float, n: int) -> Cells:
    return cells_of(count_table(np.arange(n + 1), n, row.astype(np.int64)))


def _bent(x: Float, size: int) -> Float:
    """(v, mu, rho) to (logit v, logit mu, rho), within the box of the search."""
    inner = np.clip(x[: 2 * size - 1], 1e-12, 1.0 - 1e-12)
    bent = np.clip(np.log(inner / (1.0 - inner)), -_LARGEST, _LARGEST)
    return np.concatenate([bent, np.minimum(x[2 * size - 1 :], 1.0 - 1e-9)])


def _straight(theta: Float, size: int) -> Float:
    """The inverse, (T, P)."""
    inner = 1.0 / (1.0 + np.exp(-theta[:, : 2 * size - 1]))
    return np.concatenate([inner, theta[:, 2 * size - 1 :]], axis=1)


def _parts(points: Float, size: int) -> Float:
    """Weights, means and correlations (3, T, K) of points (T, P)."""
    sticks = points[:, : size - 1]
    ones = np.ones((len(points), 1))
    rest = np.concatenate([ones, np.cumprod(1.0 - sticks, axis=1)], axis=1)
    weights = np.concatenate([sticks, ones], axis=1) * rest
    return np.stack([weights, points[:, size - 1 : 2 * size - 1], points[:, 2 * size - 1 :]])
