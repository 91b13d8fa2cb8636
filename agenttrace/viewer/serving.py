"""Serves the pages of a store until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence

import uvicorn

from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import Store
from agenttrace.http.listening import listening_socket
from agenttrace.viewer.app import application
from agenttrace.viewer.connections import (
    LONGEST_HEAD,
    MOST_BYTES_OF_A_REQUEST,
    MOST_CONNECTIONS,
    SECONDS_TO_SEND,
    protocol_of,
)
from agenttrace.viewer.guard import ANNOTATIONS, LOOPBACK, Guard

PORT = 7717
_NEXT = 20
"""Ports after the usual one that are tried where that is taken."""
_KEEP_ALIVE = 5


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on a port; on the usual one or the next free one after it without a number.

    Raises:
        ConfigError: the port is taken, or the address is none of this machine's.
    """
    for number in [port] if port is not None else [*range(PORT, PORT + _NEXT), 0]:
        try:
            return listening_socket(host, number)
        except OSError as error:
            if port is not None:
                raise ConfigError(
                    f"cannot listen on {host} port {port}: {error.strerror}; give another --port"
                ) from None
    raise ConfigError(f"cannot listen on {host}: every port that was tried is taken; give --port")


def hosts_of(host: str, port: int, more: Sequence[str] = ()) -> frozenset[str]:
    """The values of the header Host that name a server of ours: on loopback all its names, with the port."""
    own = {host if ":" not in host else f"[{host}]"}
    names = {*LOOPBACK} if is_loopback(host) else own
    listed = {name.lower() for name in more}
    return frozenset(
        {f"{name}:{port}" for name in names | own} | listed | {f"{name}:{port}" for name in listed}
    )


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    return host in ("localhost", "::1") or host.startswith("127.")


def guard_of(
    host: str, port: int, token: str | None, more: Sequence[str] = (), *, read_only: bool = False
) -> Guard:
    """The guard of a server; where it is `read_only`, nothing may be said of what is shown."""
    writing = () if read_only else (ANNOTATIONS,)
    return Guard(hosts_of(host, port, more), token, cookie=cookie_name(port), writing=writing)


def cookie_name(port: int) -> str:
    """The name of the cookie of a server: each port has its own, since browsers keep one jar for all."""
    return f"agenttrace-{port}"


def server_of(
    store: Store,
    guard: Guard,
    *,
    root: str = "",
    reader: str = "",
    seconds_to_send: float = SECONDS_TO_SEND,
) -> uvicorn.Server:
    """A server for a store, which ``run(sockets=[listener])`` starts.

    A request's head, and then its body, must arrive within `seconds_to_send` each.
    """
    return running_server(
        application(store, guard, root=root, reader=reader), seconds_to_send=seconds_to_send
    )


def running_server(
    app: Callable[..., Awaitable[None]],
    *,
    seconds_to_send: float = SECONDS_TO_SEND,
    most_bytes: int = MOST_BYTES_OF_A_REQUEST,
    most_connections: int = MOST_CONNECTIONS,
) -> uvicorn.Server:
    """A server for an application, bounded in connections and in what clients send."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        http=protocol_of(seconds_to_send, most_bytes, most_connections),
        server_header=False,
        proxy_headers=False,
        limit_concurrency=most_connections + 1,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def serve(store: Store, listener: socket.socket, guard: Guard, *, root: str = "", reader: str = "") -> None:
    """Answer requests until the process is told to stop."""
    server_of(store, guard, root=root, reader=reader).run(sockets=[listener])
