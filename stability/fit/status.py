"""What a maximum-likelihood fit of a mixture ended as, in one word and in one sentence.

The maximum of a mixture likelihood often lies at a bound of its parameter space (about half of
all two-component fits at n = 7 and 200 items); such a fit is a normal result, and its status says
which bound it is and what follows for the reader.
"""

from enum import StrEnum


class FitStatus(StrEnum):
    """How a fit ended. ``status.sentence`` explains it, ``status.at_bound`` tells bounds apart.

    Examples
    --------
    >>> from stability.fit.status import FitStatus
    >>> FitStatus.BINOMIAL_LIMIT.at_bound, FitStatus.INTERIOR.at_bound
    (True, False)
    """

    INTERIOR = "interior"
    BINOMIAL_LIMIT = "binomial limit"
    ALL_OR_NOTHING = "all mass on 0 and n"
    POINT_MASS = "point mass"
    COLLAPSED = "weight collapsed"
    NOT_IDENTIFIABLE = "not identifiable"
    SINGLE_ITEM = "single item"
    ITERATION_CAP = "iteration cap"

    @property
    def sentence(self) -> str:
        """One sentence: what happened and what to do."""
        return _SENTENCES[self]

    @property
    def at_bound(self) -> bool:
        """Whether a parameter lies at a bound of its range."""
        return self in _BOUNDS


_BOUNDS = frozenset(
    {
        FitStatus.BINOMIAL_LIMIT,
        FitStatus.ALL_OR_NOTHING,
        FitStatus.POINT_MASS,
        FitStatus.COLLAPSED,
    }
)

_SENTENCES = {
    FitStatus.INTERIOR: "The maximum lies inside the parameter space.",
    FitStatus.BINOMIAL_LIMIT: (
        "A component shows no more variation between items than a binomial: its rho is 0."
    ),
    FitStatus.ALL_OR_NOTHING: (
        "In a component all agents of an item are right together or wrong together: its rho is 1."
    ),
    FitStatus.POINT_MASS: (
        "A component puts all its mass on one end, always right or always wrong; its dispersion "
        "cannot be estimated."
    ),
    FitStatus.COLLAPSED: (
        "A component has weight 0: the data support fewer components; fit with a smaller "
        "n_components."
    ),
    FitStatus.NOT_IDENTIFIABLE: (
        "The counts have too few free cells for this many components (K components need "
        "n >= 3K - 1): the log-likelihood, the distribution of counts and the mean stand, the "
        "parameters do not; fit fewer components or more agents."
    ),
    FitStatus.SINGLE_ITEM: "One item tells nothing about the variation between items.",
    FitStatus.ITERATION_CAP: (
        "The search ended before the projected gradient vanished: look at grad_norm, and report "
        "the counts."
    ),
}
