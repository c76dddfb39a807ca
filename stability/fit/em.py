"""Expectation-maximisation with an L-BFGS-B M-step: the textbook fit, kept as the reference.

E-step (numba): responsibilities r_ic = w_c q_c / p of every cell. M-step: the weights are the mean
responsibilities; each component maximises its weighted log-likelihood
Q_c(mu, rho) = sum_i f_i r_ic log q_c(k_i; n_i) by scipy's L-BFGS-B on the analytic gradient, in the
box mu, rho in [0, 1], and keeps its old value unless Q_c improves, so that the observed
log-likelihood never falls. From each of the deterministic starts a few EM steps are made; the best
run goes on until it gains less than 1e-10, and one L-BFGS-B run on the observed log-likelihood in
the box (w, mu, rho) finishes it, because EM needs hundreds of steps for the last digits.

Source: Dempster, Laird and Rubin, J. R. Statist. Soc. B 39 (1977) 1-38; the M-step is that of
arXiv 2510.12697.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stability._kernels import mixture as kernels
from stability._kernels.lanes import WIDTH
from stability.fit.result import Float, MixtureFit, assemble
from stability.fit.starts import ATOMS, GRID_MEAN, GRID_RHO
from stability.fit.table import CountTable

_STEPS = 8  # EM steps from each start
_MORE = 60  # further EM steps of the best start, at most
_GAIN = 1e-10
_BOUND = 1e-9  # L-BFGS-B keeps this distance from bounds where the log-likelihood is -inf
_M_STEP: Any = {"ftol": 1e-12, "gtol": 1e-8, "maxiter": 60}
# Projected gradient per item below which the polished fit counts as converged.
_CONVERGED = 1e-4
_POLISH: Any = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 500}
_POLISHES = 4
_SNAP = 1e-6


def fit_by_em(table: CountTable, size: int) -> MixtureFit:
    """Fit a valid table by EM; same result as the Newton search, with the trace of the best run."""
    data = _Data(table, size)
    starts = data.starts()
    runs = [data.run(start, _STEPS) for start in starts]
    best = max(range(len(runs)), key=lambda row: runs[row][1][-1])
    x, trace, steps = runs[best]
    used = sum(run[2] for run in runs)
    x, more, steps = data.run(x, _MORE)
    trace = np.concatenate([trace, more[1:]])
    finished = [data.polish(x)]
    # EM is slow, so that the ranking after a few steps is not the final one
    finished += [data.polish(run[0]) for row, run in enumerate(runs) if row != best]
    point, level, iterations = max(finished, key=lambda end: end[1])
    # L-BFGS-B ends next to a bound; where the bound itself is as good, it is the maximum
    at_bound = np.where(point < _SNAP, 0.0, np.where(point > 1.0 - _SNAP, 1.0, point))
    there = -data.observed(at_bound)[0] * data.items
    if there >= level - 1e-12 * abs(level):
        point, level = at_bound, there
    slope = data.slope(point)
    code = kernels.CONVERGED if slope < _CONVERGED else kernels.ITERATION_CAP
    info = np.array([[level, used + steps + iterations, code, 0.0, slope]])
    return assemble(table, size, point[None, :], info, trace)


def em_trace(table: CountTable, start: Float, steps: int) -> Float:
    """Return the log-likelihood before and after each of at most ``steps`` EM steps from ``start``.

    ``start`` is (v_1..v_{K-1}, mu_1, rho_1, ..., mu_K, rho_K) with stick-breaking weights.
    """
    size = (start.size + 1) // 3
    trace: Float = _Data(table, size).run(start, steps)[1]
    return trace


class _Data:
    """A table with the scratch of the kernels: one object a fit."""

    def __init__(self, table: CountTable, size: int) -> None:
        # Writable copies: the kernels of the search are compiled for such arrays.
        self.table = CountTable(*map(np.array, table))
        self.size = size
        self.freq = self.table.freq.astype(np.float64)
        self.items = float(self.freq.sum())
        self.top = int(table.n.max())
        self.lead = np.empty(table.k.size)
        kernels.lead_factors(table.k, table.n, self.lead)
        self.tables = np.empty((size, table.k.size, 3))
        self.pre, self.cells = kernels.component_scratch(1, self.top, table.k.size)

    def fill(self, mean: float, rho: float, at: int = 0) -> npt.NDArray[np.float64]:
        """Probabilities and log-derivatives (R, 3) of one component."""
        t = self.table
        rows: Float = self.tables[at]
        kernels.component(mean, rho, t.k, t.n, self.lead, self.top, self.pre, self.cells, rows)
        return rows

    def starts(self) -> list[Float]:
        """The deterministic starts of the Newton search, for the same table."""
        t = self.table
        single = np.empty(8)
        sums = np.empty((3 * kernels.blocks_of(self.top), WIDTH))
        kernels.fit_single(t.k, t.n, self.freq, sums, single)
        if self.size == 1:
            return [np.array([single[4], min(0.9, max(0.01, single[5]))])]
        mean, spread = min(0.999, max(0.001, single[4])), min(0.98, max(1e-3, single[5]))
        if self.size == 2:
            starts = np.empty((kernels.starts_of_two(self.top), 5))
            low = np.empty(t.k.size, np.bool_)
            for row in range(starts.shape[0]):
                kernels.fill_start_two(
                    row, mean, spread, self.top, t.k, t.n, self.freq, low, starts[row]
                )
            return [*starts, np.array([1.0, single[0], single[1], single[0], single[1]])]
        two = fit_by_em(t, 2)
        pair = np.concatenate([two.weights[:1], np.column_stack([two.mean, two.rho]).ravel()])
        atoms = np.zeros((ATOMS, 3))
        many = kernels.best_atoms(
            two.pmf(t.k, t.n), t.k, t.n, self.freq, self.lead, self.top, self.pre, self.cells,
            GRID_MEAN, GRID_RHO, atoms,
        )  # fmt: skip
        starts = np.empty((ATOMS + 9, 8))
        many = kernels.fill_starts_three(pair, mean, spread, many, atoms, np.empty(3), starts)
        return [*starts[:many], np.array([pair[0], 1.0, *pair[1:], *pair[3:]])]

    def run(self, start: Float, steps: int) -> tuple[Float, Float, int]:
        """EM from ``start``: (end, log-likelihood before and after each step, steps made)."""
        head = self.size - 1
        weights = self.weights(start)
        parts = np.clip(start[head:].reshape(self.size, 2), _BOUND, 1.0 - _BOUND)
        parts[:, 1] = np.where(start[head + 1 :: 2] <= 0.0, 0.0, parts[:, 1])
        resp = np.empty((self.size, self.table.k.size))
        trace = [self.expect(weights, parts, resp)]
        for _ in range(steps):
            mass = resp @ self.freq
            weights = mass / mass.sum()
            parts = np.array([self.maximise(part, resp[c]) for c, part in enumerate(parts)])
            trace.append(self.expect(weights, parts, resp))
            if trace[-1] - trace[-2] < _GAIN:
                break
        rest = np.cumsum(weights[::-1])[::-1]
        sticks = np.where(rest > 0.0, weights / np.where(rest > 0.0, rest, 1.0), 0.0)[:head]
        return np.concatenate([sticks, parts.ravel()]), np.array(trace), len(trace) - 1

    def weights(self, x: Float) -> Float:
        """Weights (K,) of the sticks at the head of x."""
        head = self.size - 1
        left = np.concatenate([[1.0], np.cumprod(1.0 - x[:head])])
        weights: Float = left * np.concatenate([x[:head], [1.0]])
        return weights

    def expect(self, weights: Float, parts: Float, resp: Float) -> float:
        """E-step: fill the responsibilities, return the log-likelihood."""
        for c, (mean, rho) in enumerate(parts):
            self.fill(mean, rho, c)
        return float(kernels.e_step(weights, self.tables, self.freq, resp))

    def maximise(self, part: Float, resp: Float) -> Float:
        """M-step of one component; the old value unless its weighted log-likelihood improves."""
        from scipy.optimize import minimize

        weight = self.freq * resp

        def loss(x: Float) -> tuple[float, Float]:
            rows = self.fill(float(x[0]), float(x[1]))
            # a cell of no weight may be impossible
            level = np.where(weight > 0.0, np.log(np.maximum(rows[:, 0], 1e-200)), 0.0)
            return -float(weight @ level), -(weight @ rows[:, 1:3])

        before = loss(part)[0]
        limits = [(_BOUND, 1.0 - _BOUND), (0.0, 1.0 - _BOUND)]
        end = minimize(loss, part, jac=True, method="L-BFGS-B", bounds=limits, options=_M_STEP)
        better: Float = end.x if end.fun < before else part
        return better

    def observed(self, x: Float) -> tuple[float, Float]:
        """Minus the log-likelihood per item at x, with its gradient."""
        head = self.size - 1
        for c in range(self.size):
            self.fill(float(x[head + 2 * c]), float(x[head + 2 * c + 1]), c)
        table = self.tables
        weights, slopes = self.weights(x), self.weight_slopes(x)
        p = weights @ table[:, :, 0]
        if not (p > 0.0).all():
            # L-BFGS-B wants numbers: a point where an observed count is impossible is a bad one
            return 1e300, np.zeros(x.size)
        ratio = table[:, :, 0] * (self.freq / p)
        gradient = np.empty(x.size)
        gradient[:head] = slopes.T @ ratio.sum(axis=1)
        for c in range(self.size):
            gradient[head + 2 * c : head + 2 * c + 2] = weights[c] * (ratio[c] @ table[c, :, 1:3])
        return -float(self.freq @ np.log(p)) / self.items, -gradient / self.items

    def weight_slopes(self, x: Float) -> Float:
        """Derivatives dw_c / dv_a, (K, K - 1)."""
        head = self.size - 1
        slopes = np.zeros((self.size, head))
        for c in range(self.size):
            for a in range(min(c + 1, head)):
                factors = [(-1.0 if b == a else 1.0 - x[b]) for b in range(min(c, head))]
                if c < head:
                    factors.append(1.0 if c == a else x[c])
                slopes[c, a] = np.prod(factors)
        return slopes

    def polish(self, x: Float) -> tuple[Float, float, int]:
        """One L-BFGS-B run on the observed log-likelihood: (point, log-likelihood, iterations)."""
        from scipy.optimize import minimize

        level = self.observed(x)[0]
        used = 0
        # a run that ends on a poor line search goes on with a fresh memory
        for _ in range(_POLISHES):
            end = minimize(
                self.observed,
                x,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * x.size,
                options=_POLISH,
            )
            used += int(end.nit)
            if not end.fun < level:
                break
            x, level = end.x, float(end.fun)
        return x, -level * self.items, used

    def slope(self, x: Float) -> float:
        """Largest component of the projected gradient at x, per item."""
        slope = -self.observed(x)[1]
        stuck = ((x <= 0.0) & (slope <= 0.0)) | ((x >= 1.0) & (slope >= 0.0))
        return float(np.abs(np.where(stuck, 0.0, slope)).max())
