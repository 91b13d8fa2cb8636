"""How long the end of a process may wait for spans to be stored."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from typing import Protocol

from agenttrace.process.fork_and_exit import at_exit

PATIENCE = 1.0
"""Seconds for which all pipelines together may delay the end of a process while no span gets through."""

PATIENCE_OF_CHILDREN = 5.0
"""The same for a child of multiprocessing: many may end together and wait for one file."""

MOST = 10.0
"""Seconds for which the end is delayed while spans do get through. A supervisor kills after ten or thirty."""

_SLOWER = 3.0
"""How many times as long as the last write the next one may take: a busy machine makes writes slow, too."""

LEFT = (
    "the process ended before everything was stored, spans lost: {}; call tracer.flush(timeout=) before, "
    "or find out with `agenttrace doctor` why the store is slow"
)


_TOO_LATE = (
    b"agenttrace: a call ended while Python was taking its modules apart, and was not stored: "
    b"close or delete what makes such calls (__del__, a generator that is left half read) before the end\n"
)
_lost: list[bytes] = []


def say_lost(
    once: list[bytes] = _lost, words: bytes = _TOO_LATE, write: Callable[[int, bytes], int] = os.write
) -> None:
    """Say on stderr, once, that a span is lost because modules are taken apart: their names are gone, so that
    neither logging nor a store works."""
    if not once:
        once.append(words)
        try:
            write(2, words)
        except OSError:  # stderr is closed
            pass


class Patience:
    """Time that is given anew, up to `MOST` seconds in all, whenever something got through.

    Where the last write took long, the next one is given three times as long.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._latest = self._until + max(MOST - seconds, 0.0)

    def left(self) -> float:
        """Seconds that are left, never below zero."""
        return max(min(self._until, self._latest) - time.monotonic(), 0.0)

    def renew(self, write: float = 0.0) -> float:
        """Begin anew, because something got through, in a write of so many seconds.

        Returns the seconds that are left.
        """
        self._until = time.monotonic() + max(self._seconds, _SLOWER * write)
        return self.left()

    def allow_for(self, write: float) -> float:
        """Let there be time for a write like the last one, of so many seconds. Returns what is left."""
        self._until = max(self._until, time.monotonic() + _SLOWER * write)
        return self.left()


def of_this_process() -> Patience:
    """The patience of a process that ends as any script does, from now on."""
    return Patience(PATIENCE)


def of_a_child() -> Patience:
    """The patience of a child of multiprocessing, from now on."""
    return Patience(PATIENCE_OF_CHILDREN)


class EndsWithProcess(Protocol):
    """What the end of the process waits for."""

    closed: bool

    def finish_up(self, patience: Patience) -> None:
        """Store what waits, for as long as patience lasts."""

    def end_after_shutdown(self, patience: Patience) -> None:
        """The same for one that was shut down, and may be storing still."""

    def tell_losses(self) -> None:
        """Say in the log what was lost, where that has not been said."""


_waited_for: weakref.WeakSet[EndsWithProcess] = weakref.WeakSet()


def wait_at_end(pipeline: EndsWithProcess) -> None:
    """Let the end of the process wait for this pipeline, if it is still alive then."""
    _waited_for.add(pipeline)


def _finish_all() -> None:
    patience = of_this_process()
    for pipeline in list(_waited_for):
        try:
            if pipeline.closed:
                pipeline.end_after_shutdown(patience)
            else:
                pipeline.finish_up(patience)
            pipeline.tell_losses()
        except BaseException:  # choke-point: Control-C, for one; the others are flushed all the same
            pass


at_exit("pipelines", _finish_all)
