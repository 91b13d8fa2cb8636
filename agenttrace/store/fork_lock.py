"""A lock that a fork takes, too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_FORK_TIMEOUT = 1.0
_IMPORT_TIMEOUT = 10.0


class ForkLock:
    """Held by one thread at a time, and by the thread that forks, so that no other is at work meanwhile.

    A fork waits for it up to a second: a file may hang. It waits longer while something is imported under it:
    a child that inherits the lock of a half imported module would wait for that for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._importing = False
        self._forking = False
        self.acquire = self._lock.acquire
        self.release = self._lock.release

    @contextmanager
    def for_an_import(self) -> Iterator[None]:
        """Hold it for an import."""
        self._importing = True
        try:
            with self._lock:
                yield
        finally:
            self._importing = False

    def before_fork(self) -> bool:
        """Take it for the fork; whether that was possible in time."""
        self._forking = self._lock.acquire(timeout=_IMPORT_TIMEOUT if self._importing else _FORK_TIMEOUT)
        return self._forking

    def after_fork_in_parent(self) -> None:
        """Let others go on."""
        if self._forking:
            self._forking = False
            self._lock.release()
