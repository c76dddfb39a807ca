"""The mixture kernels against closed forms at 50 digits, and the public door of a fit."""

import math

import mpmath
import numpy as np
import pytest

from stability._kernels import mixture as kernels
from stability._kernels.lanes import WIDTH
from stability.fit import BetaBinomial, count_table, fit_mixture
from stability.fit.mixture import fit_table
from stability.fit.search import search
from stability.fit.starts import GRID_MEAN, GRID_RHO

CELLS = [(0, 7), (2, 7), (3, 7), (7, 7), (0, 1), (1, 1), (0, 0), (4, 9), (9, 9)]
FREQ = [5, 3, 8, 4, 2, 6, 1, 2, 3]
POINTS = [
    (0.3, 0.2),
    (0.91, 0.05),
    (0.5, 0.0),
    (0.3, 1.0),
    (0.0, 0.4),
    (1.0, 0.4),
    (0.0, 0.0),
    (1.0, 0.0),
    (0.0, 1.0),
    (1.0, 1.0),
    (1e-9, 1e-12),
]


def exact_pmf(mu, rho, k, n):
    """The rational form of the Beta-Binomial law: analytic on and beyond the bounds."""
    if n == 0:
        return mpmath.mpf(1)
    s = 1 - rho
    value = mpmath.mpf(math.comb(n, k))
    value *= 1 - mu if k == 0 else (mu if k == n else mu * (1 - mu) * s)
    for j in range(1, k):
        value *= mu * s + j * rho
    for j in range(1, n - k):
        value *= (1 - mu) * s + j * rho
    for j in range(1, n):
        value /= 1 + (j - 1) * rho
    return value


def exact_loglik(size):
    """The log-likelihood of CELLS in the box (v, mu, rho), sticks and all."""

    def loglik(*x):
        rest, weights = mpmath.mpf(1), []
        for v in x[: size - 1]:
            weights.append(rest * v)
            rest *= 1 - v
        weights.append(rest)
        total = mpmath.mpf(0)
        for (k, n), f in zip(CELLS, FREQ, strict=True):
            parts = (
                w * exact_pmf(x[size - 1 + 2 * c], x[size + 2 * c], k, n)
                for c, w in enumerate(weights)
            )
            total += f * mpmath.log(sum(parts))
        return total

    return loglik


def scratch(cells, size):
    """Arrays of the kernels for a list of (k, n)."""
    k, n = (np.array(column, np.int64) for column in zip(*cells, strict=True))
    lead = np.empty(k.size)
    kernels.lead_factors(k, n, lead)
    top = int(n.max())
    pre, q = kernels.component_scratch(size, top, k.size)
    return {
        "k": k,
        "n": n,
        "lead": lead,
        "top": top,
        "pre": pre,
        "q": q,
        "tails": np.empty((3 * top + 3, WIDTH)),
    }


def in_lanes(*values):
    """Each value in all lanes but the last two, which hold something else."""
    table = np.full((len(values), WIDTH), 0.37)
    table[:, :-2] = np.reshape(values, (-1, 1))
    return table


# -- kernels against closed forms ----------------------------------------------------------------


