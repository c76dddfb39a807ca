"""Packaged recordings of real debates.

``smollm2``: five agents, all SmolLM2-135M-Instruct, answer 72 questions (24 each of the kinds
digit, step and compare) in four rounds, t = 0..3. Every answer was read and is graded. The model
is weak: fewer than three answers in ten are right. Recorded for this project; its licence is the
project's.
"""

from importlib.resources import as_file, files

from stability._check import check_choice
from stability.log import DebateLog, read_log

RECORDINGS = {
    "smollm2": (
        "smollm2-local.csv.gz",
        "72 questions x 5 agents x 4 rounds, SmolLM2-135M-Instruct, recorded for this project",
    )
}


def load_recording(name: str) -> DebateLog:
    """Return the packaged recording of that name.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the names.

    Examples
    --------
    >>> load_recording("smollm2")
    DebateLog(4 rounds, 72 items, 5 agents, graded)
    """
    file, _ = RECORDINGS[check_choice("name", name, RECORDINGS)]
    with as_file(files("stability.datasets") / "data" / file) as path:
        return read_log(path)


def load_smollm_debates() -> DebateLog:
    """Return the recording ``smollm2``: 72 items, 5 agents, 4 rounds, graded.

    Examples
    --------
    >>> log = load_smollm_debates()
    >>> log.correct_counts()[0].sum(axis=1).tolist()
    [98, 92, 86, 87]
    """
    return load_recording("smollm2")
