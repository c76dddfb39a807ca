"""The theorems of `theory`, checked by simulated debates: an estimate where theory has a number.

A statement says that some means are not negative: that accuracy does not rise from m to m + 1
misled agents, that a bound is not exceeded, that an intervention does not cost accuracy. Each is a
mean over debates (of paired values where both sides can use the same random numbers), with a
standard error. With d means at confidence 1 - a the statement

    holds      when every mean less z(a / d) standard errors is above 0,
    is broken  when some mean plus z(a / d) standard errors is below 0,
    else it is undecided (None).

The error is at most ``a`` either way, up to the normal approximation of means over debates; a
standard error is never taken below 1 / N, so that equality is never called shown. The exact checks
of `theory` need none of this; the two are compared in the tests and by ``sims check``.
"""

from typing import Any

from sims._check import check_whole
from sims.debates.scenario import Scenario
from sims.statements.against_vote import against_vote
from sims.statements.echo_chamber import echo_chamber
from sims.statements.interventions import both_prunings, diversity, quality, refutation
from sims.statements.laws import (
    consistent_response,
    law_of_an_answer,
    objective,
    similar_answers,
)
from sims.statements.means import Means, Statement, What, model_of
from sims.statements.misconception import shared_misconception
from theory import THEOREMS, DebateModel, Verdict

SIMULATED: dict[str, Statement] = {
    "EL-5.1": echo_chamber,
    "EL-5.4": shared_misconception,
    "EL-6.1": diversity,
    "EL-6.2": quality,
    "EL-R6.3": both_prunings,
    "EL-6.4": refutation,
    "EL-A4.1": law_of_an_answer,
    "EL-L4.2": law_of_an_answer,
    "EL-OBJ": objective,
    "EL-5.2": similar_answers,
    "HT-1": consistent_response,
    "HT-2": against_vote,
}


def check_by_simulation(
    theorem_id: str,
    what: What,
    *,
    statement: str = "repaired",
    debates: int = 100_000,
    seed: int = 0,
    confidence: float = 0.999,
    **options: Any,
) -> Verdict:
    """Check a statement on a model or scenario by simulated debates.

    Parameters
    ----------
    theorem_id : str
        One of the statements that speak of a probability: all but the definition EL-D5.3.
    what : theory.DebateModel or Scenario
        A scenario for EL-5.1, 5.4 and HT-2, and for EL-6.1 and 6.2 with an embedding: the printed
        statement of a debate that is held otherwise. Assumptions are those on its model.
    statement : {"repaired", "printed"}
        They differ in what they say or in their assumptions. Refused are those that draws do not
        reach: EL-5.2 as printed, EL-R6.3 as repaired.
    debates : int
        >= 2, for each mean.
    seed : int
    confidence : float
        In (0, 1), of the verdict.
    **options
        ``t`` or ``rounds`` (the round that is looked at), ``k`` and ``reading``, as in the exact
        check; ``tolerance`` of EL-A4.1 and EL-L4.2, by which the law may be missed (.01).

    Returns
    -------
    theory.Verdict
        ``method`` is "monte-carlo"; ``holds`` None also where the draws do not decide; ``margin``
        the least mean; ``evidence`` has estimates and standard errors.

    Raises
    ------
    ValueError
        For a theorem or a statement that is not simulated, and arguments out of range.

    Examples
    --------
    >>> model = DebateModel.shared_misconception(7, 4, weight=.95, misled=.49, right=.8, wrong=.3)
    >>> found = check_by_simulation("EL-6.1", model, statement="printed", k=4, debates=20_000)
    >>> found.holds, found.method
    (False, 'monte-carlo')
    """
    if not isinstance(theorem_id, str) or theorem_id not in SIMULATED:
        raise ValueError(f"`theorem_id` must be one of {', '.join(SIMULATED)}, got {theorem_id!r}")
    if not isinstance(what, DebateModel | Scenario):
        raise ValueError(f"`what` must be a theory.DebateModel or a Scenario, got {what!r}")
    if statement not in ("printed", "repaired"):
        raise ValueError(f"`statement` must be 'printed' or 'repaired', got {statement!r}")
    if not isinstance(confidence, float) or not 0.0 < confidence < 1.0:
        raise ValueError(f"`confidence` must lie in (0, 1), got {confidence!r}")
    drawn = check_whole("debates", debates, 2)
    met = THEOREMS[theorem_id].assumptions(model_of(what), statement)
    if not all(met.values()):
        return Verdict(theorem_id, statement, None, None, met, {}, "monte-carlo")
    means = SIMULATED[theorem_id](what, drawn, seed, statement, options)
    if options:
        raise ValueError(f"{theorem_id} has no option {', '.join(options)}")
    holds, margin, evidence = decide(means, confidence)
    return Verdict(theorem_id, statement, holds, margin, met, evidence, "monte-carlo")


def decide(means: Means, confidence: float) -> tuple[bool | None, float, dict[str, Any]]:
    """Return whether all means are shown to be positive, the least mean, and figures.

    Nothing to compare shows nothing: None, and a margin of 0.

    Examples
    --------
    >>> from sims.statements.means import Mean
    >>> decide({"gain": Mean(.1, .01, 1000)}, .99)[0]
    True
    """
    from scipy.special import ndtri

    if not means:
        return None, 0.0, {"estimates": {}}
    z = float(ndtri(1.0 - (1.0 - confidence) / len(means)))
    least = min(means, key=lambda name: means[name].value)
    if any(mean.value + z * mean.error < 0.0 for mean in means.values()):
        holds: bool | None = False
    elif all(mean.value - z * mean.error > 0.0 for mean in means.values()):
        holds = True
    else:
        holds = None
    evidence = {
        "least": least,
        "estimate": means[least].value,
        "standard error": means[least].error,
        "z": z,
        "debates": means[least].draws,
        "estimates": {name: mean.value for name, mean in means.items()},
        "standard errors": {name: mean.error for name, mean in means.items()},
    }
    return holds, means[least].value, evidence
