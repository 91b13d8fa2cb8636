"""The thread of an online worker, which imports and makes it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agenttrace.evaluation.online_worker import OnlineWorker

log = logging.getLogger("agenttrace")


class WorkerThread:
    """Runs one worker until it is stopped; `alive` until then.

    A process that forks while a thread imports leaves its child with the locks of the modules that were being
    imported: who imports one of them there waits for ever. So `ready` is set when the imports are done, and a
    fork waits for that.
    """

    def __init__(self, make: Callable[[], OnlineWorker]) -> None:
        self.alive = True
        self.ready = threading.Event()
        self._make = make
        self._worker: OnlineWorker | None = None
        self._thread = threading.Thread(target=self._serve, name="agenttrace-online", daemon=True)
        self._thread.agenttrace_internal = True  # type: ignore[attr-defined] # seen by the thread patch
        self._thread.start()

    def stop(self, wait: float = 0.5) -> None:
        """Let the worker write what it has, leave the rest pending in the store, and end."""
        if self._worker is not None:
            self._worker.stopping = True
        self._thread.join(wait)

    def _serve(self) -> None:
        import asyncio

        try:
            self._worker = self._make()
            self.ready.set()
            asyncio.run(self._worker.run())
        except BaseException as error:  # choke-point: the next request starts another worker
            log.warning("online evaluation met %s: %s; it starts anew", type(error).__name__, error)
        finally:
            self.alive = False
            self.ready.set()
