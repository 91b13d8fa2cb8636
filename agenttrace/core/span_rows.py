"""`SpanRows`: finished spans whose values are JSON text already; a `Span` is made when one is asked for.

A store that keeps JSON writes the texts as they are, and no span is made at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, overload

from agenttrace.core.json_reader import lenient_json
from agenttrace.core.span import EMPTY, Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_text import tool_of_entry

SpanKind: TypeAlias = tuple[str, str, str, str]
"""What is the same for all spans of one function in one project: the project, its name, its type, and the
text of its tool's definition, which is empty where it is no tool.

Texts alone, in a plain tuple: Python's garbage collector soon leaves alone what holds nothing but texts,
numbers and such tuples; through anything else it goes again and again for as long as it waits.
"""

SpanRow: TypeAlias = tuple[int, int, int | None, int, SpanKind, int, int, str | None, str | None, Span | None]
"""Trace key, span key, parent key, index, kind, start and end in ns, input and output as JSON text (None:
there is none), and, if the span has more than that, one with its status, error, attributes and usage.

A tuple: it is made for every span, and an object with names takes three times as long."""


def span_of_row(row: SpanRow) -> Span:
    """The span of a row."""
    trace_key, span_key, parent_key, index, kind, start_ns, end_ns, arguments, output, more = row
    project, name, span_type, definition = kind
    span = Span(
        trace_key=trace_key,
        span_key=span_key,
        parent_key=parent_key,
        index=index,
        name=name,
        span_type=span_type,
        start_ns=start_ns,
        end_ns=end_ns,
        input=None if arguments is None else lenient_json(arguments),
        output=None if output is None else lenient_json(output),
        attributes=EMPTY if more is None else more.attributes,
        project=project,
        tool=_tool(name, definition) if definition else None,
    )
    if more is not None:
        span.status, span.error, span.usage = more.status, more.error, more.usage
    return span


@lru_cache(maxsize=1_000)
def _tool(name: str, definition: str) -> ToolDefinition | None:
    return tool_of_entry(name, lenient_json(definition))


def as_span(item: Span | SpanRow) -> Span:
    """A span, or the span of a row."""
    return span_of_row(item) if isinstance(item, tuple) else item


def without_values(item: Span | SpanRow) -> Span:
    """A span of which nobody looks at input and output; those of a row, which may be large, are not read."""
    return span_of_row((*item[:7], None, None, item[9])) if isinstance(item, tuple) else item


class SpanRows(Sequence[Span]):
    """Rows, with spans among them, as a sequence of spans. `items` are both as they are."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Span | SpanRow]) -> None:
        self.items = list(items)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, at: int) -> Span: ...
    @overload
    def __getitem__(self, at: slice) -> list[Span]: ...
    def __getitem__(self, at: int | slice) -> Any:
        return list(map(as_span, self.items[at])) if isinstance(at, slice) else as_span(self.items[at])


def items_of(spans: Sequence[Span]) -> Sequence[Span | SpanRow]:
    """The spans, or the rows where they are rows still."""
    return spans.items if type(spans) is SpanRows else spans
