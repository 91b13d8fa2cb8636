"""Whether the service can do its work: it asks its store, and waits for no answer that does not come."""

from __future__ import annotations

import threading
import time

from agenttrace.core.errors import error_text
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.protocols import Store
from agenttrace.process.threads import start_thread

SECONDS_TO_ANSWER = 2.0
_FRESH_SECONDS = 1.0


class StoreState:
    """Asks a store whether it can be read and written, at most once a second, on a thread of its own.

    A store that does not answer within `SECONDS_TO_ANSWER` is in trouble; it is not asked again before it
    has answered.
    """

    def __init__(self, store: Store, *, seconds: float = SECONDS_TO_ANSWER) -> None:
        self._store = store
        self._seconds = seconds
        self._lock = threading.Lock()
        self._answered = threading.Event()
        self._asked_at: float | None = None
        self._trouble: str | None = None

    def trouble(self) -> str | None:
        """Why the store cannot be used, or None. Takes `SECONDS_TO_ANSWER` at most."""
        with self._lock:
            now = time.monotonic()
            is_fresh = self._asked_at is not None and now - self._asked_at < _FRESH_SECONDS
            if not is_fresh and (self._asked_at is None or self._answered.is_set()):
                self._asked_at = now
                self._answered.clear()
                start_thread(self._ask, "health")
            asked_at = self._asked_at or now
        if not self._answered.wait(max(asked_at + self._seconds - time.monotonic(), 0)):
            return "the store does not answer"
        return self._trouble

    def _ask(self) -> None:
        try:
            self._store.traces(limit=1)
            is_written = self._store.health().waiting == 0 or self._store.flush(self._seconds)
            self._trouble = None if is_written else "the store cannot be written"
        except BaseException as error:  # choke-point: whatever a store raises is its trouble
            pass_on_interruption(error)
            self._trouble = f"the store cannot be read: {error_text(error)}"
        finally:
            self._answered.set()
