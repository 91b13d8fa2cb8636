"""Parts that a signal handler may use at any moment: a counter, a thread, a barrier, a turn.

None of them waits for a lock that the code which the handler interrupted may hold.
"""

from __future__ import annotations

import itertools
from _thread import allocate_lock, get_ident, start_new_thread
from collections import deque
from collections.abc import Callable
from typing import Any


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


class PlainThread:
    """A background thread that the end of the process does not wait for.

    It is started without `threading`, unlike those of `start_thread`, because the traced thread starts it: a
    signal handler or finaliser may run there while the code that it interrupted holds a lock of `threading`.
    It gives itself to `run`, which may have begun before the thread that started it goes on.

    Raises:
        RuntimeError: no new thread can be started.
    """

    __slots__ = ("_ended", "alive", "ident")

    def __init__(self, run: Callable[[PlainThread], None]) -> None:
        self.alive = True
        self.ident = 0
        self._ended = allocate_lock()
        self._ended.acquire()
        start_new_thread(self._main, (run,))

    def _main(self, run: Callable[[PlainThread], None]) -> None:
        try:
            self.ident = get_ident()
            run(self)
        finally:
            self.alive = False
            self._ended.release()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this thread."""
        return self.ident == get_ident()

    def join(self, seconds: float) -> bool:
        """Wait for its end. Returns False if `seconds` passed before that."""
        if not self._ended.acquire(timeout=max(seconds, 0.0)):
            return False
        self._ended.release()
        return True


class Barrier:
    """An item of the queue for which a flush waits: it opens when everything before it is stored.

    It is a plain lock, not an `Event`, whose inner lock a flush in a signal handler could find held by the
    flush that it interrupted.
    """

    __slots__ = ("_gate",)

    def __init__(self) -> None:
        self._gate = allocate_lock()
        self._gate.acquire()

    def open(self) -> None:
        """Wake the thread that waits in `reached`."""
        self._gate.release()

    def reached(self, seconds: float) -> bool:
        """Wait at most `seconds`. Returns True if the barrier was opened."""
        return self._gate.acquire(timeout=max(seconds, 0.0))


class Turn:
    """A lock that one thread holds at a time and for which nobody waits.

    Unlike a lock it knows its holder. So the holder can give it back even if an exception was thrown into its
    thread right after it took it.
    """

    __slots__ = ("_holder",)

    def __init__(self) -> None:
        self._holder: dict[int, object] = {}

    def take(self, who: object) -> bool:
        """Take the turn. Returns False if somebody else has it."""
        return self._holder.setdefault(0, who) is who

    @property
    def is_taken(self) -> bool:
        """Whether somebody has it."""
        return bool(self._holder)

    def give_back(self, who: object) -> None:
        """Give the turn back. Does nothing if `who` does not have it."""
        if self._holder.get(0) is who:
            self._holder.clear()


class AtOnce:
    """Replaces the queue once the worker has stopped for good: stores each record as soon as it ends."""

    __slots__ = ("_queue", "_store_here")

    def __init__(self, queue: deque[Any], store_here: Callable[[], None]) -> None:
        self._queue = queue
        self._store_here = store_here

    def __len__(self) -> int:
        return len(self._queue)

    def append(self, record: Any) -> None:
        """Store the record on the calling thread."""
        self._queue.append(record)
        self._store_here()
