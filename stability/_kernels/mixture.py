"""Maximum likelihood of Beta-Binomial mixtures in the closed box (w, mu, rho): all kernels.

One component has mean ``mu`` and intraclass correlation ``rho``, both in [0, 1]. With
``s = 1 - rho`` its probability is the rational function

    q(k; n) = C(n, k) E  prod_{1<=j<k} (mu s + j rho)  prod_{1<=j<n-k} ((1-mu) s + j rho)
                         / prod_{1<=j<n} (1 + (j-1) rho),

    E = 1 - mu at k = 0,  mu at k = n,  mu (1 - mu) s otherwise,

because the factors j = 0 of the usual product cancel in closed form. Binomial (rho = 0), all mass
on {0, n} (rho = 1) and point masses (mu = 0 or 1) are then ordinary points with finite
derivatives. A mixture of K components has weights by stick-breaking, w_1 = v_1,
w_2 = (1 - v_1) v_2, ..., so that its domain is the box [0, 1]^(3K-1):
``x = (v_1 .. v_{K-1}, mu_1, rho_1, ..., mu_K, rho_K)``.

The maximiser is a projected Newton method with Levenberg damping: variables at a bound whose
gradient points outward are fixed, the rest take a damped Newton step that is clipped to the box
and accepted when the log-likelihood grows. It stops when the Newton decrement (the squared
projected gradient in the metric of the Hessian, in units of log-likelihood) is below 1e-13.
Reference: Bertsekas, Projected Newton methods, SIAM J. Control Optim. 20 (1982) 221-246.

Arrays: cells are the distinct (k, n) with frequency f > 0; ``lead`` is C(n, k) (or its log when
n is large, see `LOG_FROM`); ``work`` is scratch of `work_rows` rows and max n + 1 columns.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import inlined, kernel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

# An int64 where a literal would make numba compile a version of its own.
whole: Any = np.int64

# Above this n the products of up to n factors may leave the range of a double: sum logs instead.
LOG_FROM = 40
# The factors j >= 1 vanish at the corners mu = rho = 0 and mu = 1, rho = 0; 1e-100 survives being
# squared and inverted.
_FLOOR = 1e-100
_DECREMENT = 1e-13
_MAX_ITER = 2000
# Tables are searched as if they had this many items: tolerances are in log-likelihood at this size.
_ITEMS = 1000.0

# outcomes of one run
CONVERGED = 0
ITERATION_CAP = 1
ABANDONED = 2

# Layout of the scratch ``buf``: two blocks (the current and the trial point), each the point (8),
# its gradient (8) and its Hessian (8 x 8, lower triangle); then the step, the factor of the
# damped Hessian, and 16 free places.
GRADIENT = 8
_HESSIAN = 16
_BLOCK = 80
_STEP = 160
_FACTOR = 168
_SCRATCH = 232
BUFFER = 248


@kernel
def lead_factors(k: I64, n: I64, out: F64) -> None:
    """C(n, k) for max n < LOG_FROM (exact in double), log C(n, k) otherwise."""
    top = 0
    for i in range(n.size):
        top = max(top, n[i])
    for i in range(k.size):
        value = 0.0 if top >= LOG_FROM else 1.0
        m = min(k[i], n[i] - k[i])
        for j in range(m):
            if top >= LOG_FROM:
                value += np.log((n[i] - j) / (j + 1.0))
            else:
                value = value * (n[i] - j) / (j + 1.0)
        out[i] = value


@kernel
def component_table(
    mu: float, rho: float, k: I64, n: I64, lead: F64, top: int, pre: F64, q: F64, at: int
) -> None:
    """Component ``at``: probabilities of the cells with the log-derivatives of each.

    Cell i fills the row q[at R + i] with q, l_mu, l_rho and the two quantities
    q_mumu / q - sum_mumu and q_rhorho / q - sum_rhorho, where l = log q and sum_ab are the second
    derivatives of the logs of the factors j >= 1: `curvature` adds those for all cells at once.
    Factors that vanish at a bound are held at 1e-100, where q times its derivatives are finite
    and right.

    Row m of the component's part of ``pre`` goes over the factors 1 <= j < m: for the successes
    (0-2) and the failures (3-5) the product, sum 1/x and sum c/x with x the factor and
    c = dx/drho; for the denominator (6-7) the product and sum c/x. Columns 8-12 hold 1/x, c/x of
    successes, failures and c/x of the denominator for the factor j = m itself.
    """
    base = at * (top + 1)
    cells = at * k.size
    s = max(1.0 - rho, _FLOOR)
    m1 = max(mu, _FLOOR)
    m0 = max(1.0 - mu, _FLOOR)
    a0 = 1.0
    a1 = a2 = 0.0
    b0 = 1.0
    b1 = b2 = 0.0
    d0 = 1.0
    d1 = 0.0
    for r in range(8):
        pre[base, r] = 0.0
    pre[base, 0] = 1.0
    pre[base, 3] = 1.0
    pre[base, 6] = 1.0
    for j in range(1, top + 1):
        row = base + j
        pre[row, 0] = a0
        pre[row, 1] = a1
        pre[row, 2] = a2
        pre[row, 3] = b0
        pre[row, 4] = b1
        pre[row, 5] = b2
        pre[row, 6] = d0
        pre[row, 7] = d1
        if j < top:
            x = max(m1 * s + j * rho, _FLOOR)
            y = max(m0 * s + j * rho, _FLOOR)
            z = 1.0 + (j - 1) * rho
            ix = 1.0 / x
            iy = 1.0 / y
            ex = (j - m1) * ix
            ey = (j - m0) * iy
            ez = (j - 1) / z
            pre[row, 8] = ix
            pre[row, 9] = ex
            pre[row, 10] = iy
            pre[row, 11] = ey
            pre[row, 12] = ez
            a0 *= x
            a1 += ix
            a2 += ex
            b0 *= y
            b1 += iy
            b2 += ey
            d0 *= z
            d1 += ez
    if top >= LOG_FROM:
        a0 = b0 = d0 = 0.0
        pre[base, 0] = 0.0
        pre[base, 3] = 0.0
        pre[base, 6] = 0.0
        for j in range(1, top + 1):
            row = base + j
            pre[row, 0] = a0
            pre[row, 3] = b0
            pre[row, 6] = d0
            a0 += np.log(max(m1 * s + j * rho, _FLOOR))
            b0 += np.log(max(m0 * s + j * rho, _FLOOR))
            d0 += np.log(1.0 + (j - 1) * rho)
    u1 = 1.0 / m1
    u0 = 1.0 / m0
    us = 1.0 / s
    for i in range(k.size):
        a = base + k[i]
        b = base + n[i] - k[i]
        m = base + n[i]
        if top >= LOG_FROM:
            value = np.exp(lead[i] + pre[a, 0] + pre[b, 3] - pre[m, 6])
        else:
            value = lead[i] * pre[a, 0] * pre[b, 3] / pre[m, 6]
        lm = s * (pre[a, 1] - pre[b, 4])
        lr = pre[a, 2] + pre[b, 5] - pre[m, 7]
        # E and its log-derivatives; E_mumu / E is 0 at the ends, E_rhorho always
        if m == base:
            e = 1.0
            em = emm = er = 0.0
        elif a == base:
            e = m0
            em = -u0
            emm = er = 0.0
        elif b == base:
            e = m1
            em = u1
            emm = er = 0.0
        else:
            e = m1 * m0 * s
            em = u1 - u0
            emm = -2.0 * u1 * u0
            er = -us
        o = cells + i
        q[o, 0] = e * value
        q[o, 1] = lm + em
        q[o, 2] = lr + er
        q[o, 3] = lm * (lm + 2.0 * em) + emm
        q[o, 4] = lr * (lr + 2.0 * er)


@inlined
def curvature(
    rho: float, k: I64, n: I64, f: F64, top: int, pre: F64, q: F64, at: int, tails: F64
) -> tuple[float, float, float]:
    """Sums over the cells of f/p times q_mumu, q_murho, q_rhorho.

    The row q[at R + i] must hold q / p in column 0. The second derivatives of the log factors
    depend on a cell only through which factors it has, so that tail counts of the weights do:
    each factor j is met once, not once a cell.
    """
    base = at * (top + 1)
    cells = at * k.size
    s = max(1.0 - rho, _FLOOR)
    for j in range(top + 1):
        tails[0, j] = 0.0
        tails[1, j] = 0.0
        tails[2, j] = 0.0
    h0 = h1 = h2 = 0.0
    for i in range(k.size):
        o = cells + i
        w = f[i] * q[o, 0]
        h0 += w * q[o, 3]
        h1 += w * q[o, 1] * q[o, 2]
        h2 += w * q[o, 4]
        tails[0, k[i]] += w
        tails[1, n[i] - k[i]] += w
        tails[2, n[i]] += w
    ta = tb = td = 0.0
    c0 = c1 = 0.0
    for j in range(top - 1, 0, -1):
        ta += tails[0, j + 1]
        tb += tails[1, j + 1]
        td += tails[2, j + 1]
        row = base + j
        ix = pre[row, 8]
        ex = pre[row, 9]
        iy = pre[row, 10]
        ey = pre[row, 11]
        ez = pre[row, 12]
        wa = ta * ix
        wb = tb * iy
        c0 += wa * ix + wb * iy
        h1 += wb - wa
        c1 += wb * ey - wa * ex
        h2 += td * ez * ez - ta * ex * ex - tb * ey * ey
    return h0 - s * s * c0, h1 + s * c1, h2


@inlined
def _loglik(buf: F64, at: int, size: int, f: F64, q: F64) -> float:
    """Log-likelihood at the weights buf[at:]; column 0 of q becomes q / p. -inf where p = 0."""
    total = 0.0
    cells = f.size
    for i in range(cells):
        p = 0.0
        for c in range(size):
            p += buf[at + c] * q[c * cells + i, 0]
        total += f[i] * np.log(p)
        t = 1.0 / p
        for c in range(size):
            q[c * cells + i, 0] *= t
    return total


@inlined
def _derivatives_two(
    buf: F64, at: int, k: I64, n: I64, f: F64, top: int, pre: F64, q: F64, tails: F64
) -> None:
    """Gradient and Hessian of K = 2 at the point in block ``at``, after `_loglik`."""
    w = buf[at]
    v = 1.0 - w
    cells = f.size
    g0 = g1 = g2 = g3 = g4 = 0.0
    h00 = h01 = h02 = h03 = h04 = 0.0
    h11 = h12 = h13 = h14 = h22 = h23 = h24 = 0.0
    h33 = h34 = h44 = 0.0
    for i in range(cells):
        o = cells + i
        fi = f[i]
        s1 = q[i, 0]
        s2 = q[o, 0]
        u0 = s1 - s2
        a1 = s1 * q[i, 1]
        a2 = s1 * q[i, 2]
        b1 = s2 * q[o, 1]
        b2 = s2 * q[o, 2]
        f0 = fi * u0
        f1 = fi * a1
        f2 = fi * a2
        f3 = fi * b1
        f4 = fi * b2
        g0 += f0
        g1 += f1
        g2 += f2
        g3 += f3
        g4 += f4
        h00 += f0 * u0
        h01 += f0 * a1
        h02 += f0 * a2
        h03 += f0 * b1
        h04 += f0 * b2
        h11 += f1 * a1
        h12 += f1 * a2
        h13 += f1 * b1
        h14 += f1 * b2
        h22 += f2 * a2
        h23 += f2 * b1
        h24 += f2 * b2
        h33 += f3 * b1
        h34 += f3 * b2
        h44 += f4 * b2
    s11, s12, s22 = curvature(buf[at + 2], k, n, f, top, pre, q, whole(0), tails)
    s33, s34, s44 = curvature(buf[at + 4], k, n, f, top, pre, q, whole(1), tails)
    g = at + GRADIENT
    buf[g] = g0
    buf[g + 1] = w * g1
    buf[g + 2] = w * g2
    buf[g + 3] = v * g3
    buf[g + 4] = v * g4
    h = at + _HESSIAN
    buf[h] = -h00
    buf[h + 8] = g1 - w * h01
    buf[h + 16] = g2 - w * h02
    buf[h + 24] = -g3 - v * h03
    buf[h + 32] = -g4 - v * h04
    buf[h + 9] = w * (s11 - w * h11)
    buf[h + 17] = w * (s12 - w * h12)
    buf[h + 25] = -w * v * h13
    buf[h + 33] = -w * v * h14
    buf[h + 18] = w * (s22 - w * h22)
    buf[h + 26] = -w * v * h23
    buf[h + 34] = -w * v * h24
    buf[h + 27] = v * (s33 - v * h33)
    buf[h + 35] = v * (s34 - v * h34)
    buf[h + 36] = v * (s44 - v * h44)


@inlined
def weights_of(buf: F64, at: int, size: int, out: int) -> None:
    """Stick-breaking: v (size - 1,) at buf[at:] -> weights at buf[out:]."""
    rest = 1.0
    for c in range(size - 1):
        buf[out + c] = rest * buf[at + c]
        rest *= 1.0 - buf[at + c]
    buf[out + size - 1] = rest


@kernel
def _derivatives_three(
    buf: F64, at: int, k: I64, n: I64, f: F64, top: int, pre: F64, q: F64, tails: F64
) -> None:
    """`_derivatives_two` for K = 3: w = v_1, (1 - v_1) v_2, (1 - v_1)(1 - v_2)."""
    g = at + GRADIENT
    h = at + _HESSIAN
    u = _SCRATCH
    w = _SCRATCH + 8
    cells = f.size
    v1 = buf[at]
    v2 = buf[at + 1]
    for a in range(8):
        buf[g + a] = 0.0
        for b in range(a + 1):
            buf[h + 8 * a + b] = 0.0
    for i in range(cells):
        fi = f[i]
        s1 = q[i, 0]
        s2 = q[cells + i, 0]
        s3 = q[2 * cells + i, 0]
        # the scores of this cell: dp / p
        buf[u] = s1 - v2 * s2 - (1.0 - v2) * s3
        buf[u + 1] = (1.0 - v1) * (s2 - s3)
        buf[h + 8] += fi * (s3 - s2)
        for c in range(3):
            o = c * cells + i
            # dw_c / dv_1 and dw_c / dv_2
            first = 1.0 if c == 0 else (-v2 if c == 1 else v2 - 1.0)
            second = 0.0 if c == 0 else (1.0 - v1 if c == 1 else v1 - 1.0)
            m = h + 8 * (2 + 2 * c)
            for e in range(2):
                score = q[o, 0] * q[o, 1 + e]
                buf[u + 2 + 2 * c + e] = buf[w + c] * score
                buf[m + 8 * e] += fi * first * score
                buf[m + 8 * e + 1] += fi * second * score
        for a in range(8):
            fu = fi * buf[u + a]
            buf[g + a] += fu
            for b in range(a + 1):
                buf[h + 8 * a + b] -= fu * buf[u + b]
    for c in range(3):
        mm, mr, rr = curvature(buf[at + 3 + 2 * c], k, n, f, top, pre, q, c, tails)
        m = h + 9 * (2 + 2 * c)
        buf[m] += buf[w + c] * mm
        buf[m + 8] += buf[w + c] * mr
        buf[m + 9] += buf[w + c] * rr


@kernel
def objective(
    buf: F64,
    at: int,
    size: int,
    k: I64,
    n: I64,
    f: F64,
    lead: F64,
    top: int,
    pre: F64,
    q: F64,
    tails: F64,
    bar: float,
) -> float:
    """Log-likelihood (-inf where p = 0) at the point in block ``at`` (int64).

    Where it is above ``bar`` the gradient and the Hessian (lower triangle) are filled, too.
    """
    for c in range(size):
        m = at + size - 1 + 2 * c
        component_table(buf[m], buf[m + 1], k, n, lead, top, pre, q, c)
    weights_of(buf, at, size, _SCRATCH + 8)
    total = _loglik(buf, _SCRATCH + 8, size, f, q)
    if total > bar:
        if size == 2:
            _derivatives_two(buf, at, k, n, f, top, pre, q, tails)
        else:
            _derivatives_three(buf, at, k, n, f, top, pre, q, tails)
    return total


@kernel
def _free_variables(buf: F64, at: int, size: int, free: I64) -> int:
    """Indices of the variables that may move; returns how many."""
    head = size - 1
    g = at + GRADIENT
    count = 0
    rest = 1.0
    for c in range(head):
        v = buf[at + c]
        # behind a stick of length 0 nothing is left to break
        stuck = (v <= 0.0 and buf[g + c] <= 0.0) or (v >= 1.0 and buf[g + c] >= 0.0)
        if rest > 0.0 and not stuck:
            free[count] = c
            count += 1
        rest *= 1.0 - v
    rest = 1.0
    for c in range(size):
        weight = rest
        if c < head:
            weight = rest * buf[at + c]
            rest *= 1.0 - buf[at + c]
        if weight > 0.0:
            for a in range(head + 2 * c, head + 2 * c + 2):
                v = buf[at + a]
                stuck = (v <= 0.0 and buf[g + a] <= 0.0) or (v >= 1.0 and buf[g + a] >= 0.0)
                if stuck and a == head + 2 * c:
                    # a point mass has no correlation to move
                    break
                if not stuck:
                    free[count] = a
                    count += 1
    return count


@kernel
def _damped_step(buf: F64, at: int, free: I64, count: int, damping: float) -> bool:
    """Solve (-H + damping diag|H|) step = g on the free variables; False when not positive.

    LDL' without square roots: row a of the factor and the reciprocal pivots lie in _FACTOR, the
    solution in _STEP.
    """
    g = at + GRADIENT
    h = at + _HESSIAN
    positive = True
    # a variable without curvature is damped as well, else no damping makes the matrix positive
    least = 1e-290
    for a in range(count):
        least = max(least, 1e-10 * abs(buf[h + 9 * free[a]]))
    for a in range(count):
        row = _FACTOR + 8 * a
        i = free[a]
        for b in range(a):
            value = -buf[h + 8 * i + free[b]]
            other = _FACTOR + 8 * b
            for c in range(b):
                value -= buf[row + c] * buf[other + c]
            buf[row + b] = value  # L[a, b] D[b]
        value = -buf[h + 8 * i + i]
        value += damping * max(abs(value), least) + 1e-300
        rhs = buf[g + i]
        for b in range(a):
            scaled = buf[row + b] * buf[_FACTOR + 9 * b]
            value -= scaled * buf[row + b]
            buf[row + b] = scaled
            rhs -= scaled * buf[_STEP + b]
        positive = positive and value > 0.0
        buf[row + a] = 1.0 / value
        buf[_STEP + a] = rhs
    for a in range(count - 1, -1, -1):
        value = buf[_STEP + a] * buf[_FACTOR + 9 * a]
        for c in range(a + 1, count):
            value -= buf[_FACTOR + 8 * c + a] * buf[_STEP + c]
        buf[_STEP + a] = value
    return positive


@kernel
def projected_gradient(buf: F64, at: int, size: int, f: F64, free: I64) -> float:
    """Largest component of the projected gradient, per item."""
    count = _free_variables(buf, at, size, free)
    worst = 0.0
    for a in range(count):
        worst = max(worst, abs(buf[at + GRADIENT + free[a]]))
    items = 0.0
    for i in range(f.size):
        items += f[i]
    return worst / items


@kernel
def newton(
    buf: F64,
    size: int,
    k: I64,
    n: I64,
    f: F64,
    lead: F64,
    top: int,
    pre: F64,
    q: F64,
    tails: F64,
    free: I64,
    rival: float,
    best: F64,
    reach: float,
) -> tuple[int, float, int, int]:
    """Maximise from the point in block 0. Returns (block, log-likelihood, iterations, code).

    ``rival`` is the log-likelihood of the best point so far, ``best`` (3 size - 1,). A run is
    abandoned when it can hardly end higher: its remaining gain, by the Newton decrement, does not
    reach beyond the rival, and the decrement is below ``reach``; or it has come so close to the
    best point (either order of two components) that it is on its way there.
    """
    d = 3 * size - 1
    at = whole(_BLOCK)
    other = whole(0)
    level = -np.inf
    decrement = np.inf
    noise = 0.0
    damping = 1e-2
    growth = 2.0
    done = False
    polished = 0
    for iteration in range(_MAX_ITER):
        bar = -np.inf if done else level
        value = objective(buf, other, size, k, n, f, lead, top, pre, q, tails, bar)
        if done and not value > level - 4.0 * noise:
            return at, level, iteration, CONVERGED
        if done or value > level:
            if iteration > 0:
                # Nielsen's update: by how well the quadratic model foretold the gain
                ratio = 2.0 * (value - level) / decrement
                damping *= max(0.03, 1.0 - (2.0 * ratio - 1.0) ** 3)
                growth = 2.0
                if damping < 1e-6:
                    damping = 0.0
            level = value
            at, other = other, at
            count = _free_variables(buf, at, size, free)
            if count == 0:
                return at, level, iteration, CONVERGED
        elif iteration == 0:
            return other, value, iteration, ITERATION_CAP
        else:
            damping = max(growth * damping, 1e-3)
            growth *= 2.0
            if damping > 1e18:
                # no representable step grows the log-likelihood: a maximum to rounding
                return at, level, iteration, CONVERGED
        while not _damped_step(buf, at, free, count, damping):
            damping = max(10.0 * damping, 1e-3)
        decrement = 0.0
        for a in range(count):
            decrement += buf[at + GRADIENT + free[a]] * buf[_STEP + a]
        # below the rounding of the log-likelihood itself steps cannot be compared any more
        noise = max(_DECREMENT, 2e-15 * abs(level))
        if done:
            polished += 1
        done = decrement < noise and damping <= 1.0
        if done and (decrement < 1e-26 or polished == 3):
            return at, level, iteration, CONVERGED
        if decrement < reach and damping <= 0.1 and level + 5.0 * decrement < rival + 1e-9:
            # only where the Hessian itself is negative, not next to a saddle
            sure = damping == 0.0
            if not sure and _damped_step(buf, at, free, count, 0.0):
                full = 0.0
                for a in range(count):
                    full += buf[at + GRADIENT + free[a]] * buf[_STEP + a]
                sure = level + 5.0 * full < rival + 1e-9
            if sure:
                return at, level, iteration, ABANDONED
            if damping > 0.0:
                _damped_step(buf, at, free, count, damping)
        close = level < rival and rival - level < 1e-2 and level + decrement < rival + 1e-3
        if decrement < reach and close:
            apart = 0.0
            swapped = abs(1.0 - buf[at] - best[0]) if size == 2 else 1.0
            for a in range(d):
                apart = max(apart, abs(buf[at + a] - best[a]))
                if a > 0 and size == 2:
                    swapped = max(swapped, abs(buf[at + a] - best[1 + (a + 1) % 4]))
            if min(apart, swapped) < 0.02:
                return at, level, iteration, ABANDONED
        for a in range(d):
            buf[other + a] = buf[at + a]
        for a in range(count):
            i = free[a]
            buf[other + i] = min(1.0, max(0.0, buf[at + i] + buf[_STEP + a]))
    return at, level, _MAX_ITER, ITERATION_CAP


@kernel
def tail_counts(k: I64, n: I64, f: F64, tails: F64) -> None:
    """Fill tails (3, top): A_j = #{k > j}, B_j = #{n - k > j}, C_j = #{n > j}."""
    top = tails.shape[1]
    for j in range(top):
        tails[0, j] = 0.0
        tails[1, j] = 0.0
        tails[2, j] = 0.0
    # first the items whose last index is j, then cumulate from the top
    for i in range(k.size):
        if k[i] > 0:
            tails[0, k[i] - 1] += f[i]
        if n[i] - k[i] > 0:
            tails[1, n[i] - k[i] - 1] += f[i]
        if n[i] > 0:
            tails[2, n[i] - 1] += f[i]
    for j in range(top - 2, -1, -1):
        tails[0, j] += tails[0, j + 1]
        tails[1, j] += tails[1, j + 1]
        tails[2, j] += tails[2, j + 1]


