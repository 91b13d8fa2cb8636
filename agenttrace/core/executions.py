"""Which tool spans are one call: what two instrumentations recorded has two spans, one inside the other.

A tool span is the same call as the tool span that it stands in where both have the same name, and the same
call id, or the same arguments from another instrumentation scope (a framework's handler round a function that
`observe` decorates), or they are the two sides of one request of the Model Context Protocol. A tool that
calls itself is recorded by one instrumentation both times, and stays two
calls; so does one that a sub-agent inside it calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import ExpectationError
from agenttrace.core.marks import not_read, not_recorded
from agenttrace.core.span import Span, SpanError
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.tool_call import CallStatus

AGENT = "agent"
"""The type of an agent's span."""


@dataclass(slots=True, eq=False)
class Execution:
    """A call of a tool: its span, and the spans inside it that recorded the same call again.

    `enclosing` is the call inside which it was made, if any. Place and times are those of the outermost span;
    what is said of the values is what the innermost one recorded, which is nearest to the tool.
    """

    span: Span
    enclosing: Execution | None = None
    inner: list[Span] = field(default_factory=list)

    @property
    def call_id(self) -> str | None:
        """The id under which the model asked for it, where one is recorded."""
        ids = (span.attributes.get(semconv.TOOL_CALL_ID) for span in (self.span, *self.inner))
        return next((call_id for call_id in ids if call_id is not None), None)

    @property
    def arguments(self) -> tuple[Mapping[str, Any], ToolDefinition | None]:
        """The arguments, and the definition of the tool that they were recorded with.

        Those of an inner span where they differ from the outer's by defaults alone: what a framework injects
        into the tool is no argument of the call. Where none were recorded (``capture_input=False``), that is
        not a call without arguments: a mark stands for them.
        """
        outer = self.span.input
        for span in reversed(self.inner):
            same = outer is None or outer == span.input or _with_defaults(span, outer)
            if span.input is not None and same:
                return span.input, span.tool
        if outer is not None:
            return outer, self.span.tool
        return (not_recorded(self.remedy) if self.remedy else not_read()), self.span.tool

    @property
    def remedy(self) -> str | None:
        """What would have had arguments and output recorded, where another library left them out."""
        remedy = self.span.attributes.get(semconv.NOT_RECORDED)
        return remedy if isinstance(remedy, str) else None

    @property
    def output(self) -> Any:
        """What the tool returned."""
        last = self._last
        return self.span.output if last.status != "ok" or last.output is None else last.output

    @property
    def ending(self) -> tuple[CallStatus, SpanError | None]:
        """How it ended, also where a framework made an answer to the model of its failure; or what is known
        of it without a recorded end."""
        last = self._last
        says_more = (
            last.status != "ok" or last.error is not None or semconv.UNFINISHED in self.span.attributes
        )
        span = last if says_more else self.span
        return span.attributes.get(semconv.CALL_STATUS, span.status), span.error

    @property
    def _last(self) -> Span:
        """The innermost span; of those that had not ended when they were exported, the outermost."""
        ended = (span for span in reversed(self.inner) if semconv.UNFINISHED not in span.attributes)
        return next(ended, self.span)


class Nearest:
    """Finds the nearest span of a type above a span. Parents that form a loop have none above them."""

    def __init__(self, by_key: Mapping[int, Span], span_type: str) -> None:
        self._by_key = by_key
        self._span_type = span_type
        self._above: dict[int, Span | None] = {}

    def __call__(self, span: Span) -> Span | None:
        """The nearest span above this one, or None."""
        passed: dict[int, None] = {}
        nearest: Span | None = None
        current = span
        while current.span_key not in passed:
            if current.span_key in self._above:
                nearest = self._above[current.span_key]
                break
            passed[current.span_key] = None
            parent = None if current.parent_key is None else self._by_key.get(current.parent_key)
            if parent is None:
                break
            if parent.span_type == self._span_type and parent is not span:
                nearest = parent
                break
            current = parent
        self._above.update(dict.fromkeys(passed, nearest))
        return nearest


