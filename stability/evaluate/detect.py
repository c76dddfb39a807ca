"""Running one rule over a recorded log, and measuring every round beside it.

For each round t the counts k_i of n_i are gathered (of correct answers where the log is graded,
else of agreement with a plurality), a mixture of Beta-Binomials is fitted by the same full search
that the rules use, and D_t = sup |F_t - F_(t-1)| is taken in three spaces. The rule steps through
all rounds, also after its stop, so that the table shows what it would have missed.
"""

from dataclasses import fields

import numpy as np
import numpy.typing as npt

from stability._check import check_choice
from stability.evaluate.stops import stops
from stability.evaluate.trace import RoundReport, StabilityTrace
from stability.fit import MixtureFit, count_table, empirical_distance, ks_distance
from stability.fit.mixture import fit_table
from stability.log import DebateLog
from stability.log.round import SILENT_CODE
from stability.rules import FlipRateBelow, KSRule, Rule

OBSERVABLES = ("auto", "correct", "agreement")
_REFERENCES = ("current", "first", "previous")
_NAN = float("nan")


def detect(
    log: DebateLog,
    rule: Rule = KSRule(),  # noqa: B008  # frozen
    *,
    observable: str | None = None,
    reference: str | None = None,
) -> StabilityTrace:
    """Run a rule over a log and measure every round.

    Parameters
    ----------
    log : DebateLog
    rule : Rule
        Any stopping rule, composites too. A batch rule (`KSRule`) needs at least two items.
    observable : {"auto", "correct", "agreement"}, optional
        What the counts of the table count; "auto" takes "correct" where the log is graded. None
        takes what the (first) `KSRule` inside ``rule`` counts, else "auto".
    reference : {"current", "first", "previous"}, optional
        The plurality that "agreement" refers to; None as above, else "current".

    Returns
    -------
    StabilityTrace
        ``stop_round``, ``distances``, ``fits``, ``decisions``, ``to_frame()``, ``summary()``.

    Raises
    ------
    TypeError
        When ``log`` is not a `DebateLog` or ``rule`` not a rule.
    ScopeError
        When a batch rule is given one item; the message names `single_debate_rule`.
    NeedsAnswersError
        When "correct" is asked of a log without grades.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate import detect
    >>> from stability.rules import MaxRounds, Unanimity
    >>> trace = detect(load_smollm_debates(), Unanimity() | MaxRounds(4))
    >>> trace.stop_round, [row.stopped for row in trace.rounds]
    (3, [12, 20, 28, 72])
    """
    for name, value, kind in (("log", log, DebateLog), ("rule", rule, Rule)):
        if not isinstance(value, kind):
            raise TypeError(f"`{name}` must be a {kind.__name__}, got {value!r}")
    ks = first_ks_rule(rule)
    own = ("auto", "current", 2) if ks is None else (ks.observable, ks.reference, ks.n_components)
    wanted = own[0] if observable is None else observable
    target = own[1] if reference is None else check_choice("reference", reference, _REFERENCES)
    state, decisions = rule.start(n_agents=log.n_agents, n_items=log.n_items), []
    for one in log.rounds():
        state, decision = rule.step(state, one)
        decisions.append(decision)
    k, n, counted, wanted = observed_counts(log, wanted, target)
    if wanted == "correct":
        target = ""
    fits = tuple(_fit(k[t][held], n[t][held], own[2]) for t, held in enumerate(counted))
    winners = log.plurality()
    unanimous = _unanimous(log.answers)
    rows = []
    for t, (held, fit, said) in enumerate(zip(counted, fits, decisions, strict=True)):
        stopped = decisions[t - 1].stop_items if t > 0 else np.zeros(log.n_items, np.bool_)
        predictive = latent = empirical = flips = _NAN
        excluded = 0
        if t > 0:
            flips = float((winners[t] != winners[t - 1]).mean())
            before = fits[t - 1]
            if fit is not None and before is not None:
                predictive = ks_distance(before, fit, space="predictive", n=log.n_agents)
                latent = ks_distance(before, fit, space="latent")
            both = held & counted[t - 1]
            same = both & (n[t] == n[t - 1])
            excluded = int((held | counted[t - 1]).sum() - same.sum())
            if same.any():
                empirical = empirical_distance(
                    k[t - 1][same], n[t - 1][same], k[t][same], n[t][same]
                ).value
        rows.append(
            RoundReport(
                round=t,
                items=int(held.sum()),
                active=int((~log.carried[t] & ~stopped).sum()),
                share=float((k[t][held] / n[t][held]).mean()) if held.any() else _NAN,
                predictive=predictive,
                latent=latent,
                empirical=empirical,
                excluded=excluded,
                flip_share=flips,
                unanimous=float(unanimous[t].mean()),
                fit_status="" if fit is None else str(fit.status),
                stopped=int(said.stop_items.sum()),
                stop=said.stop,
                reason=str(said.reason),
                statistic=_NAN if said.statistic is None else said.statistic,
                threshold=_NAN if said.threshold is None else said.threshold,
            )
        )
    return StabilityTrace(
        rule=rule,
        n_items=log.n_items,
        n_agents=log.n_agents,
        observable=wanted,
        reference=target,
        rounds=tuple(rows),
        fits=fits,
        decisions=tuple(decisions),
        notes=_notes(log, wanted, counted, rows, fits),
        flip_rule=stops(log, FlipRateBelow()).decision if log.n_items > 1 else None,
    )


