"""A fit as a table: text in the layout of statsmodels, a data frame, HTML for notebooks.

Standard errors are those of the observed information; intervals are Wald intervals, of weights and
means on the scale of the logit. An entry that has none is a dash, and the reason stands below.
"""

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stability._check import check_real

if TYPE_CHECKING:
    import pandas as pd

    from stability.fit.result import MixtureFit

_SHOWN = ("weights", "mean", "rho", "alpha", "beta")
_NAMES = dict(zip(_SHOWN, ("weight", "mean", "rho", "alpha", "beta"), strict=True))
_WIDTH = 60


class _Row(NamedTuple):
    """A parameter."""

    component: int
    parameter: str
    estimate: float
    standard_error: float | None
    low: float | None
    high: float | None
    reason: str | None


def _rows(fit: "MixtureFit", level: float) -> list[_Row]:
    """All parameters, component by component."""
    check_real("level", level, low=0.0, high=1.0, closed_low=False, closed_high=False)
    errors = fit.standard_errors()
    rows = []
    for c in range(fit.n_components):
        for name in _SHOWN[1:] if fit.n_components == 1 else _SHOWN:
            low, high = errors.interval(name, c, level) or (None, None)
            value, error = float(getattr(fit, name)[c]), getattr(errors, name)[c]
            reason = errors.reasons.get(f"{name}[{c}]")
            rows.append(_Row(c, _NAMES[name], value, error, low, high, reason))
    return rows


def summary_frame(fit: "MixtureFit", level: float = 0.95) -> "pd.DataFrame":
    """Return a row a parameter: component, parameter, estimate, standard_error, low, high, reason.

    Examples
    --------
    >>> from stability import fit_mixture
    >>> table = summary_frame(fit_mixture([3, 4], 7, freq=[10, 10], n_components=1))
    >>> table["parameter"].tolist()
    ['mean', 'rho', 'alpha', 'beta']
    """
    import pandas as pd

    frame = pd.DataFrame(_rows(fit, level))
    return frame.astype(dict.fromkeys(("standard_error", "low", "high"), float))


def summary_text(fit: "MixtureFit", level: float = 0.95) -> str:
    """Return the fit as a readable table."""
    found = _rows(fit, level)
    tail = (1.0 - level) / 2.0
    lines = ["Beta-Binomial mixture".center(_WIDTH).rstrip(), "=" * _WIDTH]
    for left, right in _head(fit):
        lines.append(f"{left[0]:14}{left[1]:>14}    {right[0]:15}{right[1]:>13}".rstrip())
    lines.append("=" * _WIDTH)
    heads = ("estimate", "std err", f"[{tail:.3g}", f"{1 - tail:.3g}]")
    lines.append(f"{'':14}" + "".join(f"{head:>11}" for head in heads))
    last = -1
    for row in found:
        if row.component != last:
            last = row.component
            lines.append("-" * _WIDTH if fit.n_components == 1 else f"{f'component {last} ':-<60}")
        numbers = (row.estimate, row.standard_error, row.low, row.high)
        lines.append(f"  {row.parameter:12}" + "".join(f"{_number(x):>11}" for x in numbers))
    lines.append("=" * _WIDTH)
    return "\n".join(lines + _notes(fit))


def summary_html(fit: "MixtureFit", level: float = 0.95) -> str:
    """Return the fit as an HTML table."""
    found = _rows(fit, level)
    tail = (1.0 - level) / 2.0
    heads = ("component", "parameter", "estimate", "std err", f"[{tail:.3g}", f"{1 - tail:.3g}]")
    rows = []
    for row in found:
        numbers = (row.estimate, row.standard_error, row.low, row.high)
        cells = [str(row.component), row.parameter, *(_number(x) for x in numbers)]
        rows.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
    facts = ", ".join(f"{name[:-1]} {value}" for pair in _head(fit) for name, value in pair if name)
    notes = "".join(f"<li>{escape(note)}</li>" for note in _notes(fit))
    return (
        "<table><caption>Beta-Binomial mixture: "
        + escape(facts)
        + "</caption><thead><tr>"
        + "".join(f"<th>{escape(head)}</th>" for head in heads)
        + "</tr></thead><tbody>"
        + "".join(rows)
        + "</tbody></table>"
        + f"<ul>{notes}</ul>"
    )


def _head(fit: "MixtureFit") -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """What stands above the parameters, two facts a line."""
    sizes = np.unique(fit.counts.n)
    agents = str(sizes[0]) if sizes.size == 1 else f"{sizes[0]} to {sizes[-1]}"
    return [
        (("Items:", str(fit.n_items)), ("Log-likelihood:", f"{fit.loglik:.4f}")),
        (("Agents:", agents), ("AIC:", f"{fit.aic:.2f}")),
        (("Components:", str(fit.n_components)), ("BIC:", f"{fit.bic:.2f}")),
        (("Parameters:", str(fit.n_parameters)), ("", "")),
    ]


def _notes(fit: "MixtureFit") -> list[str]:
    """What is to be said of the fit, and of entries without a standard error."""
    notes = [f"{flag}: {flag.sentence}" for flag in fit.flags]
    if fit.standard_errors().ill_conditioned:
        notes.append("ill conditioned: the data leave a direction of the parameters unknown.")
    return notes


def _number(value: float | None) -> str:
    """Four significant places of what is near 1, and a dash for what is not known."""
    if value is None or np.isnan(value):
        return "-"
    if np.isinf(value):
        return "inf"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:.4g}"
