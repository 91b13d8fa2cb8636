"""The end of the process, a fork: what the evaluators of a process are told of them."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Protocol


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

    def close(self, timeout: float | None = None) -> bool:
        """Give what is under way `timeout` seconds, then stop."""
        ...

    def before_fork(self) -> None:
        """The process is about to be copied."""
        ...

    def after_fork(self) -> None:
        """This is the copy."""
        ...


_evaluators: weakref.WeakSet[Ends] = weakref.WeakSet()


def look_after(evaluator: Ends) -> None:
    """Close an evaluator at the end of the process, tell it of forks."""
    _evaluators.add(evaluator)


def open_owners() -> set[str]:
    """The owners of this process that are still at work."""
    return {evaluator.owner for evaluator in list(_evaluators) if evaluator.open}


def _drain_at_exit() -> None:
    evaluators = [evaluator for evaluator in list(_evaluators) if evaluator.busy]
    deadline = time.monotonic() + max([evaluator.drain_seconds for evaluator in evaluators], default=0.0)
    for evaluator in evaluators:
        evaluator.close(max(min(evaluator.drain_seconds, deadline - time.monotonic()), 0.0))


def _before_fork() -> None:
    for evaluator in list(_evaluators):
        evaluator.before_fork()


def _in_forked_child() -> None:
    for evaluator in list(_evaluators):
        evaluator.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_forked_child)

# Before the interpreter joins its executors: afterwards asyncio could no longer look up a host's address.
_register: Callable[[Callable[[], None]], Any] = threading._register_atexit  # type: ignore[attr-defined]
_register(_drain_at_exit)
