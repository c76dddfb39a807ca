"""All combinations of the three interventions on one model: the ablation of the paper.

Estornell and Liu (NeurIPS 2024) apply quality pruning, then diversity pruning, then refutation;
each of them may be left out, which makes 2^3 debates.
"""

from itertools import product

import numpy as np

from theory._check import check_int, check_real
from theory.model.concepts import DebateModel
from theory.model.interventions import DiversityPruning, QualityPruning, Refutation


def ablation(
    model: DebateModel, *, k: int | None = None, mend: float = 0.3
) -> dict[str, DebateModel]:
    """Return the model with each of the 2^3 combinations of the interventions, by name.

    Parameters
    ----------
    model : DebateModel
        Its own prunings and refutation are used where it has them.
    k : int, optional
        Answers that diversity pruning keeps, (n + 1) // 2 when not given; quality pruning before it
        keeps half of the others besides.
    mend : float
        In [0, 1]: the share of wrong answers that the refutation turns into the correct one.

    Examples
    --------
    >>> list(ablation(DebateModel.binary(7)))[:4]
    ['none', 'refutation', 'diversity', 'diversity + refutation']
    """
    n = model.n_agents
    share = check_real("mend", mend, low=0.0, high=1.0)
    own = {type(stage).__name__: stage for stage in model.view or ()}
    last = (n + 1) // 2 if k is None else check_int("k", k, minimum=1, maximum=n)
    quality = own.get("QualityPruning", QualityPruning(min(n, (n + last + 1) // 2)))
    diversity = own.get("DiversityPruning", DiversityPruning(last))
    matrix = (1.0 - share) * np.eye(model.n_answers)
    matrix[:, model.correct] += share
    refutation = model.rewrite or Refutation(matrix)
    found = {}
    for q, d, r in product((False, True), repeat=3):
        used = (("quality", q), ("diversity", d), ("refutation", r))
        view = tuple(stage for stage, here in ((quality, q), (diversity, d)) if here)
        name = " + ".join(word for word, here in used if here) or "none"
        found[name] = model.with_(view=view or None, rewrite=refutation if r else None)
    return found
