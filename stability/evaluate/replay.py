"""What stopping rules would have saved on a recorded log, and what they would have changed.

A rule holds item i for h_i of its R_i recorded rounds (`stops`). Against the full debate it saves
1 - sum h_i / sum R_i of the rounds; the answer changes on the items whose leading answer after
h_i rounds is not that of the last; the accuracy changes by the mean of right(h_i) - right(R_i).
Beside the rules stand debates of a fixed length: round 0 alone, which is the vote without a
debate; t + 1 rounds; and all. A rule is worth its while only where it changes fewer answers than
a fixed length that costs as much.

A log can only tell what happened in the rounds it holds: a debate that its source ended early
is counted in its own length, and nothing is said of the rounds it never had.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stability._check import check_int, check_real
from stability.errors import NeedsAnswersError, ScopeError
from stability.evaluate.outcomes import Outcomes
from stability.evaluate.stops import stops
from stability.evaluate.trace import plural
from stability.log import DebateLog
from stability.rules import (
    SPRT,
    BetaPosterior,
    EntropyBelow,
    FlipRateBelow,
    JensenShannonBelow,
    KSRule,
    NoAnswerChanged,
    PairedEquivalence,
    PluralityShare,
    PluralityUnchanged,
    Rule,
    StableMargin,
    SwapTest,
    Unanimity,
    rule_to_text,
)

if TYPE_CHECKING:
    import pandas as pd

# What `replay` runs when no rules are given: those that stop each item, then a batch.
RULES: tuple[Rule, ...] = (
    Unanimity(),
    Unanimity(hold=1),
    PluralityShare(),
    EntropyBelow(0.75),
    PluralityUnchanged(),
    PluralityUnchanged(patience=2),
    NoAnswerChanged(),
    JensenShannonBelow(),
    StableMargin(margin=2, held=2),
    BetaPosterior(),
    BetaPosterior(confidence=0.99, pool="all"),
    SPRT(),
    FlipRateBelow(),
    PairedEquivalence(lag=1),
    SwapTest(),
    KSRule(),
    KSRule(space="empirical"),
    KSRule(epsilon="calibrated"),
    KSRule.paper(),
)

FULL, VOTE = "full debate", "round-0 vote"
_FIRST = (
    "rule",
    "rounds",
    "answers_changed",
    "accuracy_change",
    "accuracy_low",
    "accuracy_high",
    "mcnemar_p",
    "kind",
    "scope",
)
_WHOLE = ("items", "clusters", "graded", "tokens_items", "stop_round")
_EMPTY: dict[str, Any] = {
    "kind": "baseline",
    "scope": "",
    "note": "",
    "stopped": float("nan"),
    "stop_round": None,
}


def replay(
    log: DebateLog,
    rules: Iterable[Rule] | Mapping[str, Rule] | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> "pd.DataFrame":
    """Run rules over a log and count what each saves and changes.

    Parameters
    ----------
    log : DebateLog
        M items. Rules see it as one batch, whatever the numbers of agents; `split` takes it
        apart.
    rules : iterable of Rule, or mapping of str to Rule, optional
        With a mapping, the rows bear its names. None runs ``RULES``.
    confidence : float
        In (0, 1), of the intervals.
    resamples : int
        >= 1, of the bootstrap.
    seed : int
        >= 0, of the bootstrap. Each row draws alike, whatever the other rows.

    Returns
    -------
    DataFrame
        First the debates of a fixed length, then a row a rule:

        - ``rule``, ``kind`` ("baseline" or "rule"), ``scope`` ("item" or "batch");
        - ``rounds``: mean rounds held, round 0 included; ``rounds_saved``, the share saved;
        - ``answers``: mean answers asked for an item (silent agents and rounds into which an
          ended debate was carried cost nothing); ``answers_saved``, the share saved;
        - ``tokens``, ``tokens_saved``, ``tokens_items``, when the log holds tokens: of the items
          all of whose tokens are known, so that rows compare; unknown ones are never taken as 0;
        - ``answers_changed``: share of items whose leading answer differs from that of the full
          debate; ``changed_high``: the upper limit of that share (Clopper-Pearson,
          over clusters). An accuracy changes by no more than answers do;
        - ``accuracy`` of the leading answers over the ``graded`` items, those for which it is
          known at the stop and at the end; ``accuracy_change`` from the full debate over these,
          with the interval ``accuracy_low``, ``accuracy_high`` of the bootstrap over clusters
          and the exact McNemar test over clusters, ``mcnemar_p`` (`paired_change`);
        - ``vote_change``, ``vote_low``, ``vote_high``, ``vote_p``: the same from the vote of
          round 0, so above 0 where debating helped;
        - ``stopped``: share of items that the rule itself has stopped; ``stop_round``: the t at
          which a batch rule had stopped all, NA when it did not;
        - ``items``, ``clusters`` (of items that are runs of one question);
        - ``note``: why a rule could not run (its figures are then missing), or what it warned of.

    Raises
    ------
    TypeError
        When ``log`` is no DebateLog, or ``rules`` hold something else than rules.
    ValueError
        When an option is out of range.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> frame = replay(load_smollm_debates(), [Unanimity(), KSRule()])
    >>> frame[["rule", "rounds", "answers_changed"]].round(3).values.tolist()[-2:]
    [['Unanimity()', 3.167, 0.014], ['KSRule()', 4.0, 0.0]]
    """
    import pandas as pd

    if not isinstance(log, DebateLog):
        raise TypeError(f"`log` must be a DebateLog, got {log!r}")
    named = _named(RULES if rules is None else rules)
    outcomes = Outcomes(
        log,
        confidence=check_real(
            "confidence", confidence, low=0.0, high=1.0, closed_low=False, closed_high=False
        ),
        resamples=check_int("resamples", resamples, minimum=1),
        seed=check_int("seed", seed, minimum=0),
    )
    rows = []
    for t in range(log.n_rounds):
        name = FULL if t == log.n_rounds - 1 else VOTE if t == 0 else f"fixed t = {t}"
        rows.append({**_EMPTY, "rule": name, **outcomes.of(np.full(log.n_items, t + 1))})
    # By construction, not by what was seen.
    rows[-1]["changed_high"] = 0.0
    for name, rule in named:
        rows.append({**_EMPTY, "rule": name, "kind": "rule", **_run(log, rule, outcomes)})
    frame = pd.DataFrame(rows)
    whole = [name for name in _WHOLE if name in frame]
    order = [*_FIRST, *(name for name in frame if name not in (*_FIRST, "note")), "note"]
    return frame.astype(dict.fromkeys(whole, "Int64"))[order]


def _named(rules: Iterable[Rule] | Mapping[str, Rule]) -> list[tuple[str, Rule]]:
    wanted = "`rules` must hold rules, as a sequence or a mapping of names to rules, got"
    if isinstance(rules, Mapping):
        pairs = [(str(name), rule) for name, rule in rules.items()]
    elif isinstance(rules, Iterable):
        pairs = [("", rule) for rule in rules]
    else:
        raise TypeError(f"{wanted} {rules!r}")
    for _, rule in pairs:
        if not isinstance(rule, Rule):
            raise TypeError(f"{wanted} {rule!r}")
    return [(name or rule_to_text(rule), rule) for name, rule in pairs]


def _run(log: DebateLog, rule: Rule, outcomes: Outcomes) -> dict[str, Any]:
    try:
        found = stops(log, rule)
    except (NeedsAnswersError, ScopeError) as error:
        return {"scope": rule.scope, "items": log.n_items, "note": f"could not run: {error}"}
    said = found.decision
    batch = rule.scope == "batch"
    notes = list(said.warnings)
    if batch and not said.stop:
        notes.insert(0, f"Did not stop in {plural(log.n_rounds, 'round')} ({said.reason}).")
    return {
        "scope": rule.scope,
        **outcomes.of(found.held),
        "stopped": float(found.stopped.mean()),
        "stop_round": said.round if batch and said.stop else None,
        "note": " ".join(notes),
    }
