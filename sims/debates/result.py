"""What `simulate` returns: the counts of many debates, and what they say of their law."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sims.debates.panel import Panel
from sims.debates.scenario import Scenario
from theory import DebateModel

if TYPE_CHECKING:
    import pandas as pd

    from stability import DebateLog


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated debates.

    Attributes
    ----------
    model : DebateModel or Panel
    scenario : Scenario or None
        How the debate was held, when not as the model's own.
    debates, rounds, seed, first : int
    record : {"accuracy", "counts", "answers"}
    right, spoke : ndarray of int64, shape (rounds,)
        Right answers, and agents that spoke, over all debates; an unread answer is not right.
    moments : ndarray of int64, shape (3, rounds)
        Sums over debates of right^2, right * spoke and spoke^2.
    counts : ndarray of int32, shape (debates, rounds, L), or None
        Readable answers.
    answers : ndarray of int32, shape (debates, rounds, n), or None
        -1 where nothing could be read, -2 where an agent was silent.
    held : ndarray of int32, shape (debates,), or None
        Rounds that were held, for a scenario that stops; later rounds are carried.
    method : {"direct", "tabulated"}
    """

    model: DebateModel | Panel
    scenario: Scenario | None
    debates: int
    rounds: int
    seed: int
    first: int
    record: str
    right: npt.NDArray[np.int64]
    spoke: npt.NDArray[np.int64]
    moments: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int32] | None
    answers: npt.NDArray[np.int32] | None
    held: npt.NDArray[np.int32] | None
    method: str

    @property
    def accuracy(self) -> npt.NDArray[np.float64]:
        """Share of right answers among agents that spoke, by round; NaN where nobody did."""
        with np.errstate(invalid="ignore"):
            found: npt.NDArray[np.float64] = self.right / self.spoke
        return found

    @property
    def standard_error(self) -> npt.NDArray[np.float64]:
        """Standard error of ``accuracy`` by round: debates are independent, agents are not."""
        share = self.accuracy
        squares, cross, sizes = self.moments.astype(np.float64)
        # of a ratio of sums: the residuals right - share * spoke of the debates
        spread = np.maximum(squares - 2.0 * share * cross + share**2 * sizes, 0.0)
        with np.errstate(invalid="ignore"):
            found: npt.NDArray[np.float64] = (
                np.sqrt(spread * self.debates / max(self.debates - 1, 1)) / self.spoke
            )
        return found

    def to_frame(self) -> "pd.DataFrame":
        """Return a row a round: t, accuracy, standard_error."""
        import pandas as pd

        return pd.DataFrame(
            {
                "t": np.arange(self.rounds),
                "accuracy": self.accuracy,
                "standard_error": self.standard_error,
            }
        )

    def to_log(self) -> "DebateLog":
        """Return the debates as a log, an item a debate; the correct answer is its gold.

        Raises
        ------
        ValueError
            When the answers were not recorded.
        """
        if self.answers is None:
            raise ValueError(f"`record` must be 'answers' for a log, it was {self.record!r}")
        from stability import DebateLog

        labels = [str(a) for a in range(self.model.n_answers)]
        gold = [labels[self.model.correct]] * self.debates
        carried = None
        if self.held is not None:
            carried = np.arange(self.rounds)[:, None] >= self.held
        return DebateLog(np.swapaxes(self.answers, 0, 1), labels, gold=gold, carried=carried)

    def summary(self) -> str:
        """Return a readable account, a line a round."""
        lines = [f"{self.debates} debates of {self.model.n_agents} agents, seed {self.seed}"]
        for t, (mean, error) in enumerate(zip(self.accuracy, self.standard_error, strict=True)):
            lines.append(f"t = {t}: accuracy {mean:.4f} (standard error {error:.4f})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without counts and answers."""
        return {
            "model": self.model.to_dict(),
            "scenario": None if self.scenario is None else self.scenario.to_dict(),
            "debates": self.debates,
            "rounds": self.rounds,
            "seed": self.seed,
            "first": self.first,
            "accuracy": self.accuracy.tolist(),
            "standard_error": self.standard_error.tolist(),
        }
