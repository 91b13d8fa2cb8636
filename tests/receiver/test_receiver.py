"""OTLP over HTTP: what is kept, what is refused, and how that is said."""

import asyncio
import gzip
import json
import threading
import time
import zlib

import pytest
from asking import ask, asked
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ExportError, StoreError
from agenttrace.receiver import Intake, Keeper, OTLPReceiver, StoreSink
from agenttrace.receiver.keeping import Reply, Request
from agenttrace.receiver.outcome import JSON, PROTOBUF, Outcome, body_of
from agenttrace.receiver.unpacking import TooLong, unpacked
from agenttrace.store import MemoryStore

TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(number=1, **more):
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "name": "execute_tool search",
        "startTimeUnixNano": "1000",
        "endTimeUnixNano": "2000",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
            {"key": "gen_ai.tool.name", "value": {"stringValue": "search"}},
            {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": '{"q": "Paris"}'}},
        ],
        **more,
    }


def request(*spans):
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


class Collected:
    """A sink that keeps what it is given, or raises."""

    def __init__(self, error=None):
        self.batches, self.error = [], error
        self.may_write = threading.Event()
        self.may_write.set()

    def write(self, spans):
        assert self.may_write.wait(60)
        if self.error is not None:
            raise self.error
        self.batches.append(list(spans))

    @property
    def names(self):
        return [span.name for batch in self.batches for span in batch]


@pytest.fixture
def intake_of():
    made = []

    def make(sink, **options):
        made.append(Intake(sink if isinstance(sink, Keeper) else Keeper(sink), **options))
        return made[-1]

    yield make
    for intake in made:
        assert intake.close(60)


@pytest.mark.parametrize(
    ("pack", "encoding"),
    [
        (bytes, "identity"),
        (gzip.compress, "gzip"),
        (lambda body: gzip.compress(body[:40]) + gzip.compress(body[40:]), "gzip"),
        (zlib.compress, "deflate"),
        (lambda body: zlib.compress(body)[2:-4], "deflate"),
    ],
    ids=["plain", "gzip", "gzip of two members", "deflate", "bare deflate"],
)
def test_spans_are_kept_however_the_body_is_packed(intake_of, pack, encoding):
    sink = Collected()
    answer = ask(OTLPReceiver(intake_of(sink)), pack(request(span())), content_encoding=encoding)
    assert (answer.status, answer.json()) == (200, {})
    assert sink.names == ["search"]


def test_an_export_of_the_opentelemetry_sdk_in_protobuf_is_kept_and_answered_in_protobuf(intake_of):
    trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    message = trace_service.ExportTraceServiceRequest()
    one = message.resource_spans.add().scope_spans.add().spans.add()
    one.trace_id, one.span_id, one.name = bytes.fromhex(TRACE), b"12345678", "plan"
    sink = Collected()
    answer = ask(OTLPReceiver(intake_of(sink)), message.SerializeToString(), kind=PROTOBUF)
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"", PROTOBUF)
    assert sink.names == ["plan"]


def test_a_bad_record_costs_itself_alone_and_is_counted_in_the_answer(intake_of):
    sink = Collected()
    answer = ask(OTLPReceiver(intake_of(sink)), request(span(1), span(2, spanId="no id"), span(3)))
    partial = answer.json()["partialSuccess"]
    assert answer.status == 200
    assert partial["rejectedSpans"] == "1"
    assert "spanId" in partial["errorMessage"] or "id" in partial["errorMessage"]
    assert len(sink.names) == 2


def test_answers_in_protobuf_are_read_by_the_protocols_own_classes():
    trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    answer = trace_service.ExportTraceServiceResponse.FromString(
        body_of(Outcome(200, "span 3 has no id", 300), PROTOBUF, "spans")
    )
    assert answer.partial_success.rejected_spans == 300
    assert answer.partial_success.error_message == "span 3 has no id"


