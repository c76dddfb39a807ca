"""Kernels of inference: the log-likelihood of a mixture with its derivatives, and maxima of it.

A point x of a K-component mixture holds K - 1 sticks v, then K means mu, then K correlations rho,
all in [0, 1]: w_1 = v_1, w_2 = (1 - v_1) v_2, ..., w_K = prod (1 - v_i). With r = rho the law of a
component is, up to C(n, k),

    P(k) = mu^[k > 0] (1 - mu)^[k < n] (1 - r)^[0 < k < n]
           prod_{1 <= j < k} a_j prod_{1 <= j < n - k} b_j / prod_{1 <= j < n} s_j,
    a_j = mu (1 - r) + j r,   b_j = (1 - mu)(1 - r) + j r,   s_j = 1 - r + j r,

so that the first and second derivatives of its logarithm are sums of rational terms. An impossible
count has the logarithm -inf and derivatives 0: they are right for coordinates other than the mean
that makes it impossible, which must be held.
"""

import math

import numpy as np
from numpy.typing import NDArray

from stability._kernels.jit import kernel

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@kernel
def log_component(k: int, n: int, mu: float, rho: float, out: F64) -> None:
    """Fill out (6,) with log P(k) without C(n, k), its gradient and its second derivatives.

    In the order l, l_mu, l_rho, l_mumu, l_murho, l_rhorho.
    """
    out[:] = 0.0
    left = n - k
    inside = k > 0 and left > 0
    if (k > 0 and mu <= 0.0) or (left > 0 and mu >= 1.0) or (inside and rho >= 1.0):
        out[0] = -math.inf
        return
    if k > 0:
        out[0] += math.log(mu)
        out[1] += 1.0 / mu
        out[3] -= 1.0 / (mu * mu)
    if left > 0:
        out[0] += math.log1p(-mu)
        out[1] -= 1.0 / (1.0 - mu)
        out[3] -= 1.0 / ((1.0 - mu) * (1.0 - mu))
    if inside:
        out[0] += math.log1p(-rho)
        out[2] -= 1.0 / (1.0 - rho)
        out[5] -= 1.0 / ((1.0 - rho) * (1.0 - rho))
    rest = 1.0 - rho
    for j in range(1, max(k, left)):
        if j < k:
            inverse = 1.0 / (mu * rest + j * rho)
            by_mu = rest * inverse
            by_rho = (j - mu) * inverse
            out[0] -= math.log(inverse)
            out[1] += by_mu
            out[2] += by_rho
            out[3] -= by_mu * by_mu
            out[4] -= inverse + by_mu * by_rho
            out[5] -= by_rho * by_rho
        if j < left:
            inverse = 1.0 / ((1.0 - mu) * rest + j * rho)
            by_mu = rest * inverse
            by_rho = (j - 1.0 + mu) * inverse
            out[0] -= math.log(inverse)
            out[1] -= by_mu
            out[2] += by_rho
            out[3] -= by_mu * by_mu
            out[4] += inverse + by_mu * by_rho
            out[5] -= by_rho * by_rho
    for j in range(1, n):
        inverse = 1.0 / (rest + j * rho)
        by_rho = (j - 1.0) * inverse
        out[0] += math.log(inverse)
        out[2] -= by_rho
        out[5] += by_rho * by_rho


@kernel
def weights_of(x: F64, size: int, w: F64, slope: F64) -> None:
    """Weights w (K,) of the sticks, and slope (K, K - 1) = dw / dv."""
    slope[:] = 0.0
    if size == 1:
        w[0] = 1.0
    elif size == 2:
        w[0], w[1] = x[0], 1.0 - x[0]
        slope[0, 0], slope[1, 0] = 1.0, -1.0
    else:
        first, second = x[0], x[1]
        w[0], w[1] = first, (1.0 - first) * second
        w[2] = (1.0 - first) * (1.0 - second)
        slope[0, 0] = 1.0
        slope[1, 0], slope[1, 1] = -second, 1.0 - first
        slope[2, 0], slope[2, 1] = second - 1.0, first - 1.0