@kernel
def _single_loglik(mu: float, rho: float, tails: F64) -> float:
    """Sum over j of A_j log(mu s + j rho) + B_j log((1-mu) s + j rho) - C_j log(s + j rho)."""
    s = 1.0 - rho
    nu = 1.0 - mu
    a = tails[0, 0]
    b = tails[1, 0]
    total = 0.0
    inner = a + b - tails[2, 0]
    if a > 0.0:
        total += a * np.log(mu)
    if b > 0.0:
        total += b * np.log(nu)
    if inner > 0.0:
        total += inner * np.log(s)
    for j in range(1, tails.shape[1]):
        if tails[0, j] > 0.0:
            total += tails[0, j] * np.log(mu * s + j * rho)
        if tails[1, j] > 0.0:
            total += tails[1, j] * np.log(nu * s + j * rho)
        total -= tails[2, j] * np.log(1.0 + (j - 1) * rho)
    return total


@kernel
def _single_run(tails: F64, pooled: float, mu: float, rho: float, out: F64) -> None:
    """Newton from (mu, rho), both inside: fills out[0:4] and out[6:8] of `fit_single`.

    ``pooled`` is the share of successes, the mean of the binomial.
    """
    a0 = tails[0, 0]
    b0 = tails[1, 0]
    inner = a0 + b0 - tails[2, 0]
    out[3] = CONVERGED
    level = _single_loglik(mu, rho, tails)
    polished = 0
    for iteration in range(_MAX_ITER):
        s = 1.0 - rho
        nu = 1.0 - mu
        gm = a0 / mu - b0 / nu
        gr = -inner / s
        hmm = -a0 / (mu * mu) - b0 / (nu * nu)
        hmr = 0.0
        hrr = -inner / (s * s)
        for j in range(1, tails.shape[1]):
            ca = tails[0, j]
            cb = tails[1, j]
            x = 1.0 / max(mu * s + j * rho, _FLOOR)
            y = 1.0 / max(nu * s + j * rho, _FLOOR)
            z = (j - 1) / (1.0 + (j - 1) * rho)
            ex = (j - mu) * x
            ey = (j - nu) * y
            gm += s * (ca * x - cb * y)
            gr += ca * ex + cb * ey - tails[2, j] * z
            hmm -= s * s * (ca * x * x + cb * y * y)
            hmr += cb * y - ca * x + s * (cb * ey * y - ca * ex * x)
            hrr += tails[2, j] * z * z - ca * ex * ex - cb * ey * ey
        out[2] = iteration + 1
        if rho <= 0.0 and gr <= 0.0:
            # the binomial: its mean is the share of successes, exactly
            if mu == pooled:
                break
            mu = pooled
            level = _single_loglik(mu, rho, tails)
            continue
        det = hmm * hrr - hmr * hmr
        if hrr < 0.0 and det > 0.0:
            dm = -(hrr * gm - hmr * gr) / det
            dr = -(hmm * gr - hmr * gm) / det
            newton_like = True
        else:
            dm = gm / -hmm
            dr = gr / (abs(hrr) + 1e-300)
            newton_like = False
        decrement = gm * dm + gr * dr
        noise = max(_DECREMENT, 2e-15 * abs(level))
        done = newton_like and decrement < noise
        if done and (decrement < 1e-26 or polished == 3):
            break
        length = 1.0
        # stay inside 0 < mu < 1 and rho < 1: there the log-likelihood is -inf
        if mu + dm <= 0.0:
            length = min(length, 0.9 * mu / -dm)
        if mu + dm >= 1.0:
            length = min(length, 0.9 * nu / dm)
        if rho + dr >= 1.0:
            length = min(length, 0.9 * s / dr)
        moved = False
        while length > 1e-18:
            mu2 = mu + length * dm
            rho2 = max(0.0, rho + length * dr)
            value = _single_loglik(mu2, rho2, tails)
            if done or value > level:
                mu = mu2
                rho = rho2
                level = value
                moved = True
                break
            length *= 0.5
        if done:
            polished += 1
        if not moved:
            break
        if iteration == _MAX_ITER - 1:
            out[3] = ITERATION_CAP
    out[0] = mu
    out[1] = rho
    out[6] = level
    out[7] = max(abs(gm), 0.0 if rho <= 0.0 and gr <= 0.0 else abs(gr)) / tails[2, 0]


