"""Spans and scores to a collector that misbehaves (scenarios 88 to 94), over real sockets."""

from __future__ import annotations

import gzip
import logging
import socket
import sqlite3
import threading
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

from agenttrace import ConfigError, ContainsScorer, OTLPExporter, Score, Tracer, traces_from_otlp
from agenttrace.core.batch import Batch
from agenttrace.core.span import Span
from agenttrace.exporters import sender
from agenttrace.exporters.otlp_http import SendFailure
from agenttrace.http.transport import retry_after_seconds
from agenttrace.store import SQLiteStore
from agenttrace.store.writer import Unavailable
from agenttrace.tracing import pipeline

SECRET = "sk-VERYSECRETKEY123"
PATIENCE = 60.0


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
        exporter = OTLPExporter(url, **{"timeout": PATIENCE, **options})
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


def stat(exporter, word, kind="traces"):
    return exporter.stats()[kind][word]


def waiting(exporter):
    return stat(exporter, "waiting")


def test_spans_and_scores_arrive_with_their_ids(endpoint, respond, exporting):
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url)
    with tracer.span("answer") as span:
        span.output = "five days"
        tracer.async_evaluate([ContainsScorer("five")], actual_output="five days")
    assert tracer.wait_for_evaluations(PATIENCE)
    tracer.flush(PATIENCE)
    eventually(lambda: stat(exporter, "sent") == stat(exporter, "sent", "logs") == 1)
    traces = [request for request in server.requests if request.path == "/v1/traces"]
    logs = [request for request in server.requests if request.path == "/v1/logs"]
    [(name, trace_id, span_id)] = spans_of(traces[0])
    message = ExportLogsServiceRequest.FromString(unpacked(logs[0]))
    [event] = message.resource_logs[0].scope_logs[0].log_records
    assert name == "answer"
    assert (event.trace_id, event.span_id) == (trace_id, span_id)
    assert event.event_name == "gen_ai.evaluation.result"
    done = {"sent": 1, "waiting": 0, "refused": 0, "dropped": 0, "trouble": None}
    eventually(lambda: exporter.stats()["logs"] == done)
    assert exporter.stats() == {"endpoint": f"{server.url}/v1/traces", "traces": done, "logs": done}
    assert tracer.stats()["exporters"] == [exporter.stats()]


def test_each_request_says_which_tools_there_are_called_or_not(endpoint, respond, exporting):
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url)

    @tracer.observe(span_type="tool")
    def lookup(order, days=3):
        return order

    @tracer.observe(span_type="tool")
    def refund(order, password="hunter2-is-my-password"):
        return order

    with tracer.span("agent"):
        lookup(7)
    tracer.flush(PATIENCE)
    eventually(lambda: stat(exporter, "sent") == 2)
    bodies = [unpacked(request) for request in server.requests]
    assert b"hunter2" not in b"".join(bodies)
    (trace,) = traces_from_otlp(bodies)
    assert {"lookup", "refund"} <= set(trace.tools)  # and what other tests decorated in this process


def test_scores_that_the_agent_gives_its_own_spans_arrive_too(endpoint, respond, exporting):
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url)
    with tracer.span("answer"):
        tracer.score_current_span("thumbs", 1.0, reason="liked")
    tracer.flush(PATIENCE)
    eventually(lambda: stat(exporter, "sent", "logs") == 1)
    [logs] = [request for request in server.requests if request.path == "/v1/logs"]
    assert b"thumbs" in unpacked(logs)


