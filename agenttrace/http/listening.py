"""Sockets that servers listen on."""

from __future__ import annotations

import socket

_WAITING = 128


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens on an address of this machine; port 0 is any that is free.

    It is named as TCP: of others asyncio does not know that they need not wait, and each answer in two parts
    would come 40 ms later.

    Raises:
        OSError: the port is taken, or the address is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_WAITING)
    except BaseException:
        listener.close()
        raise
    return listener
