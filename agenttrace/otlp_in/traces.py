"""`traces_from_otlp`: OpenTelemetry's spans, of any instrumentation, as traces that scorers read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.otlp_in.arrival import Arrival, TelemetryError
from agenttrace.otlp_in.facts import span_of
from agenttrace.otlp_in.logged import waiting_span
from agenttrace.otlp_in.payload import Payload, read_payload
from agenttrace.otlp_in.reading import read_together


def traces_from_otlp(payload: Payload) -> list[Trace]:
    """The traces in a payload of OpenTelemetry, in the order in which they began.

    `payload` is one of:

    - a request as OTLP has it in JSON, a mapping: of traces, of logs, or with both in it; also as Tempo
      exports them, or as the APIs of Jaeger and of Langfuse answer;
    - bytes: such JSON, JSON on each line, or protobuf, packed with gzip or not;
    - the path of a file of such bytes;
    - a list of any of these, read together: spans of one trace may stand in several, in any order. A span
      that stands in several counts once, the last one that had ended.

    Spans keep their attributes as they came. Their type, name, input, output, status and usage are filled in
    from whichever dialect they are written in. Arguments or outputs that were left out are *not recorded*: a
    score that needs them cannot be told, and its reason says what would have them recorded.

    Raises:
        TelemetryError: it cannot be read, or a record in it cannot; a ValueError.
        OSError: there is no such file.
    """
    arrival = read_payload(payload)
    if arrival.problems:
        more = f" (and {arrival.unread - 1} more that cannot be read)" if arrival.unread > 1 else ""
        raise TelemetryError(arrival.problems[0] + more)
    return traces_of(spans_of(arrival))


def spans_of(arrival: Arrival) -> list[Span]:
    """The spans that arrived, each with its own facts; log records as spans that wait for theirs."""
    spans: dict[tuple[int, int], Span] = {}
    for index, arrived in enumerate(arrival.spans):
        key = arrived.trace_key, arrived.span_key
        if arrived.end_ns or key not in spans:  # one without its end takes the place of none
            spans[key] = span_of(arrived, index)
    for log in arrival.logs:
        waiting = waiting_span(log)
        if waiting is not None:
            spans[waiting.trace_key, waiting.span_key] = waiting
    undated = [span for span in spans.values() if span.start_ns == 0]
    first: dict[int, int] = {}
    for span in spans.values() if undated else ():
        if span.start_ns:
            first[span.trace_key] = min(span.start_ns, first.get(span.trace_key, span.start_ns))
    for span in undated:
        _give_start(span, spans, first.get(span.trace_key, span.end_ns))
    return list(spans.values())


def _give_start(span: Span, spans: Mapping[tuple[int, int], Span], first_ns: int) -> None:
    """Let a span whose start was not said, or cannot be read, begin with the one above it, else with the
    first of its trace: then nothing says which came first of it and what overlaps it."""
    above = spans.get((span.trace_key, span.parent_key)) if span.parent_key is not None else None
    span.start_ns = (above.start_ns if above is not None else 0) or first_ns
    if span.end_ns == 0 and above is not None:
        span.end_ns = above.end_ns
    span.end_ns = max(span.start_ns, span.end_ns)
    span.attributes = {**span.attributes, semconv.NO_START: True}


def traces_of(spans: Iterable[Span]) -> list[Trace]:
    """The traces of spans that have just arrived, in the order in which they began."""
    by_trace: dict[int, list[Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_key, []).append(span)
    traces = []
    for key, together in by_trace.items():
        read, tools = read_together(together)
        if read:
            traces.append(Trace(read, trace_key=key, tools=tools))
    return sorted(traces, key=lambda trace: trace.spans[0].start_ns)
