"""Monte Carlo debates.

Importing it checks that its siblings ``stability`` and ``theory`` are the ones it was installed
with.
"""

from sims import _guard

_guard.check_siblings()

from sims.characteristics import operating_characteristics  # noqa: E402  # siblings come first
from sims.checks import check_by_simulation  # noqa: E402
from sims.curves import accuracy_by_misled, change_by_size  # noqa: E402
from sims.debates.embedding import Embedding  # noqa: E402
from sims.debates.panel import Panel  # noqa: E402
from sims.debates.result import Simulation  # noqa: E402
from sims.debates.scenario import Scenario  # noqa: E402
from sims.debates.scenarios import SCENARIOS, named_scenario  # noqa: E402
from sims.debates.simulate import simulate  # noqa: E402
from sims.ensembles import ensemble_size, gain_by_dispersion, returns_end  # noqa: E402
from sims.montecarlo.estimate import Estimate, estimate  # noqa: E402
from sims.montecarlo.sweep import resume, sweep  # noqa: E402
from sims.montecarlo.work import CellError  # noqa: E402

__all__ = [
    "SCENARIOS",
    "CellError",
    "Embedding",
    "Estimate",
    "Panel",
    "Scenario",
    "Simulation",
    "accuracy_by_misled",
    "change_by_size",
    "check_by_simulation",
    "ensemble_size",
    "estimate",
    "gain_by_dispersion",
    "named_scenario",
    "operating_characteristics",
    "resume",
    "returns_end",
    "simulate",
    "sweep",
]
