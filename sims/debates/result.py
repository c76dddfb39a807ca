"""What `simulate` returns: the counts of many debates, and what they say of their law."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sims._check import check_whole
from sims.debates.panel import Panel
from sims.debates.scenario import Scenario
from theory import DebateModel

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

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
        """Standard error of ``accuracy`` by round, NaN of one debate.

        Debates are independent, agents are not.
        """
        if self.debates == 1:
            return np.full(self.rounds, np.nan)
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

    def to_xarray(self) -> "xr.Dataset":
        """Return what was kept as a dataset with named axes.

        Returns
        -------
        xarray.Dataset
            ``accuracy`` and ``standard_error`` over (round); ``counts`` over (debate, round,
            answer), ``answers`` over (debate, round, agent) and ``held`` over (debate) where they
            were recorded.
        """
        import xarray as xr

        data: dict[str, Any] = {
            "accuracy": ("round", self.accuracy),
            "standard_error": ("round", self.standard_error),
        }
        if self.counts is not None:
            data["counts"] = (("debate", "round", "answer"), self.counts)
        if self.answers is not None:
            data["answers"] = (("debate", "round", "agent"), self.answers)
        if self.held is not None:
            data["held"] = ("debate", self.held)
        return xr.Dataset(
            data, {"round": np.arange(self.rounds)}, {"seed": self.seed, "first": self.first}
        )

    def to_arviz(self, ensembles: int = 4) -> Any:
        """Return accuracy in replicated ensembles, for R-hat, ESS and MCSE of ArviZ.

        Debate after debate is dealt to the ensembles in equal runs: an ensemble is a chain, a
        debate a draw, the value of a draw the share of right answers among agents that spoke (NaN
        where nobody did). Debates are independent: R-hat is 1 and the MCSE is `standard_error` up
        to chance, unless the simulator is wrong.

        Parameters
        ----------
        ensembles : int
            >= 1, a divisor of the number of debates.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            ``accuracy`` over (chain, draw, round), in group "posterior".

        Raises
        ------
        ValueError
            When debates cannot be dealt evenly, or neither counts nor answers were recorded, or
            agents may be silent and their answers were not recorded.

        Examples
        --------
        >>> from sims import simulate
        >>> found = simulate(DebateModel.binary(7), debates=1000, rounds=3)
        >>> dict(found.to_arviz(4)["posterior"]["accuracy"].sizes)
        {'chain': 4, 'draw': 250, 'round': 3}
        """
        ensembles = check_whole("ensembles", ensembles, 1)
        if self.debates % ensembles:
            raise ValueError(f"`ensembles` must divide {self.debates} debates, got {ensembles}")
        spoke: Any = self.model.n_agents
        if self.answers is not None:
            right = (self.answers == self.model.correct).sum(axis=2)
            spoke = (self.answers != -2).sum(axis=2)
        elif self.counts is None:
            raise ValueError(f"`record` must be 'counts' or 'answers', it was {self.record!r}")
        elif self.scenario is not None and self.scenario.silent:
            raise ValueError("`record` must be 'answers' where agents may be silent")
        else:
            right = self.counts[:, :, self.model.correct]
        with np.errstate(invalid="ignore"):
            share = (right / spoke).reshape(ensembles, -1, self.rounds)
        from stability import to_arviz

        return to_arviz(
            {"accuracy": share},
            dims={"accuracy": ["round"]},
            coords={"round": list(range(self.rounds))},
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
        many = "debate" if self.debates == 1 else "debates"
        lines = [f"{self.debates} {many} of {self.model.n_agents} agents, seed {self.seed}"]
        for t, (mean, error) in enumerate(zip(self.accuracy, self.standard_error, strict=True)):
            lines.append(f"t = {t}: accuracy {mean:.4f} (standard error {error:.4f})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without counts and answers; None for NaN."""
        return {
            "model": self.model.to_dict(),
            "scenario": None if self.scenario is None else self.scenario.to_dict(),
            "debates": self.debates,
            "rounds": self.rounds,
            "seed": self.seed,
            "first": self.first,
            "accuracy": _known(self.accuracy),
            "standard_error": _known(self.standard_error),
        }


def _known(values: npt.NDArray[np.float64]) -> list[float | None]:
    """Numbers for JSON."""
    return [None if np.isnan(value) else value for value in values.tolist()]
