"""A trace as a page draws it: all spans without their values, and the values of those that are shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agenttrace.core.cached import cached_property
from agenttrace.core.protocols import Store, optional
from agenttrace.core.span import Span
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.core.trace_outline import ReadsOutlines, TraceOutline

LONGEST_VALUE = 200_000
"""Characters of an input or output that is read for what a row says of it; a longer one is not read."""


class LightTrace:
    """A trace that was read without values: inputs, outputs, errors, attributes and usage of its spans.

    `trace` has its spans with names, types, places, times and statuses alone. The values of some are read
    when they are asked for, and all of them for `whole` and `tool_calls`. What has been deleted meanwhile has
    none.
    """

    def __init__(self, trace: Trace, store: Store | None = None, outline: TraceOutline | None = None) -> None:
        """A trace that is whole without an `outline`, else that of an outline in a `store`."""
        self.trace = trace
        self._store = store
        self._outline = outline

    @classmethod
    def of(cls, store: Store, trace_id: str) -> LightTrace | None:
        """The trace of an id, or of a prefix of at least four digits that only one trace has.

        Raises:
            StoreError: fewer digits, several traces, or the store cannot be read.
        """
        own = optional(store, ReadsOutlines)
        outline = None if own is None else own.outline(trace_id)
        if outline is not None:
            return cls(outline.trace, store, outline)
        trace = store.trace(trace_id)
        return None if trace is None else cls(trace)

    @cached_property
    def whole(self) -> Trace:
        """The trace with all values."""
        if self._store is None:
            return self.trace
        return self._store.trace(self.trace.trace_id) or self.trace

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The tool calls of the whole trace."""
        return self.whole.tool_calls

    def with_values(self, spans: Collection[Span]) -> list[Span]:
        """Some of the spans with all their values."""
        if self._outline is None or "whole" in self.__dict__:
            by_key: Mapping[int, Span] = self.whole.by_key
        else:
            by_key = self._outline.whole([span.span_key for span in spans])
        return [by_key.get(span.span_key, span) for span in spans]

    def inputs(self, spans: Collection[Span]) -> Mapping[int, Mapping[str, Any]]:
        """The inputs of some of the spans by their keys, without those that are very long."""
        if self._outline is None:
            return {span.span_key: span.input for span in spans if span.input is not None}
        inputs = self._outline.inputs([span.span_key for span in spans], LONGEST_VALUE)
        return {key: value for key, value in inputs.items() if isinstance(value, Mapping)}

    def outputs(self, spans: Collection[Span]) -> Mapping[int, Any]:
        """The outputs of some of the spans by their keys, without those that are very long."""
        if self._outline is None:
            return {span.span_key: span.output for span in spans}
        return self._outline.outputs([span.span_key for span in spans], LONGEST_VALUE)
