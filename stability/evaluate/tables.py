"""A replay as text: one table of figures, the sentences around it, and the published layout.

Shares are given in per cent, changes of the accuracy in points; an interval stands in brackets.
What cannot be said (no grades, a rule that could not run) is "-".

The published layout is that of table 2 of arXiv 2510.12697: for each log the rounds and the
accuracy of the full debate, the rounds used with a stopping rule, and how many points of accuracy
that costs; there 2 to 8 of 10 rounds were used, at a cost of at most .67 points.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stability._check import check_real
from stability.evaluate.trace import plural

if TYPE_CHECKING:
    import pandas as pd

_LEGEND = (
    "rounds: mean rounds held, round 0 included; saved: share of the recorded rounds; answers: "
    "mean answers asked for an item; changed: items whose leading answer differs from that of the "
    "full debate, and the upper limit of that share; accuracy: of the leading answers; change: "
    "from the full debate, in points, with its bootstrap interval; p: exact McNemar test; vote: "
    "change from the vote of round 0, in points."
)


def table(frame: "pd.DataFrame") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and rows of text; only ``"rule"`` is not a figure.

    Parameters
    ----------
    frame : DataFrame
        From `replay`.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.replay import replay
    >>> from stability.rules import Unanimity
    >>> heads, body = table(replay(load_smollm_debates(), [Unanimity()]))
    >>> heads[:5]
    ('rule', 'rounds', 'saved', 'answers', 'changed')
    >>> body[-1][:5]
    ('Unanimity()', '3.17', '20.8 %', '15.8', '1.4 (< 6.4) %')
    """
    tokens = "tokens" in frame
    heads = ("rule", "rounds", "saved", "answers", *(("tokens",) if tokens else ()), "changed")
    heads = (*heads, "accuracy", "change", "p", "vote")
    body = []
    for row in frame.to_dict("records"):
        cells = [
            row["rule"],
            _number(row["rounds"], 2),
            _percent(row["rounds_saved"]),
            _number(row["answers"], 1),
        ]
        if tokens:
            cells.append(_number(row["tokens"], 0))
        change = _points(row["accuracy_change"])
        if not math.isnan(row["accuracy_low"]):
            ends = ", ".join(_points(row[f"accuracy_{end}"]) for end in ("low", "high"))
            change = f"{change} [{ends}]"
        body.append(
            (
                *cells,
                _changed(row["answers_changed"], row["changed_high"]),
                _percent(row["accuracy"]),
                change,
                _number(row["mcnemar_p"], 3),
                _points(row["vote_change"]),
            )
        )
    return heads, body


def account(frame: "pd.DataFrame") -> tuple[str, ...]:
    """Return the sentences around the table: its size, a legend, and what to know of each rule.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.replay import replay
    >>> from stability.rules import Unanimity
    >>> account(replay(load_smollm_debates(), [Unanimity()]))[0]
    '72 items; the accuracy is that of 72 items whose grades are known.'
    """
    full = frame[frame["kind"] == "baseline"].iloc[-1]
    items, clusters, graded = (int(full[name]) for name in ("items", "clusters", "graded"))
    size = plural(items, "item")
    if clusters < items:
        size += f" in {plural(clusters, 'cluster')} (runs of one question are not independent)"
    known = f"the accuracy is that of {plural(graded, 'item')} whose grades are known"
    if graded == 0:
        known = "no answer is graded, so nothing is said of the accuracy"
    lines = [f"{size}; {known}.", _LEGEND]
    if "tokens" in frame:
        told = int(full["tokens_items"])
        lines.append(f"tokens: mean of an item, over the {plural(told, 'item')} with all known.")
    rows = zip(frame["rule"], frame["note"], strict=True)
    return (*lines, *(f"{name}: {note}" for name, note in rows if note))


