"""`ResultStream`: results of a run that is not over yet go to the store as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType

from agenttrace.core.report import ScoringResult
from agenttrace.evaluation.schedule import Place
from agenttrace.process.threads import start_thread

EVERY = 0.5
"""Seconds between two writings. A result is written at the second one after it came: by then the tracer's
writer has stored its trace, so that a killed process leaves no result without one."""

Write = Callable[[Mapping[Place, ScoringResult]], None]


class ResultStream:
    """Takes results on any thread, and has them written on one of its own while it is open.

    What is left when it is closed is not written: the whole report is then. A run that takes less than
    a second writes nothing in this way.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._new: dict[Place, ScoringResult] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, place: Place, result: ScoringResult) -> None:
        """Take one result."""
        with self._lock:
            self._new[place] = result

    def __enter__(self) -> ResultStream:
        try:
            self._thread = start_thread(self._serve, "results")
        except RuntimeError:  # no thread: the report is written at the end, as ever
            self._thread = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _serve(self) -> None:
        waited: dict[Place, ScoringResult] = {}
        while not self._closed.wait(EVERY):
            with self._lock:
                due, waited, self._new = waited, self._new, {}
            if due:
                self._write(due)
