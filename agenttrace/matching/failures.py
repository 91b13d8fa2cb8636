"""Which names of calls failed, and which of these were called again and did not."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from agenttrace.core.tool_call import ToolCall

_ERROR, _STATUS = attrgetter("error"), attrgetter("status")
_OK = {"ok"}


def failed_names(calls: Sequence[ToolCall]) -> frozenset[str]:
    """The names of the calls that failed."""
    if not any(map(_ERROR, calls)) and {*map(_STATUS, calls)} <= _OK:
        return frozenset()  # as of most runs
    return frozenset([call.name for call in calls if call.failed])


def retried_names(calls: Sequence[ToolCall]) -> frozenset[str]:
    """The names of the calls that failed before one that did not."""
    successes: set[str] = set()
    names: set[str] = set()
    for call in reversed(calls):
        if not call.failed:
            successes.add(call.name)
        elif call.name in successes:
            names.add(call.name)
    return frozenset(names)
