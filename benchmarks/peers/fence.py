"""A process that can reach no other machine.

A peer runs with an environment that holds none of the user's keys, with every proxy set to a closed port, in
a network of its own where the system can make one, and with Python's sockets refusing all but loopback.
"""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Any

CLOSED = "http://127.0.0.1:9"
"""A port of loopback at which nobody listens."""


class Fenced(OSError):
    """A peer wanted to reach another machine."""


@cache
def isolation() -> tuple[str, ...]:
    """What is put before a command to run it in a network of its own; nothing where that is not possible."""
    command = ("unshare", "--map-root-user", "--net")
    if shutil.which(command[0]) is None:
        return ()
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if tried.returncode == 0 else ()


def environment(home: str, path: str) -> Mapping[str, str]:
    """The whole environment of a peer's process."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "grpc_proxy"), CLOSED)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "TMPDIR": home,
        "PYTHONPATH": path,
        "DO_NOT_TRACK": "1",
        **proxies,
        **{name.upper(): value for name, value in proxies.items()},
    }


def close_the_network() -> None:
    """Let sockets of this process reach loopback only. Called before a peer is imported."""
    connect, connect_ex, sendto = socket.socket.connect, socket.socket.connect_ex, socket.socket.sendto
    look_up = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check(address)
        return connect_ex(self, address)

    def guarded_sendto(self: socket.socket, data: Any, *rest: Any) -> int:
        _check(rest[-1])
        return sendto(self, data, *rest)

    def guarded_look_up(host: Any, *rest: Any, **options: Any) -> Any:
        _check((host,))
        return look_up(host, *rest, **options)

    socket.socket.connect = guarded_connect  # type: ignore[method-assign, assignment]
    socket.socket.connect_ex = guarded_connect_ex  # type: ignore[method-assign, assignment]
    socket.socket.sendto = guarded_sendto  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = guarded_look_up


def _check(address: Any) -> None:
    if not isinstance(address, tuple):  # a Unix socket: this machine
        return
    host = address[0].decode() if isinstance(address[0], bytes) else address[0]
    if host in (None, "", "localhost"):
        return
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise Fenced(f"the benchmark's fence lets nobody reach {host}")
