"""No database open while the process forks.

SQLite keeps its knowledge of locks in the process. A child that inherits an open connection believes in
locks that only its parent has: opened again there, the same file may stay "locked" for ever, or lose its
log to the parent's closing and with it every row that the child wrote. So the connections of all stores are
closed for the moment of a fork, on both sides of it, and opened again on the next use.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """What is told of forks. Each must return soon and must not raise."""

    def before_fork(self) -> None:
        """Let go of what must not be inherited."""
        ...

    def after_fork_in_parent(self) -> None:
        """Go on."""
        ...

    def after_fork(self) -> None:
        """In the child: begin anew."""
        ...


_watched: WeakSet[Forkable] = WeakSet()
_once = threading.Lock()
_hooked = False


def watch(store: Forkable) -> None:
    """Tell a store of forks for as long as it lives."""
    global _hooked
    with _once:
        _watched.add(store)
        if _hooked or not hasattr(os, "register_at_fork"):
            return
        _hooked = True
        os.register_at_fork(
            before=lambda: _tell("before_fork"),
            after_in_parent=lambda: _tell("after_fork_in_parent"),
            after_in_child=lambda: _tell("after_fork"),
        )


def _tell(what: str) -> None:
    for store in list(_watched):
        getattr(store, what)()
