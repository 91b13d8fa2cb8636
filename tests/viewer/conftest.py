"""What the tests of pages share: a store that real agents have filled, and a real server before it."""

from __future__ import annotations

import http.client
import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import shop

from agenttrace.store import SQLiteStore
from agenttrace.viewer.reads import Reads

TOKEN = "a-token-for-tests-only"


@pytest.fixture(scope="session")
def shop_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that agents have filled, which tests only read."""
    path = tmp_path_factory.mktemp("shop") / "traces.db"
    shop.fill(path).close()
    return path


@pytest.fixture
def reads(shop_path: Path) -> Iterator[Reads]:
    store = SQLiteStore(shop_path)
    yield Reads.of(store)
    store.close()


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Server:
    """A viewer on a port of its own."""

    port: int
    token: str | None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, method: str = "GET", *, signed: bool = True, **headers: str) -> Answer:
        """One request; underscores in header names stand for dashes."""
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if signed and self.token is not None:
            sent["Cookie"] = f"agenttrace-{self.port}={self.token}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            body = answer.read().decode("utf-8", "replace")
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, body)
        finally:
            connection.close()


@pytest.fixture(scope="session")
def start_server() -> Iterator[Callable[..., Server]]:
    """Serve a store on loopback until the tests end."""
    from agenttrace.viewer.serving import guard_of, listen, server_of

    running: list[tuple[Any, threading.Thread]] = []

    def start(
        path: Path | str, *, token: str | None = TOKEN, root: str = "", busy_timeout: float = 2.0
    ) -> Server:
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        store = SQLiteStore(path, busy_timeout=busy_timeout)
        server = server_of(store, guard_of("127.0.0.1", port, token), root=root)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        running.append((server, thread))
        return Server(port, token)

    yield start
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join(10)


@pytest.fixture(scope="session")
def server(shop_path: Path, start_server: Callable[..., Server]) -> Server:
    return start_server(shop_path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium; tests that use it are marked with `browsing.needs_browser`."""
    from browsing import CHROMIUM, playwright

    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def look(browser: Any, server: Server) -> Iterator[Callable[..., Any]]:
    """Open a page in a window of its own; at the end the browser must have had nothing to say."""
    from browsing import Watched

    opened: list[Watched] = []

    def open_at(path: str = "/traces", at: Any = server, **options: Any) -> Watched:
        opened.append(Watched(browser, at, **options))
        opened[-1].goto(path)
        return opened[-1]

    yield open_at
    for watched in opened:
        watched.context.close()
    for watched in opened:
        watched.check()
