"""Servers go on with a caller's trace: streamed bodies, background tasks, errors and files included."""

import asyncio
import threading
from wsgiref.util import FileWrapper

import httpx
import pytest
from fastapi import BackgroundTasks, FastAPI, WebSocket
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient

from agenttrace import ConfigError, Tracer
from agenttrace.propagation import ASGIMiddleware, WSGIMiddleware

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CALLER = {"traceparent": f"00-{TRACE}-{SPAN}-01", "baggage": "session.id=s-1,plan=pro,enduser.id=c%2D7"}


@pytest.fixture
def tracer():
    tracer = Tracer("shop", store="memory")
    yield tracer
    tracer.shutdown()


@pytest.fixture
def app(tracer):
    app = FastAPI()
    app.add_middleware(ASGIMiddleware, tracer=tracer)

    @app.get("/plain")
    async def plain():
        with tracer.span("plain"):
            return "x"

    @app.get("/threaded")
    def threaded():
        with tracer.span("threaded"):
            return threading.current_thread().name

    @app.get("/streamed")
    async def streamed():
        async def parts():
            with tracer.span("streamed"):
                yield b"a"
                await asyncio.sleep(0)
                yield b"b"

        return StreamingResponse(parts())

    @app.get("/background")
    async def background(tasks: BackgroundTasks):
        def later():
            with tracer.span("background"):
                pass

        tasks.add_task(later)

    @app.get("/broken")
    async def broken():
        with tracer.span("broken"):
            raise RuntimeError("no")

    @app.websocket("/socket")
    async def socket(websocket: WebSocket):
        await websocket.accept()
        await websocket.send_text("hello")
        await websocket.close()

    return app


def spans_of(tracer, trace_id=TRACE):
    assert tracer.flush()
    trace = tracer.store.trace(trace_id)
    return [] if trace is None else trace.spans


@pytest.mark.parametrize("path", ["plain", "threaded", "streamed", "background", "broken"])
def test_what_an_asgi_application_does_for_a_request_belongs_to_the_callers_trace(tracer, app, path):
    TestClient(app, raise_server_exceptions=False).get(f"/{path}", headers=CALLER)
    (span,) = spans_of(tracer)
    assert (span.name, span.parent_id) == (path, SPAN)
    assert (span.attributes["session.id"], span.attributes["enduser.id"]) == ("s-1", "c-7")


def test_a_request_of_a_stranger_begins_a_trace_of_its_own_only_where_something_is_observed(tracer, app):
    client = TestClient(app)
    for headers in ({}, {"traceparent": "nonsense"}, {"baggage": "session.id=s-1"}):
        assert client.get("/plain", headers=headers).status_code == 200
        assert client.get("/missing", headers=headers).status_code == 404
    assert tracer.flush()
    traces = list(tracer.store.iter_traces())
    assert len(traces) == 3
    assert {trace.session_id for trace in traces} == {None}
    assert tracer.stats()["unreadable_headers"] == 2


def test_a_service_may_refuse_what_strangers_say_of_the_trace(tracer):
    app = FastAPI()
    app.add_middleware(ASGIMiddleware, tracer=tracer, baggage=False)

    @app.get("/")
    async def plain():
        with tracer.span("plain"):
            pass

    TestClient(app).get("/", headers=CALLER)
    (span,) = spans_of(tracer)
    assert "session.id" not in span.attributes
    assert span.parent_id == SPAN


def test_a_websocket_and_the_lifespan_are_passed_on(app):
    with TestClient(app) as client, client.websocket_connect("/socket", headers=CALLER) as socket:
        assert socket.receive_text() == "hello"


def test_requests_at_the_same_time_stay_apart(tracer, app):
    async def ask(client, number):
        trace_id = f"{number + 1:032x}"
        await client.get("/streamed", headers={"traceparent": f"00-{trace_id}-{SPAN}-01"})
        return trace_id

    async def ask_all():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
            return await asyncio.gather(*(ask(client, number) for number in range(50)))

    for trace_id in asyncio.run(ask_all()):
        assert [span.name for span in spans_of(tracer, trace_id)] == ["streamed"]


class Served:
    """A WSGI application behind the middleware, called as a server calls it."""

    def __init__(self, tracer, body):
        self.tracer, self.body = tracer, body
        self.application = WSGIMiddleware(self._answer, tracer=tracer)

    def _answer(self, environ, start_response):
        with self.tracer.span("answer"):
            start_response("200 OK", [])
        return self.body(environ)

    def ask(self, **environ):
        body = self.application({"REQUEST_METHOD": "GET", **environ}, lambda status, headers: None)
        try:
            return body, b"".join(body)
        finally:
            if hasattr(body, "close"):
                body.close()


OF_WSGI = {f"HTTP_{name.upper()}": value for name, value in CALLER.items()}


def test_what_a_wsgi_application_streams_belongs_to_the_callers_trace(tracer):
    def body(_):
        try:
            for part in (b"a", b"b"):
                with tracer.span(f"part {part.decode()}"):
                    yield part
        finally:
            with tracer.span("closed"):
                pass

    assert Served(tracer, body).ask(**OF_WSGI)[1] == b"ab"
    spans = spans_of(tracer)
    assert [span.name for span in spans] == ["answer", "part a", "part b", "closed"]
    assert {span.parent_id for span in spans} == {SPAN}
    assert {span.attributes["session.id"] for span in spans} == {"s-1"}


def test_a_body_that_breaks_off_is_closed_and_leaves_no_trace_running(tracer):
    def body(_):
        with tracer.span("part"):
            yield b"a"
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        Served(tracer, body).ask(**OF_WSGI)
    assert tracer.inject({}) == {}
    assert [span.name for span in spans_of(tracer)] == ["answer", "part"]


@pytest.mark.parametrize("environ", [{}, {"HTTP_TRACEPARENT": "nonsense"}])
def test_a_stranger_gets_the_applications_own_body(tracer, environ):
    parts = [b"a"]
    assert Served(tracer, lambda _: parts).ask(**environ)[0] is parts


def test_whole_bodies_and_files_are_left_to_the_server(tracer, tmp_path):
    path = tmp_path / "answer"
    path.write_bytes(b"ab")
    assert type(Served(tracer, lambda _: [b"ab"]).ask(**OF_WSGI)[0]) is list
    with path.open("rb") as file:
        files = Served(tracer, lambda environ: environ["wsgi.file_wrapper"](file))
        assert type(files.ask(**OF_WSGI, **{"wsgi.file_wrapper": FileWrapper})[0]) is FileWrapper


@pytest.mark.parametrize("middleware", [ASGIMiddleware, WSGIMiddleware])
def test_what_is_no_tracer_is_refused_where_the_middleware_is_made(middleware):
    with pytest.raises(ConfigError, match="tracer is a Tracer, got str"):
        middleware(lambda *_: None, "shop")
