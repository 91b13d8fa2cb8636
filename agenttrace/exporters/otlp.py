"""`OTLPExporter`: sends spans, with their scores, to an OpenTelemetry collector over HTTP."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from agenttrace.core.batch import Destination, Unsent, UnsentCounts
from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import HasPath, KeepsUnsent, optional
from agenttrace.exporters.otlp_attributes import Semconv
from agenttrace.exporters.otlp_encoding import Kind, Protocol, encode
from agenttrace.exporters.otlp_http import Collector
from agenttrace.exporters.otlp_request import log_request, resource_from_environment, trace_request
from agenttrace.exporters.otlp_settings import (
    Compression,
    ScoresTo,
    SignalSettings,
    content_setting,
    one_of,
    scores_setting,
    signal_settings,
)
from agenttrace.exporters.score_backends import BACK_ENDS, BackEndName
from agenttrace.exporters.score_client import AutoScoreClient, ScoreClient
from agenttrace.exporters.sender import BackgroundSender


class OTLPExporter:
    """Sends finished spans, and the scores of online evaluations, as OTLP over HTTP.

    `Tracer(exporters=[OTLPExporter("http://localhost:4318")])`. What is to be sent is read from the
    tracer's store by threads of its own, so a collector that is slow, down or in trouble costs the agent
    nothing, and what one process could not send, a later one does. Spans carry OpenTelemetry's GenAI
    names. A span may arrive twice, always with the same ids. An exporter belongs to one tracer.

    Args:
        endpoint: The collector's address, such as ``http://localhost:4318``; ``/v1/traces`` is added.
        headers: Sent with each request, such as a key. In no log, no error, no repr.
        protocol: ``"http/protobuf"`` (needs the extra ``otlp``) or ``"http/json"``.
        compression: ``"gzip"``, ``"deflate"`` or ``"none"``.
        timeout: Seconds for a request (10).
        content: Whether arguments, results, messages and reasons are sent; names, times, counts, tags and
            attributes always are.
        scores: Where scores go. ``"otlp"``: as log events; ``"phoenix"``, ``"mlflow"``, ``"langfuse"``: over
            that server's own API, at the same address; ``"auto"``, or True: as log events, and where the
            server takes none, over its own API if it is one of the three. False: nowhere.
        semconv: Under whose names the arguments and results of tools and retrievers go: ``"genai"``,
            ``"openinference"``, or ``"both"``.
        name: What tells it from another exporter to the same address; the project's name by default.

    What is None is taken from ``OTEL_EXPORTER_OTLP_ENDPOINT``, ``_HEADERS``, ``_PROTOCOL``, ``_COMPRESSION``,
    ``_TIMEOUT`` (or those of one signal, ``OTEL_EXPORTER_OTLP_TRACES_…``, ``…_LOGS_…``) and
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
        scores: ScoresTo | bool = "auto",
        semconv: Semconv = "both",
        name: str | None = None,
    ) -> None:
        self._content = content_setting(content)
        self._names: Semconv = one_of("semconv", semconv, get_args(Semconv))
        scores_to = scores_setting(scores)
        self._signals: dict[Kind, Signal] = {}
        kinds: tuple[Kind, ...] = ("traces",) if scores_to is None else ("traces", "logs")
        for kind in kinds:
            settings = signal_settings(
                kind,
                endpoint,
                headers=headers,
                protocol=protocol,
                compression=compression,
                timeout=timeout,
            )
            traces = self._signals.get("traces")
            if settings is None and traces is not None and scores_to in BACK_ENDS:
                settings = traces.settings  # its own API is asked for, at the address that is known
            if settings is not None:
                encode(kind, {}, settings.protocol)  # a missing library is an error here, not on a thread
                to = "otlp" if kind == "traces" else scores_to or "otlp"
                self._signals[kind] = Signal(settings, kind, self._content, self._request_of(kind), to)
        self._resource = resource_from_environment()
        self._name = name
        self._project: str | None = None

    @property
    def endpoint(self) -> str | None:
        """The address that spans are posted to; None where the environment names one for logs alone."""
        signal = self._signals.get("traces")
        return None if signal is None else signal.settings.url

    def _request_of(self, kind: Kind) -> RequestOf:
        def spans(unsent: Unsent, start: int, stop: int) -> dict[str, Any]:
            items: Sequence[Any] = unsent.items[start:stop]
            return trace_request(
                items,
                resource=self._resource,
                content=self._content,
                names=self._names,
                tools=unsent.tools,
            )

        def scores(unsent: Unsent, start: int, stop: int) -> dict[str, Any]:
            items: Sequence[Any] = unsent.items[start:stop]
            times = unsent.times[start:stop]
            project = self._project or ""
            return log_request(items, times, project=project, resource=self._resource, content=self._content)

        return spans if kind == "traces" else scores

    def attach(self, store: KeepsUnsent, project: str) -> Sequence[Destination]:
        """Read what is to be sent from a tracer's store. Called by the tracer.

        Raises:
            ConfigError: the exporter belongs to a tracer already, or another exporter sends to the same
                address for the same project with other headers.
        """
        if self._project is not None:
            raise ConfigError(
                f"an OTLPExporter belongs to one tracer, this one to that of {self._project!r}; make another"
            )
        destinations = [signal.attach(store, self._name or project) for signal in self._signals.values()]
        self._project = project
        return destinations

    def notice(self) -> None:
        """Told by the tracer that something was stored."""
        for signal in self._signals.values():
            signal.notice()

    def flush(self, timeout: float) -> bool:
        """Send what waits, for at most `timeout` seconds. Returns True if all of it was sent.

        Returns False at once while the collector is in trouble or another process is sending.
        """
        deadline = time.monotonic() + timeout
        results = [signal.flush(max(deadline - time.monotonic(), 0.0)) for signal in self._signals.values()]
        return all(results)

    def resend(self) -> int:
        """Send again what the collector refused; returns how many items that are.

        Raises:
            StoreError: the store's file cannot be written.
        """
        return sum(signal.retry_refused() for signal in self._signals.values())

    def stats(self) -> dict[str, Any]:
        """For ``traces`` and ``logs``: how many items this process has sent and dropped; how many wait and
        were refused, those of other processes that share the store included; what the trouble is; and which
        ``back_end`` takes the scores over its own API, if one does."""
        return {
            "endpoint": self.endpoint,
            **{kind: signal.stats() for kind, signal in self._signals.items()},
        }

    def end(self) -> None:
        """Stop sending because the process ends, and let another process take over at once."""
        for signal in self._signals.values():
            signal.close(0.3)

    def close(self) -> None:
        """Stop sending. What was not sent stays in the store."""
        for signal in self._signals.values():
            signal.close()

    def after_fork(self) -> None:
        """In a forked child: begin anew, leaving what the parent has yet to send to the parent."""
        for signal in self._signals.values():
            signal.after_fork()

    def __repr__(self) -> str:
        return f"<OTLPExporter to {self.endpoint}>"


