"""The end of the process, a fork: what the evaluators of a process are told of them."""

from __future__ import annotations

import atexit
import sys
import threading
import time
import weakref
from typing import Protocol

from agenttrace.process.fork_and_exit import at_fork, before_executors_end


class Ends(Protocol):
    """What is looked after: an `OnlineEvaluator`."""

    drain_seconds: float

    @property
    def busy(self) -> bool:
        """Whether anything waits or runs."""
        ...

    @property
    def open(self) -> bool:
        """Whether it has not been closed."""
        ...

    @property
    def owner(self) -> str:
        """What its rows in the store say that they belong to."""
        ...

    def ask_what_waits(self, timeout: float) -> bool:
        """Have what has ended stored, so that what is to be asked of it is asked; whether all was."""
        ...

    def close(self, timeout: float | None = None) -> bool:
        """Give what is under way `timeout` seconds, then stop."""
        ...

    def refuse(self) -> None:
        """What is asked from now on is left to a later process."""
        ...

    def before_fork(self) -> None:
        """The process is about to be copied."""
        ...

    def after_fork(self) -> None:
        """This is the copy."""
        ...


_SPAN_SECONDS = 1.0
"""How long the end of the process waits for spans that are to be evaluated to be stored."""

_evaluators: weakref.WeakSet[Ends] = weakref.WeakSet()


def look_after(evaluator: Ends) -> None:
    """Close an evaluator at the end of the process, tell it of forks."""
    _evaluators.add(evaluator)
    at_fork("evaluations", before=evaluator.before_fork, in_child=evaluator.after_fork)


def open_owners() -> set[str]:
    """The owners of this process that are still at work."""
    return {evaluator.owner for evaluator in list(_evaluators) if evaluator.open}


def no_thread_at_the_end(error: BaseException) -> bool:
    """Whether this says that no thread is to be had because the process ends, as Python 3.12 has it."""
    return issubclass(type(error), RuntimeError) and getattr(threading, "_SHUTTING_DOWN", False)


def _end_of_main_thread() -> None:
    """While executors can be used still; unless the process goes on in other threads."""
    if not _others_go_on():
        _drain(_asked())


def _end_of_process() -> None:
    """When those threads have ended, too. What is asked after this is left to a later process."""
    evaluators = _asked()
    _drain(evaluators)
    for evaluator in evaluators:
        evaluator.refuse()


def _asked() -> list[Ends]:
    """Those still at work; what stored spans are to ask of them is asked."""
    evaluators = [evaluator for evaluator in list(_evaluators) if evaluator.open]
    deadline = time.monotonic() + _SPAN_SECONDS
    for evaluator in evaluators:
        evaluator.ask_what_waits(max(deadline - time.monotonic(), 0.0))
    return evaluators


def _drain(evaluators: list[Ends]) -> None:
    evaluators = [evaluator for evaluator in evaluators if evaluator.busy]
    deadline = time.monotonic() + max([evaluator.drain_seconds for evaluator in evaluators], default=0.0)
    for evaluator in evaluators:
        evaluator.close(max(min(evaluator.drain_seconds, deadline - time.monotonic()), 0.0))


def _others_go_on() -> bool:
    """Whether the process goes on in threads of the user's, as a server may. (A child of multiprocessing
    leaves without the second look.)"""
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        return False
    here = threading.current_thread()
    return any(thread is not here and not thread.daemon for thread in threading.enumerate())


before_executors_end(_end_of_main_thread)
atexit.register(_end_of_process)
