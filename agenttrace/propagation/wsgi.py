"""`WSGIMiddleware`: requests of Flask or Django go on with their callers' traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agenttrace.tracing.default_recorder import recorder_of
from agenttrace.tracing.remote import Continued

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class WSGIMiddleware:
    """Goes on with the trace that a request's headers name, also while a body is streamed::

        app.wsgi_app = WSGIMiddleware(app.wsgi_app)     # Flask
        application = WSGIMiddleware(application)       # any other

    It records nothing by itself: without such a header a trace begins at the first call that is observed.

    Args:
        app: The application.
        tracer: The `Tracer` for what is recorded; None: that of `observe` without one.
        baggage: Whether session, customer and tags are taken from the header ``baggage``. False for a service
            that strangers call.

    Raises:
        ConfigError: `tracer` is no tracer.
    """

    def __init__(self, app: Application, tracer: Any = None, *, baggage: bool = True) -> None:
        self.app = app
        recorder_of(tracer)
        self._tracer = tracer
        self._baggage = baggage

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Serve one request."""
        continued = Continued(recorder_of(self._tracer), environ, baggage=self._baggage)
        if not continued.has_caller:
            return self.app(environ, start_response)
        with continued:
            body = self.app(environ, start_response)
        file_wrapper = environ.get("wsgi.file_wrapper")
        if isinstance(body, list | tuple) or (
            isinstance(file_wrapper, type) and isinstance(body, file_wrapper)
        ):  # what is whole already, or is sent by the server in a way of its own
            return body
        return _Body(body, continued)


class _Body:
    """A body of which each part is made within the caller's trace: servers read it after the application."""

    def __init__(self, body: Iterable[bytes], continued: Continued) -> None:
        self._body = body
        self._continued = continued
        self._parts: Iterator[bytes] | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        with self._continued:
            if self._parts is None:
                self._parts = iter(self._body)
            return next(self._parts)

    def close(self) -> None:
        """End the body, as servers must."""
        close = getattr(self._body, "close", None)
        if close is not None:
            with self._continued:
                close()