def observed_counts(
    log: DebateLog, observable: str = "auto", reference: str = "current"
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_], str]:
    """Count what is observed: right answers, or agreement with a plurality.

    Returns
    -------
    k, n : ndarray of int64, shape (T, M)
    counted : ndarray of bool, shape (T, M)
        False for an item without a grade or in which nobody spoke: it is left out.
    observable : str
        "correct" or "agreement": what "auto" became.

    Examples
    --------
    >>> k, n, counted, observable = observed_counts(DebateLog([[[0, 0, 1]]], ["A", "B"]))
    >>> k.tolist(), n.tolist(), observable
    ([[2]], [[3]], 'agreement')
    """
    chosen = check_choice("observable", observable, OBSERVABLES)
    if chosen == "correct" or (chosen == "auto" and log.is_graded):
        k, n, graded = log.correct_counts()
        return k, n, graded & (n > 0), "correct"
    k, n = log.agreement_counts(reference)
    return k, n, n > 0, "agreement"


def first_ks_rule(rule: Rule) -> KSRule | None:
    """Return the first `KSRule` inside a rule, the one whose distance a composite shows."""
    if isinstance(rule, KSRule):
        return rule
    for field in fields(rule):  # type: ignore[arg-type]  # every rule is a dataclass
        value = getattr(rule, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            found = first_ks_rule(part) if isinstance(part, Rule) else None
            if found is not None:
                return found
    return None


def _fit(
    k: npt.NDArray[np.int64], n: npt.NDArray[np.int64], n_components: int
) -> MixtureFit | None:
    return fit_table(*count_table(k, n), n_components) if k.size else None


def _unanimous(answers: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    spoke = answers != SILENT_CODE
    first = np.take_along_axis(answers, spoke.argmax(axis=2)[:, :, None], axis=2)
    same: npt.NDArray[np.bool_] = (~spoke | (answers == first)).all(axis=2) & (first[:, :, 0] >= 0)
    return same


def _notes(
    log: DebateLog,
    observable: str,
    counted: npt.NDArray[np.bool_],
    rows: list[RoundReport],
    fits: tuple[MixtureFit | None, ...],
) -> tuple[str, ...]:
    notes = []
    left_out = (~counted).sum(axis=1)
    if left_out.any():
        why = "an answer without a grade" if observable == "correct" else "nobody that spoke"
        told = ", ".join(str(number) for number in left_out)
        notes.append(f"Items left out of the counts, by round: {told} (they have {why}).")
    excluded = [row.excluded for row in rows[1:]]
    if any(excluded):
        told = ", ".join(str(number) for number in excluded)
        notes.append(
            f"Items left out of the empirical D, from t = 1: {told} (another n, or counted in one "
            "of the two rounds only)."
        )
    states = log.state_counts()
    for name, meaning in (("unread", "they count as wrong"), ("silent", "they reduce n")):
        if states[name].any():
            told = ", ".join(str(number) for number in states[name])
            notes.append(f"Answers that are {name}, by round: {told} ({meaning}).")
    bound = [t for t, fit in enumerate(fits) if fit and any(f.at_bound for f in fit.flags)]
    if bound:
        told = ", ".join(str(t) for t in bound)
        notes.append(
            f"At t = {told} the fit lies at a bound of the model, where the latent D can be large "
            "although the counts barely moved."
        )
    if log.carried.any():
        told = ", ".join(str(number) for number in log.carried.sum(axis=1))
        notes.append(f"Debates that had ended and are carried forward, by round: {told}.")
    if log.cluster is not None:
        clusters = len(np.unique(log.cluster))
        if clusters < log.n_items:
            notes.append(
                f"The {log.n_items} items are runs of {clusters} questions: they are not "
                "independent, and the sampling noise is larger than their number says."
            )
    return (*notes, *log.notes)
