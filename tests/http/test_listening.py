"""Sockets that servers listen on."""

import asyncio
import socket

import pytest

from agenttrace.http.listening import listening_socket


def test_what_is_sent_over_its_connections_waits_for_nothing():
    """Else the second part of each answer waits until the first is acknowledged: 40 ms, on Linux."""

    async def serve():
        options = []

        def connected(_, writer):
            accepted = writer.get_extra_info("socket")
            options.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = listening_socket("127.0.0.1", 0)
        async with await asyncio.start_server(connected, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await reader.read()
            writer.close()
            await writer.wait_closed()
        return options

    (is_sent_at_once,) = asyncio.run(serve())
    assert is_sent_at_once


def test_a_port_that_is_taken_is_an_error_and_leaves_no_socket():
    with listening_socket("127.0.0.1", 0) as first, pytest.raises(OSError, match="in use"):
        listening_socket("127.0.0.1", first.getsockname()[1])
