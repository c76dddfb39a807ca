import json
from pathlib import Path

import numpy as np
import pytest

from stability.datasets import (
    list_datasets,
    load_count_table,
    load_recording,
    load_smollm_debates,
)

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "reference" / "betabinom.json").read_text("utf-8")
)["datasets"]


def test_smollm_debates():
    log = load_smollm_debates()
    assert (log.n_rounds, log.n_items, log.n_agents) == (4, 72, 5)
    k, n, graded = log.correct_counts()
    assert graded.all()
    assert (n == 5).all()
    assert [np.bincount(row, minlength=6).tolist() for row in k] == [
        [27, 22, 6, 8, 5, 4],
        [32, 15, 10, 6, 6, 3],
        [34, 16, 7, 7, 5, 3],
        [35, 14, 8, 6, 6, 3],
    ]
    assert log == load_recording("smollm2")


@pytest.mark.parametrize("name", REFERENCE)
def test_count_tables_are_those_of_the_reference(name):
    k, n, freq = load_count_table(name)
    rows = REFERENCE[name]["rows"]
    assert np.stack([k, n, freq], axis=1).tolist() == rows
    assert {k.dtype, n.dtype, freq.dtype} == {np.dtype(np.int64)}
    fit = REFERENCE[name].get("one_component", {})
    assert fit.get("n_items", freq.sum()) == freq.sum()
    assert fit.get("successes", (k * freq).sum()) == (k * freq).sum()
    assert fit.get("trials", (n * freq).sum()) == (n * freq).sum()


def test_catalogue_names_every_table_and_its_source():
    told = {one.name: one for one in list_datasets()}
    assert set(told) == {"smollm2", *REFERENCE}
    assert told["smollm2"].kind == "recording"
    for name in REFERENCE:
        assert told[name].kind == "counts"
        assert told[name].description == REFERENCE[name]["source"]


@pytest.mark.parametrize("load", [load_count_table, load_recording])
def test_unknown_names_are_answered_with_the_known_ones(load):
    with pytest.raises(ValueError, match=r"`name` must be one of .*(geissler12|smollm2).* got 'x'"):
        load("x")