@kernel
def cell_logs(k: I64, n: I64, lead: F64, size: int, x: F64, out: F64) -> None:
    """Fill out (R,) with the log-probabilities of cells; lead (R,) holds log C(n, k)."""
    w, slope = np.empty(size), np.empty((size, size))
    weights_of(x, size, w, slope)
    part, logs = np.empty(6), np.empty(size)
    for i in range(k.size):
        top = -math.inf
        for c in range(size):
            log_component(k[i], n[i], x[size - 1 + c], x[2 * size - 1 + c], part)
            logs[c] = part[0] + math.log(w[c]) if w[c] > 0.0 else -math.inf
            top = max(top, logs[c])
        if top == -math.inf:
            out[i] = -math.inf
            continue
        total = 0.0
        for c in range(size):
            total += math.exp(logs[c] - top)
        out[i] = lead[i] + top + math.log(total)


@kernel
def derivatives(
    k: I64, n: I64, f: F64, lead: F64, size: int, x: F64, grad: F64, hess: F64
) -> float:
    """Log-likelihood at x with gradient (P,) and Hessian (P, P), P = 3K - 1."""
    free = 3 * size - 1
    w, slope = np.empty(size), np.empty((size, size))
    weights_of(x, size, w, slope)
    parts = np.empty((size, 6))
    ratio, one = np.empty(size), np.empty(free)
    grad[:] = 0.0
    hess[:] = 0.0
    value = 0.0
    for i in range(k.size):
        if f[i] == 0.0:
            continue
        top = -math.inf
        for c in range(size):
            log_component(k[i], n[i], x[size - 1 + c], x[2 * size - 1 + c], parts[c])
            top = max(top, parts[c, 0])
        total = 0.0
        for c in range(size):
            ratio[c] = math.exp(parts[c, 0] - top) if top > -math.inf else 0.0
            total += w[c] * ratio[c]
        if total <= 0.0:
            return -math.inf
        value += f[i] * (lead[i] + top + math.log(total))
        for c in range(size):
            ratio[c] /= total
        for a in range(size - 1):
            one[a] = 0.0
            for c in range(size):
                one[a] += slope[c, a] * ratio[c]
        for c in range(size):
            share = w[c] * ratio[c]
            one[size - 1 + c] = share * parts[c, 1]
            one[2 * size - 1 + c] = share * parts[c, 2]
        for a in range(free):
            grad[a] += f[i] * one[a]
            for b in range(a + 1):
                hess[a, b] -= f[i] * one[a] * one[b]
        if size == 3:
            # the one second derivative of the weights that is not 0
            hess[1, 0] += f[i] * (ratio[2] - ratio[1])
        for c in range(size):
            m, r = size - 1 + c, 2 * size - 1 + c
            share = f[i] * w[c] * ratio[c]
            by_mu, by_rho = parts[c, 1], parts[c, 2]
            hess[m, m] += share * (parts[c, 3] + by_mu * by_mu)
            hess[r, m] += share * (parts[c, 4] + by_mu * by_rho)
            hess[r, r] += share * (parts[c, 5] + by_rho * by_rho)
            for a in range(size - 1):
                bend = f[i] * slope[c, a] * ratio[c]
                hess[m, a] += bend * by_mu
                hess[r, a] += bend * by_rho
    for a in range(free):
        for b in range(a):
            hess[b, a] = hess[a, b]
    return value


@kernel
def _solve(a: F64, b: F64, size: int) -> bool:
    """Solve a x = b in place by Cholesky; False where a is not positive definite."""
    for i in range(size):
        for j in range(i + 1):
            total = a[i, j]
            for c in range(j):
                total -= a[i, c] * a[j, c]
            if i == j:
                if not total > 0.0:
                    return False
                a[i, i] = math.sqrt(total)
            else:
                a[i, j] = total / a[j, j]
    for i in range(size):
        for c in range(i):
            b[i] -= a[i, c] * b[c]
        b[i] /= a[i, i]
    for back in range(size):
        i = size - 1 - back
        for c in range(i + 1, size):
            b[i] -= a[c, i] * b[c]
        b[i] /= a[i, i]
    return True


