"""The running call follows threads and executors: one reversible patch, made at the first tracer.

asyncio tasks copy the context by themselves. `threading.Thread` starts in an empty one, a pool's thread keeps
the one of whoever happened to start it; so `Thread.start` and `ThreadPoolExecutor.submit` (which `map` and
`loop.run_in_executor` go through) carry the running call of their caller. Only that: no other context
variable is touched.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import thread as pool
from functools import wraps
from typing import Any

from agenttrace.tracing.context import current

_thread_start = threading.Thread.start
_pool_submit = ThreadPoolExecutor.submit
_patched: set[str] = set()


def follow_threads() -> None:
    """Patch, once. A second call does nothing."""
    global _thread_start, _pool_submit
    if "start" not in _patched:
        _patched.add("start")
        _thread_start = threading.Thread.start
        threading.Thread.start = _start  # type: ignore[method-assign]
    if "submit" not in _patched:
        _patched.add("submit")
        _pool_submit = ThreadPoolExecutor.submit
        ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]


def leave_threads() -> None:
    """Undo the patch, where nobody has patched on top of it."""
    if threading.Thread.start is _start:
        threading.Thread.start = _thread_start  # type: ignore[method-assign]
        _patched.discard("start")
    if ThreadPoolExecutor.submit is _submit:
        ThreadPoolExecutor.submit = _pool_submit  # type: ignore[method-assign]
        _patched.discard("submit")


@wraps(_thread_start)
def _start(self: threading.Thread) -> None:
    record = current.get()
    if record is None or _serves_many_callers(self):
        _thread_start(self)
        return
    run = self.run
    own = self.__dict__.get("run")

    def run_under_caller() -> None:
        # A thread has a context of its own that ends with it, so nothing needs to be restored.
        _restore_run(self, own)
        current.set(record)
        run()

    self.run = run_under_caller  # type: ignore[method-assign]
    try:
        _thread_start(self)
    except BaseException:  # it may be started again
        _restore_run(self, own)
        raise


def _restore_run(thread: threading.Thread, own: Callable[[], None] | None) -> None:
    if own is None:
        thread.__dict__.pop("run", None)
    else:
        thread.run = own  # type: ignore[method-assign]


def _serves_many_callers(thread: threading.Thread) -> bool:
    """A pool's thread gets its context with each task, or has none; our own workers have none."""
    if hasattr(thread, "agenttrace_internal"):
        return True
    target = getattr(thread, "_target", None)
    pools = (pool, sys.modules.get("multiprocessing.pool"))
    return target is not None and any(
        target is getattr(p, w, None) for p in pools for w in ("_worker", "worker")
    )


@wraps(_pool_submit)  # type: ignore[arg-type] # typeshed has it generic in the submitted function
def _submit(self: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    record = current.get()
    if record is None:
        return _pool_submit(self, function, *args, **kwargs)

    def under_caller(*args: Any, **kwargs: Any) -> Any:
        token = current.set(record)
        try:
            return function(*args, **kwargs)
        finally:
            current.reset(token)

    return _pool_submit(self, under_caller, *args, **kwargs)