@kernel
def fit_single(k: I64, n: I64, f: F64, tails: F64, out: F64) -> None:
    """One component from its tail counts: out = (mu, rho, iterations, code, p, r, level, slope).

    p and r are the moment estimates, from which starts are made; level is the log-likelihood
    without the binomial coefficients, slope the projected gradient per item.

    Newton in (mu, rho) with a line search while far away; the last steps are taken without
    comparing log-likelihoods, since they are smaller than their rounding. With very unequal n
    there can be two maxima: the pooled mean is that of the large items, so that a second run
    starts from the mean of the shares. Degenerate data have closed forms: no success, no failure,
    or nothing inside {1..n-1}.
    """
    tail_counts(k, n, f, tails)
    a0 = tails[0, 0]
    b0 = tails[1, 0]
    trials = 0.0
    hits = 0.0
    pairs = 0.0
    for j in range(tails.shape[1]):
        trials += tails[2, j]
        hits += tails[0, j]
        pairs += 2.0 * j * tails[2, j]
    out[1] = 0.0
    out[2] = 0.0
    out[3] = 0.0
    out[4] = 0.5
    out[5] = 0.0
    out[6] = 0.0
    out[7] = 0.0
    if trials == 0.0:
        out[0] = 0.5
        return
    mu = hits / trials
    out[0] = mu
    out[4] = mu
    if a0 == 0.0 or b0 == 0.0 or pairs == 0.0:
        if a0 > 0.0 and b0 > 0.0:
            out[6] = _single_loglik(mu, 0.0, tails)
        return
    inner = a0 + b0 - tails[2, 0]
    if inner == 0.0:
        # items of size 1 are always at an end: their mean counts like all others
        out[0] = a0 / (a0 + b0)
        out[1] = 1.0
        out[5] = 1.0
        out[6] = _single_loglik(out[0], 1.0, tails)
        return
    square = 0.0
    for i in range(k.size):
        e = k[i] - n[i] * mu
        square += f[i] * e * e
    rho = (square / (mu * (1.0 - mu)) - trials) / pairs
    out[5] = min(1.0, max(0.0, rho))
    rho = min(0.95, max(1e-3, rho))
    _single_run(tails, hits / trials, mu, rho, out)
    unequal = False
    shares = 0.0
    items = 0.0
    for i in range(k.size):
        unequal = unequal or n[i] != n[0]
        if n[i] > 0:
            shares += f[i] * k[i] / n[i]
            items += f[i]
    if unequal:
        mu = out[0]
        rho = out[1]
        steps = out[2]
        code = out[3]
        level = out[6]
        slope = out[7]
        _single_run(tails, hits / trials, shares / items, 0.5, out)
        out[2] += steps
        if not out[6] > level:
            out[0] = mu
            out[1] = rho
            out[3] = code
            out[6] = level
            out[7] = slope


