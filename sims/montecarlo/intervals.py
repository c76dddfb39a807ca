"""Confidence intervals: at a fixed number of draws, and for all numbers of draws at once.

An interval for a fixed n may not be looked at until it is narrow enough: whoever stops when it
suits loses the level. The *anytime* ones hold at every n simultaneously, hence at any stopping
time.

- `clopper_pearson`, `student`: fixed n; the first is never below its level.
- `anytime_share`: for draws of 0 and 1, never below its level. The mean under p of the likelihood
  ratio B(a + k, b + n - k) / B(a, b) / (p^k (1 - p)^(n - k)) is 1, so that by Ville's inequality
  it exceeds 1 / alpha at some n with probability alpha at most; the p where it does not are the
  interval (Robbins, Ann. Math. Statist. 41, 1970).
- `anytime_bounded`: for draws in a known range, never below its level: the same mixture. Draws in
  [0, 1] with mean p have E exp(s X) <= 1 - p + p e^s (convexity), which is all the argument uses.
- `anytime_normal`: for any draws of finite variance, in the limit of many draws before the first
  look (asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Ann.
  Statist. 52, 2024, theorem 2.2, their (7)).
"""

from math import log, sqrt

Interval = tuple[float, float]


def student(mean: float, error: float, free: int, confidence: float) -> Interval:
    """Return mean -+ t standard errors with so many degrees of freedom.

    Examples
    --------
    >>> [round(x, 3) for x in student(.5, .1, 10**6, .95)]
    [0.304, 0.696]
    """
    from scipy.special import stdtrit

    t = float(stdtrit(max(free, 1), 0.5 + confidence / 2))
    return mean - t * error, mean + t * error


def clopper_pearson(hits: int, n: int, confidence: float) -> Interval:
    """Return the exact interval of a share of n independent draws.

    Examples
    --------
    >>> [round(x, 4) for x in clopper_pearson(0, 100, .95)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1.0 - tail))
    return low, high


def anytime_share(hits: float, n: int, confidence: float) -> Interval:
    """Return the interval of a mean of draws in [0, 1] that holds for all n at once.

    ``hits`` is the sum of the draws.

    Examples
    --------
    >>> [round(x, 3) for x in anytime_share(50, 100, .95)]
    [0.338, 0.662]
    """
    from scipy.optimize import brentq
    from scipy.special import betaln, xlogy

    share = hits / n
    bound = float(betaln(0.5 + hits, 0.5 + n - hits) - betaln(0.5, 0.5)) + log(1.0 - confidence)

    def outside(p: float) -> float:
        return bound - float(xlogy(hits, p) + xlogy(n - hits, 1.0 - p))

    # at the share itself the ratio is least, and the draws are never outside
    tiny = 1e-300
    low, high = 0.0, 1.0
    if hits > 0 and outside(tiny) > 0:
        low = float(brentq(outside, tiny, share, xtol=1e-15))
    if hits < n and outside(1.0 - 1e-16) > 0:
        high = float(brentq(outside, share, 1.0 - 1e-16, xtol=1e-15))
    return low, high


def anytime_bounded(mean: float, n: int, bounds: Interval, confidence: float) -> Interval:
    """Return the interval of the mean of draws within ``bounds`` that holds for all n at once."""
    low, high = bounds
    total = min(max((mean - low) / (high - low) * n, 0.0), float(n))
    found = anytime_share(total, n, confidence)
    return low + found[0] * (high - low), low + found[1] * (high - low)


def anytime_normal(
    mean: float, spread: float, n: int, confidence: float, expected: int
) -> Interval:
    """Return an interval that holds for all n at once, as n grows; ``spread`` is that of a draw.

    It is narrowest, about 1.5 to 2 times the fixed one, near n = ``expected``.

    Examples
    --------
    >>> [round(x, 3) for x in anytime_normal(0., 1., 10_000, .95, 10_000)]
    [-0.03, 0.03]
    """
    alpha = 1.0 - confidence
    # rho^2 that is best at `expected` draws, to a good approximation (their appendix B.2)
    best = (-2.0 * log(alpha) + log(-2.0 * log(alpha) + 1.0)) / expected
    part = n * best + 1.0
    half = spread * sqrt(2.0 * part / (n**2 * best) * log(sqrt(part) / alpha))
    return mean - half, mean + half
