"""A thread that runs a worker, and starts another worker when one dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from agenttrace.core.errors import error_text
from agenttrace.process.said_once import SaidOnce

PAUSES = (0.1, 0.5, 2.0)
"""Seconds to wait after each death before the next worker starts."""

CALM_SECONDS = 60.0
"""Seconds of life after which a worker's death counts as the first again."""


class Worker(Protocol):
    """What the thread runs. It must end soon after `stopping` is set."""

    stopping: bool

    async def run(self) -> None:
        """Work until `stopping`."""
        ...


class SupervisedThread:
    """Runs one worker until it is stopped; `alive` until then.

    When a worker dies, another takes over its work; when that does not help, `give_up` is called with the
    reason. If a process forks while a thread imports a module, the module's lock stays locked in the child,
    which would wait for it for ever. So `ready` is set when the imports are done, and a fork waits for that.
    """

    def __init__(self, make: Callable[[], Worker], give_up: Callable[[str], None], *, name: str) -> None:
        self.alive = True
        self._name = name
        self._warnings = SaidOnce()
        self.ready = threading.Event()
        self._make = make
        self._give_up = give_up
        self._stopped = threading.Event()
        self._worker: Worker | None = None
        self._thread = threading.Thread(target=self._serve, name=f"agenttrace {name}", daemon=True)
        self._thread.agenttrace_internal = True  # type: ignore[attr-defined] # seen by the thread patch
        self._thread.start()

    def stop(self, wait: float) -> bool:
        """Ask the worker to store what it has and end. Returns False if it runs on after `wait` seconds."""
        self._stopped.set()
        worker = self._worker
        if worker is not None:
            worker.stopping = True
        self._thread.join(wait)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        deaths = 0
        try:
            while not self._stopped.is_set():
                began = time.monotonic()
                reason = self._run()
                if reason is None:
                    return
                deaths = 1 if time.monotonic() - began > CALM_SECONDS else deaths + 1
                if deaths > len(PAUSES):
                    self._give_up(reason)
                    return
                self._stopped.wait(PAUSES[deaths - 1])
        finally:
            self.alive = False
            self.ready.set()

    def _run(self) -> str | None:
        """Make a worker and run it. Returns why it died, or None."""
        import asyncio

        try:
            worker = self._worker = self._make()
            self.ready.set()
            if self._stopped.is_set():  # `stop` was called just before
                worker.stopping = True
            asyncio.run(worker.run())
        except BaseException as error:  # choke-point: another worker takes over
            reason = error_text(error)
            self._warnings.warn(reason, f"{self._name} starts anew after", error)
            return reason
        return None
