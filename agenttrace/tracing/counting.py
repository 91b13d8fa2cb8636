"""An exact counter without a lock."""

from __future__ import annotations

import itertools


class Counter:
    """Counts events on any thread and in signal handlers: one C call, never lost, never blocking.

    Reading takes a number from the sequence too, so the readings are subtracted again.
    """

    __slots__ = ("_next", "_readings", "add")

    def __init__(self) -> None:
        self._next = itertools.count()
        self._readings = 0
        self.add = self._next.__next__

    def value(self) -> int:
        """The number of events so far. To be read by one thread at a time."""
        counted = next(self._next) - self._readings
        self._readings += 1
        return counted
