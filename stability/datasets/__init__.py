"""Packaged data: a recording of real debates, and count tables from the literature."""

from stability.datasets.catalogue import DatasetInfo, list_datasets
from stability.datasets.counts import load_count_table
from stability.datasets.recordings import load_recording, load_smollm_debates

__all__ = [
    "DatasetInfo",
    "list_datasets",
    "load_count_table",
    "load_recording",
    "load_smollm_debates",
]