@kernel
def maximise(
    k: I64,
    n: I64,
    f: F64,
    lead: F64,
    size: int,
    held: Bool,
    low: F64,
    high: F64,
    x: F64,
    steps: int,
    tolerance: float,
) -> float:
    """Climb from x within the box, the held coordinates (P,) fixed; returns the log-likelihood.

    Newton steps with a growing and shrinking damping, projected to the box. It ends when the
    projected gradient is below ``tolerance`` an item, when no step gains, or after ``steps``.
    """
    free = 3 * size - 1
    grad, hess = np.empty(free), np.empty((free, free))
    trial_grad, trial_hess = np.empty(free), np.empty((free, free))
    matrix, step, trial = np.empty((free, free)), np.empty(free), np.empty(free)
    place = np.empty(free, np.int64)
    items = 0.0
    for i in range(f.size):
        items += f[i]
    value = derivatives(k, n, f, lead, size, x, grad, hess)
    damping = 1e-3
    for _ in range(steps):
        count = 0
        steepest = 0.0
        for a in range(free):
            outward = (x[a] <= low[a] and grad[a] < 0.0) or (x[a] >= high[a] and grad[a] > 0.0)
            if held[a] or outward:
                continue
            place[count] = a
            count += 1
            steepest = max(steepest, abs(grad[a]))
        if count == 0 or steepest <= tolerance * items:
            break
        moved = False
        for _try in range(60):
            for i in range(count):
                for j in range(count):
                    matrix[i, j] = -hess[place[i], place[j]]
                matrix[i, i] += damping * max(abs(hess[place[i], place[i]]), 1e-8 * items)
                step[i] = grad[place[i]]
            if _solve(matrix, step, count):
                trial[:] = x
                for i in range(count):
                    a = place[i]
                    trial[a] = min(max(x[a] + step[i], low[a]), high[a])
                there = derivatives(k, n, f, lead, size, trial, trial_grad, trial_hess)
                if there > value:
                    value = there
                    x[:] = trial
                    grad[:] = trial_grad
                    hess[:] = trial_hess
                    damping = max(damping * 0.1, 1e-12)
                    moved = True
                    break
            damping = max(damping * 8.0, 1e-10)
            if damping > 1e14:
                break
        if not moved:
            break
    return value


@kernel
def profile_end(
    k: I64,
    n: I64,
    f: F64,
    lead: F64,
    size: int,
    best: F64,
    peak: float,
    at: int,
    drop: float,
    up: bool,
    low: F64,
    high: F64,
    first: float,
    out: F64,
) -> int:
    """End of a profile interval of coordinate ``at``, above or below its best value.

    The end is where the profile has fallen by ``drop`` below ``peak``. out (2,) holds it and the
    fall there. Returns 1 when the bound of the box was reached before that, else 0.
    """
    free = 3 * size - 1
    held = np.zeros(free, np.bool_)
    held[at] = True
    bound = high[at] if up else low[at]
    inside, fall_inside = best[at], 0.0
    here, outer = best.copy(), best.copy()
    step = max(first, 1e-6)
    outside, fall_outside = bound, -1.0
    for _ in range(80):
        value = min(inside + step, bound) if up else max(inside - step, bound)
        outer[:] = here
        outer[at] = value
        fall = peak - maximise(k, n, f, lead, size, held, low, high, outer, 100, 1e-8)
        if fall >= drop:
            outside, fall_outside = value, fall
            break
        inside, fall_inside = value, max(fall, 0.0)
        here[:] = outer
        if value == bound:
            out[0], out[1] = bound, fall
            return 1
        step *= 2.0
    if fall_outside < 0.0:
        out[0], out[1] = inside, fall_inside
        return 1
    # the root of the fall is nearly linear in the parameter
    for turn in range(60):
        near, far = math.sqrt(fall_inside), math.sqrt(fall_outside)
        share = (math.sqrt(drop) - near) / (far - near) if far > near else 0.5
        if turn % 3 == 2:
            share = 0.5
        value = inside + min(max(share, 0.02), 0.98) * (outside - inside)
        outer[:] = here
        outer[at] = value
        fall = peak - maximise(k, n, f, lead, size, held, low, high, outer, 100, 1e-8)
        if fall >= drop:
            outside, fall_outside = value, fall
        else:
            inside, fall_inside = value, max(fall, 0.0)
            here[:] = outer
        if abs(fall - drop) < 1e-7 * max(drop, 1.0) or abs(outside - inside) < 1e-10:
            break
    out[0], out[1] = value, fall
    return 0


