"""Spans and scores to a collector that misbehaves (scenarios 88 to 94), over real sockets."""

from __future__ import annotations

import gzip
import logging
import socket
import time
import zlib
from email.utils import formatdate

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from agenttrace import ContainsScorer, OTLPExporter, Tracer
from agenttrace.exporters import sender
from agenttrace.exporters.courier import Trouble
from agenttrace.http.transport import retry_after_seconds

SECRET = "sk-VERYSECRETKEY123"
PATIENCE = 15.0


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(sender, "LINGER_SECONDS", 0.02)
    monkeypatch.setattr(sender, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(sender, "LONGEST_PAUSE", 0.1)


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    return "memory" if request.param == "memory" else tmp_path / "traces.db"


@pytest.fixture
def exporting(store):
    """Make a tracer that exports to a collector; returns it with its exporter."""
    made = []

    def make(url, **options):
        exporter = OTLPExporter(url, **{"timeout": 0.4, **options})
        made.append(Tracer("travel", store=store, exporters=[exporter]))
        return made[-1], exporter

    yield make
    for tracer in made:
        tracer.shutdown()


def record(tracer, *names):
    """A stored span for each name, as one export."""
    for name in names:
        with tracer.span(name):
            pass
    tracer.flush()


def unpacked(request):
    encoding = request.headers.get("content-encoding")
    return {None: bytes, "gzip": gzip.decompress, "deflate": zlib.decompress}[encoding](request.body)


def spans_of(request):
    message = ExportTraceServiceRequest.FromString(unpacked(request))
    return [
        (span.name, span.trace_id, span.span_id)
        for resource in message.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def names_in(requests):
    return [name for request in requests for name, *_ in spans_of(request)]


def eventually(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def waiting(exporter):
    return exporter.stats()["waiting"]


def test_spans_and_scores_arrive_with_their_ids(endpoint, respond, exporting):
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url)
    with tracer.span("answer") as span:
        span.output = "five days"
        tracer.async_evaluate([ContainsScorer("five")], actual_output="five days")
    assert tracer.wait_for_evaluations(PATIENCE)
    tracer.flush(PATIENCE)
    eventually(lambda: exporter.stats()["sent"] == 2)
    traces = [request for request in server.requests if request.path == "/v1/traces"]
    logs = [request for request in server.requests if request.path == "/v1/logs"]
    [(name, trace_id, span_id)] = spans_of(traces[0])
    message = ExportLogsServiceRequest.FromString(unpacked(logs[0]))
    [event] = message.resource_logs[0].scope_logs[0].log_records
    assert name == "answer"
    assert (event.trace_id, event.span_id) == (trace_id, span_id)
    assert event.event_name == "gen_ai.evaluation.result"
    assert exporter.stats() == {
        "endpoint": f"{server.url}/v1/traces",
        "sent": 2,
        "waiting": 0,
        "refused": 0,
        "dropped": 0,
        "trouble": None,
    }
    assert tracer.stats()["exporters"] == [exporter.stats()]


def test_scores_that_the_agent_gives_its_own_spans_arrive_too(endpoint, respond, exporting):
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url)
    with tracer.span("answer"):
        tracer.score_current_span("thumbs", 1.0, reason="liked")
    tracer.flush(PATIENCE)
    eventually(lambda: exporter.stats()["sent"] == 2)
    [logs] = [request for request in server.requests if request.path == "/v1/logs"]
    assert b"thumbs" in unpacked(logs)


@pytest.mark.parametrize("compression", ["gzip", "deflate", "none"])
@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_every_compression_and_protocol_says_the_same(endpoint, respond, exporting, compression, protocol):
    """Scenario 94."""
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url, compression=compression, protocol=protocol)
    record(tracer, "paid")
    eventually(lambda: exporter.stats()["sent"] == 1)
    [request] = server.requests
    expected = {"http/protobuf": "application/x-protobuf", "http/json": "application/json"}
    assert request.headers["content-type"] == expected[protocol]
    assert b"paid" in unpacked(request)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("2", 2.5, 3.0),
        ("3600", 60.0, 60.0),
        ("garbage", 0.5, 1.0),
        ("-5", 0.5, 1.0),
        ("", 0.5, 1.0),
        (formatdate(time.time() + 3600, usegmt=True), 60.0, 60.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.5, 1.0),
    ],
)
def test_a_pause_is_what_the_collector_asks_up_to_the_cap(monkeypatch, header, least, most):
    """Scenario 88."""
    monkeypatch.setattr(sender, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(sender, "LONGEST_PAUSE", 60.0)
    made = sender.Sender(None, list, name="collector")
    assert least <= made._pause(Trouble("answered 429", retry_after_seconds(header))) <= most


def test_pauses_double_up_to_the_longest_and_begin_anew(monkeypatch):
    monkeypatch.setattr(sender, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(sender, "LONGEST_PAUSE", 60.0)
    made = sender.Sender(None, list, name="collector")
    pauses = [made._pause(Trouble("down")) for _ in range(9)]
    for number, pause in enumerate(pauses):
        assert min(2.0**number, 60.0) / 2 <= pause <= min(2.0**number, 60.0)
    made._settle(1, None)
    assert made._pause(Trouble("down")) <= 1.0


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_status_that_passes_is_tried_again(endpoint, respond, exporting, caplog, status):
    """Scenario 89."""
    server = endpoint(lambda _: respond({}, status) if len(server.requests) <= 3 else respond({}))
    tracer, exporter = exporting(server.url)
    record(tracer, "kept")
    eventually(lambda: exporter.stats()["sent"] == 1)
    assert len({request.body for request in server.requests}) == 1
    assert len(server.requests) == 4
    assert len([r for r in caplog.records if f"answered {status}" in r.message]) == 1


@pytest.mark.parametrize("status", [500, 501, 409])
def test_a_status_that_does_not_pass_sets_the_parcel_aside(endpoint, respond, exporting, status):
    """Scenario 89: OTLP allows no other status to be tried again; what was refused is kept and counted."""
    server = endpoint(lambda _: respond({}, status if len(server.requests) == 1 else 200))
    tracer, exporter = exporting(server.url)
    record(tracer, "a", "b", "c")
    eventually(lambda: exporter.stats()["refused"])
    assert len(server.requests) == 1
    assert (exporter.stats()["refused"], waiting(exporter)) == (3, 0)
    record(tracer, "later")
    eventually(lambda: exporter.stats()["sent"] == 1)
    assert exporter.resend() == 3
    eventually(lambda: exporter.stats()["sent"] == 4)
    assert names_in(server.requests[1:]) == ["later", "a", "b", "c"]


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_a_request_that_is_too_large_is_sent_in_parts_in_order(endpoint, respond, exporting, protocol):
    """Scenario 89."""
    taken = []

    def answer(request):
        count = unpacked(request).count(b"step-")
        if count > 2 * 3:  # three mentions of its name a span
            return respond({}, 413)
        taken.append(unpacked(request))
        return respond({})

    server = endpoint(answer)
    tracer, exporter = exporting(server.url, protocol=protocol, timeout=5.0)
    record(tracer, *(f"step-{number}" for number in range(9)))
    eventually(lambda: exporter.stats()["sent"] == 9)
    found = [
        body.index(f"step-{number}".encode())
        for number in range(9)
        for body in taken
        if f"step-{number}".encode() in body
    ]
    assert len(found) == 9
    firsts = [min(number for number in range(9) if f"step-{number}".encode() in body) for body in taken]
    assert firsts == sorted(firsts)
    assert exporter.stats()["refused"] == 0


def test_of_a_bad_request_only_the_bad_span_is_set_aside(endpoint, respond, exporting, caplog):
    server = endpoint(lambda request: respond({}, 400 if b"poison" in unpacked(request) else 200))
    tracer, exporter = exporting(server.url, timeout=5.0)
    record(tracer, *(f"fine-{number}" for number in range(7)), "poison", *(f"good-{n}" for n in range(3)))
    eventually(lambda: exporter.stats()["sent"] == 10)
    assert (exporter.stats()["refused"], waiting(exporter)) == (1, 0)
    assert "refused 1 traces: answered 400 Bad Request" in caplog.text


@pytest.mark.parametrize("status", [401, 403, 404])
def test_wrong_settings_stop_the_sender_with_one_message(endpoint, respond, exporting, caplog, status):
    """Scenario 89."""
    server = endpoint(lambda _: respond({"error": SECRET}, status))
    tracer, exporter = exporting(server.url, headers={"authorization": f"Bearer {SECRET}"})
    record(tracer, "first")
    eventually(lambda: exporter.stats()["trouble"])
    for number in range(3):
        record(tracer, f"later-{number}")
    assert not exporter.flush(PATIENCE)
    assert len(server.requests) == 1
    assert waiting(exporter) == 4
    messages = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(messages) == 1
    assert "until a process with other settings sends it" in messages[0]


def hang(server):
    server.stopped.wait(30)
    yield b""


def slow_headers(server):
    yield b"HTTP/1.1 200 OK\r\n"
    while not server.stopped.wait(0.02):
        yield b"x-filler: 1\r\n"


def drip(server):
    yield b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"
    while not server.stopped.wait(0.02):
        yield b" "


def endless(server):
    yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    while not server.stopped.is_set():
        yield b"10000\r\n" + b"a" * 0x10000 + b"\r\n"


def broken(_):
    yield b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"
    yield b""


@pytest.mark.parametrize("misbehaviour", [hang, slow_headers, drip, endless, broken])
def test_a_deadline_holds_and_the_spans_arrive_later(endpoint, respond, exporting, misbehaviour):
    """Scenario 90."""
    server = endpoint(lambda _: misbehaviour(server) if len(server.requests) == 1 else respond({}))
    tracer, exporter = exporting(server.url)
    record(tracer, "kept")
    eventually(lambda: exporter.stats()["sent"] == 1)
    assert server.requests[0].body == server.requests[1].body


def test_a_span_whose_receipt_is_lost_six_times_is_one_row(endpoint, respond, exporting):
    """Scenario 91: OTLP has no receipt but the answer, so it is sent again, the same to the byte."""
    server = endpoint(lambda _: [b""] if len(server.requests) <= 6 else respond({}))
    tracer, exporter = exporting(server.url)
    record(tracer, "once")
    eventually(lambda: exporter.stats()["sent"] == 1)
    assert len(server.requests) == 7
    assert len({request.body for request in server.requests}) == 1
    rows = {(trace, span) for request in server.requests for _, trace, span in spans_of(request)}
    assert len(rows) == 1


def test_a_collector_that_comes_up_later_gets_everything_in_order(endpoint, respond, exporting):
    """Scenario 92."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    tracer, exporter = exporting(f"http://127.0.0.1:{port}")
    for number in range(5):
        record(tracer, f"step-{number}")
    eventually(lambda: exporter.stats()["trouble"])
    assert not exporter.flush(PATIENCE)
    server = endpoint(lambda _: respond({}), port)
    eventually(lambda: exporter.stats()["sent"] == 5)
    assert names_in(server.requests) == [f"step-{number}" for number in range(5)]
    assert exporter.stats()["trouble"] is None


def test_what_the_collector_rejects_of_a_request_is_counted_and_set_aside(
    endpoint, respond, exporting, caplog
):
    """Scenario 93."""
    told = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
    )
    server = endpoint(
        lambda _: respond(
            told.SerializeToString() if len(server.requests) == 1 else b"",
            content_type="application/x-protobuf",
        )
    )
    tracer, exporter = exporting(server.url)
    record(tracer, "a", "b", "c")
    eventually(lambda: exporter.stats()["refused"])
    stats = exporter.stats()
    assert (stats["sent"], stats["refused"], stats["waiting"]) == (1, 2, 0)
    assert "too old" in caplog.text
    assert len(server.requests) == 1, "OTLP forbids to send it again unasked"
    assert exporter.resend() == 2
    eventually(lambda: len(server.requests) == 2)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_to_another_host_gets_no_credentials(endpoint, respond, exporting, caplog, status):
    """Scenario 94."""
    other = endpoint(lambda _: respond({}))
    server = endpoint(lambda _: respond({}, status, location=f"{other.url}/?{SECRET}"))
    tracer, exporter = exporting(server.url, headers={"x-api-key": SECRET})
    record(tracer, "kept")
    eventually(lambda: exporter.stats()["trouble"])
    assert "redirect" in exporter.stats()["trouble"]
    assert other.requests == []
    assert waiting(exporter) == 1
    assert SECRET not in caplog.text + repr(exporter) + repr(exporter.stats()) + repr(exporter._settings)


def test_the_proxy_of_the_environment_is_used_but_for_hosts_that_it_excepts(
    endpoint, respond, exporting, monkeypatch
):
    """Scenario 94."""
    proxy, server = endpoint(lambda _: respond({})), endpoint(lambda _: respond({}))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    tracer, exporter = exporting("http://collector.test:4318")
    record(tracer, "through")
    eventually(lambda: exporter.stats()["sent"] == 1)
    assert [request.path for request in proxy.requests] == ["http://collector.test:4318/v1/traces"]
    tracer, exporter = exporting(server.url)
    record(tracer, "direct")
    eventually(lambda: exporter.stats()["sent"] == 1)
    assert len(server.requests) == len(proxy.requests) == 1


def test_a_collector_that_does_not_speak_tls_is_a_trouble_and_costs_nothing(
    endpoint, respond, exporting, caplog
):
    """Scenario 94."""
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url.replace("http:", "https:"), headers={"x-api-key": SECRET})
    record(tracer, "kept")
    eventually(lambda: exporter.stats()["trouble"])
    assert waiting(exporter) == 1
    assert SECRET not in caplog.text


def test_small_exports_go_in_one_request(endpoint, respond, exporting, monkeypatch):
    monkeypatch.setattr(sender, "LINGER_SECONDS", 30.0)
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url)
    for number in range(6):
        with tracer.span(f"step-{number}"):
            pass
        tracer._pipeline.store_here()
    assert server.requests == []
    assert exporter.flush(PATIENCE)
    assert [names_in([request]) for request in server.requests] == [[f"step-{n}" for n in range(6)]]


def test_nothing_of_what_was_said_leaves_where_content_is_off(endpoint, respond, exporting):
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url, content=False)
    tracer.observe(span_type="tool")(lambda city: f"{city}-weather")("Atlantis")
    with tracer.span("scored"):
        tracer.async_evaluate([ContainsScorer("gold")], actual_output="no Atlantis")
    tracer.wait_for_evaluations(PATIENCE)
    tracer.flush(PATIENCE)
    eventually(lambda: exporter.stats()["sent"] == 3)
    assert not any(b"Atlantis" in unpacked(request) for request in server.requests)


def test_a_library_that_is_missing_is_an_error_where_the_exporter_is_made(monkeypatch):
    import sys

    from agenttrace import MissingDependency

    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1", None)
    with pytest.raises(MissingDependency, match=r"agenttrace\[otlp\].*http/json"):
        OTLPExporter("http://127.0.0.1:4318")
    OTLPExporter("http://127.0.0.1:4318", protocol="http/json")
