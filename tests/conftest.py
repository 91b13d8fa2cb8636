"""What all tests share: how thorough they are, and an HTTP server on loopback that answers as it is told."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # for the servers that several rooms start

# A shell ignores Control-C for what it starts in the background, and all that we start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How many values a property is tried with. No deadline: other work on the machine may slow any single one.
settings.register_profile("few", max_examples=10, deadline=None)
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None)
settings.register_profile("thorough", max_examples=200, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(autouse=True)
def _no_store_in_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what tests evaluate and record in memory, unless they name a store."""
    from agenttrace.store import opening

    monkeypatch.setenv("AGENTTRACE_STORE", "memory")
    monkeypatch.setattr(opening, "_shared_stores", {})


@pytest.fixture(autouse=True)
def _no_tool_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the tools that a test observed: each tracer of the process would write that it knows them."""
    from agenttrace.tracing import observed_function

    monkeypatch.setattr(observed_function, "_tools", dict(observed_function._tools))


@pytest.fixture(autouse=True)
def _no_writer_outlives_its_test() -> Iterator[None]:
    """End the writers of tracers that a test did not shut down.

    They would go on for as long as the process of all tests: what they log the next test would hear, and a
    function that it replaces they would call. Such a tracer still records; whoever flushes it stores.
    """
    from agenttrace.tracing import process_end

    before = WeakSet(process_end._waited_for)
    yield
    for left in [each for each in list(process_end._waited_for) if each not in before and not each.closed]:
        left._stop(1.0)


@pytest.fixture(autouse=True, scope="session")
def _no_note_among_the_users_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests note of stores in memory out of the user's folder for running programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server, one for each process of tests; skipped, visibly, where none is installed."""
    pytest.importorskip("psycopg")
    yield from _own_server()


@pytest.fixture
def own_postgres_server() -> Iterator[Any]:
    """A PostgreSQL server of the test's own, which it may end and freeze."""
    pytest.importorskip("psycopg")
    yield from _own_server()


def _own_server() -> Iterator[Any]:
    from postgres_server import PostgresServer, programs

    if programs() is None:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    server = PostgresServer()
    yield server
    server.thaw()
    server.remove()


@pytest.fixture
def postgres_address(postgres_server: Any) -> Iterator[str]:
    """The address of an empty schema of its own."""
    import psycopg

    schema = f"test_{os.urandom(6).hex()}"
    yield f"{postgres_server.address}?schema={schema}"
    with psycopg.connect(postgres_server.address, autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = Callable[[Received], bytes | Iterable[bytes]]


@dataclass
class Endpoint:
    answer: Answer
    port: int = 0
    requests: list[Received] = field(default_factory=list)
    sent: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._spawn(self._accept)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def stop(self) -> None:
        self.stopped.set()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        for connection in self._sockets:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in list(self._threads):
            thread.join(60)

    def _spawn(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        number = 0
        while not self.stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            number += 1
            self._sockets.append(connection)
            self._spawn(self._serve, connection, number)

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, connection.makefile("rb") as reader:
            try:
                while (request := self._read(reader, number)) is not None:
                    self.requests.append(request)
                    for piece in _pieces(self.answer(request)):
                        connection.sendall(piece)
                        self.sent += len(piece)
                        if piece == CLOSE:
                            return
            except (OSError, ValueError, IndexError):  # also what is no HTTP
                return

    def _read(self, reader: Any, number: int) -> Received | None:
        first = reader.readline()
        if not first:
            return None
        headers: dict[str, str] = {}
        while (line := reader.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", "0")))
        return Received(first.split()[1].decode(), headers, body, number)


CLOSE = b""


def _pieces(answer: bytes | Iterable[bytes]) -> Iterator[bytes]:
    if isinstance(answer, bytes):
        yield answer
    else:
        yield from answer


def http(payload: Any, status: int = 200, **headers: str) -> bytes:
    """A whole response; underscores in header names stand for dashes."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how to get the same order again; ``-q`` leaves out the header, where pytest-randomly says it."""
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int) and config.getoption("randomly_reorganize"):
        terminalreporter.write_line(f"random order; the same again: pytest --randomly-seed={seed}")


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Endpoint]]:
    """Start a server that gives a function's answers; no proxy of the machine's stands in between."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    started: list[Endpoint] = []

    def start(answer: Answer, port: int = 0) -> Endpoint:
        started.append(Endpoint(answer, port))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def respond() -> Callable[..., bytes]:
    """Write a whole HTTP response."""
    return http
