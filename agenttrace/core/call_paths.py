"""Where a call stands in its trace: below which agents and spans, in which turn.

What is above a span is worked out once for all that stand below it: a chain of calls costs one step a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agenttrace.core import semconv
from agenttrace.core.executions import AGENT
from agenttrace.core.span import Span

MOST_LEVELS = 500
"""Spans in a path: a chain of a hundred thousand would take gigabytes."""


class CallPath(NamedTuple):
    """`agent` is the path of the agents, `path` that of all spans, outermost first, of the nearest
    `MOST_LEVELS`."""

    agent: str = ""
    path: tuple[str, ...] = ()
    turn: int | None = None


_TOP = CallPath()


class CallPaths:
    """Finds where spans stand. Parents that form a loop end above the first that comes again."""

    def __init__(self, by_key: Mapping[int, Span]) -> None:
        self._by_key = by_key
        self._below: dict[int | None, CallPath] = {}

    def __call__(self, span: Span) -> CallPath:
        """Where the call of this span stands."""
        attributes = span.attributes
        above = self._below.get(span.parent_key) or self._below_parent_of(span)
        if not attributes:
            return above
        agent = above.agent
        # Other libraries put the agent's name on the call, too, beside the agent's own span.
        name = attributes.get(semconv.AGENT_NAME)
        if isinstance(name, str) and not (agent and semconv.RECEIVED in attributes):
            agent = _path(agent, name)
        return CallPath(agent, above.path, _turn(span, above.turn))

    def below(self, span: Span) -> CallPath:
        """Where the call of a span below this one would stand."""
        return _below(span, self._below.get(span.parent_key) or self._below_parent_of(span))

    def _below_parent_of(self, span: Span) -> CallPath:
        """What stands above everything that has the same parent as this span."""
        passed: list[Span] = []
        seen = {span.span_key}
        key = span.parent_key
        while key is not None and key not in self._below and key not in seen:
            parent = self._by_key.get(key)
            if parent is None:
                break
            seen.add(key)
            passed.append(parent)
            key = parent.parent_key
        is_loop = key in seen
        place = _TOP if key is None or is_loop else self._below.get(key, _TOP)
        for parent in reversed(passed):
            place = _below(parent, place)
            if not is_loop:  # of a loop, each span sees another end
                self._below[parent.span_key] = place
        return place


def _below(parent: Span, above: CallPath) -> CallPath:
    agent = _path(above.agent, parent.name) if parent.span_type == AGENT else above.agent
    path = (*above.path[-MOST_LEVELS + 1 :], parent.name)
    return CallPath(agent, path, _turn(parent, above.turn))


def _turn(span: Span, above: int | None) -> int | None:
    turn = span.attributes.get(semconv.TURN)
    return turn if type(turn) is int else above


def _path(agent: str, name: str) -> str:
    return f"{agent}/{name}" if agent else name
