"""What a client may send: how much, how slowly, over how many connections; over real sockets."""

from __future__ import annotations

import gzip
import socket
import time
import tracemalloc

import pytest

from agenttrace.viewer.connections import LONGEST_HEAD, MOST_BYTES_OF_A_REQUEST, MOST_CONNECTIONS
from agenttrace.viewer.form_body import LONGEST_BODY

PATIENCE = 0.2
DRIPS = 200
"""A drip every tenth of a second: far longer than the server's patience, if it did not cut them off."""
MOST_MEMORY = 12_000_000


@pytest.fixture
def impatient(shop_path, start_server):
    return start_server(shop_path, seconds_to_send=PATIENCE)


def connect(server):
    client = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def is_cut_off(client, drip):
    """Whether the server ends the connection while a client sends a byte now and then."""
    for _ in range(DRIPS):
        client.settimeout(0.1)
        try:
            if client.recv(65_536) == b"":
                return True
        except TimeoutError:
            pass
        except OSError:
            return True
        try:
            client.send(drip)
        except OSError:
            return True
    return False


@pytest.mark.parametrize(
    ("start", "drip"),
    [
        (b"", b""),
        (b"", b"G"),
        (b"GET /traces HTTP/1.1\r\nX-Slow: ", b"a"),
        (b"GET /traces HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X: y\r\n"),
    ],
    ids=["silent", "a letter at a time", "an endless header", "endless headers"],
)
def test_a_client_that_drips_the_head_of_a_request_is_cut_off(impatient, start, drip):
    with connect(impatient) as client:
        client.sendall(start)
        assert is_cut_off(client, drip)
    assert impatient.ask("/traces").status == 200


def test_a_client_that_drips_the_body_of_a_form_is_cut_off(impatient):
    head = (
        f"POST /annotations HTTP/1.1\r\nHost: 127.0.0.1:{impatient.port}\r\nOrigin: {impatient.url}\r\n"
        f"Cookie: {impatient.cookie}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\n"
    )
    with connect(impatient) as client:
        client.sendall(head.encode())
        assert is_cut_off(client, b"a")


def test_a_second_request_on_a_connection_has_its_time_too_and_then_is_cut_off(shop_path, start_server):
    server = start_server(shop_path, seconds_to_send=2.0)
    whole = f"GET /static/theme.js HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    with connect(server) as client:
        for _ in range(3):
            client.sendall(whole)
            answer = b""
            while not answer.endswith(b"theme */ }\n"):
                answer += client.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200")
        client.sendall(whole[:20])
        assert is_cut_off(client, b"a")


def test_an_answer_that_takes_longer_than_a_client_may_take_is_given(shop_path, start_server, monkeypatch):
    from agenttrace.viewer import app

    def slow(reads, asked):
        time.sleep(5 * PATIENCE)
        return 200, "slow, but there"

    monkeypatch.setitem(app.PAGES, "/slow", slow)
    server = start_server(shop_path, seconds_to_send=PATIENCE)
    assert server.ask("/slow").text == "slow, but there"


def test_of_a_thousand_connections_a_hundred_are_kept_and_none_holds_up_the_others(shop_path, start_server):
    server = start_server(shop_path)
    kept, refused = [], 0
    try:
        kept.extend(connect(server) for _ in range(MOST_CONNECTIONS))
        for _ in range(900):
            with connect(server) as client:
                answer = client.recv(1_000)
                refused += answer.startswith(b"HTTP/1.1 503") or answer == b""
        assert refused == 900
    finally:
        for client in kept:
            client.close()
    for _ in range(100):  # until the server has noticed
        try:
            if server.ask("/traces").status == 200:
                break
        except OSError:
            pass
        time.sleep(0.05)
    assert server.ask("/traces").status == 200


def pour(server, head, part, most):
    """Send parts until the server has had enough; returns its answer and how many bytes it took."""
    with connect(server) as client:
        client.sendall(head)
        sent = 0
        try:
            while sent < most:
                client.sendall(part)
                sent += len(part)
        except OSError:
            pass
        answer = b""
        try:
            while more := client.recv(65_536):
                answer += more
                if b"</html>" in answer:
                    break
        except OSError:
            pass
        return answer, sent


def head_of(server, *more, path="/annotations", method="POST"):
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Origin: {server.url}",
        f"Cookie: {server.cookie}",
        "Content-Type: application/x-www-form-urlencoded",
        *more,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


KERNEL = 16_000_000
"""What may wait in the buffers of a connection without anybody having read it."""


@pytest.mark.parametrize(
    ("lines", "part", "status"),
    [
        (["Content-Length: 200000000"], b"x" * 65_536, b"413"),
        (["Transfer-Encoding: chunked"], b"8000\r\n" + b"x" * 0x8000 + b"\r\n", b"413"),
        (["Content-Length: 200000000", "Content-Encoding: gzip"], b"x" * 65_536, b"415"),
        (["Content-Length: 200000000", "Expect: 100-continue"], b"x" * 65_536, b"413"),
    ],
    ids=["declared", "chunked", "compressed", "asked before"],
)
def test_a_body_of_200_megabytes_is_refused_and_not_read(shop_path, start_server, lines, part, status):
    server = start_server(shop_path)
    server.ask("/traces")
    tracemalloc.start()
    try:
        answer, sent = pour(server, head_of(server, *lines), part, 200_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert sent <= MOST_BYTES_OF_A_REQUEST + KERNEL
    assert peak < MOST_MEMORY
    assert server.ask("/traces").status == 200


def test_a_body_of_a_request_that_only_reads_is_not_read_either(shop_path, start_server):
    server = start_server(shop_path)
    head = head_of(server, "Content-Length: 200000000", path="/traces", method="GET")
    answer, sent = pour(server, head, b"x" * 65_536, 200_000_000)
    assert answer.startswith(b"HTTP/1.1 200")
    assert sent <= MOST_BYTES_OF_A_REQUEST + KERNEL


def test_a_bomb_is_not_unpacked(shop_path, start_server):
    server = start_server(shop_path)
    bomb = gzip.compress(b"a" * 32_000_000)
    assert len(bomb) < LONGEST_BODY
    tracemalloc.start()
    try:
        answer = server.say(bomb, Content_Encoding="gzip")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer.status == 415
    assert peak < MOST_MEMORY


@pytest.mark.parametrize(
    "line", ["/traces?q=" + "a" * LONGEST_HEAD, "/traces HTTP/1.1\r\nX: " + "a" * 20_000]
)
def test_a_head_of_more_than_16_kilobytes_is_refused(shop_path, start_server, line):
    server = start_server(shop_path)
    with connect(server) as client:
        client.sendall(f"GET {line}".encode())
        assert client.recv(1_000).startswith(b"HTTP/1.1 400")


def test_what_is_no_http_is_refused_and_leaves_the_server_well(shop_path, start_server):
    server = start_server(shop_path)
    for text in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00" * 100 + b"\r\n\r\n",
        b"GET\r\n\r\n",
    ):
        with connect(server) as client:
            client.sendall(text + b"\r\n\r\n")
            assert client.recv(1_000).startswith(b"HTTP/1.1 400")
    assert server.ask("/traces").status == 200