RequestOf = Callable[[Unsent, int, int], dict[str, Any]]
"""Makes the request of the items between two places."""


class Signal:
    """Sends one kind of data to its collector: ``traces`` or ``logs``."""

    def __init__(
        self, settings: SignalSettings, kind: Kind, content: bool, request_of: RequestOf, to: ScoresTo
    ) -> None:
        self.settings = settings
        self.kind: Kind = kind
        self.content = content
        self._request_of = request_of
        self._to: ScoresTo = to
        self._client = self._new_client()
        self._sender = BackgroundSender(self._client, name=settings.url)
        self._store: KeepsUnsent | None = None
        self._destination = Destination(settings.url, "spans")
        self._trouble: str | None = None

    def _new_client(self) -> Collector | ScoreClient | AutoScoreClient:
        if self._to != "otlp" and self._to != "auto":
            return ScoreClient(self.settings, BACK_ENDS[self._to], content=self.content)
        collector = Collector(self.settings, self._encode)
        if self._to == "otlp":
            return collector
        return AutoScoreClient(self.settings, collector, content=self.content)

    @property
    def back_end(self) -> BackEndName | None:
        """The back end that scores are sent to over its own API; None where they go as OTLP."""
        if isinstance(self._client, ScoreClient):
            return self._client.back_end.name
        return self._client.back_end if isinstance(self._client, AutoScoreClient) else None

    def _encode(self, unsent: Unsent, start: int, stop: int) -> bytes:
        return encode(self.kind, self._request_of(unsent, start, stop), self.settings.protocol)

    def attach(self, store: KeepsUnsent, name: str) -> Destination:
        """Send what this store keeps, apart from what goes to the same address under another name.

        Raises:
            ConfigError: another exporter of this process sends there with other headers, or other content.
        """
        destination = Destination(
            f"{self.settings.url} {name}", "spans" if self.kind == "traces" else "scores"
        )
        with_file = optional(store, HasPath)
        place = (str(id(store) if with_file is None else with_file.path), destination.name)
        other = _attached.get(place)
        mine = (self.settings.headers, self.content)
        if other is not None and (other.settings.headers, other.content) != mine:
            raise ConfigError(
                f"two exporters send to {self.settings.url} for {name!r} with different headers or content=; "
                "tell them apart: OTLPExporter(…, name=…)"
            )
        _attached[place] = self
        self._store, self._destination = store, destination
        self._sender.attach(store, destination)
        return destination

    def notice(self) -> None:
        """Wake the sender: something was stored."""
        self._sender.notice()

    def flush(self, timeout: float) -> bool:
        """Send what waits, for at most `timeout` seconds. Returns True if all of it was sent."""
        waiting = self._counts().waiting
        return self._trouble is None and (not waiting or self._sender.flush(timeout))

    def retry_refused(self) -> int:
        """Let what was refused wait again. Returns the number of items."""
        items = 0 if self._store is None else self._store.retry_refused(self._destination)
        if items:
            self._sender.notice()
        return items

    def _counts(self) -> UnsentCounts:
        self._trouble = None
        try:
            return UnsentCounts(0, 0) if self._store is None else self._store.count_unsent(self._destination)
        except Exception as error:  # choke-point: a file that cannot be read
            self._trouble = f"the store cannot be read: {error}"
            return UnsentCounts(0, 0)

    def stats(self) -> dict[str, Any]:
        """See `OTLPExporter.stats`."""
        counts = self._counts()
        trouble = self._sender.trouble
        return {
            "sent": self._sender.sent,
            **counts._asdict(),
            "trouble": self._trouble if trouble is None else trouble.text,
            **({} if self.back_end is None else {"back_end": self.back_end}),
        }

    def close(self, timeout: float = 1.0) -> None:
        """Stop sending. What was not sent stays in the store."""
        self._sender.close(timeout)

    def after_fork(self) -> None:
        """In a forked child: begin anew."""
        back_end = self.back_end
        self._client = self._new_client()
        if isinstance(self._client, AutoScoreClient):
            self._client.remember(back_end)
        sender = BackgroundSender(self._client, name=self.settings.url)
        if self._store is not None:
            sender.attach(self._store, self._destination)
        self._sender = sender


_attached: weakref.WeakValueDictionary[tuple[str, str], Signal] = weakref.WeakValueDictionary()
