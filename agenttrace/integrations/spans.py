"""The tracer that an integration opens its spans with: the one given, or the default."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from agenttrace.core.errors import ConfigError
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.open_span import SpanBlock


class Spans(Protocol):
    """The part of a tracer that opens spans."""

    def span(
        self,
        name: str,
        *,
        span_type: str = "function",
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the tracer's own word
    ) -> SpanBlock:
        """Return a span that is not started yet."""
        ...


class Tracing(Spans, Protocol):
    """The part of a tracer that an integration needs to take its place in an evaluation."""

    project_name: str

    @property
    def store(self) -> Any:
        """The store for results."""
        ...

    def capture(self) -> AbstractContextManager[Any]:
        """Return a scope whose trace holds the calls that were recorded in it."""
        ...


class DefaultSpans:
    """The spans of the first tracer of the process, looked up when they start."""

    def span(
        self,
        name: str,
        *,
        span_type: str = "function",
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the tracer's own word
    ) -> SpanBlock:
        """Return a span that is not started yet."""
        return SpanBlock(default_recorder(), name, span_type, None if input is None else dict(input))


def spans_of(tracer: Any) -> Spans:
    """Return the tracer, or for None the default tracer's spans.

    Raises:
        ConfigError: it is not a tracer.
    """
    if tracer is None:
        return DefaultSpans()
    if not callable(getattr(tracer, "span", None)):
        raise ConfigError(
            f"tracer is a Tracer, got {type(tracer).__name__}; make one with Tracer(project_name=…), "
            "or leave it out"
        )
    spans: Spans = tracer
    return spans
