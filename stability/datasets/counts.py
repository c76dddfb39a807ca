"""Count tables of the literature: how often k of n was observed.

A table has rows (k, n, frequency): what a Beta-Binomial fit needs to know. Tables of groups keep a
row a group, so that a pair (k, n) may come more than once. Each entry of
``data/count_tables.json`` names its source.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from stability._check import check_choice

Column = npt.NDArray[np.int64]


@cache
def count_tables() -> dict[str, dict[str, Any]]:
    """Return the packaged tables: name -> {"source": str, "rows": [[k, n, freq], ...]}."""
    text = (files("stability.datasets") / "data" / "count_tables.json").read_text("utf-8")
    tables: dict[str, dict[str, Any]] = json.loads(text)
    return tables


def load_count_table(name: str) -> tuple[Column, Column, Column]:
    """Return a packaged count table.

    Parameters
    ----------
    name : str
        A name of ``list_datasets()``, kind "counts".

    Returns
    -------
    k, n, freq : ndarray of int64, shape (rows,)
        Successes, trials and how often the pair was observed.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the names.

    Examples
    --------
    >>> k, n, freq = load_count_table("chromosome")
    >>> k.tolist(), n.tolist(), freq.tolist()
    ([0, 1, 2, 3], [3, 3, 3, 3], [32, 103, 122, 80])
    """
    tables = count_tables()
    rows = np.array(tables[check_choice("name", name, tables)]["rows"], np.int64)
    k, n, freq = (np.ascontiguousarray(column) for column in rows.T)
    return k, n, freq
