"""What is packaged: one line a data set."""

from dataclasses import dataclass

from stability.datasets.counts import count_tables
from stability.datasets.recordings import RECORDINGS


@dataclass(frozen=True)
class DatasetInfo:
    """A packaged data set.

    Attributes
    ----------
    name : str
        What the loader is given.
    kind : str
        "recording" (`load_recording`) or "counts" (`load_count_table`).
    description : str
        What it is and where it comes from.
    """

    name: str
    kind: str
    description: str


def list_datasets() -> tuple[DatasetInfo, ...]:
    """Return the packaged data sets: the recordings, then the count tables.

    Examples
    --------
    >>> [one.name for one in list_datasets()][:3]
    ['smollm2', 'geissler12', 'alcohol_week1']
    """
    recordings = (DatasetInfo(name, "recording", told) for name, (_, told) in RECORDINGS.items())
    tables = (
        DatasetInfo(name, "counts", str(table["source"])) for name, table in count_tables().items()
    )
    return (*recordings, *tables)
