"""Certified early stopping: choose a rule on recorded debates, with a promise that holds.

Every rule has a risk: the share of debates of the population that an early stop costs something
(`stability.evaluate.losses`). Learn then test (Angelopoulos et al., arXiv 2110.01052) turns the
choice into a test of many hypotheses "the risk of this rule exceeds max_risk". With x losses among
M independent debates the exact p-value is

    p = P(Bin(M, max_risk) <= x).

The rules of a family are tested in an order fixed beforehand, the safest first, each at the error
of the family, until one fails (fixed-sequence testing); families share the error 1 - confidence
evenly. Then, with probability at least ``confidence``, no rule that passed has a risk above
max_risk, so that any of them may be taken: the one that saved most rounds is.

P(a certificate is issued and its rule's risk exceeds max_risk) <= 1 - confidence. It holds for
debates drawn as those of the log were: the same agents, length, ties and population of questions.

Conformal risk control (Angelopoulos et al., arXiv 2208.02814) is the weaker option: the loss of a
rule is the largest of its own and of all safer rules of one family, and the least safe rule with
(x + 1) / (M + 1) <= max_risk is taken. Its promise is one on average over logs.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from stability._check import check_choice, check_int, check_real
from stability.errors import ScopeError
from stability.evaluate.certificate import METHODS, Certificate, Tested
from stability.evaluate.families import FAMILIES, family
from stability.evaluate.fingerprint import fingerprint, item_fingerprints
from stability.evaluate.losses import LOSSES, losses_by_round
from stability.evaluate.plan import items_for_certificate
from stability.evaluate.stops import stops
from stability.fit.share import upper_limit
from stability.log import DebateLog
from stability.rules import Rule

Known = DebateLog | str
_DEFAULT = ("margin", "posterior")


def certify(
    log: DebateLog,
    rules: "Sequence[Rule] | Sequence[Sequence[Rule]] | None" = None,
    *,
    max_risk: float = 0.05,
    confidence: float = 0.95,
    loss: Literal["answer_changed", "harm"] = "answer_changed",
    families: Sequence[str] = _DEFAULT,
    method: Literal["learn-then-test", "conformal"] = "learn-then-test",
    tuned_on: "Known | Iterable[Known]" = (),
    seed: int = 0,
) -> Certificate:
    """Certify a rule for early stopping on recorded debates of full length.

    Parameters
    ----------
    log : DebateLog
        M debates of n agents that were all held for T >= 2 rounds. Of debates that share a
        cluster one is drawn, since runs of one question are not independent.
    rules : sequence of Rule, or of sequences of Rule, optional
        One family, or several that share the error, each in the order of the tests: the safest
        first. Rules that stop each item alone. None takes ``families``.
    max_risk, confidence : float
        In (0, 1).
    loss : {"answer_changed", "harm"}
        See the module ``losses``; harm needs grades.
    families : sequence of str
        Among "margin", "posterior", "fixed" (`family`), when ``rules`` is None.
    method : {"learn-then-test", "conformal"}
        Conformal takes one family, and promises on average only.
    tuned_on : DebateLog or str, or several
        Logs (or their fingerprints) on which ``rules`` were chosen. The promise would be void if
        debates of them were in ``log``.
    seed : int
        >= 0, of the draw of one debate a cluster.

    Returns
    -------
    Certificate
        ``rule`` is None when nothing can be certified; ``sentence`` says why.

    Raises
    ------
    TypeError
        When ``log`` is no DebateLog, or ``rules`` hold something else than rules.
    ScopeError
        When a rule stops a whole batch.
    NeedsAnswersError
        When harm is asked of a log that is not graded.
    ValueError
        When debates ended early, are too few (the message says how many are needed), are those a
        rule was tuned on, or an argument is out of range.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> found = certify(load_smollm_debates(), max_risk=.1)
    >>> found.losses, found.n_items, round(found.saved, 3)
    (2, 72, 0.208)
    """
    if not isinstance(log, DebateLog):
        raise TypeError(f"`log` must be a DebateLog, got {log!r}")
    risk = check_real("max_risk", max_risk, low=0.0, high=1.0, closed_low=False, closed_high=False)
    sure = check_real(
        "confidence", confidence, low=0.0, high=1.0, closed_low=False, closed_high=False
    )
    check_choice("loss", loss, LOSSES)
    check_choice("method", method, METHODS)
    check_int("seed", seed, minimum=0)
    _check_length(log)
    named = _families(rules, families, log)
    if method == "conformal" and len(named) > 1:
        raise ValueError(f"`families` must be one when method='conformal', got {', '.join(named)}")
    _check_fresh(log, tuned_on)
    used = log.one_per_cluster(seed)
    error = (1.0 - sure) / len(named)
    needed = (
        items_for_certificate(risk, sure, families=len(named))
        if method == "learn-then-test"
        else int(np.ceil(1.0 / risk)) - 1
    )
    if used.n_items < needed:
        raise ValueError(
            f"`log` must hold at least {needed} independent debates to certify a risk of {risk:g} "
            f"with no loss, got {used.n_items}; `items_for_certificate` says how many for more"
        )
    by_round = losses_by_round(used, loss)
    places = np.arange(used.n_items)
    lost: list[npt.NDArray[np.bool_]] = []
    saved: list[float] = []
    for part in named.values():
        rows = []
        for rule in part:
            held = stops(used, rule).held
            rows.append(by_round[held - 1, places])
            saved.append(1.0 - float(held.sum()) / (used.n_items * used.n_rounds))
        lost.append(np.array(rows))
    if method == "conformal":
        lost = [np.logical_or.accumulate(part, axis=0) for part in lost]
    counts = [part.sum(axis=1) for part in lost]
    if method == "conformal":
        p_values = [(part + 1) / (used.n_items + 1) for part in counts]
        passed = [bounds <= risk for bounds in p_values]
    else:
        p_values = [binomial_p(part, used.n_items, risk) for part in counts]
        passed = [in_sequence(part, error) for part in p_values]
    told = zip(
        (name for name, part in named.items() for _ in part),
        (rule for part in named.values() for rule in part),
        np.concatenate(counts).tolist(),
        np.concatenate(p_values).tolist(),
        np.concatenate(passed).tolist(),
        saved,
        strict=True,
    )
    tested = tuple(Tested(*row) for row in told)
    best = max((one for one in tested if one.passed), key=lambda one: one.saved, default=None)
    # a rule that saves nothing needs no certificate
    if best is not None and best.saved <= 0.0:
        best = None
    return Certificate(
        rule=None if best is None else best.rule,
        max_risk=risk,
        confidence=sure,
        loss=loss,
        method=method,
        n_items=used.n_items,
        losses=0 if best is None else best.losses,
        p_value=1.0 if best is None else best.p_value,
        risk_high=1.0 if best is None else upper_limit(best.losses, used.n_items, 1.0 - error),
        saved=0.0 if best is None else best.saved,
        n_agents=used.n_agents,
        n_rounds=used.n_rounds,
        ties="previous",
        population=fingerprint(log),
        seed=seed,
        families=tuple(named),
        tested=tested,
    )


def binomial_p(
    losses: npt.NDArray[np.integer], n_items: int, max_risk: float
) -> npt.NDArray[np.float64]:
    """Return P(Bin(M, max_risk) <= losses) of each rule.

    Examples
    --------
    >>> binomial_p(np.array([0, 1]), 59, .05).round(4).tolist()
    [0.0485, 0.1991]
    """
    from scipy.special import bdtr

    found: npt.NDArray[np.float64] = bdtr(losses.astype(np.float64), n_items, max_risk)
    return found


def in_sequence(p_values: npt.NDArray[np.float64], error: float) -> npt.NDArray[np.bool_]:
    """Say which rules pass in order: those before the first whose p-value exceeds the error.

    Examples
    --------
    >>> in_sequence(np.array([.01, .04, .2, .01]), .05).tolist()
    [True, True, False, False]
    """
    return np.logical_and.accumulate(p_values <= error)


def _check_length(log: DebateLog) -> None:
    ended = int(log.carried.any(axis=0).sum())
    if ended:
        raise ValueError(
            f"`log` must hold debates in full length: {ended} of {log.n_items} ended before round "
            f"{log.n_rounds}, and what they would have said is not known; selecting the others "
            "would leave another population"
        )
    if log.n_rounds < 2:
        raise ValueError("`log` must hold two rounds or more: one round leaves nothing to save")


def _families(
    rules: "Sequence[Rule] | Sequence[Sequence[Rule]] | None",
    families: Sequence[str],
    log: DebateLog,
) -> dict[str, tuple[Rule, ...]]:
    if rules is None:
        names = [families] if isinstance(families, str) else list(families)
        for name in names:
            check_choice("families", name, FAMILIES)
        if not names or len(set(names)) < len(names):
            raise ValueError(f"`families` must be different ones, at least one, got {names}")
        return {name: family(name, log.n_agents, log.n_rounds) for name in names}
    given = list(rules) if isinstance(rules, Iterable) else [rules]
    if given and all(isinstance(one, Rule) for one in given):
        given = [given]
    found = {}
    for place, part in enumerate(given):
        held = tuple(part) if isinstance(part, Iterable) else (part,)
        if not held or not all(isinstance(one, Rule) for one in held):
            raise TypeError(f"`rules` must hold rules, or sequences of rules, got {rules!r}")
        for rule in held:
            if rule.scope == "batch":
                raise ScopeError(
                    f"`rules` must stop each debate alone, got {type(rule).__name__}, which stops "
                    "a batch: its stops in one log are one event, not M of them"
                )
        found[f"given {place + 1}" if len(given) > 1 else "given"] = held
    if not found:
        raise TypeError("`rules` must hold at least one rule")
    return found


def _check_fresh(log: DebateLog, tuned_on: "Known | Iterable[Known]") -> None:
    others = [tuned_on] if isinstance(tuned_on, DebateLog | str) else list(tuned_on)
    if not others:
        return
    own, mine = fingerprint(log), set(item_fingerprints(log))
    for other in others:
        if isinstance(other, str):
            shared = log.n_items if other == own else 0
        elif isinstance(other, DebateLog):
            shared = sum(one in mine for one in item_fingerprints(other))
        else:
            raise TypeError(f"`tuned_on` must hold logs or fingerprints, got {other!r}")
        if shared:
            raise ValueError(
                f"`log` must not hold debates that the rules were tuned on: {shared} are shared; "
                "keep apart a part of the debates before you choose"
            )
