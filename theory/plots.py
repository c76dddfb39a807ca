"""Pictures of exact debates: laws, accuracy, echo chambers, interventions, phases.

Every function takes the axes it draws on and returns them; without axes it makes a figure of its
own. Colours are those of Okabe and Ito; lines differ in style as well.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theory._check import check_int
from theory.model.chain import CountChain
from theory.model.concepts import DebateModel
from theory.model.interventions import DiversityPruning
from theory.model.states import state_index
from theory.theorems.echo_chamber import chernoff_information
from theory.theorems.shared_misconception import critical_share, with_misled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#5A5A5A", "#000000")
_STYLES = ("-", "--", "-.", ":")


def laws(chain: CountChain, rounds: int = 5, ax: "Axes | None" = None) -> "Axes":
    """Draw the law of the number of right answers, a line a round.

    Examples
    --------
    >>> from theory import CountChain, DebateModel, plots
    >>> plots.laws(CountChain(DebateModel.binary(7)), 3).get_xlabel()
    'agents that are right'
    """
    check_int("rounds", rounds, minimum=1)
    ax = _axes(ax)
    right = chain.states[:, chain.model.correct]
    for t in range(rounds):
        law = np.bincount(right, weights=chain.law(t), minlength=chain.model.n_agents + 1)
        ax.plot(law, _STYLES[t % 4], marker=".", color=_COLOURS[t % 8], label=f"t = {t}")
    _whole(ax)
    ax.set_xlabel("agents that are right")
    ax.set_ylabel("probability")
    ax.set_ylim(bottom=0.0)
    ax.legend(frameon=False)
    return ax


def accuracy_by_misled(
    model: DebateModel, rounds: Sequence[int] = (0, 1, 3, 10), ax: "Axes | None" = None
) -> "Axes":
    """Draw the accuracy against m, the number of agents of the second type, a line a round."""
    ax = _axes(ax)
    n = model.n_agents
    chains = [CountChain(with_misled(model, m)) for m in range(n + 1)]
    for place, t in enumerate(rounds):
        values = [chain.accuracy(t) for chain in chains]
        ax.plot(values, _STYLES[place % 4], marker=".", color=_COLOURS[place % 8], label=f"t = {t}")
    _whole(ax)
    ax.set_xlabel(f"agents that share the misconception, of {n}")
    ax.set_ylabel("accuracy")
    ax.legend(frameon=False)
    return ax


def echo_by_held(
    model: DebateModel, kept: Sequence[int] = (), answer: int = 0, ax: "Axes | None" = None
) -> "Axes":
    """Draw P(an agent gives the answer that m of n gave), without and with diversity pruning.

    The others are split over the other answers as evenly as they can be; ``kept`` are the k of the
    prunings, ties in favour of the majority. The analogue of Figure 1 of Estornell and Liu.
    """
    ax = _axes(ax)
    n, answers = model.n_agents, model.n_answers
    held = np.arange(n // 2, n + 1)
    counts = np.zeros((len(held), answers), np.int64)
    others = [a for a in range(answers) if a != answer]
    for row, m in zip(counts, held.tolist(), strict=True):
        row[answer] = m
        for place, a in enumerate(others):
            row[a] = (n - m) // len(others) + (place < (n - m) % len(others))
    places = state_index(counts)
    views: list[Any] = [None, *(DiversityPruning(k, ties="majority") for k in kept)]
    for place, view in enumerate(views):
        law = CountChain(model.with_(view=view)).response()[places, answer]
        name = "all are read" if view is None else f"the {view.k} most diverse are read"
        ax.plot(held, law, _STYLES[place % 4], marker=".", color=_COLOURS[place], label=name)
    _whole(ax)
    ax.set_xlabel(f"agents that gave the answer, of {n}")
    ax.set_ylabel("P(an agent gives it next)")
    # below the curves, which rise
    low, high = ax.get_ylim()
    ax.set_ylim(low - 0.09 * (1 + len(views)) * (high - low), high)
    ax.legend(frameon=False, loc="lower right")
    return ax


def similarity(model: DebateModel) -> float:
    """Return P(two different agents give the same first answer), over pairs of agents."""
    laws_ = np.repeat([one.first_law for one in model.types], model.sizes, axis=0)
    n = len(laws_)
    if n < 2:
        return 1.0
    both = laws_ @ laws_.T
    return float((both.sum() - np.trace(both)) / (n * (n - 1)))


def gain_by_similarity(
    models: Sequence[DebateModel], t: int = 5, k: int | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw what debate gains on its first answers, against how similar these are.

    One dot a model; with ``k`` also with diversity pruning. The analogue of Figure 2 of Estornell
    and Liu.
    """
    ax = _axes(ax)
    alike = [similarity(model) for model in models]
    views: list[Any] = [None] if k is None else [None, DiversityPruning(k)]
    for place, view in enumerate(views):
        chains = [CountChain(model.with_(view=view)) for model in models]
        gains = [100 * (chain.accuracy(t) - chain.accuracy(0)) for chain in chains]
        order = np.argsort(alike)
        ax.plot(
            np.array(alike)[order],
            np.array(gains)[order],
            _STYLES[place],
            marker="o",
            color=_COLOURS[place],
            label="debate" if view is None else f"with diversity pruning, k = {k}",
        )
    ax.axhline(0.0, color="black", linewidth=0.7)
    ax.set_xlabel("P(two agents give the same first answer)")
    ax.set_ylabel(f"gain of accuracy from round 0 to {t} (points)")
    ax.legend(frameon=False)
    return ax