@kernel
def probabilities(
    x: F64, size: int, k: I64, n: I64, lead: F64, top: int, buf: F64, pre: F64, q: F64, p: F64
) -> None:
    """Cell probabilities p (R,) of the mixture at x."""
    for a in range(3 * size - 1):
        buf[a] = x[a]
    weights_of(buf, 0, size, _SCRATCH)
    for i in range(p.size):
        p[i] = 0.0
    for c in range(size):
        m = size - 1 + 2 * c
        component_table(x[m], x[m + 1], k, n, lead, top, pre, q, whole(0))
        for i in range(p.size):
            p[i] += buf[_SCRATCH + c] * q[i, 0]


@kernel
def _split_start(k: I64, n: I64, f: F64, low: Bool, x: F64) -> None:
    """Two components at the means of the cells up to and above a threshold."""
    x[0] = 0.0
    items = 0.0
    for side in range(2):
        hits = 0.0
        trials = 0.0
        for i in range(k.size):
            if low[i] == (side == 0):
                hits += f[i] * k[i]
                trials += f[i] * n[i]
                items += f[i]
                if side == 0:
                    x[0] += f[i]
        mean = hits / trials if trials > 0.0 else 0.5
        x[1 + 2 * side] = min(0.995, max(0.005, mean))
        x[2 + 2 * side] = 0.02
    x[0] = min(0.95, max(0.05, x[0] / items))


