"""The picture of a certificate: what every rule saved, what it cost, and what that proves.

A dot is the share of debates in which a rule cost something; its line reaches up to the upper limit
of the risk, at the error of the rule's family. A rule passes when its line, and those of all rules
before it in its family, end below the risk that is to be promised.
"""

from typing import TYPE_CHECKING

from stability.evaluate.certificate import Certificate
from stability.fit.share import upper_limit
from stability.plots.canvas import BLUE, GREEN, GREY, PURPLE, VERMILION, bare, open_axes
from stability.rules import rule_to_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = ((BLUE, "o"), (PURPLE, "s"), (GREEN, "^"), (GREY, "D"))


def certificate(
    found: Certificate, ax: "Axes | None" = None, *, title: str | None = None
) -> "Axes":
    """Draw the rules that were tested, the rounds they save against the risk they may have.

    Parameters
    ----------
    found : Certificate
    ax : matplotlib Axes, optional
    title : str, optional

    Returns
    -------
    Axes
        Filled markers are rules that passed; the chosen one is ringed and named in the title.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from stability import certify, load_smollm_debates, plots
    >>> found = certify(load_smollm_debates(), max_risk=.1)
    >>> plots.certificate(found, Figure().subplots()).get_xlabel()
    'rounds saved (%)'
    """
    ax = open_axes(ax, (7.5, 4.6))
    bare(ax)
    error = (1.0 - found.confidence) / len(found.families)
    for place, name in enumerate(found.families):
        colour, marker = _STYLES[place % len(_STYLES)]
        own = [one for one in found.tested if one.family == name]
        for one in own:
            share = one.losses / found.n_items
            limit = upper_limit(one.losses, found.n_items, 1.0 - error)
            if found.method == "conformal":
                limit = one.p_value  # (x + 1) / (M + 1)
            x, low, high = 100 * one.saved, 100 * share, 100 * limit
            ax.plot([x, x], [low, high], color=colour, linewidth=1.2, alpha=0.7, zorder=2)
            ax.plot([x], [high], color=colour, marker="_", markersize=9, zorder=2)
        for passed, said in ((True, "passed"), (False, "not passed")):
            here = [one for one in own if one.passed == passed]
            if here:
                ax.scatter(
                    [100 * one.saved for one in here],
                    [100 * one.losses / found.n_items for one in here],
                    s=42,
                    marker=marker,
                    facecolors=colour if passed else "white",
                    edgecolors=colour,
                    linewidths=1.5,
                    zorder=3,
                    label=f"{name}, {said}",
                )
    ax.axhline(
        100 * found.max_risk,
        color=VERMILION,
        linewidth=1.5,
        linestyle="--",
        label=f"promised: at most {100 * found.max_risk:g} %",
    )
    if found.rule is not None:
        ax.scatter(
            [100 * found.saved],
            [100 * found.losses / found.n_items],
            s=190,
            facecolors="none",
            edgecolors="black",
            linewidths=1.3,
            zorder=4,
            label="certified",
        )
    ax.plot([], [], color="black", linewidth=1.2, marker="_", label="up to the upper limit")
    lost = "answer changed" if found.loss == "answer_changed" else "right answer lost"
    ax.set_xlabel("rounds saved (%)")
    ax.set_ylabel(f"{lost} (% of the debates)")
    ax.margins(x=0.06)
    top = ax.get_ylim()[1]
    ax.set_ylim(-0.03 * top, top)
    ax.legend(loc="upper left", frameon=False)
    if title is None:
        title = "Nothing can be certified" if found.rule is None else rule_to_text(found.rule)
    ax.set_title(title)
    return ax