@pytest.mark.parametrize("compression", ["gzip", "deflate", "none"])
@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_every_compression_and_protocol_says_the_same(endpoint, respond, exporting, compression, protocol):
    """Scenario 94."""
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url, compression=compression, protocol=protocol)
    record(tracer, "paid")
    eventually(lambda: stat(exporter, "sent") == 1)
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
        pytest.param(formatdate(time.time() + 3600, usegmt=True), 60.0, 60.0, id="in an hour"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.5, 1.0),
    ],
)
def test_a_pause_is_what_the_collector_asks_up_to_the_cap(monkeypatch, header, least, most):
    """Scenario 88."""
    monkeypatch.setattr(sender, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(sender, "LONGEST_PAUSE", 60.0)
    made = sender.BackgroundSender(None, name="collector")
    assert least <= made._pause(SendFailure("answered 429", retry_after_seconds(header))) <= most


def test_pauses_double_up_to_the_longest_and_begin_anew(monkeypatch):
    monkeypatch.setattr(sender, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(sender, "LONGEST_PAUSE", 60.0)
    made = sender.BackgroundSender(None, name="collector")
    pauses = [made._pause(SendFailure("down")) for _ in range(9)]
    for number, pause in enumerate(pauses):
        assert min(2.0**number, 60.0) / 2 <= pause <= min(2.0**number, 60.0)
    made._settle(None)
    assert made._pause(SendFailure("down")) <= 1.0


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_status_that_passes_is_tried_again(endpoint, respond, exporting, caplog, status):
    """Scenario 89."""
    server = endpoint(lambda _: respond({}, status) if len(server.requests) <= 3 else respond({}))
    tracer, exporter = exporting(server.url)
    record(tracer, "kept")
    eventually(lambda: stat(exporter, "sent") == 1)
    assert len({request.body for request in server.requests}) == 1
    assert len(server.requests) == 4
    assert len([r for r in caplog.records if f"answered {status}" in r.message]) == 1


@pytest.mark.parametrize("status", [500, 501, 409])
def test_a_status_that_does_not_pass_sets_the_batch_aside(endpoint, respond, exporting, status):
    """Scenario 89: OTLP allows no other status to be tried again; what was refused is kept and counted."""
    server = endpoint(lambda _: respond({}, status if len(server.requests) == 1 else 200))
    tracer, exporter = exporting(server.url)
    record(tracer, "a", "b", "c")
    eventually(lambda: (stat(exporter, "refused"), waiting(exporter)) == (3, 0))
    assert len(server.requests) == 1
    record(tracer, "later")
    eventually(lambda: stat(exporter, "sent") == 1)
    assert exporter.resend() == 3
    eventually(lambda: stat(exporter, "sent") == 4)
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
    eventually(lambda: stat(exporter, "sent") == 9)
    found = [
        body.index(f"step-{number}".encode())
        for number in range(9)
        for body in taken
        if f"step-{number}".encode() in body
    ]
    assert len(found) == 9
    firsts = [min(number for number in range(9) if f"step-{number}".encode() in body) for body in taken]
    assert firsts == sorted(firsts)
    assert stat(exporter, "refused") == 0


def test_of_a_bad_request_only_the_bad_span_is_set_aside(endpoint, respond, exporting, caplog):
    server = endpoint(lambda request: respond({}, 400 if b"poison" in unpacked(request) else 200))
    tracer, exporter = exporting(server.url, timeout=5.0)
    record(tracer, *(f"fine-{number}" for number in range(7)), "poison", *(f"good-{n}" for n in range(3)))
    eventually(lambda: stat(exporter, "sent") == 10)
    assert (stat(exporter, "refused"), waiting(exporter)) == (1, 0)
    assert "refused 1 spans: answered 400 Bad Request" in caplog.text


@pytest.mark.parametrize("status", [401, 407, 415])
def test_wrong_settings_stop_the_sender_with_one_message(endpoint, respond, exporting, caplog, status):
    """Scenario 89."""
    server = endpoint(lambda _: respond({"error": f"bad key Bearer {SECRET}"}, status))
    tracer, exporter = exporting(server.url, headers={"authorization": f"Bearer {SECRET}"})
    record(tracer, "first")
    eventually(lambda: stat(exporter, "trouble"))
    for number in range(3):
        record(tracer, f"later-{number}")
    assert not exporter.flush(PATIENCE)
    assert len(server.requests) == 1
    assert waiting(exporter) == 4
    messages = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(messages) == 1
    assert "this process sends no more" in messages[0]
    assert SECRET not in caplog.text + repr(exporter.stats())


def test_whoever_sees_the_trouble_finds_it_in_the_log(endpoint, respond, exporting):
    url = endpoint(lambda _: respond({}, 401)).url

    class Slow(logging.Handler):
        lines = 0

        def emit(self, record):
            time.sleep(0.1)
            self.lines += url in record.getMessage()  # others may have something to say, too

    handler = Slow(logging.WARNING)
    logging.getLogger("agenttrace").addHandler(handler)
    try:
        tracer, exporter = exporting(url)
        record(tracer, "first")
        eventually(lambda: stat(exporter, "trouble"))
        assert handler.lines == 1
    finally:
        logging.getLogger("agenttrace").removeHandler(handler)


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


def broken(_):
    yield b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"
    yield b""


@pytest.mark.parametrize("misbehaviour", [hang, slow_headers, drip, broken])
def test_a_deadline_holds_and_the_spans_arrive_later(endpoint, respond, exporting, misbehaviour):
    """Scenario 90."""
    server = endpoint(lambda _: misbehaviour(server) if len(server.requests) == 1 else respond({}))
    tracer, exporter = exporting(server.url, timeout=0.4)
    record(tracer, "kept")
    eventually(lambda: stat(exporter, "sent") == 1)
    assert server.requests[0].body == server.requests[1].body


def test_a_span_whose_receipt_is_lost_six_times_is_one_row(endpoint, respond, exporting):
    """Scenario 91: OTLP has no result but the answer, so it is sent again, the same to the byte."""
    server = endpoint(lambda _: [b""] if len(server.requests) <= 6 else respond({}))
    tracer, exporter = exporting(server.url)
    record(tracer, "once")
    eventually(lambda: stat(exporter, "sent") == 1)
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
    eventually(lambda: stat(exporter, "trouble"))
    assert not exporter.flush(PATIENCE)
    server = endpoint(lambda _: respond({}), port)
    eventually(lambda: (stat(exporter, "sent"), stat(exporter, "trouble")) == (5, None))
    assert names_in(server.requests) == [f"step-{number}" for number in range(5)]


def test_what_the_collector_rejects_of_a_request_is_counted_and_set_aside(
    endpoint, respond, exporting, caplog
):
    """Scenario 93."""
    partial = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(
            rejected_spans=2, error_message="too old\nX-Forged: \x1b[31m"
        )
    )
    server = endpoint(
        lambda _: respond(
            partial.SerializeToString() if len(server.requests) == 1 else b"",
            content_type="application/x-protobuf",
        )
    )
    tracer, exporter = exporting(server.url)
    record(tracer, "a", "b", "c")
    eventually(lambda: (stat(exporter, "sent"), stat(exporter, "refused"), waiting(exporter)) == (1, 2, 0))
    assert "rejected by the collector" in caplog.text
    assert "Forged" not in caplog.text, "what is not printable is not shown"
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
    eventually(lambda: stat(exporter, "trouble"))
    assert f"answered {status}" in stat(exporter, "trouble")
    assert other.requests == []
    assert waiting(exporter) == 1
    assert SECRET not in caplog.text + repr(exporter) + repr(exporter.stats()) + repr(
        exporter._signals["traces"].settings
    )


def test_the_proxy_of_the_environment_is_used_but_for_hosts_that_it_excepts(
    endpoint, respond, exporting, monkeypatch
):
    """Scenario 94."""
    proxy, server = endpoint(lambda _: respond({})), endpoint(lambda _: respond({}))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    tracer, exporter = exporting("http://collector.test:4318")
    record(tracer, "through")
    eventually(lambda: stat(exporter, "sent") == 1)
    assert [request.path for request in proxy.requests] == ["http://collector.test:4318/v1/traces"]
    tracer, exporter = exporting(server.url)
    record(tracer, "direct")
    eventually(lambda: stat(exporter, "sent") == 1)
    assert len(server.requests) == len(proxy.requests) == 1


def test_a_collector_that_does_not_speak_tls_is_a_trouble_and_costs_nothing(
    endpoint, respond, exporting, caplog
):
    """Scenario 94."""
    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(
        server.url.replace("http:", "https:"), headers={"x-api-key": SECRET}, timeout=0.4
    )
    record(tracer, "kept")
    eventually(lambda: stat(exporter, "trouble"))
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
    eventually(lambda: (stat(exporter, "sent"), stat(exporter, "sent", "logs")) == (2, 1))
    assert not any(b"Atlantis" in unpacked(request) for request in server.requests)


def test_a_library_that_is_missing_is_an_error_where_the_exporter_is_made(monkeypatch):
    import sys

    from agenttrace import MissingDependency

    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1", None)
    with pytest.raises(MissingDependency, match=r"agenttrace-evals\[otlp\].*http/json"):
        OTLPExporter("http://127.0.0.1:4318")
    OTLPExporter("http://127.0.0.1:4318", protocol="http/json")


def endless(server):
    yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    while not server.stopped.is_set():
        yield b"10000\r\n" + b"a" * 0x10000 + b"\r\n"


def test_what_was_taken_with_an_answer_that_cannot_be_read_is_not_sent_again(endpoint, respond, exporting):
    server = endpoint(lambda _: endless(server) if len(server.requests) == 1 else respond({}))
    tracer, exporter = exporting(server.url, timeout=5.0)
    record(tracer, "first")
    eventually(lambda: stat(exporter, "sent") == 1)
    record(tracer, "second")
    eventually(lambda: stat(exporter, "sent") == 2)
    assert names_in(server.requests) == ["first", "second"]


def test_a_backend_that_takes_no_logs_gets_its_spans(endpoint, respond, exporting, caplog):
    server = endpoint(lambda request: respond({}, 404 if request.path == "/v1/logs" else 200))
    tracer, exporter = exporting(server.url)
    for number in range(3):
        with tracer.span(f"step-{number}"):
            tracer.score_current_span("thumbs", 1.0)
        tracer.flush()
    eventually(lambda: stat(exporter, "sent") == 3)
    assert stat(exporter, "waiting", "logs") == 3
    asked = len([request for request in server.requests if request.path == "/v1/logs"])
    without, _ = exporting(server.url, scores=False, name="without")
    with without.span("scored"):
        without.score_current_span("thumbs", 1.0)
    without.flush(PATIENCE)
    eventually(lambda: len(names_in([r for r in server.requests if r.path == "/v1/traces"])) == 4)
    assert "logs" not in without.stats()["exporters"][0]
    assert asked >= 1


def test_two_exporters_to_one_address_send_each_with_its_own_key(endpoint, respond, tmp_path):
    server = endpoint(lambda _: respond({}))
    ours = OTLPExporter(server.url, headers={"x-key": "ours"}, name="ours")
    theirs = OTLPExporter(server.url, headers={"x-key": "theirs"}, name="theirs")
    tracer = Tracer("travel", store=tmp_path / "traces.db", exporters=[ours, theirs])
    record(tracer, "shared")
    eventually(lambda: stat(ours, "sent") == stat(theirs, "sent") == 1)
    assert sorted(request.headers["x-key"] for request in server.requests) == ["ours", "theirs"]
    tracer.shutdown()


@pytest.mark.parametrize("other", [{"headers": {"x-key": "two"}}, {"content": False}])
def test_two_exporters_that_cannot_be_told_apart_are_an_error(tmp_path, other):
    exporters = [OTLPExporter("http://collector:4318", **options) for options in ({}, other)]
    with pytest.raises(ConfigError, match=r"different headers or content.*name="):
        Tracer("travel", store=tmp_path / "traces.db", exporters=exporters)


def test_an_exporter_belongs_to_one_tracer():
    exporter = OTLPExporter("http://collector:4318")
    Tracer("first", store="memory", exporters=[exporter])
    with pytest.raises(ConfigError, match="'first'; make another"):
        Tracer("second", store="memory", exporters=[exporter])


def test_threads_that_export_at_once_start_one_sender(endpoint, respond, exporting, monkeypatch):
    server = endpoint(lambda _: respond({}))
    _, exporter = exporting(server.url, timeout=5.0)
    route, gate = exporter._signals["traces"], threading.Barrier(8)

    def notice():
        gate.wait()
        route._sender.notice()

    start, made = sender.start_thread, []

    def counts(run, name):  # not those of other tests
        made.extend([run] if run == route._sender._serve else [])
        return start(run, name)

    monkeypatch.setattr(sender, "start_thread", counts)
    for _ in range(20):
        made.clear()
        racing = [threading.Thread(target=notice) for _ in range(8)]
        for thread in racing:
            thread.start()
        for thread in racing:
            thread.join()
        assert len(made) == 1
        route.close()
        route.after_fork()  # begin anew


def test_a_flush_ends_though_others_go_on_exporting(endpoint, respond, exporting):
    def slowly(_):
        time.sleep(0.05)
        return respond({})

    server = endpoint(slowly)
    tracer, exporter = exporting(server.url, timeout=5.0)
    stop = threading.Event()

    def go_on():
        while not stop.is_set():
            record(tracer, "more")
            time.sleep(0.005)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        time.sleep(0.3)
        assert exporter.flush(PATIENCE)
    finally:
        stop.set()
        thread.join()


def test_of_a_batch_that_is_all_bad_not_every_span_is_tried(endpoint, respond, exporting, caplog):
    server = endpoint(lambda _: respond({}, 400))
    tracer, exporter = exporting(server.url, timeout=5.0)
    record_at_once(tracer, 500)
    eventually(lambda: (stat(exporter, "refused"), waiting(exporter)) == (500, 0))
    assert len(server.requests) < 60
    assert len([one for one in caplog.records if "refused" in one.message]) < 5


def record_at_once(tracer, count):
    with tracer.span("root"):
        for _ in range(count - 1):
            with tracer.span("step"):
                pass
    tracer.flush(PATIENCE)


def send_where_only_small_requests_are_answered(endpoint, respond, exporting, monkeypatch):
    monkeypatch.setattr(sender, "MIN_BYTES", 2_000)
    monkeypatch.setattr(sender, "MAX_BYTES", 64_000)

    def answer(request):
        if len(request.body) > 9_000:
            server.stopped.wait(1.0)
        return respond({})

    server = endpoint(answer)
    tracer, exporter = exporting(server.url, timeout=0.3, compression="none")
    record_at_once(tracer, 200)
    eventually(lambda: stat(exporter, "sent") == 200)
    return server, exporter


def test_requests_become_smaller_while_none_is_answered_in_time(endpoint, respond, exporting, monkeypatch):
    _, exporter = send_where_only_small_requests_are_answered(endpoint, respond, exporting, monkeypatch)
    assert waiting(exporter) == 0


def test_requests_stay_smaller_until_all_that_waits_is_sent(endpoint, respond, exporting, monkeypatch):
    monkeypatch.setattr(sender, "TRIAL_ITEMS", 5)
    server, _ = send_where_only_small_requests_are_answered(endpoint, respond, exporting, monkeypatch)
    assert sum(len(request.body) > 9_000 for request in server.requests) < 8


@pytest.mark.parametrize("content", ["", "a file of another kind, long enough to be looked at" * 50])
def test_what_memory_keeps_because_the_file_cannot_be_written_is_sent(endpoint, respond, tmp_path, content):
    """As in a container whose disk is read-only."""
    path = tmp_path / "blocked" / "traces.db"
    (path if content else path.parent).parent.mkdir(exist_ok=True)
    (path if content else path.parent).write_text(content)
    server = endpoint(lambda _: respond({}))
    exporter = OTLPExporter(server.url)
    tracer = Tracer("travel", store=path, exporters=[exporter])
    for number in range(1, 3):
        record(tracer, f"span {number}")
        eventually(lambda sent=number: stat(exporter, "sent") == sent)
    assert names_in(server.requests) == ["span 1", "span 2"]
    eventually(lambda: (waiting(exporter), stat(exporter, "trouble")) == (0, None))
    tracer.shutdown()


def test_what_waits_in_a_file_that_cannot_be_written_is_not_sent_again_and_again(
    endpoint, respond, tmp_path, monkeypatch
):
    server = endpoint(lambda _: respond({}))
    store = SQLiteStore(tmp_path / "traces.db")
    exporter = OTLPExporter(server.url)
    [traces, _] = exporter.attach(store, "travel")
    store.write(Batch([Span(trace_key=1, span_key=1, name="in the file")], send_to=[traces]))

    def full(*_):
        raise Unavailable("disk full")

    monkeypatch.setattr(store._writer, "write", full)
    store.write(Batch([Span(trace_key=1, span_key=2, name="in memory")], send_to=[traces]))
    assert not exporter.flush(PATIENCE)
    assert names_in(server.requests) == ["in memory"]
    monkeypatch.undo()
    assert store.flush(PATIENCE)
    eventually(lambda: exporter.flush(PATIENCE))
    assert names_in(server.requests) == ["in memory", "in the file"]
    exporter.close()
    store.close()


def test_a_sender_that_another_one_took_over_from_leaves_what_waits_to_that_one(endpoint, respond, tmp_path):
    """As after a process was stopped amid a request: by now the numbers of its rows may mean others."""

    def answer(request):
        if len(server.requests) == 1:
            with sqlite3.connect(tmp_path / "traces.db") as db:
                db.execute("UPDATE leases SET holder = 'another', until_ns = until_ns + 10000000000")
            db.close()
        return respond({})

    server = endpoint(answer)
    exporter = OTLPExporter(server.url)
    store = SQLiteStore(tmp_path / "traces.db")
    [traces, _] = exporter.attach(store, "travel")
    store.write(Batch([Span(trace_key=1, span_key=1, name="sent")], send_to=[traces]))
    assert not exporter.flush(PATIENCE)
    assert (waiting(exporter), stat(exporter, "trouble")) == (1, "another process is sending")
    store.release(f"send spans to {traces.name}", "another")
    eventually(lambda: exporter.flush(PATIENCE))
    assert names_in(server.requests) == ["sent", "sent"]
    exporter.close()
    store.close()


def test_a_store_that_cannot_be_read_is_not_flushed_and_its_trouble_passes(tmp_path):
    path = tmp_path / "traces.db"
    path.write_text("no database at all, and long enough to be looked at" * 50)
    exporter = OTLPExporter("http://127.0.0.1:9")
    exporter.attach(SQLiteStore(path), "travel")
    assert not exporter.flush(0.1)
    assert "cannot be read" in stat(exporter, "trouble")
    path.unlink()
    assert stat(exporter, "trouble") is None
    assert exporter.flush(0.1)


def test_exporters_share_the_time_of_one_flush(endpoint, tmp_path, monkeypatch):
    flush, seconds = OTLPExporter.flush, []

    def noted(exporter, timeout):
        seconds.append(timeout)
        return flush(exporter, timeout)

    monkeypatch.setattr(OTLPExporter, "flush", noted)
    server = endpoint(lambda _: hang(server))
    exporters = [OTLPExporter(server.url, name=name) for name in "abcdef"]
    tracer = Tracer("travel", store=tmp_path / "traces.db", exporters=exporters)
    with tracer.span("kept"):
        pass
    tracer.flush(1.0)
    assert seconds[0] <= 1.0
    assert seconds[1:] == [0.0] * 5  # the first waits for all of it
    tracer.shutdown(0.5)


def test_a_tracer_that_records_nothing_sends_what_an_earlier_one_left(endpoint, respond, tmp_path):
    status = [503]
    server = endpoint(lambda _: respond({}, status[0]))
    first = Tracer("travel", store=tmp_path / "traces.db", exporters=[OTLPExporter(server.url)])
    record(first, "left")
    eventually(lambda: server.requests)
    first.shutdown(0.2)
    refused = len(server.requests)
    status[0] = 200
    later = OTLPExporter(server.url)
    tracer = Tracer("travel", store=tmp_path / "traces.db", exporters=[later])
    eventually(lambda: tracer.flush(PATIENCE) and stat(later, "waiting") == 0)
    assert names_in(server.requests[refused:])[:1] == ["left"]
    tracer.shutdown()


def test_statistics_of_a_store_that_cannot_be_read_say_so(tmp_path):
    (tmp_path / "traces.db").write_text("no database at all, and long enough to be looked at" * 50)
    tracer = Tracer("travel", store=tmp_path / "traces.db", exporters=[OTLPExporter("http://127.0.0.1:9")])
    assert "the store cannot be read" in tracer.stats()["exporters"][0]["traces"]["trouble"]


def test_a_handler_that_raises_does_not_stop_the_sender(endpoint, respond, exporting, monkeypatch):
    class Raises(logging.Filter):
        def filter(self, record):
            raise RuntimeError("in the handler")

    server = endpoint(lambda _: respond({}, 500 if len(server.requests) == 1 else 200))
    tracer, exporter = exporting(server.url)
    refusing = Raises()
    sender.log.addFilter(refusing)
    try:
        record(tracer, "refused")
        eventually(lambda: (stat(exporter, "refused"), waiting(exporter)) == (1, 0))
        record(tracer, "sent")
        eventually(lambda: stat(exporter, "sent") == 1)
    finally:
        sender.log.removeFilter(refusing)


def test_a_store_that_is_closed_amid_a_request_stays_closed(endpoint, tmp_path, monkeypatch):
    server = endpoint(lambda _: hang(server))
    tracer = Tracer("travel", store=tmp_path / "traces.db", exporters=[OTLPExporter(server.url)])
    with tracer.span("kept"):
        pass
    eventually(lambda: len(server.requests) == 1)
    monkeypatch.setattr(pipeline, "JOIN_SECONDS", PATIENCE)
    tracer.shutdown(1.0)
    assert not (tmp_path / "traces.db-wal").exists()


def test_nothing_is_kept_for_no_spans_and_no_scores(endpoint, exporting):
    server = endpoint(lambda _: b"")
    _, exporter = exporting(server.url)
    exporter.notice()
    assert exporter.flush(0.0)
    assert server.requests == []


@pytest.mark.parametrize("status", [403, 404, 405])
def test_a_wrong_place_is_asked_again_seldom_for_it_may_be_a_deployment(
    endpoint, respond, exporting, caplog, status
):
    server = endpoint(lambda _: respond({}, status) if len(server.requests) <= 2 else respond({}))
    tracer, exporter = exporting(server.url)
    record(tracer, "kept")
    eventually(lambda: stat(exporter, "sent") == 1)
    assert len([one for one in caplog.records if f"answered {status}" in one.message]) == 1
    made = sender.BackgroundSender(None, name="collector")
    assert made._pause(SendFailure(f"answered {status}", rare=True)) == sender.LONGEST_PAUSE


def test_scores_leave_without_the_secrets_that_they_quote(endpoint, respond, exporting):
    key = "sk-proj-" + "A1b2C3d4" * 6
    alarmed = []

    class Quotes:
        name, threshold = "Quotes", 0.5

        def score(self, example, trace):
            quoted = f"key {key}"
            return Score.of(self.name, 0.0, 0.5, reason=quoted, details={"seen": [key]}, diff=quoted)

    class Breaks(Quotes):
        name = "Breaks"

        def score(self, example, trace):
            raise ValueError(key)

    server = endpoint(lambda _: respond({}))
    tracer, exporter = exporting(server.url)
    with tracer.span("answer"):
        tracer.async_evaluate([Quotes(), Breaks()], actual_output=key, alerts=[alarmed.append])
    assert tracer.wait_for_evaluations(PATIENCE)
    tracer.flush(PATIENCE)
    eventually(lambda: stat(exporter, "sent", "logs") == 2)
    assert key not in str([low.to_dict() for low in alarmed])
    assert alarmed
    assert not any(key.encode() in unpacked(request) for request in server.requests)
    [trace] = tracer.store.traces()
    stored = [score.to_dict() for _, score in tracer.store.scores(trace.trace_id)]
    assert len(stored) == 2
    assert key not in str(stored)


def test_an_evaluation_waits_for_no_collector(endpoint, exporting, monkeypatch):
    waited = []
    server = endpoint(lambda _: hang(server))
    tracer, _ = exporting(server.url, timeout=5.0)
    with monkeypatch.context() as watched:
        watched.setattr(OTLPExporter, "flush", lambda exporter, timeout: waited.append(timeout))
        for _ in range(30):
            with tracer.span("answer"):
                tracer.async_evaluate([ContainsScorer("five")], actual_output="five days")
            assert tracer.wait_for_evaluations(PATIENCE)
    assert waited == []
    tracer.shutdown(0.2)
