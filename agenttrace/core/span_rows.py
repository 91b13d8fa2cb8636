"""`SpanRows`: finished spans whose values are JSON text already; a `Span` is made when one is asked for.

A store that keeps JSON writes the texts as they are, and no span is made at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from agenttrace.core.json_reader import lenient_json
from agenttrace.core.span import EMPTY, Span

if TYPE_CHECKING:
    from agenttrace.core.tool import ToolDefinition


class SpanKind:
    """What is the same for all spans of one function in one project. `key` tells kinds apart while their
    tools live."""

    __slots__ = ("key", "name", "project", "span_type", "tool")

    def __init__(self, name: str, span_type: str, project: str, tool: ToolDefinition | None) -> None:
        self.name = name
        self.span_type = span_type
        self.project = project
        self.tool = tool
        self.key = (name, span_type, project, id(tool))


SpanRow: TypeAlias = tuple[int, int, int | None, int, SpanKind, int, int, str | None, str | None, Span | None]
"""Trace key, span key, parent key, index, kind, start and end in ns, input and output as JSON text (None:
there is none), and, if the span has more than that, one with its status, error, attributes and usage.

A tuple: it is made for every span, and an object with names takes three times as long."""


def span_of_row(row: SpanRow) -> Span:
    """The span of a row."""
    trace_key, span_key, parent_key, index, kind, start_ns, end_ns, arguments, output, more = row
    span = Span(
        trace_key=trace_key,
        span_key=span_key,
        parent_key=parent_key,
        index=index,
        name=kind.name,
        span_type=kind.span_type,
        start_ns=start_ns,
        end_ns=end_ns,
        input=None if arguments is None else lenient_json(arguments),
        output=None if output is None else lenient_json(output),
        attributes=EMPTY if more is None else more.attributes,
        project=kind.project,
        tool=kind.tool,
    )
    if more is not None:
        span.status, span.error, span.usage = more.status, more.error, more.usage
    return span


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
