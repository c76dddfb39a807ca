"""What a log holds, as a hash: to know it again, and to find debates that two logs share."""

import hashlib
import json

from stability.log import DebateLog


def item_fingerprints(log: DebateLog) -> list[str]:
    """Return a SHA-256 of each debate: its item, its answers round by round, their grades.

    Neither the order of the items nor that of the labels enters.

    Examples
    --------
    >>> log = DebateLog([[[0, 1], [1, 1]]], ["A", "B"])
    >>> again = DebateLog([[[0, 0], [1, 0]]], ["B", "A"], item_ids=["1", "0"])
    >>> item_fingerprints(log) == item_fingerprints(again)[::-1]
    True
    """
    labels = [*log.labels, None, False]  # codes -2, silent, and -1, unread, index the last two
    labels[-2], labels[-1] = False, None
    answers = log.answers.transpose(1, 0, 2).tolist()
    grades = log.correct.transpose(1, 0, 2).tolist()
    found = []
    for item, rounds, correct in zip(log.item_ids, answers, grades, strict=True):
        said = [[labels[code] for code in row] for row in rounds]
        text = json.dumps([str(item), said, correct])
        found.append(hashlib.sha256(text.encode()).hexdigest())
    return found


def fingerprint(log: DebateLog) -> str:
    """Return a SHA-256 of a log: of the sorted fingerprints of its debates.

    Examples
    --------
    >>> log = DebateLog([[[0, 1], [1, 1]]], ["A", "B"])
    >>> fingerprint(log) == fingerprint(log.select(items=[1, 0]))
    True
    """
    return hashlib.sha256("".join(sorted(item_fingerprints(log))).encode()).hexdigest()
