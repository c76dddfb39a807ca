"""Hypothesis strategies: count tables, mixtures, streams of rounds, debate logs, states.

Boundary and degenerate cases, which uniform draws hardly meet, are weighted in: all right, all
wrong, all or nothing, one item, one agent, empty cells.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from stability import DebateLog, Round, Rule, RuleState

Int64 = npt.NDArray[np.int64]
KINDS = ("any", "stationary", "drifting", "absorbing", "censored")
LABELS = ("A", "B", "C")
UNREAD, SILENT = -1, -2


class Counts(NamedTuple):
    """A valid table of counts: k of n on ``freq`` items, shapes (R,)."""

    k: Int64
    n: Int64
    freq: Int64


class Mixture(NamedTuple):
    """A mixture of Beta-Binomials: weights (sum 1), means, correlations, shapes (K,)."""

    weights: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    rho: npt.NDArray[np.float64]


@st.composite
def count_tables(
    draw: st.DrawFn,
    *,
    max_rows: int = 12,
    max_agents: int = 9,
    max_freq: int = 20,
    equal_n: bool = False,
) -> Counts:
    """Draw valid tables; a third of them lies at a bound.

    Parameters
    ----------
    max_rows, max_agents, max_freq : int
        >= 1.
    equal_n : bool
        Whether all items have one n.

    Examples
    --------
    >>> from hypothesis import find
    >>> table = find(count_tables(), lambda one: one.freq.sum() > 3)
    >>> bool((table.k <= table.n).all())
    True
    """
    rows = draw(st.integers(1, max_rows))
    top = draw(st.integers(1, max_agents))
    sizes = [top if equal_n else draw(st.integers(1, top)) for _ in range(rows)]
    shape = draw(st.sampled_from(["any"] * 8 + ["right", "wrong", "ends", "one"]))
    if shape == "any":
        k = [draw(st.integers(0, size)) for size in sizes]
    elif shape == "one":
        sizes, k = sizes[:1], [draw(st.integers(0, sizes[0]))]
    else:
        ends = {"right": [True], "wrong": [False], "ends": [True, False]}[shape]
        k = [size if draw(st.sampled_from(ends)) else 0 for size in sizes]
    freq = [draw(st.integers(0, max_freq)) for _ in k]
    freq[0] = max(freq[0], 1)
    return Counts(*(np.array(column, np.int64) for column in (k, sizes, freq)))


@st.composite
def mixtures(draw: st.DrawFn, *, kind: str = "any", max_components: int = 3) -> Mixture:
    """Draw mixtures: "separated", "overlapping", at a "boundary", or "any" of them.

    Examples
    --------
    >>> from hypothesis import find
    >>> found = find(mixtures(kind="boundary"), lambda one: True)
    >>> bool(((found.rho == 0) | (found.rho == 1) | (found.mean == 0) | (found.mean == 1)).any())
    True
    """
    kinds = ("separated", "overlapping", "boundary")
    if kind not in (*kinds, "any"):
        raise ValueError(f"`kind` must be one of any, {', '.join(kinds)}, got {kind!r}")
    chosen = draw(st.sampled_from(kinds)) if kind == "any" else kind
    size = draw(st.integers(2 if chosen == "separated" else 1, max(2, max_components)))
    raw = np.array([draw(st.integers(1, 20)) for _ in range(size)], np.float64)
    share = st.floats(0.02, 0.98)
    if chosen == "separated":
        mean = np.linspace(0.1, 0.9, size)
        rho = np.array([draw(st.floats(0.001, 0.05)) for _ in range(size)])
    else:
        mean = np.array([draw(share) for _ in range(size)])
        rho = np.array([draw(st.floats(0.01, 0.9)) for _ in range(size)])
    if chosen == "boundary":
        at = draw(st.integers(0, size - 1))
        if draw(st.booleans()):
            rho[at] = draw(st.sampled_from([0.0, 1.0]))
        else:
            mean[at], rho[at] = draw(st.sampled_from([0.0, 1.0])), 0.0
    order = np.argsort(mean, kind="stable")
    return Mixture(raw[order] / raw.sum(), mean[order], rho[order])


@st.composite
def streams(
    draw: st.DrawFn,
    *,
    kind: str = "any",
    max_rounds: int = 6,
    max_items: int = 5,
    max_agents: int = 5,
    min_items: int = 1,
    graded: bool | None = None,
) -> list[Round]:
    """Draw the rounds of a debate.

    Parameters
    ----------
    kind : {"any", "stationary", "drifting", "absorbing", "censored"}
        Answers drawn anew in every round; more and more right ones; answers that stay as soon as
        all agree; with agents that are silent or cannot be read.
    max_rounds, max_items, max_agents, min_items : int
        >= 1.
    graded : bool, optional
        Whether answers are graded ("A" is right); None draws it.

    Examples
    --------
    >>> from hypothesis import find
    >>> rounds = find(streams(graded=False), lambda held: len(held) == 2)
    >>> [one.index for one in rounds]
    [0, 1]
    """
    if kind not in KINDS:
        raise ValueError(f"`kind` must be one of {', '.join(KINDS)}, got {kind!r}")
    codes = draw(
        _codes(
            kind=kind,
            max_rounds=max_rounds,
            items=st.integers(min_items, max_items),
            max_agents=max_agents,
        )
    )
    right = draw(st.booleans()) if graded is None else graded
    return rounds_of(codes, right)


def rounds_of(codes: npt.NDArray[np.int32], graded: bool) -> list[Round]:
    """Return the rounds of codes (T, M, n): -1 is unread, -2 silent, "A" is right.

    Examples
    --------
    >>> [one.index for one in rounds_of(np.zeros((2, 1, 3), np.int32), True)]
    [0, 1]
    """
    log = log_of(codes, graded)
    return list(log.rounds())


def log_of(codes: npt.NDArray[np.int32], graded: bool) -> DebateLog:
    """Return the log of codes (T, M, n)."""
    gold = [LABELS[0]] * codes.shape[1] if graded else None
    return DebateLog(codes, list(LABELS), gold=gold)


@st.composite
def debate_logs(
    draw: st.DrawFn, *, kind: str = "any", max_rounds: int = 5, max_items: int = 6
) -> DebateLog:
    """Draw logs with unread and silent answers, graded or not, some with clusters.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(debate_logs(), lambda log: log.n_items > 1).labels
    ('A', 'B', 'C')
    """
    codes = draw(
        _codes(kind=kind, max_rounds=max_rounds, items=st.integers(1, max_items), max_agents=5)
    )
    gold = [LABELS[0]] * codes.shape[1] if draw(st.booleans()) else None
    cluster = None
    if draw(st.booleans()):
        cluster = [draw(st.integers(0, 2)) for _ in range(codes.shape[1])]
    return DebateLog(codes, list(LABELS), gold=gold, cluster=cluster)


@st.composite
def states(draw: st.DrawFn, rule: Rule, *, min_items: int = 1) -> tuple[RuleState, Round]:
    """Draw a state of a rule in the middle of a debate, and the round that comes next."""
    rounds = draw(streams(min_items=min_items, graded=True).filter(lambda held: len(held) > 1))
    at = draw(st.integers(1, len(rounds) - 1))
    state = rule.start(n_agents=rounds[0].n_agents)
    for one in rounds[:at]:
        state, _ = rule.step(state, one)
    return state, rounds[at]


@st.composite
def _codes(
    draw: st.DrawFn,
    *,
    kind: str,
    max_rounds: int,
    items: st.SearchStrategy[int],
    max_agents: int,
) -> npt.NDArray[np.int32]:
    """Answers (T, M, n)."""
    chosen = draw(st.sampled_from(KINDS[1:])) if kind == "any" else kind
    shape = (draw(st.integers(1, max_rounds)), draw(items), draw(st.integers(1, max_agents)))
    pool: list[Any] = [0, 0, 0, 1, 1, 2]
    if chosen == "censored":
        pool += [UNREAD, SILENT]
    cell = st.sampled_from(pool)
    first = draw(st.lists(cell, min_size=shape[1] * shape[2], max_size=shape[1] * shape[2]))
    rounds = [np.array(first, np.int32).reshape(shape[1:])]
    for _ in range(1, shape[0]):
        last = rounds[-1].copy()
        fresh = np.array([[draw(cell) for _ in range(shape[2])] for _ in range(shape[1])], np.int32)
        if chosen == "drifting":
            moved = np.array([draw(st.booleans()) for _ in range(last.size)]).reshape(last.shape)
            last[moved] = 0
        elif chosen == "absorbing":
            open_ = (last != last[:, :1]).any(axis=1)
            last[open_] = fresh[open_]
        else:
            last = fresh
        rounds.append(last)
    return np.stack(rounds)
