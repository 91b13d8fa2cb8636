"""`ASGIMiddleware`: requests of FastAPI, Starlette or Django go on with their callers' traces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from agenttrace.tracing.default_recorder import recorder_of
from agenttrace.tracing.remote import Continued

Application = Callable[[Any, Any, Any], Awaitable[None]]


class ASGIMiddleware:
    """Goes on with the trace that a request's headers name, also while a body is streamed and in background
    tasks::

        app.add_middleware(ASGIMiddleware)          # FastAPI, Starlette
        application = ASGIMiddleware(application)   # any other

    It records nothing by itself: without such a header a trace begins at the first call that is observed.
    Websockets and the lifespan are passed on as they are.

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

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope.get("type") != "http":
            await self.app(scope, receive, send)
            return
        with Continued(recorder_of(self._tracer), scope.get("headers"), baggage=self._baggage):
            await self.app(scope, receive, send)