def condensed(
    frames: "Mapping[str, pd.DataFrame]",
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return one table of many replays: rounds saved / answers changed, by rule and log.

    In per cent; "-" where a rule could not run, or was not among the rules of that log.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.replay import replay
    >>> from stability.rules import Unanimity
    >>> heads, body = condensed({"smollm": replay(load_smollm_debates(), [Unanimity()])})
    >>> heads, body[-1]
    (('rule', 'smollm'), ('Unanimity()', '20.8 / 1.4'))
    """
    # the longest debate names the baselines first, so that they stand by length
    longest = sorted(frames.values(), key=lambda frame: -(frame["kind"] == "baseline").sum())
    names = dict.fromkeys(
        name
        for kind, held in (("baseline", longest), ("rule", list(frames.values())))
        for frame in held
        for name in frame.loc[frame["kind"] == kind, "rule"]
    )
    body = []
    for name in names:
        cells = [name]
        for frame in frames.values():
            rows = frame[frame["rule"] == name].to_dict("records")
            row = rows[0] if rows else {"rounds_saved": math.nan}
            told = not math.isnan(row["rounds_saved"])
            cells.append(
                f"{100 * row['rounds_saved']:.1f} / {100 * row['answers_changed']:.1f}"
                if told
                else "-"
            )
        body.append(tuple(cells))
    return ("rule", *frames), body


def published_table(
    frames: "Mapping[str, pd.DataFrame] | pd.DataFrame", *, max_drop: float = 0.67
) -> "pd.DataFrame":
    """Return the layout of the published table: rounds used, and the drop of the accuracy.

    Parameters
    ----------
    frames : DataFrame, or mapping of str to DataFrame
        From `replay`; a mapping gives the name of each log.
    max_drop : float
        In [0, 100], points of accuracy; the largest published drop by default.

    Returns
    -------
    DataFrame
        A row a log and rule: ``log`` (with a mapping), ``rule``; ``full_rounds``,
        ``full_accuracy``: of the full debate; ``rounds``, ``accuracy``: with the rule; ``drop``
        in points, above 0 where the rule loses; ``within``: whether ``drop`` <= ``max_drop``,
        NA where it is unknown. Accuracies in per cent, over the items graded at both ends.

    Raises
    ------
    ValueError
        When ``max_drop`` is out of range, or there is no frame.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.replay import replay
    >>> from stability.rules import KSRule
    >>> published_table(replay(load_smollm_debates(), [KSRule()])).round(2).values.tolist()
    [['KSRule()', 4.0, 26.39, 4.0, 26.39, 0.0, True]]
    """
    import pandas as pd

    bound = check_real("max_drop", max_drop, low=0.0, high=100.0)
    if not isinstance(frames, Mapping):
        return _published(frames, bound)
    if not frames:
        raise ValueError("`frames` must hold at least one replay, got none")
    parts = []
    for name, frame in frames.items():
        part = _published(frame, bound)
        part.insert(0, "log", name)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _published(frame: "pd.DataFrame", max_drop: float) -> "pd.DataFrame":
    import pandas as pd

    full = frame[frame["kind"] == "baseline"].iloc[-1]
    rules = frame[frame["kind"] == "rule"].reset_index(drop=True)
    drop = -100 * rules["accuracy_change"]
    # .67 as a difference of two floats must not fail for its last digit.
    within = (drop <= max_drop + 1e-9).astype("boolean")
    return pd.DataFrame(
        {
            "rule": rules["rule"],
            "full_rounds": full["rounds"],
            "full_accuracy": 100 * (rules["accuracy"] - rules["accuracy_change"]),
            "rounds": rules["rounds"],
            "accuracy": 100 * rules["accuracy"],
            "drop": drop + 0.0,
            "within": within.mask(drop.isna()),
        }
    )


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _points(change: float) -> str:
    # Rounded first: what rounds to nothing has no sign.
    return "-" if math.isnan(change) else f"{round(100 * change, 1) + 0.0:+.1f}"


def _changed(share: float, high: float) -> str:
    if math.isnan(share):
        return "-"
    return f"{100 * share:.1f} (< {100 * high:.1f}) %" if high > 0 else f"{100 * share:.1f} %"
