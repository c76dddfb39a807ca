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

Up to eight starts climb abreast, each in a lane of its own (``lanes.py``): the arrays of the search
have a row a quantity and a column a start, and decisions are masks. A start does not see the
others but through the best log-likelihood among them, by which a hopeless run is given up.

Arrays: cells are the distinct (k, n) with frequency f > 0, sorted by n and then k; ``lead`` is
C(n, k) (or its log when n is large, see `LOG_FROM`); ``pre`` and ``q`` are the scratch of
`component_scratch`, ``tails`` has 3 (max n + 1) rows.
"""

import numpy as np
import numpy.typing as npt

from stability._kernels.jit import kernel, whole
from stability._kernels.lanes import (
    WIDTH,
    any_of,
    lane_numbers,
    larger,
    load,
    log_of,
    select,
    size_of,
    smaller,
    splat,
    store,
    sum_of,
)

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
Lanes = npt.NDArray[np.float64]

# Above this n the products of up to n factors may leave the range of a double: sum logs instead.
LOG_FROM = 40
# The factors j >= 1 vanish at the corners mu = rho = 0 and mu = 1, rho = 0; 1e-100 survives being
# squared and inverted.
_FLOOR = 1e-100
_DECREMENT = 1e-13
_MAX_ITER = 2000
# Times ten each: enough for any matrix whose smallest entry counts as 1e-10 of the largest.
_RAISES = 40
# Tables are searched as if they had this many items: tolerances are in log-likelihood at this size.
_ITEMS = 1000.0

# outcomes of one run
CONVERGED = 0
ITERATION_CAP = 1
ABANDONED = 2

# Layout of the scratch ``buf``, a row a quantity and a lane a run: two blocks (the trial and the
# current points), each the point (8), its gradient (8) and its Hessian (8 x 8, lower triangle);
# then the step, the factor of the damped Hessian, which variables are free, weights, scores of a
# cell, sums over cells, and the log-likelihood of the trial points.
GRADIENT = 8
_HESSIAN = 16
_BLOCK = 80
_STEP = 160
_FACTOR = 168
_FREE = 232
_WEIGHTS = 240
_SCORES = 248
_SUMS = 256
VALUE = 264
BUFFER = 265
# rows of ``pre`` for each factor and of ``q`` for each cell
PREFIX = 13
CELL = 5


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
def component_scratch(size: int, top: int, cells: int) -> tuple[F64, F64]:
    """Room for the factors ``pre`` and the cells ``q`` of ``size`` components."""
    return (
        np.empty((size * (top + 1) * PREFIX, WIDTH)),
        np.empty((size * cells * CELL, WIDTH)),
    )


@kernel
def component_table(
    mu: Lanes, rho: Lanes, k: I64, n: I64, lead: F64, top: int, pre: F64, q: F64, at: int
) -> None:
    """Component ``at`` of eight mixtures: cell probabilities with the log-derivatives of each.

    Cell i fills the rows q[5 (at R + i) :] with q, l_mu, l_rho and the two quantities
    q_mumu / q - sum_mumu and q_rhorho / q - sum_rhorho, where l = log q and sum_ab are the second
    derivatives of the logs of the factors j >= 1: `curvature` adds those for all cells at once.
    Factors that vanish at a bound are held at 1e-100, where q times its derivatives are finite
    and right.

    The 13 rows of ``pre`` for m go over the factors 1 <= j < m: for the successes (0-2) and the
    failures (3-5) the product, sum 1/x and sum c/x with x the factor and c = dx/drho; for the
    denominator (6-7) the product and sum c/x. Rows 8-12 hold 1/x, c/x of successes, failures and
    c/x of the denominator for the factor j = m itself.
    """
    base = at * (top + 1) * PREFIX
    logs = top >= LOG_FROM
    s = larger(1.0 - rho, splat(_FLOOR))
    m1 = larger(mu, splat(_FLOOR))
    m0 = larger(1.0 - mu, splat(_FLOOR))
    empty = 0.0 if logs else 1.0
    a0 = splat(empty)
    b0 = splat(empty)
    d0 = splat(empty)
    a1 = splat(0.0)
    a2 = splat(0.0)
    b1 = splat(0.0)
    b2 = splat(0.0)
    d1 = splat(0.0)
    for j in range(top + 1):
        row = base + PREFIX * j
        store(pre, row, a0)
        store(pre, row + 1, a1)
        store(pre, row + 2, a2)
        store(pre, row + 3, b0)
        store(pre, row + 4, b1)
        store(pre, row + 5, b2)
        store(pre, row + 6, d0)
        store(pre, row + 7, d1)
        if 0 < j < top:
            step = rho * j
            x = larger(m1 * s + step, splat(_FLOOR))
            y = larger(m0 * s + step, splat(_FLOOR))
            z = 1.0 + (step - rho)
            # three reciprocals by one division
            xy = x * y
            inverse = 1.0 / (xy * z)
            outer = inverse * z
            ix = outer * y
            iy = outer * x
            ex = (j - m1) * ix
            ey = (j - m0) * iy
            ez = (j - 1.0) * (inverse * xy)
            store(pre, row + 8, ix)
            store(pre, row + 9, ex)
            store(pre, row + 10, iy)
            store(pre, row + 11, ey)
            store(pre, row + 12, ez)
            a1 += ix
            a2 += ex
            b1 += iy
            b2 += ey
            d1 += ez
            if logs:
                a0 += log_of(x)
                b0 += log_of(y)
                d0 += log_of(z)
            else:
                a0 *= x
                b0 *= y
                d0 *= z
    u1 = 1.0 / m1
    u0 = 1.0 / m0
    us = 1.0 / s
    zero = splat(0.0)
    # the denominator, once for each run of cells of equal n
    last = whole(-1)
    d0 = zero
    d1 = zero
    for i in range(k.size):
        a = base + PREFIX * k[i]
        b = base + PREFIX * (n[i] - k[i])
        m = base + PREFIX * n[i]
        if m != last:
            last = m
            d0 = load(pre, m + 6)
            d1 = load(pre, m + 7)
            if not logs:
                d0 = 1.0 / d0
        o = CELL * (at * k.size + i)
        if logs:
            store(q, o, lead[i] + load(pre, a) + load(pre, b + 3) - d0)
            for lane in range(WIDTH):
                q[o, lane] = np.exp(q[o, lane])
            value = load(q, o)
        else:
            value = lead[i] * load(pre, a) * (load(pre, b + 3) * d0)
        # E and its log-derivatives; E_mumu / E is 0 at the ends, E_rhorho always
        if m == base:
            e = splat(1.0)
            em = zero
            emm = zero
            er = zero
        elif a == base:
            e = m0
            em = -u0
            emm = zero
            er = zero
        elif b == base:
            e = m1
            em = u1
            emm = zero
            er = zero
        else:
            e = m1 * m0 * s
            em = u1 - u0
            emm = -2.0 * u1 * u0
            er = -us
        lm = s * (load(pre, a + 1) - load(pre, b + 4))
        lr = load(pre, a + 2) + load(pre, b + 5) - d1
        store(q, o, e * value)
        store(q, o + 1, lm + em)
        store(q, o + 2, lr + er)
        store(q, o + 3, lm * (lm + 2.0 * em) + emm)
        store(q, o + 4, lr * (lr + 2.0 * er))


@kernel
def curvature(
    rho: Lanes,
    k: I64,
    n: I64,
    f: F64,
    top: int,
    pre: F64,
    q: F64,
    at: int,
    tails: F64,
    out: F64,
    row: int,
) -> None:
    """Sums over the cells of f/p times q_mumu, q_murho, q_rhorho: rows row, row + 1, row + 2.

    The row q[5 (at R + i)] must hold q / p. The second derivatives of the log factors depend on
    a cell only through which factors it has, so that tail counts of the weights do: each factor j
    is met once, not once a cell.
    """
    base = at * (top + 1) * PREFIX
    s = larger(1.0 - rho, splat(_FLOOR))
    zero = splat(0.0)
    for j in range(3 * top + 3):
        store(tails, j, zero)
    h0 = splat(0.0)
    h1 = splat(0.0)
    h2 = splat(0.0)
    for i in range(k.size):
        o = CELL * (at * k.size + i)
        w = f[i] * load(q, o)
        h0 += w * load(q, o + 3)
        h1 += w * load(q, o + 1) * load(q, o + 2)
        h2 += w * load(q, o + 4)
        a = 3 * k[i]
        b = 3 * (n[i] - k[i]) + 1
        d = 3 * n[i] + 2
        store(tails, a, load(tails, a) + w)
        store(tails, b, load(tails, b) + w)
        store(tails, d, load(tails, d) + w)
    ta = splat(0.0)
    tb = splat(0.0)
    td = splat(0.0)
    c0 = splat(0.0)
    c1 = splat(0.0)
    for j in range(top - 1, 0, -1):
        ta += load(tails, 3 * j + 3)
        tb += load(tails, 3 * j + 4)
        td += load(tails, 3 * j + 5)
        m = base + PREFIX * j
        ix = load(pre, m + 8)
        ex = load(pre, m + 9)
        iy = load(pre, m + 10)
        ey = load(pre, m + 11)
        ez = load(pre, m + 12)
        wa = ta * ix
        wb = tb * iy
        c0 += wa * ix + wb * iy
        h1 += wb - wa
        c1 += wb * ey - wa * ex
        h2 += td * ez * ez - ta * ex * ex - tb * ey * ey
    store(out, row, h0 - s * s * c0)
    store(out, row + 1, h1 + s * c1)
    store(out, row + 2, h2)


@kernel
def _loglik(buf: F64, at: int, size: int, f: F64, q: F64) -> None:
    """Log-likelihood, to row VALUE, at the weights buf[at:]; row 0 of each cell becomes q / p.

    It is -inf where p = 0 in some cell.
    """
    total = splat(0.0)
    cells = f.size
    for i in range(cells):
        p = splat(0.0)
        for c in range(size):
            p += load(buf, at + c) * load(q, CELL * (c * cells + i))
        total += f[i] * log_of(p)
        t = 1.0 / p
        for c in range(size):
            o = CELL * (c * cells + i)
            store(q, o, load(q, o) * t)
    store(buf, VALUE, total)


@kernel
def _derivatives_two(
    buf: F64, at: int, k: I64, n: I64, f: F64, top: int, pre: F64, q: F64, tails: F64
) -> None:
    """Gradient and Hessian of K = 2 at the points in block ``at``, after `_loglik`."""
    w = load(buf, at)
    v = 1.0 - w
    cells = f.size
    g0 = splat(0.0)
    g1 = splat(0.0)
    g2 = splat(0.0)
    g3 = splat(0.0)
    g4 = splat(0.0)
    h00 = splat(0.0)
    h01 = splat(0.0)
    h02 = splat(0.0)
    h03 = splat(0.0)
    h04 = splat(0.0)
    h11 = splat(0.0)
    h12 = splat(0.0)
    h13 = splat(0.0)
    h14 = splat(0.0)
    h22 = splat(0.0)
    h23 = splat(0.0)
    h24 = splat(0.0)
    h33 = splat(0.0)
    h34 = splat(0.0)
    h44 = splat(0.0)
    for i in range(cells):
        o = CELL * i
        r = CELL * (cells + i)
        fi = f[i]
        s1 = load(q, o)
        s2 = load(q, r)
        u0 = s1 - s2
        a1 = s1 * load(q, o + 1)
        a2 = s1 * load(q, o + 2)
        b1 = s2 * load(q, r + 1)
        b2 = s2 * load(q, r + 2)
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
    curvature(load(buf, at + 2), k, n, f, top, pre, q, whole(0), tails, buf, _SUMS)
    curvature(load(buf, at + 4), k, n, f, top, pre, q, whole(1), tails, buf, _SUMS + 3)
    g = at + GRADIENT
    store(buf, g, g0)
    store(buf, g + 1, w * g1)
    store(buf, g + 2, w * g2)
    store(buf, g + 3, v * g3)
    store(buf, g + 4, v * g4)
    h = at + _HESSIAN
    store(buf, h, -h00)
    store(buf, h + 8, g1 - w * h01)
    store(buf, h + 16, g2 - w * h02)
    store(buf, h + 24, -g3 - v * h03)
    store(buf, h + 32, -g4 - v * h04)
    store(buf, h + 9, w * (load(buf, _SUMS) - w * h11))
    store(buf, h + 17, w * (load(buf, _SUMS + 1) - w * h12))
    store(buf, h + 25, -w * v * h13)
    store(buf, h + 33, -w * v * h14)
    store(buf, h + 18, w * (load(buf, _SUMS + 2) - w * h22))
    store(buf, h + 26, -w * v * h23)
    store(buf, h + 34, -w * v * h24)
    store(buf, h + 27, v * (load(buf, _SUMS + 3) - v * h33))
    store(buf, h + 35, v * (load(buf, _SUMS + 4) - v * h34))
    store(buf, h + 36, v * (load(buf, _SUMS + 5) - v * h44))


@kernel
def _derivatives_three(
    buf: F64, at: int, k: I64, n: I64, f: F64, top: int, pre: F64, q: F64, tails: F64
) -> None:
    """`_derivatives_two` for K = 3: w = v_1, (1 - v_1) v_2, (1 - v_1)(1 - v_2)."""
    g = at + GRADIENT
    h = at + _HESSIAN
    u = _SCORES
    cells = f.size
    v1 = load(buf, at)
    v2 = load(buf, at + 1)
    for a in range(8):
        store(buf, g + a, splat(0.0))
        for b in range(a + 1):
            store(buf, h + 8 * a + b, splat(0.0))
    for i in range(cells):
        fi = f[i]
        s1 = load(q, CELL * i)
        s2 = load(q, CELL * (cells + i))
        s3 = load(q, CELL * (2 * cells + i))
        # the scores of this cell: dp / p
        store(buf, u, s1 - v2 * s2 - (1.0 - v2) * s3)
        store(buf, u + 1, (1.0 - v1) * (s2 - s3))
        store(buf, h + 8, load(buf, h + 8) + fi * (s3 - s2))
        for c in range(3):
            o = CELL * (c * cells + i)
            # dw_c / dv_1 and dw_c / dv_2
            first = splat(1.0)
            second = splat(0.0)
            if c == 1:
                first = -v2
                second = 1.0 - v1
            elif c == 2:
                first = v2 - 1.0
                second = v1 - 1.0
            m = h + 8 * (2 + 2 * c)
            for e in range(2):
                score = load(q, o) * load(q, o + 1 + e)
                store(buf, u + 2 + 2 * c + e, load(buf, _WEIGHTS + c) * score)
                r = m + 8 * e
                store(buf, r, load(buf, r) + fi * first * score)
                store(buf, r + 1, load(buf, r + 1) + fi * second * score)
        for a in range(8):
            fu = fi * load(buf, u + a)
            store(buf, g + a, load(buf, g + a) + fu)
            for b in range(a + 1):
                r = h + 8 * a + b
                store(buf, r, load(buf, r) - fu * load(buf, u + b))
    for c in range(3):
        curvature(load(buf, at + 3 + 2 * c), k, n, f, top, pre, q, c, tails, buf, _SUMS)
        m = h + 9 * (2 + 2 * c)
        weight = load(buf, _WEIGHTS + c)
        store(buf, m, load(buf, m) + weight * load(buf, _SUMS))
        store(buf, m + 8, load(buf, m + 8) + weight * load(buf, _SUMS + 1))
        store(buf, m + 9, load(buf, m + 9) + weight * load(buf, _SUMS + 2))


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
) -> None:
    """Log-likelihoods, gradients and Hessians (lower triangles) at the points in block ``at``.

    The log-likelihoods, -inf where p = 0, go to row VALUE.
    """
    rest = splat(1.0)
    for c in range(size):
        m = at + size - 1 + 2 * c
        component_table(load(buf, m), load(buf, m + 1), k, n, lead, top, pre, q, c)
        if c < size - 1:
            store(buf, _WEIGHTS + c, rest * load(buf, at + c))
            rest *= 1.0 - load(buf, at + c)
    store(buf, _WEIGHTS + size - 1, rest)
    _loglik(buf, _WEIGHTS, size, f, q)
    if size == 2:
        _derivatives_two(buf, at, k, n, f, top, pre, q, tails)
    else:
        _derivatives_three(buf, at, k, n, f, top, pre, q, tails)


@kernel
def _free_variables(buf: F64, at: int, size: int) -> None:
    """Which variables may move: rows _FREE + a hold 1 or 0."""
    head = size - 1
    g = at + GRADIENT
    rest = splat(1.0)
    for a in range(3 * size - 1):
        v = load(buf, at + a)
        slope = load(buf, g + a)
        stuck = ((v <= 0.0) & (slope <= 0.0)) | ((v >= 1.0) & (slope >= 0.0))
        store(buf, _FREE + a, select(stuck, 0.0, 1.0))
    for c in range(size):
        weight = rest
        if c < head:
            # behind a stick of length 0 nothing is left to break
            store(buf, _FREE + c, select(rest > 0.0, load(buf, _FREE + c), 0.0))
            weight = rest * load(buf, at + c)
            rest *= 1.0 - load(buf, at + c)
        a = _FREE + head + 2 * c
        free = select(weight > 0.0, load(buf, a), 0.0)
        store(buf, a, free)
        # a point mass has no correlation to move
        store(buf, a + 1, select(free > 0.0, load(buf, a + 1), 0.0))


@kernel
def _damped_step(buf: F64, at: int, size: int, damping: Lanes) -> Lanes:
    """Solve (-H + damping diag|H|) step = g on the free variables; 1 where it was positive.

    LDL' without square roots: row a of the factor and the reciprocal pivots lie in _FACTOR, the
    solution in _STEP. A fixed variable has the row and column of the identity.
    """
    d = 3 * size - 1
    g = at + GRADIENT
    h = at + _HESSIAN
    positive = splat(1.0)
    # a variable without curvature is damped as well, else no damping makes the matrix positive
    least = splat(1e-290)
    for a in range(d):
        free = load(buf, _FREE + a) > 0.0
        least = larger(select(free, 1e-10 * size_of(load(buf, h + 9 * a)), 0.0), least)
    for a in range(d):
        row = _FACTOR + 8 * a
        free = load(buf, _FREE + a) > 0.0
        value = -load(buf, h + 9 * a)
        value += damping * larger(size_of(value), least) + 1e-300
        value = select(free, value, 1.0)
        rhs = select(free, load(buf, g + a), 0.0)
        for b in range(a):
            both = free & (load(buf, _FREE + b) > 0.0)
            part = select(both, -load(buf, h + 8 * a + b), 0.0)
            other = _FACTOR + 8 * b
            for c in range(b):
                part -= load(buf, row + c) * load(buf, other + c)
            store(buf, row + b, part)  # L[a, b] D[b]
        for b in range(a):
            part = load(buf, row + b)
            scaled = part * load(buf, _FACTOR + 9 * b)
            value -= scaled * part
            store(buf, row + b, scaled)
            rhs -= scaled * load(buf, _STEP + b)
        positive = select(value > 0.0, positive, 0.0)
        store(buf, row + a, 1.0 / value)
        store(buf, _STEP + a, rhs)
    for a in range(d - 1, -1, -1):
        value = load(buf, _STEP + a) * load(buf, _FACTOR + 9 * a)
        for c in range(a + 1, d):
            value -= load(buf, _FACTOR + 8 * c + a) * load(buf, _STEP + c)
        store(buf, _STEP + a, value)
    return positive


@kernel
def _decrement(buf: F64, at: int, size: int) -> Lanes:
    """The squared length of the gradient in the metric of the Hessian: g' step."""
    total = splat(0.0)
    for a in range(3 * size - 1):
        slope = load(buf, at + GRADIENT + a) * load(buf, _STEP + a)
        total += select(load(buf, _FREE + a) > 0.0, slope, 0.0)
    return total


