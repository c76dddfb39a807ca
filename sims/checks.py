"""The theorems of `theory`, checked by simulated debates: an estimate where theory has a number.

A statement says that some differences are not negative: that accuracy does not rise from m to m + 1
misled agents, that a bound is not exceeded, that an intervention does not cost accuracy. Each is a
mean over debates of paired values (both sides use the same random numbers), with a standard error.
With d differences at confidence 1 - a the statement

    holds      when every mean less z(a / d) standard errors is above -1e-12,
    is broken  when some mean plus z(a / d) standard errors is below 0,
    else it is undecided (None).

The error is at most ``a`` either way, up to the normal approximation of means over debates. The
exact checks of `theory` need none of this; the two are compared in the tests and by ``sims check``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sims.debates.scenario import Scenario
from sims.debates.simulate import simulate
from theory import (
    THEOREMS,
    CountChain,
    DebateModel,
    DiversityPruning,
    QualityPruning,
    Refutation,
    Verdict,
    switch_bound,
)

Float64 = npt.NDArray[np.float64]
Differences = dict[str, Float64]
_EXACT = 1e-12


def check_by_simulation(
    theorem_id: str,
    model: DebateModel,
    *,
    statement: str = "repaired",
    debates: int = 100_000,
    seed: int = 0,
    confidence: float = 0.999,
    **options: Any,
) -> Verdict:
    """Check a statement on a model by simulated debates.

    Parameters
    ----------
    theorem_id : str
        One of ``SIMULATED``.
    model : theory.DebateModel
    statement : {"repaired", "printed"}
        Both name the same differences; they have other assumptions. The repaired EL-6.1 and EL-6.2
        are no statements on such differences and are refused.
    debates : int
        >= 2, for each mean.
    seed : int
    confidence : float
        In (0, 1), of the verdict.
    **options
        ``t`` or ``rounds`` (the round that is looked at) and ``k``, as in the exact check.

    Returns
    -------
    theory.Verdict
        ``method`` is "monte-carlo"; ``holds`` None also where the draws do not decide; ``evidence``
        has estimates and standard errors.

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
    if theorem_id not in SIMULATED:
        raise ValueError(f"`theorem_id` must be one of {', '.join(SIMULATED)}, got {theorem_id!r}")
    if statement not in ("printed", "repaired"):
        raise ValueError(f"`statement` must be 'printed' or 'repaired', got {statement!r}")
    if statement == "repaired" and theorem_id in ("EL-6.1", "EL-6.2"):
        raise ValueError(
            f"`statement` must be 'printed' for {theorem_id}: the repaired one is checked exactly"
        )
    if not isinstance(confidence, float) or not 0.0 < confidence < 1.0:
        raise ValueError(f"`confidence` must lie in (0, 1), got {confidence!r}")
    if debates < 2:
        raise ValueError(f"`debates` must be >= 2, got {debates!r}")
    met = THEOREMS[theorem_id].assumptions(model, statement)
    if not all(met.values()):
        return Verdict(theorem_id, statement, None, None, met, {}, "monte-carlo")
    differences = SIMULATED[theorem_id](model, int(debates), seed, options)
    if options:
        raise ValueError(f"{theorem_id} has no option {', '.join(options)}")
    holds, margin, evidence = decide(differences, confidence)
    return Verdict(theorem_id, statement, holds, margin, met, evidence, "monte-carlo")


def decide(
    differences: Differences, confidence: float
) -> tuple[bool | None, float, dict[str, Any]]:
    """Return whether all differences are shown not to be negative, the least mean, and figures.

    Examples
    --------
    >>> decide({"gain": np.array([1., 1., 1.])}, .99)[0]
    True
    """
    from scipy.special import ndtri

    z = float(ndtri(1.0 - (1.0 - confidence) / len(differences)))
    mean = {name: float(values.mean()) for name, values in differences.items()}
    error = {
        name: float(values.std(ddof=1) / np.sqrt(len(values)))
        for name, values in differences.items()
    }
    least = min(mean, key=lambda name: mean[name])
    if any(mean[name] + z * error[name] < -_EXACT for name in mean):
        holds: bool | None = False
    elif all(mean[name] - z * error[name] >= -_EXACT for name in mean):
        holds = True
    else:
        holds = None
    evidence = {
        "least": least,
        "estimate": mean[least],
        "standard error": error[least],
        "z": z,
        "debates": len(differences[least]),
        "estimates": mean,
    }
    return holds, mean[least], evidence


def _shares(
    what: DebateModel | Scenario, answer: int, rounds: int, debates: int, seed: int
) -> Float64:
    """Share of an answer in each debate and round, shape (debates, rounds)."""
    found = simulate(what, debates=debates, rounds=rounds, seed=seed, record="counts")
    assert found.counts is not None
    return np.asarray(found.counts[:, :, answer] / found.model.n_agents)


def _direct_shares(what: DebateModel, answer: int, rounds: int, debates: int, seed: int) -> Float64:
    """The same, agent by agent, so that two models share their draws."""
    found = simulate(
        what, debates=debates, rounds=rounds, seed=seed, record="counts", method="direct"
    )
    assert found.counts is not None
    return np.asarray(found.counts[:, :, answer] / found.model.n_agents)