@kernel
def starts_of_two(top: int) -> int:
    """How many starts of two components are used when the largest n is ``top``."""
    return 7 if top < 12 else 9


@kernel
def fill_start_two(
    index: int, p: float, r: float, top: int, k: I64, n: I64, f: F64, low: Bool, x: F64
) -> None:
    """Start ``index`` of the deterministic list: seven for every n, two more for n >= 12.

    (w; mu1, rho1; mu2, rho2) with p, r the moment estimates of mean and correlation and
    sd = sqrt(p (1-p) r), the spread of the item means. The list was chosen among fifteen
    candidates by the share of simulated tables whose best log-likelihood it reaches;
    ``benchmarks/global_optimum.py`` measures that share.
    """
    sd = np.sqrt(p * (1.0 - p) * r)
    x[0] = 0.1
    x[1] = p
    x[3] = p
    x[4] = 0.1
    if index == 0:
        # two kinds, one spread apart on either side
        x[0] = 0.5
        x[1] = max(1e-3, p - sd)
        x[2] = 0.1
        x[3] = min(1.0 - 1e-3, p + sd)
    elif index == 1:
        # some items nearly all-or-nothing
        x[2] = 0.7
    elif index == 2 or index == 3:
        # easy items apart: those that all, or all but one, get right
        for i in range(k.size):
            low[i] = k[i] <= n[i] - (2 if index == 2 else 1)
        _split_start(k, n, f, low, x)
    elif index == 6:
        # hard items apart: those that none gets right
        for i in range(k.size):
            low[i] = k[i] == 0
        _split_start(k, n, f, low, x)
    elif index == 5:
        # the lowest tenth apart
        items = 0.0
        for i in range(f.size):
            items += f[i]
        cut = 1.0
        for step in range(top, -1, -1):
            below = 0.0
            for i in range(k.size):
                if k[i] * top <= step * n[i]:
                    below += f[i]
            if below >= 0.1 * items:
                cut = step / top
        for i in range(k.size):
            low[i] = k[i] <= cut * n[i]
        _split_start(k, n, f, low, x)
    else:
        # a sharp group on a broad background
        x[1] = 0.375 if index == 4 else (0.125 if index == 7 else 0.875)
        x[2] = 0.003
        x[4] = min(0.95, r + 0.05)


