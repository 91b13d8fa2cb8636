"""A record that is the running call of a context for a while, and can be taken back from outside of it."""

from __future__ import annotations

import gc
import sys
from contextvars import Context, Token
from typing import Any

from agenttrace.tracing.context import current
from agenttrace.tracing.record import Record


class Loan:
    """Made by `lend`. Taking back twice does nothing."""

    __slots__ = ("_context", "_record", "_token")

    def __init__(self, record: Record, token: Token[Any], context: Context | None) -> None:
        self._record = record
        self._token: Token[Any] | None = token
        self._context = context

    def take_back(self) -> None:
        """Make the running call of that context what it was, unless it is another by now. Never raises."""
        token, self._token = self._token, None
        context, self._context = self._context, None
        if token is None:
            return
        try:
            current.reset(token)
        except ValueError:  # called in another context, such as that of a task which waits for our end
            if context is not None and context.get(current) is self._record:
                try:
                    context.run(current.reset, token)
                except (RuntimeError, ValueError):  # its task runs at this moment, in another thread
                    pass


def lend(record: Record) -> Loan | None:
    """Make a record the running call of this context, until the loan is taken back.

    None where an asyncio task runs whose context cannot be reached from outside: it is left as it is, so
    that nothing stays the running call there after its end.
    """
    before = current.get()
    try:
        token = current.set(record)
        asyncio = sys.modules.get("asyncio")  # where nobody loaded it, no task runs
        try:
            task = asyncio.current_task() if asyncio is not None else None
        except RuntimeError:  # no event loop runs in this thread
            task = None
        if task is None:
            return Loan(record, token, None)
        context = _context_of(task, record)
        if context is None:
            current.reset(token)
            return None
        return Loan(record, token, context)
    except BaseException:  # a signal handler's
        current.set(before)
        raise


def _context_of(task: Any, record: Record) -> Context | None:
    """The context in which a task runs; before Python 3.12 a task does not tell, but refers to it."""
    candidates = [task.get_context()] if hasattr(task, "get_context") else gc.get_referents(task)
    return next((c for c in candidates if isinstance(c, Context) and c.get(current) is record), None)
