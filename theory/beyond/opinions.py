"""Averaged opinions: DeGroot and Friedkin-Johnsen, the linear neighbours of debate.

DeGroot: x(t+1) = W x(t) with row-stochastic W. For a connected aperiodic W opinions tend to the
consensus v'x(0), v the left eigenvector of 1, and disagreement decays like |lambda_2|^t.
Friedkin-Johnsen: x(t+1) = L W x(t) + (I - L) x(0) with susceptibilities L = diag(lambda) in [0, 1];
the limit (I - L W)^{-1} (I - L) x(0) lies inside the hull of the initial opinions.

A latent-concept debate leaves that hull: agents that answer right with .70 each may come to .80,
the largest probability of a right answer in any concept. What it does not leave is [min_theta
R(theta, y), max_theta R(theta, y)], since each answer is drawn from a mixture of the rows.
"""

import numpy as np
import numpy.typing as npt

from theory._check import check_array, check_int, check_rows

Float64 = npt.NDArray[np.float64]


def degroot(weights: npt.ArrayLike, start: npt.ArrayLike, rounds: int) -> Float64:
    """Return the opinions of rounds 0..rounds - 1, shape (rounds, n).

    Parameters
    ----------
    weights : array-like, shape (n, n)
        Row-stochastic: what agent i gives to the opinion of j.
    start : array-like, shape (n,)
    rounds : int
        >= 1.

    Examples
    --------
    >>> degroot([[.5, .5], [.25, .75]], [0, 1], 3).round(4).tolist()
    [[0.0, 1.0], [0.5, 0.75], [0.625, 0.6875]]
    """
    return friedkin_johnsen(weights, start, rounds, np.ones(len(np.atleast_1d(start))))


def degroot_limit(weights: npt.ArrayLike) -> Float64:
    """Return the weight of each initial opinion in the consensus, shape (n,).

    Raises
    ------
    ValueError
        When the agents do not all listen to each other, directly or not.

    Examples
    --------
    >>> degroot_limit([[.5, .5], [.25, .75]]).round(4).tolist()
    [0.3333, 0.6667]
    """
    from theory.model.stationary import stationary_law

    return stationary_law(_weights(weights))


def disagreement_rate(weights: npt.ArrayLike) -> float:
    """Return |lambda_2|, the factor by which disagreement shrinks in a round, in the long run.

    Examples
    --------
    >>> round(disagreement_rate([[.5, .5], [.25, .75]]), 4)
    0.25
    """
    values = np.linalg.eigvals(_weights(weights))
    rest = np.delete(values, int(np.abs(values - 1.0).argmin()))
    return float(np.abs(rest).max(initial=0.0))


def friedkin_johnsen(
    weights: npt.ArrayLike, start: npt.ArrayLike, rounds: int, susceptibility: npt.ArrayLike
) -> Float64:
    """Return the opinions of rounds 0..rounds - 1, shape (rounds, n).

    ``susceptibility`` (n,) in [0, 1]: 1 is DeGroot, 0 an agent that never moves.

    Examples
    --------
    >>> friedkin_johnsen([[.5, .5], [.5, .5]], [0, 1], 3, [1, 0]).tolist()
    [[0.0, 1.0], [0.5, 1.0], [0.75, 1.0]]
    """
    matrix = _weights(weights)
    first = _opinions(start, len(matrix))
    open_ = _susceptibility(susceptibility, len(matrix))
    found = [first]
    for _ in range(check_int("rounds", rounds, minimum=1) - 1):
        found.append(open_ * (matrix @ found[-1]) + (1.0 - open_) * first)
    return np.array(found)


def friedkin_johnsen_limit(
    weights: npt.ArrayLike, start: npt.ArrayLike, susceptibility: npt.ArrayLike
) -> Float64:
    """Return the opinions in the long run, shape (n,).

    Raises
    ------
    ValueError
        When a group of agents listens to nobody who holds on to an initial opinion: its limit is
        that of DeGroot.

    Examples
    --------
    >>> friedkin_johnsen_limit([[.5, .5], [.5, .5]], [0, 1], [1, 0]).tolist()
    [1.0, 1.0]
    """
    matrix = _weights(weights)
    first = _opinions(start, len(matrix))
    open_ = _susceptibility(susceptibility, len(matrix))
    system = np.eye(len(matrix)) - open_[:, None] * matrix
    if np.abs(np.linalg.eigvals(open_[:, None] * matrix)).max() > 1.0 - 1e-12:
        raise ValueError(
            "`susceptibility` must leave every agent a way to one that holds on to its opinion "
            "(susceptibility < 1); without one the limit is that of DeGroot"
        )
    return np.asarray(np.linalg.solve(system, (1.0 - open_) * first))


def _weights(value: npt.ArrayLike) -> Float64:
    matrix = check_rows("weights", check_array("weights", value, 2))
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"`weights` must be square, got shape {matrix.shape}")
    return matrix


def _opinions(value: npt.ArrayLike, n: int) -> Float64:
    opinions = np.asarray(value, np.float64)
    if opinions.shape != (n,) or not np.isfinite(opinions).all():
        raise ValueError(f"`start` must hold {n} finite numbers, got {value!r}")
    return opinions


def _susceptibility(value: npt.ArrayLike, n: int) -> Float64:
    found = np.asarray(value, np.float64)
    if found.shape != (n,) or not ((found >= 0.0) & (found <= 1.0)).all():
        raise ValueError(f"`susceptibility` must hold {n} numbers in [0, 1], got {value!r}")
    return found
