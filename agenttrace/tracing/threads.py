"""The running call follows threads and executors: one reversible patch, made at the first tracer.

asyncio tasks copy the context by themselves. `threading.Thread` starts in an empty one, a pool's thread keeps
the one of whoever happened to start it; so `Thread.start` and `ThreadPoolExecutor.submit` (which `map` and
`loop.run_in_executor` go through) carry the running call of their caller. Only that: no other context
variable is touched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import thread as pool
from typing import Any

from agenttrace.tracing.context import current

_originals: dict[str, Callable[..., Any]] = {}


def follow_threads() -> None:
    """Patch, once. A second call does nothing."""
    if _originals:
        return
    _originals["start"] = threading.Thread.start
    _originals["submit"] = ThreadPoolExecutor.submit
    threading.Thread.start = _start  # type: ignore[method-assign]
    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]


def leave_threads() -> None:
    """Undo the patch, where nobody has patched on top of it."""
    if _originals and threading.Thread.start is _start:
        threading.Thread.start = _originals.pop("start")  # type: ignore[method-assign]
    if _originals and ThreadPoolExecutor.submit is _submit:
        ThreadPoolExecutor.submit = _originals.pop("submit")  # type: ignore[method-assign]


def _start(self: threading.Thread) -> None:
    record = current.get()
    if record is not None and not _serves_many_callers(self):
        run = self.run

        def run_under_caller() -> None:
            # A thread has a context of its own that ends with it, so nothing needs to be restored.
            del self.run
            current.set(record)
            run()

        self.run = run_under_caller  # type: ignore[method-assign]
    _originals["start"](self)


def _serves_many_callers(thread: threading.Thread) -> bool:
    """A pool's thread gets its context with each task; our own worker has none."""
    target = getattr(thread, "_target", None)
    return target is getattr(pool, "_worker", None) or hasattr(thread, "agenttrace_internal")


def _submit(self: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    record = current.get()
    if record is None:
        return _originals["submit"](self, function, *args, **kwargs)

    def under_caller(*args: Any, **kwargs: Any) -> Any:
        token = current.set(record)
        try:
            return function(*args, **kwargs)
        finally:
            current.reset(token)

    return _originals["submit"](self, under_caller, *args, **kwargs)