@kernel
def newton(
    buf: F64,
    size: int,
    many: int,
    k: I64,
    n: I64,
    f: F64,
    lead: F64,
    top: int,
    pre: F64,
    q: F64,
    tails: F64,
    rival: float,
    ends: F64,
) -> None:
    """Maximise from the first ``many`` lanes of the points in block 0, all abreast.

    Lane l ends at block 1 and fills ends[l] = (log-likelihood, iterations, code, slope), the slope
    being the largest component of the projected gradient. A run is abandoned when it can hardly
    end highest: its remaining gain, by the Newton decrement of the undamped Hessian, does not
    reach the best lane or the ``rival``, the best log-likelihood known before; nan abandons none.
    """
    d = 3 * size - 1
    current = whole(_BLOCK)
    lane_number = lane_numbers()
    for lane in range(WIDTH):
        for e in range(4):
            ends[lane, e] = 0.0
        ends[lane, 0] = -np.inf
        ends[lane, 2] = ABANDONED
    alive = lane_number < many
    level = splat(-np.inf)
    decrement = splat(np.inf)
    noise = splat(0.0)
    damping = splat(1e-2)
    growth = splat(2.0)
    polished = splat(0.0)
    done = lane_number < 0.0
    for iteration in range(_MAX_ITER):
        objective(buf, whole(0), size, k, n, f, lead, top, pre, q, tails)
        value = load(buf, VALUE)
        stop = done & ~(value > level - 4.0 * noise)
        taken = alive & (done | (value > level)) & ~stop
        failed = alive & ~taken & ~stop
        if iteration == 0:
            # a start where an observed count is impossible
            stop = stop | failed
        else:
            # Nielsen's update: by how well the quadratic model foretold the gain
            miss = 4.0 * (value - level) / decrement - 1.0
            eased = damping * larger(1.0 - miss * miss * miss, splat(0.03))
            eased = select(eased < 1e-6, 0.0, eased)
            raised = larger(growth * damping, splat(1e-3))
            damping = select(taken, eased, select(failed, raised, damping))
            growth = select(taken, 2.0, select(failed, 2.0 * growth, growth))
            # no representable step grows the log-likelihood: a maximum to rounding
            stop = stop | (failed & (damping > 1e18))
        level = select(taken, value, level)
        for a in range(d):
            store(buf, current + a, select(taken, load(buf, a), load(buf, current + a)))
            g = GRADIENT + a
            store(buf, current + g, select(taken, load(buf, g), load(buf, current + g)))
            for b in range(a + 1):
                h = _HESSIAN + 8 * a + b
                store(buf, current + h, select(taken, load(buf, h), load(buf, current + h)))
        _free_variables(buf, current, size)
        movable = splat(0.0)
        for a in range(d):
            movable += load(buf, _FREE + a)
        stop = stop | (movable < 1.0)
        running = alive & ~stop
        positive = _damped_step(buf, current, size, damping)
        for _ in range(_RAISES):
            indefinite = running & (positive < 0.5)
            if not any_of(indefinite):
                break
            raised = larger(10.0 * damping, splat(1e-3))
            damping = select(indefinite, raised, damping)
            positive = _damped_step(buf, current, size, damping)
        decrement = _decrement(buf, current, size)
        # below the rounding of the log-likelihood itself steps cannot be compared any more
        noise = larger(2e-15 * size_of(level), splat(_DECREMENT))
        polished += select(done, 1.0, 0.0)
        done = running & (decrement < noise) & (damping <= 1.0)
        stop = stop | (done & ((decrement < 1e-26) | (polished > 2.5)))
        store(buf, VALUE, level)
        best = rival
        first = -1
        for lane in range(many):
            # a run that was given up does not count: its end is not used
            counts = ends[lane, 1] == 0.0 or ends[lane, 2] == CONVERGED
            if counts and buf[VALUE, lane] > best:
                best = buf[VALUE, lane]
                first = lane
        bar = select((lane_number < first) | (lane_number > first), best, rival) + 1e-9
        hopeless = alive & ~stop & (damping <= 0.1) & (level + 5.0 * decrement < bar)
        if any_of(hopeless & (damping > 0.0)):
            # only where the Hessian itself is negative, not next to a saddle
            positive = _damped_step(buf, current, size, splat(0.0))
            gain = _decrement(buf, current, size)
            hopeless = hopeless & (positive > 0.5) & (level + 5.0 * gain < bar)
            _damped_step(buf, current, size, damping)
        ended = alive & (stop | hopeless)
        if any_of(ended):
            store(buf, VALUE, select(ended, select(hopeless, 2.0, 1.0), 0.0))
            for lane in range(many):
                if buf[VALUE, lane] > 0.0:
                    ends[lane, 1] = iteration + 1
                    ends[lane, 2] = ABANDONED if buf[VALUE, lane] > 1.0 else CONVERGED
            alive = alive & ~ended
            if not any_of(alive):
                break
        for a in range(d):
            x = load(buf, current + a)
            moved = smaller(larger(x + load(buf, _STEP + a), splat(0.0)), splat(1.0))
            store(buf, a, select(alive & (load(buf, _FREE + a) > 0.0), moved, x))
    store(buf, VALUE, level)
    store(buf, _SUMS, select(alive, 1.0, 0.0))
    for lane in range(many):
        ends[lane, 0] = buf[VALUE, lane]
        if buf[_SUMS, lane] > 0.0:
            ends[lane, 1] = _MAX_ITER
            ends[lane, 2] = ITERATION_CAP
        if not ends[lane, 0] > -np.inf:
            ends[lane, 2] = ITERATION_CAP
        for a in range(d):
            slope = buf[_FREE + a, lane] * abs(buf[current + GRADIENT + a, lane])
            if slope > ends[lane, 3]:
                ends[lane, 3] = slope


