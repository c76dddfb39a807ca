"""What `simulate` returns: the counts of many debates, and what they say of their law."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from theory import DebateModel

if TYPE_CHECKING:
    import pandas as pd

    from stability import DebateLog


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated debates.

    Attributes
    ----------
    model : DebateModel
    debates, rounds, seed : int
    record : {"accuracy", "counts", "answers"}
    right : ndarray of int64, shape (rounds,)
        Right answers of all agents and debates.
    right_squares : ndarray of int64, shape (rounds,)
        Sums over debates of the squared number of right answers.
    counts : ndarray of int32, shape (debates, rounds, L), or None
    answers : ndarray of int32, shape (debates, rounds, n), or None
    method : {"direct", "tabulated"}
    """

    model: DebateModel
    debates: int
    rounds: int
    seed: int
    record: str
    right: npt.NDArray[np.int64]
    right_squares: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int32] | None
    answers: npt.NDArray[np.int32] | None
    method: str

    @property
    def accuracy(self) -> npt.NDArray[np.float64]:
        """Share of right answers by round, shape (rounds,)."""
        found: npt.NDArray[np.float64] = self.right / (self.debates * self.model.n_agents)
        return found

    @property
    def standard_error(self) -> npt.NDArray[np.float64]:
        """Standard error of ``accuracy`` by round: debates are independent, agents are not."""
        n = self.model.n_agents
        mean = self.right / self.debates
        spread = np.maximum(self.right_squares / self.debates - mean**2, 0.0)
        found: npt.NDArray[np.float64] = np.sqrt(spread / max(self.debates - 1, 1)) / n
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
        return DebateLog(np.swapaxes(self.answers, 0, 1), labels, gold=gold)

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
            "debates": self.debates,
            "rounds": self.rounds,
            "seed": self.seed,
            "accuracy": self.accuracy.tolist(),
            "standard_error": self.standard_error.tolist(),
        }
