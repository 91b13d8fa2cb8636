"""Requests of MCP say in their ``_meta`` to which trace they belong, and servers go on with it.

The names there are those of the headers: https://modelcontextprotocol.io, SEP-414.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.propagation.hosts import Outgoing
from agenttrace.propagation.patches import Patch, undo_all
from agenttrace.tracing.default_recorder import recorder_of
from agenttrace.tracing.remote import Continued


def instrument_mcp(outgoing: Outgoing, tracer: Any, baggage: bool) -> Callable[[], None]:
    """Client sessions of the SDK `mcp` (2.x), and its servers, those made before included."""
    import_module("mcp")
    session = import_module("mcp.client.session").ClientSession
    runner = import_module("mcp.server.runner").ServerRunner

    def around_send(send: Callable[..., Any]) -> Callable[..., Any]:
        async def send_with_meta(client: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            return await send(client, _with_meta(request, outgoing), *args, **kwargs)

        return send_with_meta

    async def go_on(context: Any, call_next: Callable[[Any], Any]) -> Any:
        meta = context.meta if isinstance(context.meta, Mapping) else None
        with Continued(recorder_of(tracer), meta, baggage=baggage):
            return await call_next(context)

    def around_compose(compose: Callable[..., Any]) -> Callable[..., Any]:
        def compose_with_trace(server: Any, inner: Callable[[Any], Any]) -> Any:
            async def within_trace(context: Any) -> Any:
                return await go_on(context, inner)

            return compose(server, within_trace)

        return compose_with_trace

    patches = [
        Patch(session, "send_request", around_send),
        Patch(runner, "_compose_server_middleware", around_compose),
    ]
    return partial(undo_all, patches)


def _with_meta(request: Any, outgoing: Outgoing) -> Any:
    """The request with the running call's headers in its ``_meta``; the user's own object stays as it is."""
    try:
        parameters = request.params
        if parameters is None:
            return request
        meta = dict(parameters.meta or {})
        size = len(meta)
        outgoing.add_to(meta, None)
        if len(meta) == size:
            return request
        return request.model_copy(update={"params": parameters.model_copy(update={"meta": meta})})
    except Exception as error:  # choke-point: a request goes out with or without a trace
        pass_on_interruption(error)
        return request
