"""Exact statements on one share: x of N independent items, x ~ Binomial(N, p).

Source: Clopper and Pearson, Biometrika 26 (1934) 404-413.
"""

from functools import lru_cache


@lru_cache  # a debate asks for the same limits in each of its rounds
def upper_limit(hits: float, trials: float, confidence: float = 0.95) -> float:
    """Return the upper limit of a share that was seen as ``hits`` of ``trials``.

    The p at which ``hits`` or fewer have the probability 1 - confidence.

    Parameters
    ----------
    hits, trials : float
        0 <= hits <= trials; whole numbers, unless a share is taken over clusters as if each held
        one item.
    confidence : float
        In (0, 1).

    Examples
    --------
    >>> round(upper_limit(0, 59), 4), upper_limit(8, 8)
    (0.0495, 1.0)
    """
    from scipy.special import betaincinv

    return 1.0 if hits >= trials else float(betaincinv(hits + 1.0, trials - hits, confidence))
