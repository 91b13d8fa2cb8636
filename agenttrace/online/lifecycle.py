"""Closes the evaluators of a process when it ends, and prepares them for a fork."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from typing import Protocol

from agenttrace.process.fork_and_exit import at_exit, at_fork, before_executors_end


class Closable(Protocol):
    """An `OnlineEvaluator`, as this module sees it."""

    drain_seconds: float

    @property
    def busy(self) -> bool:
        """True while anything waits or runs."""
        ...

    @property
    def open(self) -> bool:
        """True until it is closed."""
        ...

    @property
    def owner(self) -> str:
        """The text that marks its pending evaluations in the store."""
        ...

    def flush_observed_spans(self, timeout: float) -> bool:
        """Have the spans that have ended stored; returns True if all were stored in time."""
        ...

    def close(self, timeout: float | None = None) -> bool:
        """Wait `timeout` seconds for what is under way, then stop."""
        ...

    def close_without_waiting(self) -> None:
        """Leave what is asked from now on to a later process."""
        ...

    def before_fork(self) -> None:
        """Prepare for a copy of the process."""
        ...

    def after_fork(self) -> None:
        """Start empty, in the copy."""
        ...


_SPAN_SECONDS = 1.0
"""How long the end of the process waits for spans that are to be evaluated to be stored."""

_evaluators: weakref.WeakSet[Closable] = weakref.WeakSet()


def look_after(evaluator: Closable) -> None:
    """Close an evaluator when the process ends, and prepare it for each fork."""
    _evaluators.add(evaluator)
    at_fork("evaluations", before=evaluator.before_fork, in_child=evaluator.after_fork)


def open_owners() -> set[str]:
    """The owner texts of the evaluators of this process that are not closed."""
    return {evaluator.owner for evaluator in list(_evaluators) if evaluator.open}


def _end_of_main_thread() -> None:
    """Finish evaluations while executors still work, unless the process goes on in other threads."""
    if not _other_threads_run():
        _drain(_flush_open_evaluators())


def _end_of_process() -> None:
    """Finish evaluations when those threads have ended, too; later requests are left to a later process."""
    evaluators = _flush_open_evaluators()
    _drain(evaluators)
    for evaluator in evaluators:
        evaluator.close_without_waiting()


def _flush_open_evaluators() -> list[Closable]:
    """Return the evaluators that are not closed, after spans that have ended were handed to them."""
    evaluators = [evaluator for evaluator in list(_evaluators) if evaluator.open]
    deadline = time.monotonic() + _SPAN_SECONDS
    for evaluator in evaluators:
        evaluator.flush_observed_spans(max(deadline - time.monotonic(), 0.0))
    return evaluators


def _drain(evaluators: list[Closable]) -> None:
    evaluators = [evaluator for evaluator in evaluators if evaluator.busy]
    deadline = time.monotonic() + max([evaluator.drain_seconds for evaluator in evaluators], default=0.0)
    for evaluator in evaluators:
        evaluator.close(max(min(evaluator.drain_seconds, deadline - time.monotonic()), 0.0))


def _other_threads_run() -> bool:
    """Return True if threads of the user's keep the process alive, as those of a server may.

    Always False in a child of multiprocessing, which exits without running `_end_of_process`.
    """
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        return False
    here = threading.current_thread()
    return any(thread is not here and not thread.daemon for thread in threading.enumerate())


before_executors_end(_end_of_main_thread)
at_exit("evaluations", _end_of_process)
