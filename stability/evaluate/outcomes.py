"""What it costs, and what it changes, to hold each recorded debate for so many rounds only.

Item i is held for h_i of its R_i recorded rounds, 1 <= h_i <= R_i: a round costs the answers of
the agents that spoke in it (and their tokens), and the debate ends with the leading answer of
round h_i - 1, where a tie keeps the leader of the round before. Rounds into which an ended debate
is carried forward cost nothing. The leading answer is right when an agent that gave it in that
round is graded right; it is unknown when none of them is graded. Where no answer could be read,
nothing was right, unless no answer of the item is graded at all.
"""

from typing import Any, final

import numpy as np
import numpy.typing as npt

from stability.evaluate.paired import Change, paired_change
from stability.fit.share import upper_limit
from stability.log import DebateLog
from stability.log.round import SILENT_CODE

Int64 = npt.NDArray[np.int64]


def leader_grades(log: DebateLog, winners: npt.NDArray[np.int32]) -> npt.NDArray[np.int8]:
    """Grade the leading answers: 1 right, 0 wrong, -1 unknown, shape (T, M).

    Examples
    --------
    >>> log = DebateLog([[[0, 0, 1], [-1, -1, -1]]], ["A", "B"], gold=["A", "A"])
    >>> leader_grades(log, log.plurality()).tolist()
    [[1, 0]]
    """
    backed = log.answers == winners[:, :, None]
    grades = np.where(backed & (winners >= 0)[:, :, None], log.correct, np.int8(-1)).max(axis=2)
    graded = (log.correct >= 0).any(axis=(0, 2))
    none_read: npt.NDArray[np.bool_] = (winners < 0) & graded
    found: npt.NDArray[np.int8] = np.where(none_read, np.int8(0), grades)
    return found


@final
class Outcomes:
    """The costs and answers of a log by the number of rounds held.

    Parameters
    ----------
    log : DebateLog
    confidence, resamples, seed
        As in `paired_change`.
    """

    def __init__(
        self, log: DebateLog, *, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
    ) -> None:
        live = ~log.carried
        spoke = (log.answers != SILENT_CODE) & live[:, :, None]
        self.recorded: Int64 = live.sum(axis=0).astype(np.int64)
        self.winners = log.plurality()
        self._places = np.arange(log.n_items)
        self._answers = spoke.sum(axis=2).cumsum(axis=0)
        self._right = leader_grades(log, self.winners)
        self._cluster = log.cluster
        self._clusters = log.n_items if log.cluster is None else len(np.unique(log.cluster))
        self._options = {"resamples": resamples, "seed": seed}
        self._confidence = confidence
        self._tokens: Int64 | None = None
        if log.tokens is not None:
            spent = np.where(spoke, log.tokens, 0)
            self._told = (spent >= 0).all(axis=(0, 2))
            self._tokens = spent.sum(axis=2).cumsum(axis=0)

    def of(self, held: Int64) -> dict[str, Any]:
        """Return the figures of holding item i for ``held[i]`` rounds; see `replay`."""
        rounds = np.minimum(held, self.recorded)
        at, whole = (rounds - 1, self._places), (self.recorded - 1, self._places)
        changed = float((self.winners[at] != self.winners[-1]).mean())
        right = self._right[at]
        change = self._change(self._right[-1], right)
        vote = self._change(self._right[0], right)
        graded = right[(right >= 0) & (self._right[-1] >= 0)]
        row: dict[str, Any] = {
            "rounds": float(rounds.mean()),
            "answers_changed": changed,
            "accuracy_change": change.change,
            "accuracy_low": change.low,
            "accuracy_high": change.high,
            "mcnemar_p": change.p,
            "changed_high": upper_limit(changed * self._clusters, self._clusters, self._confidence),
            "rounds_saved": _saved(rounds, self.recorded),
            "answers": float(self._answers[at].mean()),
            "answers_saved": _saved(self._answers[at], self._answers[whole]),
        }
        if self._tokens is not None:
            spent, all_spent = self._tokens[at][self._told], self._tokens[whole][self._told]
            row["tokens"] = float(spent.mean()) if spent.size else float("nan")
            row["tokens_saved"] = _saved(spent, all_spent)
            row["tokens_items"] = int(self._told.sum())
        return row | {
            "accuracy": float(graded.mean()) if graded.size else float("nan"),
            "vote_change": vote.change,
            "vote_low": vote.low,
            "vote_high": vote.high,
            "vote_p": vote.p,
            "items": self._places.size,
            "clusters": self._clusters,
            "graded": change.n_items,
        }

    def _change(self, before: npt.NDArray[np.int8], after: npt.NDArray[np.int8]) -> Change:
        return paired_change(
            before, after, self._cluster, confidence=self._confidence, **self._options
        )


def _saved(spent: Int64, whole: Int64) -> float:
    """Return the share that is not spent; NaN when there was nothing to spend."""
    total = int(whole.sum())
    return 1.0 - int(spent.sum()) / total if total else float("nan")
