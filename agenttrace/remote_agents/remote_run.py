"""`RemoteRun`: one run whose agent records elsewhere; what arrives of it joins the trace captured here."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from agenttrace.core.identity import new_span_key, span_id_text, trace_id_text
from agenttrace.core.span import Span
from agenttrace.otlp_in.tables import EVENT
from agenttrace.remote_agents.environment import otlp_environment
from agenttrace.scoring.isolation import Steps, Wait
from agenttrace.tracing.capture import MAX_CAPTURED, receive
from agenttrace.tracing.record import Scope
from agenttrace.tracing.remote import HEADER, inject, read_traceparent

AFTER_FAILURE = 0.5
"""Seconds that are waited for the spans of an agent that failed, or was late."""


class Endpoint(Protocol):
    """What takes the spans of several runs."""

    @property
    def endpoint(self) -> str:
        """Its address."""
        ...

    @property
    def wait(self) -> float:
        """Seconds to wait for what is known to be missing."""
        ...

    @property
    def pause(self) -> float:
        """Seconds in which nothing must have come."""
        ...

    def what_came_instead(self) -> str:
        """What came that belongs to no run, in words."""
        ...


class RemoteRun:
    """What an agent in another process needs for its spans to become part of the trace of this run.

    A function that an evaluation runs with ``otlp=True`` gets it as its argument `otlp`. The trace id tells
    to which run a span belongs; of an agent that begins traces of its own, the token in `environment` does.
    """

    def __init__(self, endpoint: Endpoint, token: str, scope: Scope) -> None:
        self.token = token
        self._endpoint = endpoint
        self._scope = scope
        self._outside = scope.outside_parent = scope.outside_parent or new_span_key()
        self._above: int | None = None
        self._spans: dict[int, Span] = {}
        self._missing: set[int] = set()
        self._count = self._dropped = 0
        self._ended = False
        self._lock = threading.Lock()
        self._arrival: Future[None] = Future()
        self._last = time.monotonic()
        self._waited = 0.0

    @property
    def endpoint(self) -> str:
        """The address that takes OTLP over HTTP, without ``/v1/traces``; requests to it carry `token`."""
        return self._endpoint.endpoint

    @property
    def trace_id(self) -> str:
        """The id of the captured trace: 32 hex digits."""
        return trace_id_text(self._scope.trace_key)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request to an agent that is a server: `traceparent`, for the call that runs here.

        Read anew for each request, so that the agent's spans stand under the right call.
        """
        headers = dict(inject({}))
        caller = read_traceparent(headers)
        if caller is None or caller[0] != self._scope.trace_key:
            headers = {HEADER: f"00-{self.trace_id}-{span_id_text(self._outside)}-01"}
            self._above = None
        else:
            self._above = None if caller[1] == self._outside else caller[1]
        return headers

    @property
    def environment(self) -> dict[str, str]:
        """The variables for a child process: ``env={**os.environ, **otlp.environment}``.

        They say where and how to send spans and logs, and with which `TRACEPARENT`.
        """
        return otlp_environment(self.endpoint, self.token, self.headers)

    def arrived(self, spans: Sequence[Span]) -> None:
        """Take spans of this run, each once, the last that came. Any thread may call this."""
        with self._lock:
            for span in map(self._placed, spans):
                if self._ended:
                    receive(self._scope, span)
                elif span.span_key in self._spans or len(self._spans) < MAX_CAPTURED:
                    self._keep(span)
                else:
                    self._dropped += 1
            self._last = time.monotonic()
            arrival, self._arrival = self._arrival, Future()
        arrival.set_result(None)

    def _keep(self, span: Span) -> None:
        self._spans[span.span_key] = span
        self._missing.discard(span.span_key)
        parent = span.parent_key
        if parent is not None and parent not in self._spans and not self._scope.is_own(parent):
            self._missing.add(parent)

    def _placed(self, span: Span) -> Span:
        """The span where it belongs in the captured trace."""
        if span.trace_key != self._scope.trace_key:
            span.trace_key = self._scope.trace_key
            if span.parent_key is None and span.span_type != EVENT:
                span.parent_key = self._above
        elif span.parent_key == self._outside:
            span.parent_key = None
        span.project = self._scope.project
        return span

    def rest(self, seconds: float | None, *, failed: bool = False) -> Steps[None]:
        """The steps that wait until the agent's trace is at rest, `seconds` at most; then it is captured.

        It is at rest once nothing came for the endpoint's `pause` where every span's parent is there, else
        for its `wait`. Where the agent failed, little is waited for.
        """
        began = self._last = max(self._last, time.monotonic())
        most = AFTER_FAILURE if failed else seconds
        while True:
            with self._lock:
                quiet = self._endpoint.pause if self._is_whole() else self._endpoint.wait
                due = self._last + quiet
                due = due if most is None else min(due, began + most)
                arrival = self._arrival
            left = due - time.monotonic()
            if left <= 0:
                break
            yield Wait(arrival, left)
        self._waited = time.monotonic() - began
        self.end()

    def wait(self, seconds: float | None = None) -> None:
        """Do as `rest` does, on this thread."""
        for step in self.rest(seconds):
            if isinstance(step, Wait):
                _wait(step)

    def end(self) -> None:
        """Make what came part of the captured trace. What comes later goes to the store alone."""
        with self._lock:
            self._ended = True
            self._count = len(self._spans)
            for span in self._spans.values():
                receive(self._scope, span)
            self._spans.clear()

    @property
    def trouble(self) -> str | None:
        """Why the run cannot be judged, once it has ended: nothing came, or too much; None where it can."""
        if self._dropped:
            return f"more than {MAX_CAPTURED:,} spans arrived of one run; the rest is missing from its trace"
        if self._count:
            return None
        return (
            f"no spans arrived within {self._waited:.1f} s after the agent ended"
            f"{self._endpoint.what_came_instead()}; is OTEL_EXPORTER_OTLP_ENDPOINT set for the agent "
            "(env={**os.environ, **otlp.environment}), does it flush its spans before it ends, and does a "
            "server get otlp.headers with each request?"
        )

    def _is_whole(self) -> bool:
        """Whether something came, and every parent that is named is there."""
        return bool(self._spans) and not self._missing


def _wait(step: Wait) -> None:
    try:
        step.future.result(step.timeout)
    except TimeoutError:
        pass
