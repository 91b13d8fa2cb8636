"""An exact counter without a lock."""

from __future__ import annotations

import itertools


class Counter:
    """Counts events on any thread and in signal handlers: one C call, never lost, never blocking."""

    __slots__ = ("_count", "add")

    def __init__(self) -> None:
        self._count = itertools.count()
        self.add = self._count.__next__

    def value(self) -> int:
        """The number of events so far."""
        # ``count(7)``: the one way to read it that takes no number away and is not deprecated.
        return int(repr(self._count)[6:-1])
