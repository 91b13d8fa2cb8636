"""The end of the process, a fork: what the evaluators of a process are told of them."""

from __future__ import annotations

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
    at_fork("evaluations", before=evaluator.before_fork, in_child=evaluator.after_fork)


def open_owners() -> set[str]:
    """The owners of this process that are still at work."""
    return {evaluator.owner for evaluator in list(_evaluators) if evaluator.open}


def _drain_at_exit() -> None:
    evaluators = [evaluator for evaluator in list(_evaluators) if evaluator.busy]
    deadline = time.monotonic() + max([evaluator.drain_seconds for evaluator in evaluators], default=0.0)
    for evaluator in evaluators:
        evaluator.close(max(min(evaluator.drain_seconds, deadline - time.monotonic()), 0.0))


before_executors_end(_drain_at_exit)