def executions_of(spans: Iterable[Span], by_key: Mapping[int, Span]) -> list[Execution]:
    """The calls that tool spans recorded; a call before those that were made inside it."""
    tools = [span for span in spans if span.span_type == TOOL]
    if stand_apart(tools, by_key):
        return [Execution(span) for span in tools]  # none could have recorded the same call as another
    return _Executions(by_key).of(tools)


def stand_apart(tools: Sequence[Span], by_key: Mapping[int, Span]) -> bool:
    """Whether none of these spans stands anywhere below a tool's, so that each is a call of its own."""
    if len(tools) == 1:
        return True
    above = {span.parent_key for span in tools}
    looked_at: set[int | None] = set()  # parents may form a loop
    while above:
        parents = [by_key[key] for key in above if key is not None and key in by_key]
        if any(parent.span_type == TOOL for parent in parents):
            return False
        looked_at |= above
        above = {parent.parent_key for parent in parents} - looked_at
    return True


class _Executions:
    def __init__(self, by_key: Mapping[int, Span]) -> None:
        self._tool_above = Nearest(by_key, TOOL)
        self._agent_above = Nearest(by_key, AGENT)
        self._execution: dict[int, Execution] = {}
        self._scopes: dict[int, frozenset[str]] = {}
        self._executions: list[Execution] = []

    def of(self, tools: Iterable[Span]) -> list[Execution]:
        for span in tools:
            current: Span | None = span
            waiting: dict[int, tuple[Span, Span | None]] = {}  # parents may stand after their children
            while current is not None and id(current) not in self._execution and id(current) not in waiting:
                above = self._tool_above(current)
                waiting[id(current)] = current, above
                current = above
            for tool, above in reversed(waiting.values()):
                self._add(tool, above)
        return self._executions

    def _add(self, span: Span, above: Span | None) -> None:
        outer = None if above is None else self._execution.get(id(above))
        scope = span.attributes.get(semconv.SCOPE_NAME, "")
        if above is not None and outer is not None and self._is_same(span, above, outer):
            outer.inner.append(span)
            self._execution[id(span)] = outer
            self._scopes[id(span)] = self._scopes[id(above)] | {scope}
        else:
            self._execution[id(span)] = execution = Execution(span, outer)
            self._scopes[id(span)] = frozenset({scope})
            self._executions.append(execution)

    def _is_same(self, span: Span, above: Span, outer: Execution) -> bool:
        if span.name != above.name:
            return False
        call_id, outer_id = span.attributes.get(semconv.TOOL_CALL_ID), outer.call_id
        if call_id is not None and outer_id is not None:
            return bool(call_id == outer_id)
        if semconv.MCP_METHOD in span.attributes and semconv.MCP_METHOD in above.attributes:
            return True  # the client's and the server's side of one request
        scope = span.attributes.get(semconv.SCOPE_NAME, "")
        return (
            scope not in self._scopes[id(above)]
            and self._agent_above(span) is self._agent_above(above)
            and _same_arguments(above, span)
        )


def _same_arguments(outer: Span, inner: Span) -> bool:
    """Whether these are the arguments of one call: the same but for defaults, what a framework injects, and
    what it converts.

    Arguments that one of the two did not record are no reason to take them for two calls.
    """
    first, second = outer.input, inner.input
    if first is None or second is None or first == second:
        return True
    if len(first) > len(second):
        inner, first, second = outer, second, first
    return _with_defaults(inner, first) or (bool(first) and _is_within(first, second))


def _with_defaults(span: Span, arguments: Mapping[str, Any]) -> bool:
    """Whether the tool's defaults make the arguments those of the span."""
    if span.tool is None or span.input is None:
        return False
    try:
        bound = span.tool.bind(arguments)
    except ExpectationError:
        return False
    return bound.keys() == span.input.keys() and _is_within(bound, span.input)


def _is_within(first: Any, second: Any) -> bool:
    """Whether two values are the same but for entries that only the second has, such as a model's defaults,
    and for numbers that a language model wrote as text."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return all(name in second and _is_within(value, second[name]) for name, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_is_within, first, second))
    if isinstance(first, str) != isinstance(second, str):
        return str(first).lower() == str(second).lower()
    return bool(first == second)
