"""The exact upper limit of a share."""

import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from stability.fit.share import upper_limit


@pytest.mark.parametrize(("hits", "trials"), [(0, 59), (1, 93), (2, 124), (7, 50), (49, 50)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_limit_is_that_of_clopper_and_pearson(hits, trials, confidence):
    limit = upper_limit(hits, trials, confidence)
    assert binom.cdf(hits, trials, limit) == pytest.approx(1 - confidence, rel=1e-9)
    two_sided = proportion_confint(hits, trials, alpha=2 * (1 - confidence), method="beta")[1]
    assert limit == pytest.approx(two_sided, rel=1e-12)


def test_limit_where_all_changed():
    assert upper_limit(5, 5, 0.95) == 1.0
