"""`Filling`: goes on with an index that is behind, on a thread that ends when all is known."""

from __future__ import annotations

import sqlite3
import threading
import time

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.protocols import Store
from agenttrace.process.threads import start_thread
from agenttrace.store.index_reads import IndexReads
from agenttrace.store.searched import reads_of

SECONDS_AT_ONCE = 0.2
PAUSE = 0.05
"""Seconds between two turns, in which a page gets at the index."""


class Filling:
    """Brings on the index of one store. A page waits for it a moment only, and shows what is known.

    Without anything new there is no thread. Where the store cannot be read, the thread ends; the next page
    that finds the index behind starts another.
    """

    def __init__(self, store: Store) -> None:
        reads = reads_of(store)
        self._reads = reads if isinstance(reads, IndexReads) else None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def go_on(self) -> None:
        """Start the thread where the index is behind, as the last page has found it."""
        if self._reads is None or not self._reads.is_behind:
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = start_thread(self._fill, "index")

    def wait(self, seconds: float) -> None:
        """Wait until the thread has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _fill(self) -> None:
        try:
            while self._reads is not None and not self._reads.bring_on(SECONDS_AT_ONCE).is_ready:
                time.sleep(PAUSE)
        except (AgentTraceError, OSError, sqlite3.Error):
            return  # the next page says what is wrong
