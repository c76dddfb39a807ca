"""How far a sweep is: runs done, their rate, and the time that is left."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

_EVERY = 10.0


class Progress:
    """Writes to standard error: one line anew on a terminal, else a line every ten seconds.

    Parameters
    ----------
    total : int
        Runs of the sweep.
    there : int
        Those that were finished before; they do not count for the rate.
    shown : bool or None
        None shows it on a terminal.
    """

    def __init__(
        self,
        total: int,
        there: int,
        shown: bool | None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.terminal = self.stream.isatty()
        self.shown = self.terminal if shown is None else shown
        self.total, self.there, self.done = total, there, there
        self.clock = clock
        self.begin = self.last = clock()

    def add(self, runs: int) -> None:
        """Count finished runs."""
        self.done += runs
        now = self.clock()
        if self.shown and (self.terminal or now - self.last >= _EVERY or self.done == self.total):
            self.last = now
            text = self.text(now)
            self.stream.write(f"\r{text}\x1b[K" if self.terminal else f"{text}\n")
            self.stream.flush()

    def text(self, now: float) -> str:
        """Return the line."""
        passed, new = now - self.begin, self.done - self.there
        share = f"{self.done}/{self.total} runs ({self.done / self.total:.0%})"
        if new == 0 or passed <= 0:
            return share
        rate = new / passed
        left = (self.total - self.done) / rate
        return f"{share}, {rate:.3g} a second, {_clock(left)} left"

    def end(self) -> None:
        """Leave the line."""
        if self.shown and self.terminal:
            self.stream.write("\n")
            self.stream.flush()


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