@kernel
def best_atoms(
    p: F64,
    k: I64,
    n: I64,
    f: F64,
    lead: F64,
    top: int,
    pre: F64,
    q: F64,
    grid_mu: F64,
    grid_rho: F64,
    atoms: F64,
) -> int:
    """The grid points (mu, rho) of largest directional derivative sum f q / p - M, best first.

    A mixture is a maximum over all mixing laws only if no atom has a positive one (Lindsay 1983).
    Returns how many of the rows of atoms (A, 3) = (gain, mu, rho) are filled; one row a mean.
    """
    items = 0.0
    for i in range(f.size):
        items += f[i]
    for a in range(atoms.shape[0]):
        atoms[a, 0] = 0.0
    for u in range(grid_mu.size):
        gain = 0.0
        where = 0
        for v in range(grid_rho.size):
            component_table(grid_mu[u], grid_rho[v], k, n, lead, top, pre, q, whole(0))
            value = -items
            for i in range(p.size):
                value += f[i] * q[i, 0] / p[i]
            if value > gain:
                gain = value
                where = v
        slot = atoms.shape[0]
        while slot > 0 and gain > atoms[slot - 1, 0]:
            slot -= 1
        if gain > 0.0 and slot < atoms.shape[0]:
            for a in range(atoms.shape[0] - 1, slot, -1):
                for e in range(3):
                    atoms[a, e] = atoms[a - 1, e]
            atoms[slot, 0] = gain
            atoms[slot, 1] = grid_mu[u]
            atoms[slot, 2] = grid_rho[where]
    count = 0
    for a in range(atoms.shape[0]):
        if atoms[a, 0] > 0.0:
            count += 1
    return count


