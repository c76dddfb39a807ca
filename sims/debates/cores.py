"""How many cores this process may use."""

import os


def cores() -> int:
    """Return the cores that the process is allowed, all where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
