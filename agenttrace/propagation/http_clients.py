"""Requests of httpx, httpx2, requests and aiohttp carry the running call's headers, redirects included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.propagation.hosts import Outgoing
from agenttrace.propagation.patches import Patch, undo_all

Undo = Callable[[], None]


def instrument_httpx(library: str, outgoing: Outgoing) -> Undo:
    """The clients of httpx, or of httpx2, which has the same classes, plain and asynchronous."""
    module = import_module(library)

    def around(send: Callable[..., Any]) -> Callable[..., Any]:
        def send_with_headers(client: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            outgoing.add_to(request.headers, request.url.host)
            return send(client, request, *args, **kwargs)

        return send_with_headers

    # Each hop of a redirect passes here, whatever the transport.
    name = "_send_single_request"
    patches = [Patch(module.Client, name, around), Patch(module.AsyncClient, name, around)]
    return partial(undo_all, patches)


def instrument_requests(outgoing: Outgoing) -> Undo:
    """The sessions of requests."""

    def around(send: Callable[..., Any]) -> Callable[..., Any]:
        def send_with_headers(session: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            outgoing.add_to(request.headers, _host_of(request.url))
            return send(session, request, *args, **kwargs)

        return send_with_headers

    return Patch(import_module("requests").Session, "send", around).undo


def instrument_aiohttp(outgoing: Outgoing) -> Undo:
    """The sessions of aiohttp that are made from now on."""
    aiohttp = import_module("aiohttp")
    is_active = True

    async def on_start(_session: Any, _context: Any, request: Any) -> None:
        if is_active:
            outgoing.add_to(request.headers, request.url.host)

    async def on_redirect(_session: Any, _context: Any, hop: Any) -> None:
        if is_active:
            outgoing.add_to(hop.headers, _target_host(hop))

    tracing = aiohttp.TraceConfig()
    tracing.on_request_start.append(on_start)
    tracing.on_request_redirect.append(on_redirect)
    tracing.freeze()

    def around(make: Callable[..., Any]) -> Callable[..., Any]:
        def make_traced(session: Any, *args: Any, **kwargs: Any) -> None:
            kwargs["trace_configs"] = [*(kwargs.get("trace_configs") or ()), tracing]
            make(session, *args, **kwargs)

        return make_traced

    patch = Patch(aiohttp.ClientSession, "__init__", around)

    def undo() -> None:
        nonlocal is_active
        is_active = False
        patch.undo()

    return undo


def _host_of(url: Any) -> str:
    try:
        return urlsplit(url).hostname or ""
    except (ValueError, TypeError, AttributeError):  # the library says so better
        return ""


def _target_host(hop: Any) -> str:
    """The host to which a response of aiohttp sends on."""
    try:
        headers = hop.response.headers
        location = headers.get("Location") or headers.get("URI") or ""
        return hop.url.join(type(hop.url)(location)).host or ""
    except Exception as error:  # choke-point: what a server sends
        pass_on_interruption(error)
        return ""
