"""Stand-ins: while a simulation exists, what generated wrappers call in the place of their functions.

A wrapper calls its function through a cell of its closure. While any simulation exists in the process, the
cells of all wrappers hold stand-ins, which ask the simulation of their context, or call the function where
there is none. So recording has no branch for it: without a simulation the wrappers are as they always are.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any, cast

from agenttrace.process.fork_and_exit import at_fork
from agenttrace.tracing.context import Answering, answering
from agenttrace.tracing.failure import GENERATED

if TYPE_CHECKING:
    from agenttrace.tracing.observed_function import ObservedFunction

_FUNCTION, _OBSERVED = "_at_function", "_at_observed"

_wrappers: dict[int, weakref.ref[FunctionType]] = {}
"""Every generated wrapper in this process, by its address; some of those that are gone, too."""

_ROOM = 1_024
_room = [_ROOM]
"""At how many of them those that are gone are dropped."""

_alive: weakref.WeakSet[Answering] = weakref.WeakSet()
"""The simulations that a context may still hold: a task may outlive the block that began it."""

_begun = False
"""Whether there ever was one in this process: to ask a weak set takes as long as to enter a wrapper."""

_lock = threading.RLock()


def _unlock_in_child() -> None:
    """In a forked child: whoever held the lock is not there to release it."""
    global _lock
    _lock = threading.RLock()


at_fork("traces", in_child=_unlock_in_child)


def enter_wrapper(wrapper: FunctionType) -> None:
    """Let simulations find a wrapper; it is given a stand-in at once while there is one."""
    with _lock:
        _wrappers[id(wrapper)] = weakref.ref(wrapper)
        if len(_wrappers) >= _room[0]:
            _forget_the_dead()
        if _begun and _alive:
            _put_in(wrapper)


def _forget_the_dead() -> None:
    """Drop the references to wrappers that are gone.

    Not by a callback of each reference: it may run where no stack is left, and fail there.
    """
    for address, reference in list(_wrappers.items()):
        if (
            reference() is None and _wrappers.get(address) is reference
        ):  # a signal's handler may decorate, too
            _wrappers.pop(address, None)
    _room[0] = 2 * len(_wrappers) + _ROOM


def observed_functions() -> Iterator[ObservedFunction]:
    """Every function that is observed in this process, in the order in which they were."""
    for reference in list(_wrappers.values()):
        wrapper = reference()
        if wrapper is not None:
            yield _cells(wrapper)[_OBSERVED].cell_contents


def put_in(answers: Answering) -> None:
    """Give every wrapper its stand-in, for as long as these answers can be asked."""
    global _begun
    with _lock:
        _begun = True
        _alive.add(answers)
        for reference in list(_wrappers.values()):
            wrapper = reference()
            if wrapper is not None:
                _put_in(wrapper)


def _put_in(wrapper: FunctionType) -> None:
    cells = _cells(wrapper)
    cell = cells[_FUNCTION]
    if type(cell.cell_contents) is not StandIn:
        cell.cell_contents = StandIn(cell, cell.cell_contents, cells[_OBSERVED].cell_contents)


def _cells(wrapper: FunctionType) -> Mapping[str, CellType]:
    return dict(zip(wrapper.__code__.co_freevars, wrapper.__closure__ or (), strict=True))


class StandIn:
    """What a wrapper calls in the place of its function. Without a simulation left it puts that back."""

    __slots__ = ("_cell", "_function", "_observed")

    def __init__(self, cell: CellType, function: Any, observed: ObservedFunction) -> None:
        self._cell = cell
        self._function = function
        self._observed = observed

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Ask the simulation of this context, or call the function."""
        __tracebackhide__ = True
        answers = answering.get()
        if answers is not None:
            return answers.answer(self._observed, self._function, args, kwargs)
        if not _alive:
            self._put_back()
        return self._function(*args, **kwargs)

    def _put_back(self) -> None:
        if not _lock.acquire(blocking=False):  # a simulation begins right now; the next call puts it back
            return
        try:
            if not _alive:
                self._cell.cell_contents = self._function
        finally:
            _lock.release()

    def __reduce__(self) -> Any:
        # Simulations belong to this process: a wrapper that is pickled by value goes without its stand-in.
        return _itself, (self._function,)


def _itself(function: Any) -> Any:
    return function


# Recorded tracebacks are the same as without it: like a wrapper's, its frames are left out of them.
_call = cast(FunctionType, StandIn.__call__)
_call.__code__ = _call.__code__.replace(co_filename=f"{GENERATED}stand-in>")