@kernel
def _weights_to_sticks(w: F64, size: int, x: F64) -> None:
    """Inverse of `weights_of`."""
    rest = 1.0
    for c in range(size - 1):
        x[c] = min(1.0, w[c] / rest) if rest > 0.0 else 0.0
        rest *= 1.0 - x[c]


@kernel
def _note_mode(p: F64, modes: F64, found: int) -> int:
    """Add the cell probabilities p to the list of distinct modes; returns the new number."""
    for m in range(found):
        worst = 0.0
        for i in range(p.size):
            worst = max(worst, abs(modes[m, i] - p[i]))
        if worst < 1e-5:
            return found
    if found < modes.shape[0]:
        for i in range(p.size):
            modes[found, i] = p[i]
        return found + 1
    return found


@kernel
def mirror_cells(k: I64, n: I64, f: F64, k2: I64, n2: I64, f2: F64) -> bool:
    """Copy the cells (sorted by n, k) so that the mean is at most one half; True if mirrored.

    A tie is broken by the first difference between the table and its mirror, so that a table and
    its mirror image always lead to the same copy, and hence to bit-identical optimisation.
    """
    balance = 0.0
    for i in range(k.size):
        balance += f[i] * (2.0 * k[i] - n[i])
    start = 0
    while start < k.size:
        stop = start
        while stop < k.size and n[stop] == n[start]:
            stop += 1
        for i in range(start, stop):
            j = start + stop - 1 - i
            k2[i] = n[j] - k[j]
            n2[i] = n[j]
            f2[i] = f[j]
        start = stop
    flip = balance > 0.0
    if balance == 0.0:
        for i in range(k.size):
            if k2[i] != k[i]:
                flip = k2[i] < k[i]
                break
            if f2[i] != f[i]:
                flip = f2[i] > f[i]
                break
    if not flip:
        for i in range(k.size):
            k2[i] = k[i]
            f2[i] = f[i]
            n2[i] = n[i]
    return flip


@kernel
def _climb(
    starts: F64,
    many: int,
    size: int,
    k: I64,
    n: I64,
    f: F64,
    lead: F64,
    top: int,
    buf: F64,
    pre: F64,
    q: F64,
    tails: F64,
    free: I64,
    p: F64,
    modes: F64,
    found: int,
    base: float,
    x: F64,
    best: F64,
) -> int:
    """Newton from the first ``many`` rows of starts; keep the best in x.

    best = (log-likelihood, iterations, code, projected gradient) is updated. Distinct interior
    maxima above ``base`` (the log-likelihood with one component fewer) are collected in the rows
    of modes; returns their number, counting ``found`` from before. While modes are collected runs
    are abandoned only next to their end.
    """
    d = 3 * size - 1
    reach = 1e-6 if modes.shape[0] > 0 else np.inf
    for row in range(many):
        for a in range(d):
            buf[a] = starts[row, a]
        at, value, used, outcome = newton(
            buf, size, k, n, f, lead, top, pre, q, tails, free, best[0], x, reach
        )
        best[1] += used
        if value > best[0] and outcome != ABANDONED:
            best[0] = value
            best[2] = outcome
            best[3] = projected_gradient(buf, at, size, f, free)
            for a in range(d):
                x[a] = buf[at + a]
        if modes.shape[0] > 0 and outcome != ITERATION_CAP and value > base:
            inner = True
            for c in range(size - 1):
                inner = inner and buf[at + c] > 0.0 and buf[at + c] < 1.0
            if inner:
                for a in range(d):
                    starts[row, a] = buf[at + a]
                probabilities(starts[row], size, k, n, lead, top, buf, pre, q, p)
                found = _note_mode(p, modes, found)
    return found


@kernel
def fill_starts_three(
    two: F64, p_mean: float, r: float, many: int, atoms: F64, w: F64, starts: F64
) -> int:
    """Starts of K = 3: the best K = 2 with each atom added, then nine spreads about the mean."""
    row = 0
    for a in range(many):
        w[0] = 0.85 * two[0]
        w[1] = 0.85 * (1.0 - two[0])
        w[2] = 0.15
        for e in range(4):
            starts[row, 2 + e] = two[1 + e]
        starts[row, 6] = atoms[a, 1]
        starts[row, 7] = atoms[a, 2]
        _weights_to_sticks(w, 3, starts[row])
        row += 1
    sd = np.sqrt(p_mean * (1.0 - p_mean) * r)
    w[0] = 1.0 / 3.0
    w[1] = w[0]
    w[2] = w[0]
    for shape in range(3):
        # sharp, broad, and sharp on a broad background
        outer = 0.15 if shape == 1 else 0.01
        middle = 0.5 if shape == 2 else outer
        for reach in range(1, 4):
            starts[row, 2] = max(2e-3, p_mean - reach * sd)
            starts[row, 3] = outer
            starts[row, 4] = p_mean
            starts[row, 5] = middle
            starts[row, 6] = min(1.0 - 2e-3, p_mean + reach * sd)
            starts[row, 7] = outer
            _weights_to_sticks(w, 3, starts[row])
            row += 1
    return row