def interventions(
    chains: Mapping[str, CountChain], rounds: int = 11, ax: "Axes | None" = None
) -> "Axes":
    """Draw the accuracy by round, a line a set of interventions (names to chains).

    The analogue of Figure 3 of Estornell and Liu.
    """
    check_int("rounds", rounds, minimum=1)
    ax = _axes(ax, wide=True)
    for place, (name, chain) in enumerate(chains.items()):
        values = [chain.accuracy(t) for t in range(rounds)]
        style = _STYLES[place % 4]
        ax.plot(values, style, marker=".", color=_COLOURS[place % 8], label=name)
    _whole(ax)
    ax.set_xlabel("round t")
    ax.set_ylabel("accuracy")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def figures(chain: CountChain, rounds: int = 11, ax: "Axes | None" = None) -> "Axes":
    """Draw accuracy, majority accuracy and the probability of an echo, by round."""
    check_int("rounds", rounds, minimum=1)
    ax = _axes(ax)
    for place, (name, value) in enumerate(
        (
            ("accuracy", chain.accuracy),
            ("majority accuracy", chain.majority_accuracy),
            ("echo of the leader", chain.echo),
        )
    ):
        values = [value(t) for t in range(rounds)]
        ax.plot(values, _STYLES[place], marker=".", color=_COLOURS[place], label=name)
    _whole(ax)
    ax.set_xlabel("round t")
    ax.set_ylabel("probability")
    ax.legend(frameon=False)
    return ax


def phases(
    n: int = 60,
    t: int = 10,
    weight: float = 0.9,
    right: float = 0.8,
    wrong: float = 0.3,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the accuracy of round t over the share of misled agents and their belief in the truth.

    The line is the critical share mu_c of a large debate. Two concepts, two answers.
    """
    ax = _axes(ax)
    beliefs = np.linspace(0.02, 0.5, 13)
    shares = np.linspace(0.0, 1.0, 21)
    values, line = np.zeros((len(beliefs), len(shares))), []
    for i, misled in enumerate(beliefs.tolist()):
        options = {"weight": weight, "misled": misled, "right": right, "wrong": wrong}
        both = DebateModel.shared_misconception(2, 1, **options)
        line.append(critical_share(*both.types))
        for j, share in enumerate(shares.tolist()):
            model = DebateModel.shared_misconception(n, round(share * n), **options)
            values[i, j] = CountChain(model).accuracy(t)
    image = ax.pcolormesh(shares, beliefs, values, cmap="cividis", shading="nearest")
    inside = np.array(line) <= 1.0
    ax.plot(np.array(line)[inside], beliefs[inside], color="white", linewidth=2.0)
    ax.annotate(
        "critical share",
        (np.array(line)[inside][0], beliefs[inside][0]),
        (6, 12),
        textcoords="offset points",
        color="white",
    )
    ax.set_xlim(shares[0], shares[-1])
    ax.set_xlabel(f"share of misled agents, of {n}")
    ax.set_ylabel("their belief in the truth, w(theta*)")
    figure = ax.get_figure()
    assert figure is not None
    figure.colorbar(image, ax=ax, label=f"accuracy of round {t}")
    return ax


def gap_by_size(
    model: DebateModel, sizes: Sequence[int] = (10, 20, 40, 60, 80, 100), ax: "Axes | None" = None
) -> "Axes":
    """Draw the spectral gap against n, with the slope of the Chernoff information.

    The model has one type; its size is replaced by each of ``sizes``.
    """
    ax = _axes(ax)
    gaps = [CountChain(model.with_(sizes=(n,))).spectral_gap() for n in sizes]
    kernel = model.types[0].kernel
    rate = min(
        chernoff_information(kernel[a], kernel[b]) for a in range(len(kernel)) for b in range(a)
    )
    x = np.array(sizes, float)
    ax.semilogy(x, gaps, "-", marker="o", color=_COLOURS[0], label="1 - |second eigenvalue|")
    slope = gaps[-1] * np.exp(-rate * (x - x[-1]))
    ax.semilogy(x, slope, "--", color=_COLOURS[1], label=f"slope exp(-n C), C = {rate:.4f}")
    ax.set_xlabel("agents n")
    ax.set_ylabel("spectral gap")
    ax.legend(frameon=False)
    return ax


def _axes(ax: "Axes | None", wide: bool = False) -> "Axes":
    if ax is None:
        from matplotlib.figure import Figure

        size = (8.5, 4.2) if wide else (6.4, 4.2)
        ax = Figure(figsize=size, layout="constrained").subplots()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _whole(ax: "Axes") -> None:
    """Mark whole numbers on the axis of counts and rounds."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(9, integer=True))