@kernel
def _cell_log(k: int, n: int, mu: float, rho: float) -> float:
    """log P(k) without C(n, k): products of at most 16 factors, then one logarithm."""
    left = n - k
    inside = k > 0 and left > 0
    if (k > 0 and mu <= 0.0) or (left > 0 and mu >= 1.0) or (inside and rho >= 1.0):
        return -math.inf
    rest = 1.0 - rho
    above, below = 1.0, 1.0
    if k > 0:
        above *= mu
    if left > 0:
        above *= 1.0 - mu
    if inside:
        above *= rest
    value = 0.0
    for j in range(1, n):
        step = j * rho
        below *= rest + step
        if j < k:
            above *= mu * rest + step
        if j < left:
            above *= (1.0 - mu) * rest + step
        if j % 16 == 0:
            value += math.log(above) - math.log(below)
            above, below = 1.0, 1.0
    return value + math.log(above) - math.log(below)


@kernel
def _prior_log(x: F64, size: int, weight: float, mean: F64, rho: F64) -> float:
    """Log-density of the sticks of a Dirichlet(weight, ...), of Beta means and correlations."""
    value = 0.0
    for i in range(size - 1):
        stay = weight * (size - 1 - i)
        value += (weight - 1.0) * math.log(x[i]) + (stay - 1.0) * math.log1p(-x[i])
    for c in range(size):
        m, r = x[size - 1 + c], x[2 * size - 1 + c]
        value += (mean[0] - 1.0) * math.log(m) + (mean[1] - 1.0) * math.log1p(-m)
        value += (rho[0] - 1.0) * math.log(r) + (rho[1] - 1.0) * math.log1p(-r)
    return value


@kernel
def _mixed(parts: F64, f: F64, size: int, x: F64, w: F64, slope: F64) -> float:
    """Log-likelihood without C(n, k) of component logarithms parts (K, R)."""
    weights_of(x, size, w, slope)
    value = 0.0
    for i in range(f.size):
        top = -math.inf
        for c in range(size):
            top = max(top, parts[c, i])
        total = 0.0
        for c in range(size):
            total += w[c] * math.exp(parts[c, i] - top)
        value += f[i] * (top + math.log(total))
    return value


@kernel
def slice_chain(
    k: I64,
    n: I64,
    f: F64,
    size: int,
    weight: float,
    mean: F64,
    rho: F64,
    x: F64,
    sweeps: int,
    uniform: F64,
    draws: F64,
) -> int:
    """Sample the posterior coordinate by coordinate, each slice shrunk from the whole (0, 1).

    A draw is the point after ``sweeps`` sweeps; uniform (D sweeps P, 1 + S) holds the height of
    each slice and up to S proposals in it. Returns the updates that used all of them and stayed
    where they were.
    """
    free = 3 * size - 1
    w, slope = np.empty(size), np.empty((size, size))
    parts, kept = np.empty((size, k.size)), np.empty(k.size)
    for c in range(size):
        for i in range(k.size):
            parts[c, i] = _cell_log(k[i], n[i], x[size - 1 + c], x[2 * size - 1 + c])
    value = _mixed(parts, f, size, x, w, slope) + _prior_log(x, size, weight, mean, rho)
    stuck = 0
    row = 0
    for draw in range(draws.shape[0]):
        for _ in range(sweeps):
            for a in range(free):
                here = x[a]
                height = value + math.log(uniform[row, 0])
                low, high = 0.0, 1.0
                # the component whose law depends on the coordinate, if one does
                c = -1 if a < size - 1 else (a - size + 1) % size
                if c >= 0:
                    kept[:] = parts[c]
                found = False
                for turn in range(1, uniform.shape[1]):
                    x[a] = low + uniform[row, turn] * (high - low)
                    if 0.0 < x[a] < 1.0:
                        if c >= 0:
                            m, r = x[size - 1 + c], x[2 * size - 1 + c]
                            for i in range(k.size):
                                parts[c, i] = _cell_log(k[i], n[i], m, r)
                        there = _mixed(parts, f, size, x, w, slope)
                        there += _prior_log(x, size, weight, mean, rho)
                        if there >= height:
                            value = there
                            found = True
                            break
                    if x[a] < here:
                        low = x[a]
                    else:
                        high = x[a]
                if not found:
                    x[a] = here
                    stuck += 1
                    if c >= 0:
                        parts[c] = kept
                row += 1
        draws[draw] = x
    return stuck
