"""Requests carry the running call's trace along, whatever library sends them, and servers go on with it."""

import asyncio
import importlib
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agenttrace import ConfigError, Tracer
from agenttrace.propagation import instrument

CLIENTS = ["httpx", "httpx async", "httpx2", "httpx2 async", "requests", "aiohttp"]


@pytest.fixture
def tracer():
    tracer = Tracer("shop", store="memory")
    yield tracer
    tracer.shutdown()


@pytest.fixture
def server():
    """A server that keeps the headers of its requests, and redirects from /to/HOST to that host."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            host = self.path.removeprefix("/to/")
            self.send_response(302 if host != self.path else 200)
            if host != self.path:
                self.send_header("Location", f"http://{host}:{self.server.server_port}/end")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = seen
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def get(client, url, headers=None):
    library, _, is_async = client.partition(" ")
    module = importlib.import_module(library)
    if library == "aiohttp":

        async def fetch():
            async with module.ClientSession() as session, session.get(url, headers=headers) as response:
                await response.read()

        asyncio.run(fetch())
    elif is_async:

        async def fetch():
            async with module.AsyncClient(follow_redirects=True) as session:
                await session.get(url, headers=headers)

        asyncio.run(fetch())
    elif library == "requests":
        module.get(url, headers=headers, timeout=30)
    else:
        with module.Client(follow_redirects=True) as session:
            session.get(url, headers=headers)


def url_of(server, path="/"):
    return f"http://127.0.0.1:{server.server_port}{path}"


def sent(server):
    return [headers for _, headers in server.seen]


@pytest.mark.parametrize("client", CLIENTS)
class TestEachClient:
    def test_says_which_call_sent_the_request_and_what_is_known_of_the_trace(self, client, server, tracer):
        with instrument(client.split()[0]), tracer.span("agent") as span:
            tracer.set_session_id("s 1")
            tracer.set_tags(["a", "b,c"])
            get(client, url_of(server))
        (headers,) = sent(server)
        assert headers["traceparent"] == f"00-{span.trace_id}-{span.span_id}-01"
        with tracer.capture() as captured, tracer.span("elsewhere"):
            pass  # a trace of its own
        assert captured.trace.session_id is None
        with tracer.extract(headers), tracer.span("far"):
            pass
        assert tracer.flush()
        far = tracer.store.trace(span.trace_id)
        assert {call.name for call in far.spans} == {"agent", "far"}
        assert far.session_id == "s 1"
        assert far.tags == ("a", "b,c")

    def test_says_nothing_outside_of_a_call_nor_once_it_is_undone(self, client, server, tracer):
        with instrument(client.split()[0]):
            get(client, url_of(server))
        with tracer.span("agent"):
            get(client, url_of(server))
        assert not any("traceparent" in headers for headers in sent(server))

    def test_keeps_a_header_of_the_users_own(self, client, server, tracer):
        own = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
        with instrument(client.split()[0]), tracer.span("agent"):
            tracer.set_session_id("s")
            get(client, url_of(server), {"traceparent": own, "baggage": "plan=pro"})
        assert sent(server)[0]["traceparent"] == own
        assert sent(server)[0]["baggage"] == "plan=pro"

    def test_keeps_the_baggage_of_others(self, client, server, tracer):
        with instrument(client.split()[0]), tracer.span("agent"):
            tracer.set_customer_id("c-7")
            get(client, url_of(server), {"baggage": "plan=pro;x=1, enduser.id=forged"})
        assert sent(server)[0]["baggage"] == "plan=pro;x=1,enduser.id=c-7"

    def test_says_nothing_to_hosts_that_are_not_named(self, client, server, tracer):
        with instrument(client.split()[0], hosts=["*.shop.example"]), tracer.span("agent"):
            tracer.set_session_id("s")
            get(client, url_of(server))
        assert not {"traceparent", "baggage"} & sent(server)[0].keys()

    def test_takes_its_headers_back_where_a_redirect_leads_to_another_host(self, client, server, tracer):
        with instrument(client.split()[0], hosts=["127.0.0.1"]), tracer.span("agent"):
            tracer.set_session_id("s")
            get(client, url_of(server, "/to/localhost"), {"baggage": "plan=pro"})
        first, second = sent(server)
        assert "traceparent" in first
        assert "session.id=s" in first["baggage"]
        assert "traceparent" not in second
        assert second["baggage"] == "plan=pro"


def test_a_customer_is_not_told_to_public_hosts_unless_they_are_named(tracer):
    import httpx

    def answer(request):
        seen.append(request.headers)
        return httpx.Response(200)

    seen = []
    for hosts in (None, ["api.shop.example"]):
        with instrument("httpx", hosts=hosts), tracer.span("agent"):
            tracer.set_customer_id("c-7")
            httpx.Client(transport=httpx.MockTransport(answer)).get("http://api.shop.example/")
    assert [("traceparent" in headers, "baggage" in headers) for headers in seen] == [
        (True, False),
        (True, True),
    ]


def test_a_secret_is_not_sent(tracer):
    token = "gh" + "p_" + "a1B2c3D4" * 5
    with tracer.span("agent"):
        tracer.set_tags([f"token {token}"])
        assert token not in tracer.inject({})["baggage"]
        assert "baggage" not in tracer.inject({}, baggage=False)


def test_a_second_call_replaces_the_first_and_the_first_undoes_nothing_then(server, tracer):
    first = instrument("requests", hosts=["nowhere.example"])
    with instrument("requests") as second, tracer.span("agent"):
        first.undo()
        get("requests", url_of(server))
    assert "traceparent" in sent(server)[0]
    assert second.libraries == ("requests",)


def test_calls_of_many_threads_keep_their_own_headers(server, tracer):
    def fetch(number):
        with tracer.span(f"agent {number}") as span:
            get("httpx", url_of(server, f"/{span.span_id}"))

    with instrument("httpx"), ThreadPoolExecutor(8) as pool:
        list(pool.map(fetch, range(24)))
    assert len(server.seen) == 24
    assert all(headers["traceparent"].split("-")[2] == path[1:] for path, headers in server.seen)


def test_without_names_all_that_is_installed_is_instrumented():
    with instrument() as everything:
        assert {"httpx", "requests", "celery", "mcp"} <= set(everything.libraries)


@pytest.mark.parametrize(
    ("libraries", "settings", "message"),
    [
        (["urllib"], {}, "instrument knows httpx, .*, got 'urllib'"),
        (["httpx"], {"hosts": "shop.example"}, "hosts is a list of names"),
        (["httpx"], {"hosts": ["https://shop.example/"]}, "a host is a name .* without a path"),
        (["httpx"], {"tracer": 5}, "tracer is a Tracer, got int"),
    ],
)
def test_settings_that_cannot_work_are_refused(libraries, settings, message):
    with pytest.raises(ConfigError, match=message):
        instrument(*libraries, **settings)