def _round(options: dict[str, Any], name: str, usual: int) -> int:
    value = options.pop(name, usual)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"`{name}` must be an integer >= 0, got {value!r}")
    return value


def _echo_chamber(
    model: DebateModel, debates: int, seed: int, options: dict[str, Any]
) -> Differences:
    """EL-5.1: the bound on a change of the leading concept, less the changes, round by round."""
    last = _round(options, "t", 3)
    chain = CountChain(model)
    place = {tuple(state): i for i, state in enumerate(chain.states.tolist())}
    found = simulate(model, debates=debates, rounds=last + 2, seed=seed, record="counts")
    assert found.counts is not None
    shape = found.counts.shape[:2]
    at = np.array(
        [place[tuple(row)] for row in found.counts.reshape(-1, model.n_answers).tolist()]
    ).reshape(shape)
    differences = {}
    for reader in range(len(model.types)):
        best, bound = chain.leading_concept(reader), switch_bound(chain, reader)
        for t in range(last + 1):
            change = best[at[:, t]] != best[at[:, t + 1]]
            differences[f"reader {reader}, t={t}"] = bound[at[:, t]] - change
    return differences


def _shared_misconception(
    model: DebateModel, debates: int, seed: int, options: dict[str, Any]
) -> Differences:
    """EL-5.4: the fall of accuracy from m to m + 1 misled agents."""
    t, n = _round(options, "t", 3), model.n_agents
    before: Float64 | None = None
    differences = {}
    for m in range(n + 1):
        kept = [(kind, size) for kind, size in zip(model.types, (n - m, m), strict=True) if size]
        one = model.with_(
            types=tuple(kind for kind, _ in kept), sizes=tuple(size for _, size in kept)
        )
        share = _direct_shares(one, model.correct, t + 1, debates, seed)[:, t]
        if before is not None:
            differences[f"m={m - 1}"] = before - share
        before = share
    return differences


def _diversity(model: DebateModel, debates: int, seed: int, options: dict[str, Any]) -> Differences:
    """EL-6.1: P(y') without pruning less that with it."""
    t = _round(options, "rounds", 5)
    exact = THEOREMS["EL-6.1"].check(model, statement="printed", rounds=max(t, 1), **_k(options))
    answer, k = int(exact.evidence["y'"]), int(exact.evidence["k"])
    view = model.view if model.view is not None and "k" not in options else DiversityPruning(k)
    options.pop("k", None)
    without = _shares(model.with_(view=None), answer, t + 1, debates, seed)[:, t]
    pruned = _shares(model.with_(view=view), answer, t + 1, debates, seed)[:, t]
    return {f"t={t}": without - pruned}


def _quality(model: DebateModel, debates: int, seed: int, options: dict[str, Any]) -> Differences:
    """EL-6.2: accuracy with quality pruning less that without."""
    t = _round(options, "t", 5)
    view = model.view or QualityPruning((model.n_agents + 1) // 2)
    if "k" in options:
        view = QualityPruning(options.pop("k"))
    pruned = _shares(model.with_(view=view), model.correct, t + 1, debates, seed)[:, t]
    without = _shares(model.with_(view=None), model.correct, t + 1, debates, seed)[:, t]
    return {f"t={t}": pruned - without}


def _refutation(
    model: DebateModel, debates: int, seed: int, options: dict[str, Any]
) -> Differences:
    """EL-6.4: accuracy with the refutation less that without, in every round from 1 on."""
    last = _round(options, "rounds", 5)
    matrix = 0.7 * np.eye(model.n_answers)
    matrix[:, model.correct] += 0.3
    rewrite = model.rewrite or Refutation(matrix)
    sides = [
        _direct_shares(model.with_(rewrite=one), model.correct, last + 1, debates, seed)
        for one in (rewrite, None)
    ]
    return {f"t={t}": sides[0][:, t] - sides[1][:, t] for t in range(1, last + 1)}


def _against_vote(
    model: DebateModel, debates: int, seed: int, options: dict[str, Any]
) -> Differences:
    """HT-2: the majority of round t less that of round 0, agents reading all rounds."""
    last = _round(options, "rounds", 3)
    scenario = Scenario(model, memory="all")
    found = simulate(scenario, debates=debates, rounds=last + 1, seed=seed, record="counts")
    assert found.counts is not None
    leads = found.counts == found.counts.max(axis=2, keepdims=True)
    right = leads[:, :, model.correct] / leads.sum(axis=2)
    return {f"t={t}": right[:, t] - right[:, 0] for t in range(1, last + 1)}


def _k(options: dict[str, Any]) -> dict[str, Any]:
    return {"k": options["k"]} if "k" in options else {}


SIMULATED: dict[str, Callable[[DebateModel, int, int, dict[str, Any]], Differences]] = {
    "EL-5.1": _echo_chamber,
    "EL-5.4": _shared_misconception,
    "EL-6.1": _diversity,
    "EL-6.2": _quality,
    "EL-6.4": _refutation,
    "HT-2": _against_vote,
}
