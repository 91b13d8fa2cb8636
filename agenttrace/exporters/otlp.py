"""Spans and scores to an OpenTelemetry collector, or whatever else takes OTLP over HTTP."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.parcel import Parcel
from agenttrace.core.protocols import Outbox
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.exporters.courier import Courier
from agenttrace.exporters.memory_outbox import MemoryOutbox
from agenttrace.exporters.otlp_encoding import Kind, Protocol, encode
from agenttrace.exporters.otlp_request import log_request, resource_from_environment, trace_request
from agenttrace.exporters.otlp_settings import Compression, settings
from agenttrace.exporters.otlp_splitting import halves
from agenttrace.exporters.sender import MAX_BYTES, Sender

SPANS_A_PARCEL = 512

_CONTENT_TYPES: dict[Protocol, str] = {
    "http/protobuf": "application/x-protobuf",
    "http/json": "application/json",
}


class OTLPExporter:
    """Sends finished spans, and the scores of online evaluations, as OTLP over HTTP.

    `Tracer(exporters=[OTLPExporter("http://localhost:4318")])`. What is to be sent is put into an outbox in
    the tracer's store and sent from a thread of its own, so a collector that is slow, down or in trouble
    costs the agent nothing, and what one process could not send, a later one does. Spans carry
    OpenTelemetry's GenAI names. A span may arrive twice, always with the same ids.

    Args:
        endpoint: The collector's address, such as ``http://localhost:4318``; ``/v1/traces`` is added.
        headers: Sent with each request, such as a key. In no log, no error, no repr.
        protocol: ``"http/protobuf"`` (needs the extra ``otlp``) or ``"http/json"``.
        compression: ``"gzip"``, ``"deflate"`` or ``"none"``.
        timeout: Seconds for a request (10).
        content: Whether arguments, results, messages and reasons are sent; names, times and counts always
            are.

    What is None is taken from ``OTEL_EXPORTER_OTLP_ENDPOINT`` (``_TRACES_ENDPOINT``, ``_LOGS_ENDPOINT``),
    ``_HEADERS``, ``_PROTOCOL``, ``_COMPRESSION``, ``_TIMEOUT`` and
    ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT``.

    Raises:
        ConfigError: settings that cannot work.
        MissingDependency: protobuf without its library.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        protocol: Protocol | None = None,
        compression: Compression | None = None,
        timeout: float | None = None,
        content: bool | None = None,
    ) -> None:
        self._settings = settings(
            endpoint,
            headers=headers,
            protocol=protocol,
            compression=compression,
            timeout=timeout,
            content=content,
        )
        encode("traces", {}, self._settings.protocol)  # a missing library is an error here, not on a thread
        self._resource = resource_from_environment()
        self._courier = Courier(self._settings)
        self._project = ""
        self._store: Any = None
        self._begin()

    def _begin(self) -> None:
        self._memory = MemoryOutbox()
        self._dropped = 0
        self._sender = Sender(self._courier, self._outboxes, name=self.endpoint)

    @property
    def endpoint(self) -> str:
        """The address that spans are posted to."""
        return self._settings.urls["traces"]

    def attach(self, store: Any, project: str) -> None:
        """Keep what is to be sent in this store, from now on. Called by the tracer; the first one counts."""
        if self._store is None:
            self._store, self._project = store, project

    def _outboxes(self) -> list[Outbox]:
        outbox = getattr(self._store, "outbox", None)
        return [self._memory] if outbox is None else [self._memory, outbox(self.endpoint)]

    def export(self, spans: Sequence[Span]) -> None:
        """Put spans into the outbox."""
        parcels: list[Parcel] = []
        for start in range(0, len(spans), SPANS_A_PARCEL):
            part = spans[start : start + SPANS_A_PARCEL]
            request = trace_request(part, resource=self._resource, content=self._settings.content)
            parcels += self._parcels("traces", request, len(part))
        self._put(parcels)

    def write_scores(self, scores: Sequence[tuple[str, str | None, Score]]) -> None:
        """Put scores, each with its trace id and span id, into the outbox."""
        request = log_request(
            scores,
            project=self._project,
            resource=self._resource,
            now_ns=time.time_ns(),
            content=self._settings.content,
        )
        self._put(self._parcels("logs", request, len(scores)))

    def _parcels(self, kind: Kind, request: dict[str, Any], items: int) -> list[Parcel]:
        protocol = self._settings.protocol
        whole = Parcel(kind, _CONTENT_TYPES[protocol], items, encode(kind, request, protocol))
        waiting, ready = [whole], []
        while waiting:
            parcel = waiting.pop()
            if len(parcel.body) > MAX_BYTES and parcel.items > 1:
                first, second = halves(parcel)
                waiting += [second, first]
            else:
                ready.append(parcel)
        return ready

    def _put(self, parcels: Sequence[Parcel]) -> None:
        memory, *in_store = self._outboxes()
        try:
            self._dropped += (in_store[0] if in_store else memory).put(parcels)
        except Exception:  # choke-point: a store that cannot keep them says why itself; memory can
            self._dropped += memory.put(parcels)
        self._sender.notice()

    def flush(self, timeout: float) -> bool:
        """Send what waits, at most `timeout` seconds; whether all was sent.

        False at once while the collector is in trouble or another process sends: nothing waits for them.
        """
        if not any(outbox.counts()[0] for outbox in self._outboxes()):
            return True
        return self._sender.flush(timeout)

    def resend(self) -> int:
        """Send again what the collector refused; returns how many items that are."""
        items = sum(outbox.readmit() for outbox in self._outboxes())
        if items:
            self._sender.notice()
        return items

    def stats(self) -> dict[str, Any]:
        """How many items were sent by this process, wait, were refused, were dropped; what the trouble is."""
        counts = [outbox.counts() for outbox in self._outboxes()]
        trouble = self._sender.trouble
        return {
            "endpoint": self.endpoint,
            "sent": self._sender.sent,
            "waiting": sum(waiting for waiting, _ in counts),
            "refused": sum(refused for _, refused in counts),
            "dropped": self._dropped + self._sender.dropped,
            "trouble": None if trouble is None else trouble.text,
        }

    def close(self) -> None:
        """Stop sending. What was not sent stays in the store's outbox."""
        self._sender.close()

    def after_fork(self) -> None:
        """In a forked child: begin anew, leaving what the parent has yet to send to the parent."""
        self._begin()

    def __repr__(self) -> str:
        return f"<OTLPExporter to {self.endpoint}>"