@pytest.mark.parametrize(
    ("body", "options", "status", "says"),
    [
        (b"{", {}, 400, "no JSON"),
        (b"[1]", {}, 400, "wanted a request of OTLP"),
        (b'{"a": 1}', {}, 400, "resourceSpans"),
        (b"\xff\xff\xff", {"kind": PROTOBUF}, 400, ""),
        (gzip.compress(b"{}")[:-9], {"content_encoding": "gzip"}, 400, "cut"),
        (b"no gzip", {"content_encoding": "gzip"}, 400, "damaged"),
        (b"{}", {"content_encoding": "br"}, 415, "identity, gzip, deflate"),
        (b"{}", {"kind": "text/plain"}, 415, "application/json"),
        (b"{}", {"method": "GET"}, 405, "POST"),
        (b"{}", {"path": "/v1/metrics"}, 404, "/v1/traces"),
        (b"{}", {"content_length": "many"}, 400, "no number"),
        (b"{}", {"content_length": str(1 << 40)}, 413, "several requests"),
        (b" " * 1001, {}, 413, "several requests"),
        (gzip.compress(b" " * 5001), {"content_encoding": "gzip"}, 413, "unpacked"),
    ],
    ids=[
        "no JSON",
        "no request",
        "another object",
        "no protobuf",
        "cut",
        "no gzip",
        "another encoding",
        "another kind",
        "another method",
        "another path",
        "length in words",
        "length too long",
        "body too long",
        "unpacked too long",
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(intake_of, body, options, status, says):
    sink = Collected()
    app = OTLPReceiver(intake_of(Keeper(sink, most_unpacked=5000)), most_bytes=1000)
    answer = ask(app, body, **options)
    assert answer.status == status
    assert says in answer.body.decode("utf-8", "replace")
    assert sink.batches == []
    assert "retry-after" not in answer.headers


def test_a_bomb_is_unpacked_no_further_than_its_bound():
    bomb = gzip.compress(b"\0" * 50_000_000)
    with pytest.raises(TooLong, match="more than 1,000 bytes"):
        unpacked(bomb, "gzip", 1000)
    with pytest.raises(TooLong):
        unpacked(gzip.compress(b"x" * 600) * 2, "gzip", 1000)


@given(st.binary(max_size=3000), st.integers(0, 3000), st.sampled_from(["gzip", "deflate"]))
def test_what_was_packed_is_unpacked_or_refused_by_its_length(content, most, encoding):
    packed = gzip.compress(content) if encoding == "gzip" else zlib.compress(content)
    if len(content) > most:
        with pytest.raises(TooLong):
            unpacked(packed, encoding, most)
    else:
        assert unpacked(packed, encoding, most) == content


@pytest.mark.parametrize("error", [StoreError("away"), ExportError("away: locked"), OSError("disk full")])
def test_a_store_that_is_away_is_answered_with_when_to_come_again(intake_of, error):
    answer = ask(OTLPReceiver(intake_of(Collected(error))), request(span()))
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert "away" not in answer.json()["message"]


def test_a_request_that_cannot_be_kept_costs_no_other():
    class Choosy(Collected):
        def write(self, spans):
            if any(one.name == "bad" for one in spans):
                raise ValueError("not this one")
            super().write(spans)

    sink = Choosy()
    intake = Intake(Keeper(sink))
    sink.may_write.clear()
    app = OTLPReceiver(intake)

    async def several():
        first = asyncio.create_task(asked(app, request(span(1))))
        while not intake.waiting_bytes:
            await asyncio.sleep(0.01)
        bad = span(2, name="bad", attributes=[])
        others = [asyncio.create_task(asked(app, request(one))) for one in (bad, span(3))]
        await asyncio.sleep(0.1)
        sink.may_write.set()
        return [answer.status for answer in await asyncio.gather(first, *others)]

    assert asyncio.run(several()) == [200, 400, 200]
    assert intake.close(60)


def test_more_than_the_intake_has_room_for_is_told_to_come_again(intake_of):
    sink = Collected()
    body = request(span())
    intake = intake_of(sink, most_waiting=2 * len(body))
    app = OTLPReceiver(intake)
    sink.may_write.clear()

    async def several():
        taken = [asyncio.create_task(asked(app, body)) for _ in range(2)]
        while intake.waiting_bytes < 2 * len(body):
            await asyncio.sleep(0.01)
        refused = await asked(app, body)
        sink.may_write.set()
        return refused, [answer.status for answer in await asyncio.gather(*taken)]

    refused, kept = asyncio.run(several())
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert kept == [200, 200]
    assert intake.counts.turned_away == 1


def test_an_answer_is_not_waited_for_without_end_and_the_spans_are_kept_all_the_same(intake_of):
    sink = Collected()
    sink.may_write.clear()
    answer = ask(OTLPReceiver(intake_of(sink), answer_seconds=0.05), request(span()))
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    sink.may_write.set()


def test_what_waits_at_the_end_is_kept_and_what_comes_later_is_told_to_come_again():
    sink = Collected()
    intake = Intake(Keeper(sink))
    app = OTLPReceiver(intake)
    assert ask(app, request(span())).status == 200
    assert intake.close(60)
    assert ask(app, request(span(2))).status == 503
    assert sink.names == ["search"]


def test_who_may_not_send_is_refused_before_the_body_is_read(intake_of):
    sink = Collected()
    app = OTLPReceiver(intake_of(sink), lambda headers: Outcome(401, "which token?"))
    answer = ask(app, request(span()))
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert sink.batches == []


def test_spans_go_to_the_project_of_the_token_whatever_they_name(intake_of):
    sink = Collected()
    ask(OTLPReceiver(intake_of(sink), lambda headers: "shop"), request(span()))
    assert [one.project for one in sink.batches[0]] == ["shop"]


def test_a_trace_that_comes_in_several_requests_twice_over_is_one_trace_without_secrets(intake_of):
    store = MemoryStore()
    seen = []
    app = OTLPReceiver(intake_of(StoreSink(store, stored=seen.extend)))
    key = "sk-proj-" + "a1B2" * 12
    secret = {"key": "gen_ai.tool.call.result", "value": {"stringValue": json.dumps({"api_key": key})}}
    child = span(2, parentSpanId=f"{1:016x}", startTimeUnixNano="1500")
    child["attributes"].append(secret)
    for body in [request(child), request(span(1)), request(child), request(span(1))]:
        assert ask(app, body).status == 200
    trace = store.trace(TRACE)
    assert [(one.span_key, one.parent_key) for one in trace.spans] == [(1, None), (2, 1)]
    assert [call.arguments for call in trace.tool_calls] == [{"q": "Paris"}] * 2
    assert key not in repr([(one.output, one.attributes) for one in trace.spans])
    assert {one.span_key for one in seen} == {1, 2}


@given(st.binary(max_size=200))
def test_no_body_makes_the_receiver_raise(body):
    intake = Intake(Keeper(Collected()))
    try:
        for kind in (JSON, PROTOBUF):
            for encoding in ("identity", "gzip", "deflate"):
                answer = ask(OTLPReceiver(intake), body, kind=kind, content_encoding=encoding)
                assert answer.status in (200, 400)
    finally:
        assert intake.close(60)


def test_a_client_that_is_refused_while_it_sends_is_listened_to_before_its_connection_ends(intake_of):
    app = OTLPReceiver(intake_of(Collected()), most_bytes=10)
    parts = [b"x" * 8 for _ in range(5)]
    left, sent = list(parts), []

    async def receive():
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message):
        sent.append((message["type"], message.get("more_body", False), len(left)))

    head = [(b"content-type", b"application/json"), (b"content-length", b"40")]
    asyncio.run(app({"type": "http", "method": "POST", "path": "/v1/traces", "headers": head}, receive, send))
    begin, body, end = "http.response.start", "http.response.body", "http.response.body"
    assert sent == [(begin, False, 5), (body, True, 5), (end, False, 0)]


class Slow:
    """Keeps requests when it is told to."""

    def __init__(self):
        self.taken = []
        self.may_keep = threading.Event()

    def keep(self, requests):
        self.taken.append(len(requests))
        assert self.may_keep.wait(60)
        return [Reply(Outcome(), 1) for _ in requests]

    def close(self, seconds):
        pass


def test_keepers_share_what_waits():
    keepers = Slow(), Slow()
    intake = Intake(*keepers)
    ended = []

    def offer(count):
        ended.extend(intake.offer(Request(b"x", "identity", JSON)) for _ in range(count))

    def wait_for(taken):
        until = time.monotonic() + 60
        while sorted(keeper.taken for keeper in keepers) != taken:
            assert time.monotonic() < until
            time.sleep(0.005)

    offer(1)
    wait_for([[], [1]])
    offer(1)
    wait_for([[1], [1]])
    offer(8)
    for keeper in keepers:
        keeper.may_keep.set()
    assert all(each.result(60).status == 200 for each in ended)
    assert intake.counts.spans == 10
    assert max(size for keeper in keepers for size in keeper.taken) <= 4
    assert intake.close(60)