@pytest.mark.parametrize(("mu", "rho"), POINTS)
def test_component_table_equals_the_closed_form(plain, mu, rho):
    a = scratch(CELLS, 1)
    plain.component_table(
        *in_lanes(mu, rho), a["k"], a["n"], a["lead"], a["top"], a["pre"], a["q"], 0
    )
    table = a["q"].reshape(len(CELLS), kernels.CELL, WIDTH)
    np.testing.assert_array_equal(table[:, :, 0], table[:, :, 5])
    with mpmath.workdps(50):
        for i, (k, n) in enumerate(CELLS):
            q, slope_mu, slope_rho = table[i, :3, 0]
            exact = float(exact_pmf(mpmath.mpf(mu), mpmath.mpf(rho), k, n))
            assert q == pytest.approx(exact, rel=1e-13, abs=1e-99)
            for slope, order in ((slope_mu, (1, 0)), (slope_rho, (0, 1))):
                exact = mpmath.diff(lambda m, r: exact_pmf(m, r, k, n), (mu, rho), order)  # noqa: B023
                assert q * slope == pytest.approx(float(exact), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("mu", [0.0, 0.02, 0.6, 1.0])
@pytest.mark.parametrize("rho", [0.0, 1e-6, 0.3, 1.0])
def test_component_table_of_many_agents_sums_logs(plain, mu, rho):
    n = kernels.LOG_FROM + 5
    a = scratch([(k, n) for k in range(n + 1)], 1)
    out = np.empty((n + 1, 3))
    kernels.component(mu, rho, a["k"], a["n"], a["lead"], n, a["pre"], a["q"], out)
    twin = np.empty((n + 1, 3))
    plain.component(mu, rho, a["k"], a["n"], a["lead"], n, a["pre"], a["q"], twin)
    np.testing.assert_allclose(out, twin, rtol=1e-13)
    law = BetaBinomial.from_mean(mu, rho).pmf(a["k"], n)
    np.testing.assert_allclose(out[:, 0], law, rtol=1e-12, atol=1e-97)
    # derivatives of probabilities that sum to 1
    assert out[:, 0] @ out[:, 1] == pytest.approx(0.0, abs=1e-9)
    assert out[:, 0] @ out[:, 2] == pytest.approx(0.0, abs=1e-7)


BOX_POINTS = {
    2: [
        (0.4, 0.25, 0.1, 0.8, 0.3),
        (0.9, 0.6, 0.02, 0.55, 0.9),
        (0.3, 0.3, 0.0, 0.8, 0.2),
        (0.3, 0.0, 0.3, 0.7, 0.2),
        (0.5, 0.0, 0.0, 0.6, 0.4),
        (0.0, 0.2, 0.3, 0.6, 0.4),
        (1.0, 0.4, 0.3, 1.0, 0.0),
        (0.6, 0.4, 0.3, 0.2, 1.0),
    ],
    3: [
        (0.3, 0.5, 0.2, 0.1, 0.5, 0.3, 0.85, 0.05),
        (0.2, 0.7, 0.0, 0.2, 0.45, 0.0, 1.0, 0.4),
    ],
}


@pytest.mark.parametrize(("size", "x"), [(size, x) for size in (2, 3) for x in BOX_POINTS[size]])
def test_gradient_and_hessian_equal_exact_derivatives(plain, size, x):
    a = scratch(CELLS, size)
    d = 3 * size - 1
    buf = np.zeros((kernels.BUFFER, WIDTH))
    at = 80  # the second block
    buf[at : at + d] = in_lanes(*x)
    with np.errstate(all="ignore"):
        plain.objective(
            buf, at, size, a["k"], a["n"], np.array(FREQ, float), a["lead"], a["top"], a["pre"],
            a["q"], a["tails"],
        )  # fmt: skip
    value = buf[kernels.VALUE, 0]
    gradient = buf[at + 8 : at + 8 + d, 0]
    hessian = buf[at + 16 : at + 80, 0].reshape(8, 8)
    loglik = exact_loglik(size)
    with mpmath.workdps(60):
        point = tuple(mpmath.mpf(v) for v in x)
        assert value == pytest.approx(float(loglik(*point)), rel=1e-13)
        units = np.eye(d, dtype=int)
        for i in range(d):
            exact = float(mpmath.diff(loglik, point, tuple(units[i].tolist())))
            assert gradient[i] == pytest.approx(exact, rel=1e-10, abs=1e-10)
            for j in range(i + 1):
                exact = float(mpmath.diff(loglik, point, tuple((units[i] + units[j]).tolist())))
                assert hessian[i, j] == pytest.approx(exact, rel=1e-9, abs=1e-8), (i, j)


def test_objective_is_minus_infinite_where_a_count_is_impossible(plain):
    a = scratch(CELLS, 2)
    buf = np.zeros((kernels.BUFFER, WIDTH))
    buf[:5] = in_lanes(0.5, 0.3, 1.0, 0.8, 1.0)
    with np.errstate(all="ignore"):
        plain.objective(
            buf, 0, 2, a["k"], a["n"], np.array(FREQ, float), a["lead"], a["top"], a["pre"],
            a["q"], a["tails"],
        )  # fmt: skip
    value = buf[kernels.VALUE, 0]
    # the factors are held at 1e-100, so that the value stays a number, and a hopeless one
    assert value < -1000


def test_the_best_run_is_never_given_up():
    """Runs that end in the same place must not give each other up, all of them."""
    rng = np.random.default_rng(7)
    n = 15
    a = scratch([(k, n) for k in range(n + 1)], 2)
    buf, ends = np.zeros((kernels.BUFFER, WIDTH)), np.empty((WIDTH, 4))
    given_up = 0
    for _ in range(200):
        freq = np.bincount(rng.binomial(n, rng.beta(2, 3, 1000)), minlength=n + 1).astype(float)
        used = freq > 0.0
        table = (a["k"][used], a["n"][used], freq[used], a["lead"][used], n)
        # all lanes start near one point, hence climb to the same maximum
        buf[:5] = rng.uniform(0.2, 0.8, (5, 1)) + rng.uniform(-0.01, 0.01, (5, WIDTH))
        kernels.newton(buf, 2, WIDTH, *table, a["pre"], a["q"], a["tails"], -np.inf, ends)
        kept = ends[:, 2] != kernels.ABANDONED
        assert kept.any()
        assert ends[:, 0].max() <= ends[kept, 0].max() + 1e-9
        given_up += int((~kept).sum())
    assert given_up > 200


def test_compiled_and_plain_search_agree(plain):
    hist = np.array([[9.0, 4, 2, 1, 3, 6, 10, 30], [0, 0, 5, 9, 8, 2, 0, 0]])
    k, n = np.arange(8), np.full(8, 7)
    for size in (1, 2):
        x, info = np.zeros((2, 3 * size - 1)), np.zeros((2, 5))
        with np.errstate(all="ignore"):
            plain.fit_tables(k, n, hist, size, 0, GRID_MEAN, GRID_RHO, x, info)
        compiled = search(k, n, hist, size)
        np.testing.assert_allclose(info[:, 0], compiled[1][:, 0], rtol=1e-14)
        np.testing.assert_allclose(x, compiled[0], atol=1e-6)


def test_tail_counts_equal_their_twin():
    k, n, f = np.array([0, 2, 1, 3]), np.array([0, 2, 3, 3]), np.array([4.0, 1.0, 2.0, 5.0])
    k, n, f = np.append(k, 11), np.append(n, 12), np.append(f, 7.0)
    tails = np.empty((3 * kernels.blocks_of(12), WIDTH))
    kernels.tail_counts(k, n, f, tails)
    for j, counts in enumerate(tails.reshape(3, 16).T):
        assert counts.tolist() == [f[k > j].sum(), f[n - k > j].sum(), f[n > j].sum()]


@pytest.mark.parametrize("top", [7, kernels.LOG_FROM - 1, kernels.LOG_FROM, 90])
def test_lead_factors_equal_their_twin(top):
    k, n = np.arange(top + 1), np.full(top + 1, top)
    lead = np.empty(top + 1)
    kernels.lead_factors(k, n, lead)
    exact = np.array([math.comb(top, j) for j in range(top + 1)], float)
    twin = exact if top < kernels.LOG_FROM else np.log(exact)
    np.testing.assert_allclose(lead, twin, rtol=1e-14)


def test_e_step_equals_its_twin():
    with np.errstate(all="ignore"):  # without a compiler lanes at a bound overflow aloud
        fit = fit_mixture([0, 1, 6, 7], 7, freq=[40, 20, 30, 110])
    k, n, freq = fit.counts
    tables = np.empty((2, k.size, 3))
    for c in range(2):
        tables[c, :, 0] = BetaBinomial.from_mean(fit.mean[c], fit.rho[c]).pmf(k, n)
    resp = np.empty((2, k.size))
    level = kernels.e_step(fit.weights.copy(), tables, freq.astype(float), resp)
    assert level == pytest.approx(fit.loglik, rel=1e-14)
    np.testing.assert_allclose(resp.T, fit.responsibilities(k, n), rtol=1e-13)


def test_best_atoms_equal_their_twin():
    freq = np.array([30.0, 4, 2, 1, 3, 9, 20, 41])
    a = scratch([(k, 7) for k in range(8)], 1)
    fit = fit_mixture(a["k"], 7, freq=freq, n_components=1)
    p = fit.pmf(a["k"], 7)
    atoms = np.zeros((6, 3))
    many = kernels.best_atoms(
        p, a["k"], a["n"], freq, a["lead"], 7, a["pre"], a["q"], GRID_MEAN, GRID_RHO, atoms
    )
    gains = np.array(
        [
            [freq @ (BetaBinomial.from_mean(mu, rho).pmf(a["k"], 7) / p) for rho in GRID_RHO]
            for mu in GRID_MEAN
        ]
    )
    gains -= freq.sum()
    best = np.sort(gains.max(axis=1))[::-1]
    best = best[best > 1e-9][:6]
    assert many == best.size > 1
    np.testing.assert_allclose(atoms[:many, 0], best, rtol=1e-9)
    for gain, mu, rho in atoms[:many]:
        at = np.flatnonzero(mu == GRID_MEAN)[0], np.flatnonzero(rho == GRID_RHO)[0]
        assert gain == pytest.approx(gains[at], rel=1e-9)


def test_mirror_cells_leads_a_table_and_its_mirror_to_one_copy():
    for k, n, f in (
        ([0, 1, 3], [3, 3, 3], [1.0, 2.0, 9.0]),
        ([1, 2], [3, 3], [1.0, 2.0]),
        ([0, 1, 0, 5], [1, 1, 5, 5], [3.0, 3.0, 2.0, 2.0]),
        ([0, 3], [3, 3], [4.0, 4.0]),
        ([0, 1, 2, 3], [3, 3, 3, 3], [4.0, 1.0, 2.0, 3.6666666666666665]),
    ):
        k, n, f = np.array(k), np.array(n), np.array(f)
        other = count_table(n - k, n, np.arange(1, k.size + 1))
        symmetric = np.array_equal(k, other.k) and np.array_equal(f, f[other.freq - 1])
        copies, flips = [], []
        for kk, ff in ((k, f), (other.k, f[other.freq - 1])):
            out = np.empty_like(k), np.empty_like(n), np.empty_like(f), np.empty((2, k.size))
            lead = np.arange(2.0 * k.size).reshape(2, -1)
            flips.append(bool(kernels.mirror_cells(kk.copy(), n, ff.copy(), lead, k.size, *out)))
            rows = [np.flatnonzero(lead[0] == value)[0] for value in out[3][0]]
            assert sorted(rows) == list(range(k.size))
            assert ff[rows].tolist() == out[2].tolist()
            assert (out[3][1] == out[3][0] + k.size).all()
            copies.append([column.tolist() for column in out[:3]])
        assert copies[0] == copies[1]
        assert symmetric or flips[0] != flips[1]


@pytest.mark.parametrize("n", [1, 7, 39, 40, 120])
def test_mixture_law_equals_its_twin(n):
    weights, mean, rho = np.array([0.3, 0.7]), np.array([0.2, 0.9]), np.array([0.0, 0.4])
    for array in (weights, mean, rho):
        array.setflags(write=False)  # as in a result: another type to the compiler
    law = np.empty(n + 1)
    kernels.mixture_law(weights, mean, rho, n, law)
    parts = [
        BetaBinomial.from_mean(*part).pmf(np.arange(n + 1), n)
        for part in zip(mean, rho, strict=True)
    ]
    np.testing.assert_allclose(law, weights @ np.array(parts), rtol=1e-12, atol=1e-300)
    assert law.sum() == pytest.approx(1.0, abs=1e-15)


# -- the public door -----------------------------------------------------------------------------


def test_fit_table_equals_the_public_fit():
    k, n, freq = [0, 3, 5, 7, 2], [7, 7, 7, 7, 5], [10, 3, 5, 20, 4]
    for size in (1, 2, 3):
        direct = fit_table(*count_table(k, n, freq), size)
        assert direct.to_dict() == fit_mixture(k, n, freq=freq, n_components=size).to_dict()


def test_defaults_and_broadcasting():
    fit = fit_mixture([0, 7, 3, 6], 7)
    assert fit.n_components == 2
    assert fit.n_items == 4
    assert fit.loglik_trace.tolist() == [fit.loglik]
    assert fit.to_dict() == fit_mixture([[0, 7], [3, 6]], [7, 7], freq=[[1], [1]]).to_dict()
    assert fit_mixture(3, 7).n_items == 1


def test_a_large_table_of_unequal_sizes_fits():
    rng = np.random.default_rng(12)
    n = rng.integers(0, 25, 3000)
    p = np.where(rng.random(3000) < 0.3, rng.beta(2, 8, 3000), rng.beta(9, 2, 3000))
    fit = fit_mixture(rng.binomial(n, p), n)
    assert fit.converged
    np.testing.assert_allclose(fit.mean, [0.2, 0.82], atol=0.03)
    assert fit.weights[0] == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize(
    ("hist", "size"),
    [
        # a start with equal components: its weight has no curvature of its own
        ([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0], 2),
        ([0, 0, 2, 1, 0, 0, 0, 0, 0, 1, 2, 0, 0], 2),
        ([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0], 2),
        ([62, 4534, 95404], 3),
        ([10, 99990], 2),
        ([29047, 34884, 12552, 23517], 3),
        ([0, 50044, 49956, 49956, 50044, 0], 2),
        ([0, 66497, 33503, 0, 0, 33503, 66497, 0], 2),
        # point masses, whose correlation must not slow the others down
        ([0, 0, 0, 0, 0, 4, 14, 32], 2),
        ([37, 0, 1, 12], 2),
        ([1, 0, 0, 2, 0, 1, 1, 0], 3),
        ([195, 2, 1, 1, 1, 0], 3),
        # long flat ridges
        ([7, 3, 3, 4, 21, 962], 2),
        ([86011, 5406, 290, 121, 165, 8007], 2),
        ([1, 8, 16, 23, 44, 108], 3),
    ],
)
def test_tables_on_which_a_search_stalled(hist, size):
    n = len(hist) - 1
    fit = fit_mixture(np.arange(n + 1), n, freq=hist, n_components=size)
    assert fit.converged
    assert fit.grad_norm < 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, r"`n_components` must be >= 1 and <= 3, got 0"),
        ({"n_components": 4}, r"`n_components` must be >= 1 and <= 3, got 4"),
        ({"n_components": 2.0}, r"`n_components` must be an integer, got 2.0"),
        ({"method": "newton"}, r"`method` must be one of auto, em, got 'newton'"),
        ({"freq": [1, -1]}, r"`freq` must be >= 0: freq\[1\]=-1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        fit_mixture([1, 2], 7, **options)
