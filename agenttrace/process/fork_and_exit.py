"""Callbacks for the fork and the end of the process, called in one order."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, Literal, get_args

Part = Literal["pipelines", "traces", "stores", "evaluations"]
"""The groups of callbacks. After a fork they are called in this order, before it in the opposite one, because
evaluations need the stores, and stores the pipelines."""

Moment = Literal["before", "in_parent", "in_child"]


class _Method:
    """A method of an object that is not kept alive; it is looked up when it is called."""

    def __init__(self, method: MethodType, on_collected: Callable[[_Method], None]) -> None:
        self._name = method.__name__
        self._owner = weakref.ref(method.__self__, lambda _: on_collected(self))

    def __call__(self) -> None:
        owner = self._owner()
        if owner is not None:
            getattr(owner, self._name)()


_calls: dict[tuple[Part, Moment], list[Callable[[], object]]] = {
    (part, moment): [] for part in get_args(Part) for moment in get_args(Moment)
}


def at_fork(
    part: Part,
    *,
    before: Callable[[], object] | None = None,
    in_parent: Callable[[], object] | None = None,
    in_child: Callable[[], object] | None = None,
) -> None:
    """Call these functions at every fork. Each must return soon and must not raise.

    A method is called for as long as its object lives, and does not keep it alive.
    """
    calls: dict[Moment, Callable[[], object] | None] = {
        "before": before,
        "in_parent": in_parent,
        "in_child": in_child,
    }
    for moment, call in calls.items():
        callbacks = _calls[part, moment]
        if isinstance(call, MethodType):
            callbacks.append(_Method(call, callbacks.remove))
        elif call is not None:
            callbacks.append(call)


def _run_callbacks(part: Part, moment: Moment) -> None:
    for call in _calls[part, moment].copy():
        call()


if hasattr(os, "register_at_fork"):
    for _part in get_args(Part):  # each by itself: an error in one does not stop the next
        os.register_at_fork(
            before=partial(_run_callbacks, _part, "before"),
            after_in_parent=partial(_run_callbacks, _part, "in_parent"),
            after_in_child=partial(_run_callbacks, _part, "in_child"),
        )


def at_exit(call: Callable[[], None]) -> Callable[[], None]:
    """Call this function when the process ends: the last one registered first. Also a decorator."""
    return atexit.register(call)


def before_executors_end(call: Callable[[], object]) -> None:
    """Call this at exit, before Python joins its executors: afterwards asyncio cannot look up host names."""
    register: Callable[[Callable[[], object]], Any] = threading._register_atexit  # type: ignore[attr-defined]
    register(call)


def at_end_of_child(method: Callable[[], object]) -> None:
    """Call a method when a child of multiprocessing ends, which runs nothing that `at_exit` registered.

    Nothing is imported here: another thread may have been importing the same module when this process was
    forked, and its lock would never be released.
    """
    finalize = getattr(sys.modules.get("multiprocessing.util"), "Finalize", None)
    if finalize is not None and isinstance(method, MethodType):
        finalize(method.__self__, _Method(method, lambda _: None), exitpriority=100)
