"""Named debates, to start from; each says what it is an example of.

``SCENARIOS`` holds them by name with seven agents, `named_scenario` builds one for another number.
Change one with ``dataclasses.replace`` or build your own.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from sims._check import check_whole
from sims.debates.panel import Panel
from sims.debates.scenario import Scenario
from theory import AgentType, DebateModel

_N = 7


def named_scenario(name: str, agents: int = _N) -> Scenario | Panel:
    """Return the debate of that name among so many agents; shares of agents are rounded.

    Raises
    ------
    ValueError
        When there is no such name, or the number is none or too small for what is named.

    Examples
    --------
    >>> named_scenario("adversary", 9).model.sizes
    (8, 1)
    """
    if not isinstance(name, str) or name not in _NAMED:
        raise ValueError(f"`name` must be one of {', '.join(_NAMED)}, got {name!r}")
    agents = check_whole("agents", agents, 1)
    return _NAMED[name][0](agents)


def _two(weight: float, right: float, wrong: float) -> AgentType:
    """Two concepts and two answers; the task gives the true concept ``weight``."""
    kernel = np.array([[right, 1.0 - right], [wrong, 1.0 - wrong]])
    return AgentType(np.array([0.5, 0.5]), np.array([weight, 1.0 - weight]), kernel)


def _model(*groups: tuple[AgentType, int]) -> DebateModel:
    """Leave out types without agents."""
    kept = [(kind, size) for kind, size in groups if size > 0]
    return DebateModel(tuple(kind for kind, _ in kept), tuple(size for _, size in kept))


def _share(n: int, of_seven: int) -> int:
    """Return of_seven / 7 of n agents, rounded half up."""
    return (2 * n * of_seven + _N) // (2 * _N)


def _plain(kind: AgentType, **options: Any) -> Callable[[int], Scenario]:
    return lambda n: Scenario(_model((kind, n)), **options)


def _nobody_right(n: int) -> Scenario:
    kernel = DebateModel.echo_chamber(1, 3).types[0].kernel
    kinds = [
        AgentType(np.full(3, 1 / 3), np.array(task), kernel)
        for task in ([0.06, 0.6, 0.34], [0.06, 0.34, 0.6])
    ]
    return Scenario(_model((kinds[0], n - n // 2), (kinds[1], n // 2)))


def _heterogeneous(n: int) -> Scenario:
    rows = np.linspace((0.4, 0.6), (0.9, 0.9), n).tolist()
    return Scenario(_model(*((_two(w, r, 1.0 - r), 1) for w, r in rows)))


def _one_speaks_for(answer: float, others: AgentType) -> Callable[[int], Scenario]:
    """One agent says the right answer with probability ``answer``, whatever it reads."""
    return lambda n: Scenario(_model((others, n - 1), (_two(0.5, answer, answer), 1)))


_STILL = Panel()

# name: the debate of n agents, and what it shows
_NAMED: dict[str, tuple[Callable[[int], Scenario | Panel], str]] = {
    "echo_chamber": (
        lambda n: Scenario(DebateModel.echo_chamber(n)),
        "equal agents, three concepts alike: they settle on one, whichever it is",
    ),
    "shared_misconception": (
        lambda n: Scenario(DebateModel.shared_misconception(n, _share(n, 5), 0.9, 0.2, 0.8, 0.3)),
        "five of seven lean to the same wrong concept (weight .2 on the true one, the others .9)",
    ),
    "weak_majority": (
        lambda n: Scenario(DebateModel.shared_misconception(n, n // 2 + 1, 0.95, 0.49, 0.8, 0.3)),
        "the least majority hardly leans to the wrong concept (.49): debate finds the right answer",
    ),
    "diverse": (
        lambda n: Scenario(DebateModel.diverse(n)),
        "agents that lean to different concepts by turns",
    ),
    "hedging": (
        _plain(_two(0.6, 0.3, 0.01)),
        "the wrong answer is likelier under every concept (.7 under the true one, .99)",
    ),
    "nobody_right": (
        _nobody_right,
        "few first answers are right, two wrong concepts compete (weights .6 and .34)",
    ),
    "correlated": (
        _plain(_two(0.7, 0.8, 0.3), error_correlation=0.6),
        "first answers share their errors, as those of one training set do (correlation .6)",
    ),
    "heterogeneous": (
        _heterogeneous,
        "no two agents alike, from weak and misled to sure and right",
    ),
    "high_and_low": (
        lambda n: Scenario(
            _model((_two(0.9, 0.85, 0.3), _share(n, 2)), (_two(0.5, 0.6, 0.4), n - _share(n, 2)))
        ),
        "two strong agents among five weak ones (U:H = 5:2)",
    ),
    "adversary": (
        _one_speaks_for(0.05, _two(0.8, 0.8, 0.3)),
        "one agent argues for the wrong answer whatever it reads",
    ),
    "planted_truth": (
        _one_speaks_for(0.95, _two(0.35, 0.8, 0.3)),
        "one agent argues for the right answer whatever it reads, among others who doubt it",
    ),
    "ring": (
        _plain(_two(0.65, 0.8, 0.3), graph="ring"),
        "agents hear their two neighbours only",
    ),
    "sticky": (
        _plain(_two(0.65, 0.8, 0.3), stickiness=0.8),
        "agents keep their answer in four rounds of five",
    ),
    "judge_panel": (
        lambda n: Panel(n, items=((0.6, 9.0, 1.0), (0.4, 1.5, 4.5)), stickiness=0.6),
        "judges on easy and hard items (.6 Beta(9, 1) + .4 Beta(1.5, 4.5)), stickiness .6",
    ),
    "stationary": (
        lambda n: replace(_STILL, n_agents=n),
        "nothing changes: the null of stopping rules (.65 Beta(8, 2) + .35 Beta(2, 5))",
    ),
    "drifting": (
        lambda n: replace(_STILL, n_agents=n, stickiness=0.8, drift=0.1, ratio=0.9),
        "the same items, stickiness .8, and accuracy rises by 10 points: nine tenths are left "
        "after every round",
    ),
}
SCENARIOS: Mapping[str, Scenario | Panel] = MappingProxyType(
    {name: build(_N) for name, (build, _) in _NAMED.items()}
)
ABOUT: Mapping[str, str] = MappingProxyType({name: said for name, (_, said) in _NAMED.items()})
