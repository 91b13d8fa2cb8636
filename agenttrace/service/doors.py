"""`Doors`: one application with two doors, the pages and OpenTelemetry's; and whether all is well."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse

from agenttrace.receiver import OTLPReceiver
from agenttrace.receiver.application import PATHS
from agenttrace.service.state import StoreState

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEALTH = "/healthz"


class Doors:
    """Leads requests to the pages, or to what takes spans; ``/healthz`` says to everyone if all is well.

    Args:
        pages: The application of the pages, which has a guard of its own.
        receiver: What takes spans; None for a store that is only read.
        state: Asks the store how it is.
        hosts: The values of the header Host that are ours, for the paths that the pages' guard does not see.
    """

    def __init__(
        self,
        pages: Callable[[Scope, Receive, Send], Awaitable[None]],
        receiver: OTLPReceiver | None,
        state: StoreState,
        hosts: Collection[str],
    ) -> None:
        self._pages = pages
        self._receiver = receiver
        self._state = state
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope.get("path", "") if scope["type"] == "http" else ""
        if path.rstrip("/") not in (*PATHS, HEALTH):
            await self._pages(scope, receive, send)
            return
        request = Request(scope)
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            # A page of any site could have a browser ask here under a name that leads to this machine.
            answer = JSONResponse({"error": "This is not the host that was asked for."}, 421)
            await answer(scope, receive, send)
        elif path.rstrip("/") == HEALTH:
            await (await self._health(request))(scope, receive, send)
        elif self._receiver is None:
            text = "The traces here are only read; send spans to the collector that fills their table."
            await JSONResponse({"error": text}, 405, {"allow": ""})(scope, receive, send)
        else:
            await self._receiver(scope, receive, send)

    async def _health(self, request: Request) -> JSONResponse:
        if request.method not in ("GET", "HEAD"):
            return JSONResponse({"error": "This is only read here."}, 405, {"allow": "GET, HEAD"})
        trouble = await to_thread.run_sync(self._state.trouble)
        if trouble is None:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "trouble"}, 503)  # what trouble it is stands in the log
