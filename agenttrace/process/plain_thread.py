"""One background thread that takes no lock of another's to be started."""

from __future__ import annotations

from _thread import allocate_lock, get_ident, start_new_thread
from collections import deque
from collections.abc import Callable
from typing import Any


class PlainThread:
    """One background thread, which the end of the process does not wait for.

    Started without `threading`, whose own lock a signal handler or finaliser could find held by the very
    code that it interrupted.

    Raises:
        RuntimeError: no new thread can be started.
    """

    __slots__ = ("_ended", "alive", "ident")

    def __init__(self, run: Callable[[], None]) -> None:
        self.alive = True
        self.ident = 0
        self._ended = allocate_lock()
        self._ended.acquire()
        start_new_thread(self._main, (run,))

    def _main(self, run: Callable[[], None]) -> None:
        try:
            self.ident = get_ident()
            run()
        finally:
            self.alive = False
            self._ended.release()

    @property
    def is_current(self) -> bool:
        """Whether this is the thread that asks."""
        return self.ident == get_ident()

    def join(self, seconds: float) -> bool:
        """Wait for its end; whether it came."""
        if not self._ended.acquire(timeout=max(seconds, 0.0)):
            return False
        self._ended.release()
        return True


class Barrier:
    """A place in the queue that tells who waits when all that stood before it is stored.

    A plain lock, not an `Event`: a flush in a signal handler must not meet a lock held by the flush that it
    interrupted.
    """

    __slots__ = ("_gate",)

    def __init__(self) -> None:
        self._gate = allocate_lock()
        self._gate.acquire()

    def open(self) -> None:
        """Let the one who waits go on."""
        self._gate.release()

    def reached(self, seconds: float) -> bool:
        """Wait, at most so long; whether it was opened."""
        return self._gate.acquire(timeout=max(seconds, 0.0))


class Turn:
    """Taken by one at a time, never waited for.

    Unlike a lock it knows who has it: what is thrown into a thread the moment after it took its turn does not
    keep it from giving it back.
    """

    __slots__ = ("_holder",)

    def __init__(self) -> None:
        self._holder: dict[int, object] = {}

    def take(self, who: object) -> bool:
        """Take it; whether nobody had it before."""
        return self._holder.setdefault(0, who) is who

    def give_back(self, who: object) -> None:
        """Let another have it; nothing for who does not have it."""
        if self._holder.get(0) is who:
            self._holder.clear()


class AtOnce:
    """Takes the place of the queue when no worker will come any more: stores each record as it ends."""

    __slots__ = ("_queue", "_store_here")

    def __init__(self, queue: deque[Any], store_here: Callable[[], None]) -> None:
        self._queue = queue
        self._store_here = store_here

    def __len__(self) -> int:
        return len(self._queue)

    def append(self, record: Any) -> None:
        """Store the record on the thread that made it."""
        self._queue.append(record)
        self._store_here()
