"""Where an integration gets its spans from."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from agenttrace.core.errors import ConfigError
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.span_block import SpanBlock


class Spans(Protocol):
    """What an integration needs of a tracer."""

    def span(
        self,
        name: str,
        *,
        span_type: str = "function",
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the tracer's own word
    ) -> SpanBlock:
        """A span that is not started yet."""
        ...


class Tracing(Spans, Protocol):
    """What an integration needs of a tracer to take its place in an evaluation."""

    project_name: str

    @property
    def store(self) -> Any:
        """Where results are kept."""
        ...

    def capture(self) -> AbstractContextManager[Any]:
        """A scope whose trace holds what was recorded in it."""
        ...


class DefaultSpans:
    """The spans of the first tracer of the process, looked up when they start."""

    def span(
        self,
        name: str,
        *,
        span_type: str = "function",
        input: Mapping[str, Any] | None = None,  # noqa: A002
    ) -> SpanBlock:
        """A span that is not started yet."""
        return SpanBlock(default_recorder(), name, span_type, None if input is None else dict(input))


def spans_of(tracer: Any) -> Spans:
    """The tracer's spans, or the default tracer's for None.

    Raises:
        ConfigError: not a tracer.
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
