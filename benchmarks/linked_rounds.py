"""One fit to all rounds against independent fits, on held-out items of recorded debates.

Run it with ``DEBATE_DATA=... python benchmarks/linked_rounds.py``. Ten folds of questions; each
fold's items are scored in all their rounds together, by the linked fit (its penalty chosen on the
other items alone) and by independent fits of the other items. A row a source: the mean gain in
log-likelihood an item, with a paired 95 % interval over questions. K = 2 from five agents on, else
K = 1.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from stability.fit.linked import fit_linked

FOLDER = Path(os.environ.get("DEBATE_DATA", Path(__file__).parents[2] / "shared")) / "debates"
SOURCES = {
    "smollm2-local": 5,
    "cmd_llm_discussion": 6,
    "diversity_mmlu_5round": 3,
    "llm_agora": 3,
    "diverse_minds_arithmetic": 3,
    "du_format_forks": 3,
}


def counts(source, n):
    """Right answers (T, M) of debates in which n agents always spoke, and questions (M,)."""
    frame = pd.read_csv(FOLDER / f"{source}.csv.gz", dtype={"answer": str})
    frame = frame[frame["correct"].notna()]
    keys = ["dataset", "model", "run", "item"]
    frame[keys] = frame[keys].astype(str)
    each = frame.groupby([*keys, "round"])["correct"].agg(["sum", "size"]).reset_index()
    each = each[each["size"] == n]
    wide = each.pivot(index=keys, columns="round", values="sum").dropna()
    question = wide.index.to_frame()[["dataset", "item"]].agg("|".join, axis=1)
    return wide.to_numpy(int).T, np.unique(question, return_inverse=True)[1]


def log_laws(fitted):
    return np.log(np.maximum(fitted.laws(), 1e-300))


def main():
    print("source                    n  T  items  K  penalties       gain an item (95 %)")
    for source, n in SOURCES.items():
        k, question = counts(source, n)
        size = 2 if n >= 5 else 1
        fold = np.random.default_rng(0).permutation(question.max() + 1)[question] % 10
        gain, chosen = np.zeros(k.shape[1]), []
        for part in range(10):
            train = [np.bincount(row[fold != part], minlength=n + 1) for row in k]
            linked = fit_linked(train, n, n_components=size)
            apart = fit_linked(train, n, n_components=size, penalty=0.0)
            chosen.append(linked.penalty)
            held = np.flatnonzero(fold == part)
            for t, row in enumerate(k):
                gain[held] += (log_laws(linked) - log_laws(apart))[t][row[held]]
        sums = np.bincount(question, weights=gain)
        sizes = np.bincount(question)
        mean = gain.mean()
        error = np.sqrt(((sums - mean * sizes) ** 2).sum()) / sizes.sum()
        half = stats.t.ppf(0.975, len(sizes) - 1) * error
        spread = f"{min(chosen):g}..{max(chosen):g}"
        print(
            f"{source:24} {n:2} {len(k):2} {k.shape[1]:6} {size:2}  {spread:12} "
            f"{mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f})"
        )


if __name__ == "__main__":
    main()
