"""`Doors`: one application with three doors, the pages, OpenTelemetry's, the store's; and if all is well."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse

from agenttrace.receiver import OTLPReceiver
from agenttrace.receiver.application import PATHS
from agenttrace.service.state import StoreState
from agenttrace.service.store_api import StoreAPI
from agenttrace.store.remote.calls import PATH

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEALTH = "/healthz"


class Doors:
    """Leads requests to the pages, to what takes spans, or to the store; ``/healthz`` says if all is well.

    Args:
        pages: The application of the pages, which has a guard of its own.
        receiver: What takes spans; None for a store that is only read.
        store_api: What calls the store's methods.
        state: Asks the store how it is.
        hosts: The values of the header Host that are ours, for the paths that the pages' guard does not see.
    """

    def __init__(
        self,
        pages: Callable[[Scope, Receive, Send], Awaitable[None]],
        receiver: OTLPReceiver | None,
        store_api: StoreAPI,
        state: StoreState,
        hosts: Collection[str],
    ) -> None:
        self._pages = pages
        self._receiver = receiver
        self._store_api = store_api
        self._state = state
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope.get("path", "") if scope["type"] == "http" else ""
        if path.rstrip("/") not in (*PATHS, PATH, HEALTH):
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
        elif path.rstrip("/") == PATH:
            await self._store_api(scope, receive, send)
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
