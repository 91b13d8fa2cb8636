"""What the tests of pages share: a store that real agents have filled, and a real server before it."""

from __future__ import annotations

import http.client
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import shop

from agenttrace.store import SQLiteStore
from agenttrace.viewer.reads import Forms, Reads

TOKEN = "a-token-for-tests-only"


@pytest.fixture(scope="session")
def shop_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that agents have filled, which tests only read."""
    path = tmp_path_factory.mktemp("shop") / "traces.db"
    shop.fill(path).close()
    return path


@pytest.fixture
def own_shop(shop_path: Path, tmp_path: Path) -> Path:
    """The same, for a test that writes."""
    return Path(shutil.copy(shop_path, tmp_path / "traces.db"))


@pytest.fixture
def reads(shop_path: Path) -> Iterator[Reads]:
    store = SQLiteStore(shop_path)
    yield Reads.of(store, forms=Forms("a-form-token", "ann"))
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
    form_token: str
    cookie: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def say(self, fields: dict[str, str] | bytes, **headers: str) -> Answer:
        """Send a form as a page of ours does; `headers` change, or add to, what the browser sends."""
        if isinstance(fields, dict):
            fields = urlencode({"form_token": self.form_token, **fields}).encode()
        sent = {
            "Origin": self.url,
            "Sec_Fetch_Site": "same-origin",
            "Content_Type": "application/x-www-form-urlencoded",
            "Content_Length": str(len(fields)),
        }
        sent = {name: value for name, value in (sent | headers).items() if value}
        return self.ask("/annotations", "POST", body=fields, **sent)

    def ask(
        self, path: str, method: str = "GET", *, signed: bool = True, body: bytes = b"", **headers: str
    ) -> Answer:
        """One request; underscores in header names stand for dashes."""
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if signed and self.token is not None:
            sent["Cookie"] = self.cookie
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
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
        path: Path | str,
        *,
        token: str | None = TOKEN,
        root: str = "",
        read_only: bool = False,
        busy_timeout: float = 2.0,
        store: SQLiteStore | None = None,
        **more: Any,
    ) -> Server:
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        guard = guard_of("127.0.0.1", port, token, read_only=read_only)
        server = server_of(store or SQLiteStore(path, busy_timeout=busy_timeout), guard, root=root, **more)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        running.append((server, thread))
        return Server(port, token, guard.form_token, f"{guard.cookie}={guard.reader_cookie()}")

    yield start
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join(60)


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