@kernel
def fit_tables(
    k: I64,
    n: I64,
    freq: F64,
    size: int,
    mode_rows: int,
    grid_mu: F64,
    grid_rho: F64,
    xs: F64,
    infos: F64,
) -> None:
    """Fit every row of freq (B, R): the frequencies of the cells (k, n), sorted by n then k.

    One table is a batch of one row; a batch of histograms has the cells k = 0..n of one n. Rows
    must not be negative; a row of zeros is left as it is. Fills xs (B, 3 size - 1) and
    infos (B, 5) = (log-likelihood, iterations, code, modes, projected gradient per item).

    Each table is mirrored so that its mean is at most one half, fitted with one component, then
    two from the deterministic starts (with a restart from the best atoms when only one component
    is left), then three from the best two and its best atoms, and mirrored back. The fit with one
    component fewer is always a candidate, so the log-likelihood never falls with K.
    """
    cells = k.size
    top = whole(0)
    for i in range(cells):
        top = max(top, n[i])
    k1 = np.empty(cells, np.int64)
    n1 = np.empty(cells, np.int64)
    f1 = np.empty(cells)
    k2 = np.empty(cells, np.int64)
    n2 = np.empty(cells, np.int64)
    f2 = np.empty(cells)
    lead = np.empty(cells)
    tails = np.empty((3, top + 1))
    p = np.empty(cells)
    low = np.empty(cells, np.bool_)
    modes = np.empty((mode_rows, cells))
    single = np.empty(8)
    best = np.empty(4)
    atoms = np.empty((6, 3))
    two = np.empty(5)
    w = np.empty(3)
    count_two = starts_of_two(top)
    starts_two = np.empty((count_two + 2, 5))
    starts_three = np.empty((15, 8))
    buf = np.empty(BUFFER)
    pre = np.empty((size * (top + 1), 16))
    q = np.empty((size * cells, 5))
    free = np.empty(8, np.int64)
    for row in range(freq.shape[0]):
        used = 0
        for i in range(cells):
            if freq[row, i] > 0.0:
                k1[used] = k[i]
                n1[used] = n[i]
                f1[used] = freq[row, i]
                used += 1
        if used == 0:
            continue
        # c copies of a table are searched as the table itself, to the last bit
        copies = f1[0]
        for i in range(1, used):
            other = f1[i]
            while other > 0.0:
                copies, other = other, copies % other
        for i in range(used):
            f1[i] /= copies
        kk = k2[:used]
        nn = n2[:used]
        ff = f2[:used]
        ll = lead[:used]
        pp = p[:used]
        x = xs[row]
        flip = mirror_cells(k1[:used], n1[:used], f1[:used], kk, nn, ff)
        lead_factors(kk, nn, ll)
        fit_single(kk, nn, ff, tails, single)
        if size == 1:
            x[0] = single[0]
            x[1] = single[1]
        best[0] = single[6]
        for i in range(used):
            best[0] += ff[i] * (ll[i] if top >= LOG_FROM else np.log(ll[i]))
        best[1] = single[2]
        best[2] = single[3]
        best[3] = single[7]
        scale = 1.0
        if size > 1:
            # the search is about shares: c copies of a table take the same path as one
            items = 0.0
            for i in range(used):
                items += ff[i]
            scale = _ITEMS / items
            for i in range(used):
                ff[i] *= scale
            best[0] *= scale
        found = whole(0)
        mean = min(0.999, max(0.001, single[4]))
        spread = min(0.98, max(1e-3, single[5]))
        stage = whole(2)
        while stage <= size:
            # the candidate with one component fewer
            if stage == 2:
                y = two
                y[0] = 1.0
                for c in range(2):
                    y[1 + 2 * c] = single[0]
                    y[2 + 2 * c] = single[1]
            else:
                y = x
                w[0] = two[0]
                w[1] = 1.0 - two[0]
                w[2] = 0.0
                _weights_to_sticks(w, 3, y)
                for a in range(4):
                    y[2 + a] = two[1 + a]
                y[6] = two[3]
                y[7] = two[4]
            base = best[0]
            found = whole(0)
            counted = modes if stage == size else modes[:0]
            attempt = 0
            while used > 1 and attempt < 2:
                if stage == 2 and attempt == 0:
                    starts = starts_two
                    many = count_two
                    for index in range(many):
                        fill_start_two(
                            index, mean, spread, top, kk, nn, ff, low[:used], starts_two[index]
                        )
                else:
                    if stage == 2 and y[0] > 0.0 and y[0] < 1.0:
                        break
                    probabilities(y, stage, kk, nn, ll, top, buf, pre, q, pp)
                    many = best_atoms(pp, kk, nn, ff, ll, top, pre, q, grid_mu, grid_rho, atoms)
                    if stage == 2:
                        # one component is left: does any direction into the mixtures climb?
                        starts = starts_two
                        many = min(many, 2)
                        keep = 1 if y[0] >= 1.0 else 3
                        for a in range(many):
                            starts[a, 0] = 0.1
                            starts[a, 1] = atoms[a, 1]
                            starts[a, 2] = atoms[a, 2]
                            starts[a, 3] = y[keep]
                            starts[a, 4] = y[keep + 1]
                    else:
                        starts = starts_three
                        many = fill_starts_three(two, mean, spread, many, atoms, w, starts_three)
                        attempt = 1
                found = _climb(
                    starts,
                    many,
                    stage,
                    kk,
                    nn,
                    ff,
                    ll,
                    top,
                    buf,
                    pre,
                    q,
                    tails,
                    free,
                    pp,
                    counted,
                    found,
                    base,
                    y,
                    best,
                )
                attempt += 1
            if stage == size == 2:
                for a in range(5):
                    x[a] = two[a]
            stage += 1
        infos[row, 0] = best[0] / scale * copies
        infos[row, 1] = best[1]
        infos[row, 2] = best[2]
        infos[row, 3] = max(found, 1)
        infos[row, 4] = best[3]
        if flip:
            for c in range(size):
                m = size - 1 + 2 * c
                x[m] = 1.0 - x[m]


@kernel
def e_step(weights: F64, q: F64, f: F64, resp: F64) -> float:
    """Responsibilities resp (K, R) from the tables q (K R, 6); returns the log-likelihood."""
    cells = f.size
    total = 0.0
    for i in range(cells):
        p = 0.0
        for c in range(weights.size):
            resp[c, i] = weights[c] * q[c * cells + i, 0]
            p += resp[c, i]
        for c in range(weights.size):
            resp[c, i] /= p
        total += f[i] * np.log(p)
    return total


@kernel
def mixture_law(weights: F64, mean: F64, rho: F64, n: int, law: F64) -> None:
    """Probabilities law (n + 1,) of the counts 0..n under a mixture, normalised to sum to 1."""
    k = np.arange(n + 1)
    m = np.full(n + 1, n)
    lead = np.empty(n + 1)
    lead_factors(k, m, lead)
    pre = np.empty((n + 1, 16))
    q = np.empty((n + 1, 5))
    total = 0.0
    for i in range(n + 1):
        law[i] = 0.0
    for c in range(weights.size):
        component_table(mean[c], rho[c], k, m, lead, n, pre, q, whole(0))
        for i in range(n + 1):
            law[i] += weights[c] * q[i, 0]
    for i in range(n + 1):
        total += law[i]
    for i in range(n + 1):
        law[i] /= total
