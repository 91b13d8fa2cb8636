"""Callbacks for the fork and the end of the process, called in one order.

The end has three moments. When the main thread has ended, `before_executors_end` finishes evaluations, which
need executors. When all other threads that are no daemons have ended, too, `at_exit` goes through the parts,
evaluations first. A child of multiprocessing has neither: `at_end_of_child` flushes its pipelines.
"""

from __future__ import annotations

import atexit
import logging  # noqa: F401 - imported before us, it is shut down after us
import os
import sys
import threading
import weakref
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, Literal, get_args

Part = Literal["searches", "pipelines", "traces", "stores", "evaluations"]
"""The groups of callbacks. After a fork they are called in this order, before it and at the exit in
the opposite one, because evaluations need the stores, stores the pipelines, and any of them searches."""

Moment = Literal["before", "in_parent", "in_child", "at_exit"]


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


def _register(part: Part, moment: Moment, call: Callable[[], object] | None) -> None:
    callbacks = _calls[part, moment]
    if isinstance(call, MethodType):
        callbacks.append(_Method(call, callbacks.remove))
    elif call is not None:
        callbacks.append(call)


def _run_callbacks(part: Part, moment: Moment) -> None:
    for call in _calls[part, moment].copy():
        call()


def _end_by_interruption() -> None:
    """Let a process that Control-C ends still end by that signal, as shells and supervisors tell it.

    Python forgets it where it runs a text, as to import a module with dataclasses at the end does, and notes
    it again where one is interrupted.
    """
    if getattr(sys, "last_type", None) is KeyboardInterrupt:
        try:
            exec("raise KeyboardInterrupt")  # noqa: S102 - a text of ours
        except KeyboardInterrupt:
            pass


atexit.register(_end_by_interruption)  # before the others, so that it is called after them

for _part in get_args(Part):  # each by itself: an error in one does not stop the next
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=partial(_run_callbacks, _part, "before"),
            after_in_parent=partial(_run_callbacks, _part, "in_parent"),
            after_in_child=partial(_run_callbacks, _part, "in_child"),
        )
    atexit.register(_run_callbacks, _part, "at_exit")


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
    _register(part, "before", before)
    _register(part, "in_parent", in_parent)
    _register(part, "in_child", in_child)


def at_exit(part: Part, call: Callable[[], object]) -> None:
    """Call this function, or the method of an object that lives until then, when the process ends."""
    _register(part, "at_exit", call)


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
