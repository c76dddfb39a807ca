"""Named debates of seven agents, to start from; each says what it is an example of.

``SCENARIOS`` holds them by name; change one with ``dataclasses.replace`` or build your own.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from sims.debates.scenario import Scenario
from theory import AgentType, DebateModel

_N = 7


def _two(weight: float, right: float, wrong: float) -> AgentType:
    """Two concepts and two answers; the task gives the true concept ``weight``."""
    kernel = np.array([[right, 1.0 - right], [wrong, 1.0 - wrong]])
    return AgentType(np.array([0.5, 0.5]), np.array([weight, 1.0 - weight]), kernel)


def _nobody_right() -> DebateModel:
    """Three concepts; all lean to the two wrong ones, and few first answers are right."""
    kernel = DebateModel.echo_chamber(1, 3).types[0].kernel
    kinds = [
        AgentType(np.full(3, 1 / 3), np.array(task), kernel)
        for task in ([0.06, 0.6, 0.34], [0.06, 0.34, 0.6])
    ]
    return DebateModel(tuple(kinds), (4, 3))


# name: the debate, and what it shows
_NAMED: dict[str, tuple[Scenario, str]] = {
    "echo_chamber": (
        Scenario(DebateModel.echo_chamber(_N)),
        "equal agents, three concepts alike: they settle on one, whichever it is",
    ),
    "shared_misconception": (
        Scenario(DebateModel.shared_misconception(_N, 5, 0.9, 0.2, 0.8, 0.3)),
        "five of seven lean to the same wrong concept",
    ),
    "weak_majority": (
        Scenario(DebateModel.shared_misconception(_N, 4, 0.95, 0.49, 0.8, 0.3)),
        "four of seven hardly lean to the wrong one: debate finds the right answer",
    ),
    "diverse": (
        Scenario(DebateModel.diverse(_N)),
        "agents that lean to different concepts by turns",
    ),
    "hedging": (
        Scenario(DebateModel((_two(0.6, 0.3, 0.01),), (_N,))),
        "the wrong answer is likelier under every concept",
    ),
    "nobody_right": (
        Scenario(_nobody_right()),
        "few first answers are right, two wrong concepts compete",
    ),
    "correlated": (
        Scenario(DebateModel((_two(0.7, 0.8, 0.3),), (_N,)), error_correlation=0.6),
        "first answers share their errors, as those of one training set do",
    ),
    "heterogeneous": (
        Scenario(
            DebateModel(
                tuple(
                    _two(w, r, 1.0 - r) for w, r in np.linspace((0.4, 0.6), (0.9, 0.9), _N).tolist()
                ),
                (1,) * _N,
            )
        ),
        "seven agents, no two alike, from weak and misled to sure and right",
    ),
    "high_and_low": (
        Scenario(DebateModel((_two(0.9, 0.85, 0.3), _two(0.5, 0.6, 0.4)), (2, 5))),
        "two strong agents among five weak ones",
    ),
    "adversary": (
        Scenario(DebateModel((_two(0.8, 0.8, 0.3), _two(0.5, 0.05, 0.05)), (6, 1))),
        "one of seven argues for the wrong answer whatever it reads",
    ),
    "ring": (
        Scenario(DebateModel((_two(0.65, 0.8, 0.3),), (_N,)), graph="ring"),
        "agents hear their two neighbours only",
    ),
    "sticky": (
        Scenario(DebateModel((_two(0.65, 0.8, 0.3),), (_N,)), stickiness=0.8),
        "agents keep their answer in four rounds of five",
    ),
}
SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {name: scenario for name, (scenario, _) in _NAMED.items()}
)
ABOUT: Mapping[str, str] = MappingProxyType({name: said for name, (_, said) in _NAMED.items()})
