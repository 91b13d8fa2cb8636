"""A reversible patch with which the running call follows into threads and executors.

asyncio tasks copy the context by themselves. `threading.Thread` starts in an empty one, a pool's thread keeps
the one of whoever happened to start it; so `Thread.start` and `ThreadPoolExecutor.submit` (which `map` and
`loop.run_in_executor` go through) carry the running call of their caller, and the simulation that it is in.
Only these: no other context variable is touched.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import thread as pool
from functools import wraps
from types import FunctionType, MethodType
from typing import Any

from agenttrace.core.reading_types import bases_of, dict_of
from agenttrace.tracing.context import Answering, answering, current, under
from agenttrace.tracing.record import Record

_thread_start = threading.Thread.start
_pool_submit = ThreadPoolExecutor.submit
_patched: set[str] = set()
_carries_calls = False


def follow_threads(*, calls: bool = True) -> None:
    """Make the patch. A second call does nothing. Called by the first tracer.

    Without `calls` the running call is not carried, unless another caller wants it: a simulation follows all
    the same.
    """
    global _thread_start, _pool_submit, _carries_calls
    _carries_calls = calls or _carries_calls
    if "start" not in _patched:
        _patched.add("start")
        _thread_start = threading.Thread.start
        threading.Thread.start = _start  # type: ignore[method-assign]  # the patch
    if "submit" not in _patched:
        _patched.add("submit")
        _pool_submit = ThreadPoolExecutor.submit
        ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]  # the patch


def leave_threads() -> None:
    """Undo the patch, unless somebody has patched on top of it."""
    global _carries_calls
    if threading.Thread.start is _start:
        threading.Thread.start = _thread_start  # type: ignore[method-assign]  # the original
        _patched.discard("start")
    if ThreadPoolExecutor.submit is _submit:
        ThreadPoolExecutor.submit = _pool_submit  # type: ignore[method-assign]  # the original
        _patched.discard("submit")
    _carries_calls = _carries_calls and bool(_patched)


@wraps(_thread_start)
def _start(self: threading.Thread) -> None:
    record, answers = current.get() if _carries_calls else None, answering.get()
    restore = None if record is None and answers is None else _run_under(record, answers, self)
    try:
        _thread_start(self)
    except BaseException:  # it may be started again
        if restore is not None:
            restore()
        raise


def _run_under(
    record: Record | None, answers: Answering | None, thread: threading.Thread
) -> Callable[[], None] | None:
    """Make a thread that is about to start run under a record, in a simulation. Returns a function that
    undoes that, or None if the thread is left as it is.

    Reads and sets the thread's attributes without running code of a subclass, such as a property,
    `__setattr__` or `__getattr__`.
    """
    try:
        fields = object.__getattribute__(thread, "__dict__")
    except AttributeError:
        return None
    if type(fields) is not dict or _serves_many_callers(fields):
        return None
    own_run = fields.get("run", _MISSING)
    run = own_run
    if own_run is _MISSING:
        definitions = (dict_of(base).get("run") for base in bases_of(type(thread)))
        method = next(filter(None, definitions), None)
        if type(method) is not FunctionType:  # a property, say, which would hide what we set
            return None
        run = MethodType(method, thread)

    def restore() -> None:
        if own_run is _MISSING:
            fields.pop("run", None)
        else:
            fields["run"] = own_run

    def run_under_caller() -> None:
        # A thread has a context of its own that ends with it, so nothing needs to be restored.
        restore()
        current.set(record)
        answering.set(answers)
        run()

    fields["run"] = run_under_caller
    return restore


_MISSING: Any = object()


def _serves_many_callers(fields: dict[str, Any]) -> bool:
    """Returns True for a pool's thread, whose context comes with each task, and for our own workers."""
    if "agenttrace_internal" in fields:
        return True
    target = fields.get("_target")
    pools = (pool, sys.modules.get("multiprocessing.pool"))
    return target is not None and any(
        target is getattr(p, w, None) for p in pools for w in ("_worker", "worker")
    )


@wraps(_pool_submit)  # type: ignore[arg-type] # typeshed has it generic in the submitted function
def _submit(self: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    record, answers = current.get() if _carries_calls else None, answering.get()
    call = function if record is None and answers is None else under(record, answers, function)
    return _pool_submit(self, call, *args, **kwargs)