@kernel
def blocks_of(top: int) -> int:
    """How many rows of eight hold the factors j < top, at least one."""
    return max(1, (top + WIDTH - 1) // WIDTH)


@kernel
def tail_counts(k: I64, n: I64, f: F64, tails: F64) -> None:
    """Fill tails (3 B, 8): A_j = #{k > j}, B_j = #{n - k > j}, C_j = #{n > j}, B rows each.

    Factor j is lane j % 8 of row j // 8; places from max n on are 0.
    """
    blocks = tails.shape[0] // 3
    flat = tails.reshape(tails.size)
    width = blocks * WIDTH
    for j in range(flat.size):
        flat[j] = 0.0
    # first the items whose last index is j, then cumulate from the top
    for i in range(k.size):
        if k[i] > 0:
            flat[k[i] - 1] += f[i]
        if n[i] - k[i] > 0:
            flat[width + n[i] - k[i] - 1] += f[i]
        if n[i] > 0:
            flat[2 * width + n[i] - 1] += f[i]
    for side in range(3):
        for j in range(side * width + width - 2, side * width - 1, -1):
            flat[j] += flat[j + 1]


@kernel
def _single(
    mu: float, rho: float, tails: F64, logs: bool
) -> tuple[float, float, float, float, float, float]:
    """Log-likelihood of one component, d/dmu, d/drho, and the second mumu, murho, rhorho.

    Sum over j of A_j log(mu s + j rho) + B_j log((1-mu) s + j rho) - C_j log(s + j rho), eight
    factors at a time; its logarithms are a third of the work, and 0 without ``logs``.
    """
    s = 1.0 - rho
    nu = 1.0 - mu
    blocks = tails.shape[0] // 3
    level = splat(0.0)
    gm = splat(0.0)
    gr = splat(0.0)
    hmm = splat(0.0)
    hmr = splat(0.0)
    hrr = splat(0.0)
    j = lane_numbers()
    for row in range(blocks):
        step = rho * j
        x = larger(mu * s + step, splat(_FLOOR))
        y = larger(nu * s + step, splat(_FLOOR))
        z = larger(s + step, splat(_FLOOR))
        ca = load(tails, row)
        cb = load(tails, blocks + row)
        cc = load(tails, 2 * blocks + row)
        if logs:
            level += ca * log_of(x) + cb * log_of(y) - cc * log_of(z)
        # three reciprocals by one division
        xy = x * y
        inverse = 1.0 / (xy * z)
        outer = inverse * z
        ix = outer * y
        iy = outer * x
        ex = (j - mu) * ix
        ey = (j - nu) * iy
        ez = (j - 1.0) * (inverse * xy)
        ax = ca * ix
        by = cb * iy
        ae = ca * ex
        be = cb * ey
        ce = cc * ez
        gm += ax - by
        gr += ae + be - ce
        hmm -= ax * ix + by * iy
        hmr += by - ax + s * (by * ey - ax * ex)
        hrr += ce * ez - ae * ex - be * ey
        j = j + WIDTH
    return (
        sum_of(level),
        s * sum_of(gm),
        sum_of(gr),
        s * s * sum_of(hmm),
        sum_of(hmr),
        sum_of(hrr),
    )


@kernel
def _single_run(tails: F64, pooled: float, mu: float, rho: float, out: F64) -> None:
    """Newton from (mu, rho), both inside: fills out[0:4] and out[6:8] of `fit_single`.

    ``pooled`` is the share of successes, the mean of the binomial.
    """
    items = tails[2 * (tails.shape[0] // 3), 0]
    out[3] = CONVERGED
    level, gm, gr, hmm, hmr, hrr = _single(mu, rho, tails, True)
    polished = 0
    for iteration in range(_MAX_ITER):
        out[2] = iteration + 1
        if rho <= 0.0 and gr <= 0.0:
            # the binomial: its mean is the share of successes, exactly
            if mu == pooled:
                break
            mu = pooled
            level, gm, gr, hmm, hmr, hrr = _single(mu, rho, tails, True)
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
            length = min(length, 0.9 * (1.0 - mu) / dm)
        if rho + dr >= 1.0:
            length = min(length, 0.9 * (1.0 - rho) / dr)
        moved = False
        while length > 1e-18 and not moved:
            mu2 = mu + length * dm
            rho2 = max(0.0, rho + length * dr)
            value, gm2, gr2, hmm2, hmr2, hrr2 = _single(mu2, rho2, tails, not done)
            if done:
                # what a last step gains is far below the rounding of the level
                value = level + 0.5 * decrement
            if done or value > level:
                mu = mu2
                rho = rho2
                level = value
                gm = gm2
                gr = gr2
                hmm = hmm2
                hmr = hmr2
                hrr = hrr2
                moved = True
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
    out[7] = max(abs(gm), 0.0 if rho <= 0.0 and gr <= 0.0 else abs(gr)) / items


@kernel
def fit_single(k: I64, n: I64, f: F64, tails: F64, out: F64) -> None:
    """One component of cells sorted by n: out = (mu, rho, iterations, code, p, r, level, slope).

    p and r are the moment estimates, from which starts are made; level is the log-likelihood
    without the binomial coefficients, slope the projected gradient per item.

    Newton in (mu, rho) with a line search while far away; the last steps are taken without
    comparing log-likelihoods, since they are smaller than their rounding. With very unequal n
    there can be two maxima: the pooled mean is that of the large items, so that a second run
    starts from the mean of the shares. Degenerate data have closed forms: no success, no failure,
    or nothing inside {1..n-1}.
    """
    tail_counts(k, n, f, tails)
    blocks = tails.shape[0] // 3
    a0 = tails[0, 0]
    b0 = tails[blocks, 0]
    trials = 0.0
    hits = 0.0
    pairs = 0.0
    for i in range(k.size):
        trials += f[i] * n[i]
        hits += f[i] * k[i]
        pairs += f[i] * n[i] * (n[i] - 1)
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
            out[6] = _single(mu, 0.0, tails, True)[0]
        return
    inner = a0 + b0 - tails[2 * blocks, 0]
    if inner == 0.0:
        # items of size 1 are always at an end: their mean counts like all others
        out[0] = a0 / (a0 + b0)
        out[1] = 1.0
        out[5] = 1.0
        out[6] = a0 * np.log(out[0]) + b0 * np.log(1.0 - out[0])
        return
    square = 0.0
    for i in range(k.size):
        e = k[i] - n[i] * mu
        square += f[i] * e * e
    rho = (square / (mu * (1.0 - mu)) - trials) / pairs
    out[5] = min(1.0, max(0.0, rho))
    rho = min(0.95, max(1e-3, rho))
    _single_run(tails, hits / trials, mu, rho, out)
    if n[0] != n[n.size - 1]:
        shares = 0.0
        items = 0.0
        for i in range(k.size):
            if n[i] > 0:
                shares += f[i] * k[i] / n[i]
                items += f[i]
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
def component(
    mu: float, rho: float, k: I64, n: I64, lead: F64, top: int, pre: F64, q: F64, out: F64
) -> None:
    """One component: out (R, 3) = q, l_mu, l_rho of every cell."""
    component_table(splat(mu), splat(rho), k, n, lead, top, pre, q, whole(0))
    for i in range(k.size):
        for e in range(3):
            out[i, e] = q[CELL * i + e, 0]


@kernel
def probabilities(
    x: F64, size: int, k: I64, n: I64, lead: F64, top: int, pre: F64, q: F64, p: F64
) -> None:
    """Cell probabilities p (R,) of the mixture at x."""
    for i in range(p.size):
        p[i] = 0.0
    rest = 1.0
    for c in range(size):
        m = size - 1 + 2 * c
        weight = rest
        if c < size - 1:
            weight = rest * x[c]
            rest *= 1.0 - x[c]
        component_table(splat(x[m]), splat(x[m + 1]), k, n, lead, top, pre, q, whole(0))
        for i in range(p.size):
            p[i] += weight * q[CELL * i, 0]


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
    return 7 if top < 12 else 8


@kernel
def fill_start_two(
    index: int, p: float, r: float, top: int, k: I64, n: I64, f: F64, low: Bool, x: F64
) -> None:
    """Start ``index`` of the deterministic list: seven, or six of them and two more for n >= 12.

    (w; mu1, rho1; mu2, rho2) with p, r the moment estimates of mean and correlation and
    sd = sqrt(p (1-p) r), the spread of the item means. The list was chosen among fifteen
    candidates by the share of simulated tables whose best log-likelihood it reaches;
    ``benchmarks/global_optimum.py`` measures that share.
    """
    sd = np.sqrt(p * (1.0 - p) * r)
    if top >= 12 and index >= 3:
        # of many agents a single wrong one sets no kind of item apart
        index += 1
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
        for first in range(0, grid_rho.size, WIDTH):
            # the last lanes repeat the last correlation
            for lane in range(WIDTH):
                q[0, lane] = grid_rho[min(first + lane, grid_rho.size - 1)]
            component_table(splat(grid_mu[u]), load(q, 0), k, n, lead, top, pre, q, whole(0))
            total = splat(-items)
            for i in range(p.size):
                total += f[i] / p[i] * load(q, CELL * i)
            store(q, 0, total)
            for lane in range(min(WIDTH, grid_rho.size - first)):
                if q[0, lane] > gain:
                    gain = q[0, lane]
                    where = first + lane
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
def mirror_cells(
    k: I64, n: I64, f: F64, lead: F64, used: int, k2: I64, n2: I64, f2: F64, lead2: F64
) -> bool:
    """Copy the first cells (sorted by n, k) so that the mean is at most half; True if mirrored.

    ``lead`` and ``lead2`` (2, R) are C(n, k) and its logarithm.

    A tie is broken by the first difference between the table and its mirror, so that a table and
    its mirror image always lead to the same copy, and hence to bit-identical optimisation.
    """
    balance = 0.0
    for i in range(used):
        balance += f[i] * (2.0 * k[i] - n[i])
    start = 0
    while start < used:
        stop = start
        while stop < used and n[stop] == n[start]:
            stop += 1
        for i in range(start, stop):
            j = start + stop - 1 - i
            k2[i] = n[j] - k[j]
            n2[i] = n[j]
            f2[i] = f[j]
            lead2[0, i] = lead[0, j]
            lead2[1, i] = lead[1, j]
        start = stop
    flip = balance > 0.0
    if balance == 0.0:
        for i in range(used):
            if k2[i] != k[i]:
                flip = k2[i] < k[i]
                break
            if f2[i] != f[i]:
                flip = f2[i] > f[i]
                break
    if not flip:
        for i in range(used):
            k2[i] = k[i]
            f2[i] = f[i]
            n2[i] = n[i]
            lead2[0, i] = lead[0, i]
            lead2[1, i] = lead[1, i]
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
    ends: F64,
    p: F64,
    modes: F64,
    found: int,
    base: float,
    x: F64,
    best: F64,
) -> int:
    """Newton from the first ``many`` rows of starts, eight abreast; keep the best in x.

    best = (log-likelihood, iterations, code, projected gradient) is updated. Distinct interior
    maxima above ``base`` (the log-likelihood with one component fewer) are collected in the rows
    of modes; returns their number, counting ``found`` from before. While modes are collected no
    run is abandoned.
    """
    d = 3 * size - 1
    for first in range(0, many, WIDTH):
        lanes = min(WIDTH, many - first)
        for lane in range(WIDTH):
            for a in range(d):
                buf[a, lane] = starts[first + min(lane, lanes - 1), a]
        rival = np.nan if modes.shape[0] > 0 else best[0]
        newton(buf, size, lanes, k, n, f, lead, top, pre, q, tails, rival, ends)
        for lane in range(lanes):
            value = ends[lane, 0]
            best[1] += ends[lane, 1]
            if value > best[0] and ends[lane, 2] != ABANDONED:
                best[0] = value
                best[2] = ends[lane, 2]
                best[3] = ends[lane, 3] / _ITEMS
                for a in range(d):
                    x[a] = buf[_BLOCK + a, lane]
            if modes.shape[0] > 0 and ends[lane, 2] == CONVERGED and value > base:
                inner = True
                for c in range(size - 1):
                    v = buf[_BLOCK + c, lane]
                    inner = inner and v > 0.0 and v < 1.0
                if inner:
                    end = starts[first + lane]
                    for a in range(d):
                        end[a] = buf[_BLOCK + a, lane]
                    probabilities(end, size, k, n, lead, top, pre, q, p)
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
    every = np.empty((2, cells))
    lead_factors(k, n, every[0])
    every[1] = every[0] if top >= LOG_FROM else np.log(every[0])
    l1 = np.empty((2, cells))
    l2 = np.empty((2, cells))
    sums = np.empty((3 * blocks_of(top), WIDTH))
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
    buf = np.zeros((BUFFER, WIDTH))
    pre, q = component_scratch(size, top, cells)
    tails = np.empty((3 * top + 3, WIDTH))
    ends = np.empty((WIDTH, 4))
    kk = k2
    nn = n2
    ff = f2
    ll = l2[0]
    pp = p
    before = cells
    for row in range(freq.shape[0]):
        used = 0
        for i in range(cells):
            if freq[row, i] > 0.0:
                k1[used] = k[i]
                n1[used] = n[i]
                f1[used] = freq[row, i]
                l1[0, used] = every[0, i]
                l1[1, used] = every[1, i]
                used += 1
        if used == 0:
            continue
        # c copies of a table are searched as the table itself, to the last bit
        copies = f1[0]
        for i in range(1, used):
            other = f1[i]
            while other > 0.0:
                copies, other = other, copies % other
            if copies == 1.0:
                break
        for i in range(used):
            f1[i] /= copies
        if used != before:
            # views cost more than a fit with one component
            before = used
            kk = k2[:used]
            nn = n2[:used]
            ff = f2[:used]
            ll = l2[0, :used]
            pp = p[:used]
        flip = mirror_cells(k1, n1, f1, l1, used, kk, nn, ff, l2)
        fit_single(kk, nn, ff, sums, single)
        best[0] = single[6]
        for i in range(used):
            best[0] += ff[i] * l2[1, i]
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
                y = xs[row]
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
                    probabilities(y, stage, kk, nn, ll, top, pre, q, pp)
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
                    ends,
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
                    xs[row, a] = two[a]
            stage += 1
        if size == 1:
            xs[row, 0] = 1.0 - single[0] if flip else single[0]
            xs[row, 1] = single[1]
        infos[row, 0] = best[0] / scale * copies
        infos[row, 1] = best[1]
        infos[row, 2] = best[2]
        infos[row, 3] = max(found, 1)
        infos[row, 4] = best[3]
        if flip and size > 1:
            for c in range(size):
                m = size - 1 + 2 * c
                xs[row, m] = 1.0 - xs[row, m]


@kernel
def e_step(weights: F64, tables: F64, f: F64, resp: F64) -> float:
    """Responsibilities resp (K, R) from tables (K, R, 3); returns the log-likelihood."""
    cells = f.size
    total = 0.0
    for i in range(cells):
        p = 0.0
        for c in range(weights.size):
            resp[c, i] = weights[c] * tables[c, i, 0]
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
    pre, q = component_scratch(1, n, n + 1)
    total = 0.0
    for i in range(n + 1):
        law[i] = 0.0
    for c in range(weights.size):
        component_table(splat(mean[c]), splat(rho[c]), k, m, lead, n, pre, q, whole(0))
        for i in range(n + 1):
            law[i] += weights[c] * q[CELL * i, 0]
    for i in range(n + 1):
        total += law[i]
    for i in range(n + 1):
        law[i] /= total
