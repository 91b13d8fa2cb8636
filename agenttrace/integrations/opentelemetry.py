"""`AgentTraceSpanProcessor`: spans of this process's OpenTelemetry provider, recorded beside our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from agenttrace.core.errors import ConfigError, MissingDependency
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.core.jsonable import jsonable
from agenttrace.core.limits import Limits
from agenttrace.core.span import Span
from agenttrace.otlp_in.arrival import ArrivedSpan, Event
from agenttrace.otlp_in.facts import span_of
from agenttrace.redaction import Redaction
from agenttrace.redaction.received import redact_received
from agenttrace.tracing.context import current
from agenttrace.tracing.default_recorder import recorder_of
from agenttrace.tracing.freeze import LIGHT_TEXT
from agenttrace.tracing.record import OBSERVED, SCOPE, ReceivedSpan, Recorder, Scope, key_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace import Span as OpenTelemetrySpan
else:
    SpanProcessor = object  # a provider asks for the methods alone, so nothing needs to be imported

MOST_OPEN = 100_000
"""Spans that are remembered between their start and their end; of more, the oldest are forgotten."""


class _Place(NamedTuple):
    """Where a span belongs: its trace, its parent's id there, the id of the call that ran when it began."""

    scope: Scope | None
    parent: int | None = None
    running: int | None = None


class AgentTraceSpanProcessor(SpanProcessor):
    """Hands what a library records by OpenTelemetry to a tracer: ``provider.add_span_processor(…)``.

    A span that starts inside a traced call, or inside `capture` and so inside `assert_test`, belongs to that
    trace; all others make traces under their own ids. Spans are read, redacted and stored on the tracer's
    thread, like its own. Nothing here raises into the traced program, but for a wrong argument. The tracer's
    `sample_rate` counts traces that begin here; what a provider does not sample never comes here at all.

    Args:
        tracer: Whose store they go to. The first tracer of the process by default.

    Raises:
        ConfigError: it is not a tracer.
    """

    def __init__(self, tracer: Any = None) -> None:
        self._tracer = tracer
        self._recorder = recorder_of(tracer)
        self._open: dict[int, _Place] = {}

    def on_start(self, span: OpenTelemetrySpan, parent_context: Context | None = None) -> None:
        """Note to which trace the span belongs: that of the call that runs here."""
        try:
            self._open[span.get_span_context().span_id] = self._place_of(span)
            while len(self._open) > MOST_OPEN:
                self._open.pop(next(iter(self._open)), None)
        except Exception as error:  # choke-point: recording must not break the traced program
            self._count(error)

    def on_end(self, span: ReadableSpan) -> None:
        """Put the span into the tracer's queue, or into the capture that is open."""
        try:
            context = span.get_span_context()
            if context is None:
                return
            place = self._open.pop(context.span_id, None) or self._place_of(span)
            scope, parent = place.scope, place.parent
            if scope is None:
                return

            weight = _weight_of(span)
            if weight and not scope.pipeline.admit(weight):
                light = _span(span, scope, parent, without_texts=True)  # the span itself is let go
                make, weight = partial(redact_received, light), 0
            else:
                make = partial(_redacted, span, scope, parent)
            record = ReceivedSpan(scope, monotonic_ns(), make, weight)
            if len(scope.queue) < scope.limit:
                scope.queue.append(record)
            else:
                scope.pipeline.queue_full.add()
        except Exception as error:  # choke-point: the same
            self._count(error)

    def _on_ending(self, span: OpenTelemetrySpan) -> None:
        """Nothing: only a span that has ended is read."""

    def shutdown(self) -> None:
        """Store what has ended. The tracer stays open: it is not the provider's to close."""
        self.force_flush(5_000)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Wait until what has ended is stored. Returns False where it is not, in that time."""
        try:
            owner = self._tracer if self._tracer is not None else self._recorder.owner
            return owner is None or not owner.flush(timeout_millis / 1_000).pending
        except Exception as error:  # choke-point: the same
            self._count(error)
            return False

    def _place_of(self, span: ReadableSpan) -> _Place:
        record = current.get()
        above = None if span.parent is None else span.parent.span_id
        outer = None if above is None else self._open.get(above)
        if record is not None:
            scope = record[SCOPE]
            if scope is None:
                return _Place(None)  # sampled out, or our own work
            running = scope.remote_parent if record[OBSERVED] is None else key_of(record)
            # Of the span above and the running call, the one that began later is the nearer.
            nested = outer is not None and outer.scope is scope and outer.running == running
            return _Place(scope, above if nested else running, running)
        if outer is not None:
            return _Place(outer.scope, above, outer.running)
        return self._new_trace(span, above)

    def _new_trace(self, span: ReadableSpan, above: int | None) -> _Place:
        pipeline, context = self._recorder.resolve(), span.get_span_context()
        if pipeline is None or context is None:
            return _Place(None)
        if above is None and self._recorder.admits is not None and not self._recorder.admits():
            pipeline.sampled_out.add()
            return _Place(None)
        pipeline.ensure_worker()
        return _Place(Scope(pipeline, self._recorder.project, trace_key=context.trace_id), above)

    def _count(self, error: Exception) -> None:
        if raised_by_signal(error):
            raise error
        pipeline = self._recorder.resolve()
        if pipeline is not None:
            pipeline.recording_failed(error)


_instrumented: WeakKeyDictionary[Any, WeakSet[Recorder]] = WeakKeyDictionary()
"""For each provider, the recorders that hear of its spans already."""


def instrument(tracer: Any = None) -> TracerProvider:
    """Record with `tracer` what the libraries of this process tell OpenTelemetry.

    The process' own provider hands its spans on, beside what it does with them already; where it has none
    yet, one is made that sends nothing anywhere. Frameworks that take a provider are given the one returned.
    A second call with the same tracer changes nothing.

    Args:
        tracer: As for `AgentTraceSpanProcessor`: the first tracer of the process by default.

    Raises:
        ConfigError: `tracer` is not a tracer, or the process has a provider that takes no processors.
        MissingDependency: OpenTelemetry's SDK is not installed.
    """
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider as Provider
    except ImportError as error:
        text = "instrument needs OpenTelemetry's SDK: pip install 'agenttrace-evals[otel]'"
        raise MissingDependency(text) from error
    recorder = recorder_of(tracer)
    provider: Any = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):  # what there is until one is set
        provider = Provider()
        trace.set_tracer_provider(provider)
    if not hasattr(provider, "add_span_processor"):
        kind = type(provider).__name__
        raise ConfigError(f"OpenTelemetry's provider is a {kind}, which takes no processors; set an SDK's")
    recorders = _instrumented.setdefault(provider, WeakSet())
    if recorder not in recorders:
        recorders.add(recorder)
        provider.add_span_processor(AgentTraceSpanProcessor(tracer))
    result: TracerProvider = provider
    return result


def _weight_of(span: ReadableSpan) -> int:
    """The characters of the long texts in a span's attributes and events."""
    weight = 0
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        for value in (attributes or {}).values():
            for text in value if type(value) is tuple else (value,):
                if type(text) is str and len(text) > LIGHT_TEXT:
                    weight += len(text)
    return weight


def _redacted(span: ReadableSpan, scope: Scope, parent: int | None, redaction: Redaction) -> Span:
    return redact_received(_span(span, scope, parent), redaction)


def _span(span: ReadableSpan, scope: Scope, parent: int | None, *, without_texts: bool = False) -> Span:
    """A span of OpenTelemetry's SDK with its facts, in the trace that it belongs to.

    Each attribute has at most as many characters as the values of one span may have together.
    """
    limits = replace(scope.limits, value=LIGHT_TEXT if without_texts else scope.limits.span)
    context = span.get_span_context()
    assert context is not None
    arrived = ArrivedSpan(
        scope.trace_key,
        context.span_id,
        parent,
        span.name,
        span.start_time or 0,
        span.end_time or span.start_time or 0,
        _plain(span.attributes, limits),
        [Event(event.name, event.timestamp, _plain(event.attributes, limits)) for event in span.events],
        span.status.status_code.value,
        span.status.description or "",
        "" if span.instrumentation_scope is None else span.instrumentation_scope.name,
    )
    made = span_of(arrived, 0)
    made.project = scope.project
    return made


def _plain(attributes: Mapping[str, Any] | None, limits: Limits) -> dict[str, Any]:
    return {str(key): jsonable(value, limits=limits) for key, value in (attributes or {}).items()}
