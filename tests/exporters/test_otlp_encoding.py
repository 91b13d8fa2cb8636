"""A request as the bytes that travel, the answer's bytes as what they say."""

import base64
import json
import sys

import pytest
from any_json import mappings, spans, texts
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import MissingDependency
from agenttrace.core.score import Score
from agenttrace.exporters.otlp_encoding import encode, rejected_of
from agenttrace.exporters.otlp_request import log_request, trace_request

pytest.importorskip("opentelemetry.proto")

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces

REQUESTS = {"traces": traces.ExportTraceServiceRequest, "logs": logs.ExportLogsServiceRequest}
ANSWERS = {"traces": traces.ExportTraceServiceResponse, "logs": logs.ExportLogsServiceResponse}
PROTOCOLS = ["http/protobuf", "http/json"]
HEX = ("traceId", "spanId", "parentSpanId")

scores = st.builds(
    Score,
    name=texts,
    value=st.none() | st.floats(),
    threshold=st.floats(),
    outcome=st.sampled_from(["passed", "failed", "skipped", "errored"]),
    reason=texts,
    error=st.none() | texts | st.just("Traceback"),
)


def with_base64_ids(value):
    """What OTLP's JSON differs in from protobuf's own: ids are hex."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64.b64encode(bytes.fromhex(inner)).decode() if name in HEX else with_base64_ids(inner)
        for name, inner in value.items()
    }


def read(kind, body, protocol):
    """The message that bytes hold, by the library's own readers."""
    message = REQUESTS[kind]()
    if protocol == "http/protobuf":
        message.ParseFromString(body)
        return message

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    plain = with_base64_ids(json.loads(body, parse_constant=refuse))
    return json_format.Parse(json.dumps(plain), message)


def written(kind, request):
    """The message that a request makes, which is the same by both ways."""
    binary, plain = (read(kind, encode(kind, request, protocol), protocol) for protocol in PROTOCOLS)
    # As plain data: NaN is not equal to itself.
    assert json_format.MessageToDict(binary) == json_format.MessageToDict(plain)
    return binary


def only_span(message):
    return message.resource_spans[0].scope_spans[0].spans[0]


def values(entries):
    return {entry.key: getattr(entry.value, entry.value.WhichOneof("value")) for entry in entries}


@given(st.lists(spans, max_size=3), mappings, st.booleans())
def test_whatever_spans_hold_both_protocols_say_the_same(several, resource, content):
    message = written("traces", trace_request(several, resource=resource, content=content))
    found = [span for one in message.resource_spans for span in one.scope_spans[0].spans]
    assert sorted(span.span_id for span in found) == sorted(
        span.span_key.to_bytes(8, "big") for span in several
    )


@given(st.lists(st.tuples(texts, st.none() | texts, scores), max_size=3), texts, mappings, st.booleans())
def test_whatever_scores_hold_both_protocols_say_the_same(several, project, resource, content):
    request = log_request(several, [7] * len(several), project=project, resource=resource, content=content)
    message = written("logs", request)
    assert len(message.resource_logs[0].scope_logs[0].log_records) == len(several)


def test_a_traced_run_arrives_as_a_tree_of_operations(run, tracer):
    @tracer.observe(span_type="tool")
    def weather(city):
        if city != "Oslo":
            raise LookupError(city)
        return {"degrees": 21.5}

    def agent(question):
        try:
            weather("Atlantis")
        except LookupError:
            pass
        return weather("Oslo")

    recorded = run(agent, "warm?", span_type="agent")
    message = written("traces", trace_request(recorded, resource={}, content=True))
    arrived = message.resource_spans[0].scope_spans[0].spans
    by_name = {span.name: span for span in arrived}
    root, tool = by_name["invoke_agent agent"], by_name["execute_tool weather"]
    assert not root.parent_span_id
    assert tool.parent_span_id == root.span_id
    assert tool.trace_id == root.trace_id == bytes.fromhex(recorded[0].trace_id)
    assert root.start_time_unix_nano <= tool.start_time_unix_nano <= tool.end_time_unix_nano
    failed = next(span for span in arrived if span.status.code == 2)
    assert values(failed.attributes)["error.type"] == "LookupError"
    assert "Traceback" in values(failed.events[0].attributes)["exception.stacktrace"]


def test_the_kinds_of_values_arrive_as_they_are(run, tracer):
    def agent():
        for name, value in {"t": "é", "i": -5, "big": 2**64, "d": 0.5, "b": False, "l": [1, 2]}.items():
            tracer.current_span().set_attribute(name, value)
        tracer.current_span().set_attribute("m", {"a": [1]})

    message = written("traces", trace_request(run(agent), resource={}, content=True))
    arrived = values(only_span(message).attributes)
    assert (arrived["t"], arrived["i"], arrived["big"], arrived["d"]) == ("é", -5, str(2**64), 0.5)
    assert arrived["b"] is False
    assert [item.int_value for item in arrived["l"].values] == [1, 2]
    assert arrived["m"] == '{"a":[1]}'


def test_json_has_hex_ids_texts_for_64_bits_and_camel_case(run):
    (span,) = run(lambda: 1)
    body = json.loads(
        encode("traces", trace_request([span], resource={}, content=True), "http/json").decode()
    )
    found = body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert (found["traceId"], found["spanId"], found["kind"]) == (span.trace_id, span.span_id, 1)
    assert found["startTimeUnixNano"] == str(span.start_ns)
    assert {"key": "agenttrace.index", "value": {"intValue": str(span.index)}} in found["attributes"]


@pytest.mark.parametrize(
    ("number", "text"),
    [(float("nan"), "NaN"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity")],
)
def test_json_writes_what_is_no_number_as_protobuf_does(number, text):
    request = trace_request([], resource={}, content=True)
    request["resource_spans"] = [
        {"resource": {"attributes": [{"key": "n", "value": {"double_value": number}}]}}
    ]
    assert f'{{"doubleValue":"{text}"}}'.encode() in encode("traces", request, "http/json")
    written("traces", request)


def test_json_writes_bytes_that_are_no_id_as_base64():
    request = {
        "resource_spans": [{"resource": {"attributes": [{"key": "b", "value": {"bytes_value": b"\xff"}}]}}]
    }
    assert b'{"bytesValue":"/w=="}' in encode("traces", request, "http/json")
    written("traces", request)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_content_no_byte_tells_what_was_asked_given_answered_or_raised(run, tracer, protocol):
    class Refused(Exception):
        pass

    @tracer.observe(span_type="tool")
    def book(city):
        tracer.log("SECRET note")
        return {"SECRET key": f"SECRET result for {city}"}

    @tracer.observe(span_type="retriever")
    def look_up(query):
        return [{"content": "SECRET document"}]

    @tracer.observe(span_type="llm")
    def ask(messages):
        return {"text": "SECRET answer", "finish_reason": "stop"}

    @tracer.observe(span_type="tool")
    def pay(card):
        yield "SECRET item"
        raise Refused(f"SECRET {card}")

    def agent(question):
        book("SECRET city")
        look_up("SECRET query")
        ask([{"role": "user", "content": "SECRET question"}])
        list(pay("SECRET card"))

    recorded = run(agent, "SECRET wish", raises=Refused, span_type="agent")
    assert len(recorded) == 5
    said = encode("traces", trace_request(recorded, resource={}, content=True), protocol)
    assert said.count(b"SECRET") >= 10
    silent = encode("traces", trace_request(recorded, resource={}, content=False), protocol)
    assert b"SECRET" not in silent
    for kept in (b"execute_tool book", b"Refused", b"retrieval look_up", b"agenttrace.index"):
        assert kept in silent


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_content_no_byte_tells_a_scores_reason(protocol):
    told = [
        ("", None, Score.errored("f", 0.5, ValueError("SECRET"))),
        ("", None, Score.skipped("g", 1, "SECRET")),
    ]
    request = log_request(told, [1] * len(told), project="p", resource={}, content=False)
    assert b"SECRET" not in encode("logs", request, protocol)


def test_scores_arrive_as_events_of_their_span():
    trace_id, span_id = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    several = [(trace_id, span_id, Score.of("f", 1, 0.5)), (trace_id, None, Score.errored("g", 0.5, "no"))]
    request = log_request(several, [9, 9], project="travel", resource={}, content=True)
    passed, errored = written("logs", request).resource_logs[0].scope_logs[0].log_records
    assert passed.event_name == errored.event_name == "gen_ai.evaluation.result"
    assert (passed.trace_id.hex(), passed.span_id.hex()) == (trace_id, span_id)
    assert values(passed.attributes)["gen_ai.evaluation.score.value"] == 1.0
    assert not errored.span_id
    assert errored.severity_number == 13


@pytest.mark.parametrize("kind", ["traces", "logs"])
def test_without_its_library_protobuf_says_what_to_install_and_json_still_works(kind, monkeypatch):
    for package in ("trace", "logs"):
        monkeypatch.setitem(sys.modules, f"opentelemetry.proto.collector.{package}.v1", None)
    with pytest.raises(MissingDependency, match=r"agenttrace-evals\[otlp\].*http/json"):
        encode(kind, {}, "http/protobuf")
    assert encode(kind, {}, "http/json") == b"{}"
    assert rejected_of(kind, b"\x0a\x02\x08\x03", "application/x-protobuf") == (0, "")


@pytest.mark.parametrize("kind", ["traces", "logs"])
def test_what_a_receiver_refused_is_read_from_either_form(kind):
    field = "rejected_spans" if kind == "traces" else "rejected_log_records"
    answer = ANSWERS[kind](partial_success={field: 3, "error_message": "too old"})
    assert rejected_of(kind, answer.SerializeToString(), "application/x-protobuf") == (3, "too old")
    body = json_format.MessageToJson(answer).encode()
    assert rejected_of(kind, body, "application/json; charset=utf-8") == (3, "too old")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "application/x-protobuf"),
        (b"", "application/json"),
        (b"{}", "application/json"),
        (b'{"partialSuccess":{}}', "application/json"),
        (b'{"partialSuccess":{"rejectedSpans":"many"}}', "application/json"),
        (b'{"partialSuccess":{"rejectedSpans":{"a":1}}}', "application/json"),
        (b'{"partialSuccess":{"rejectedSpans":-4,"errorMessage":null}}', "application/json"),
        (b'{"partialSuccess":[1]}', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"\xff\xff\xff", "application/json"),
        (b"\xff\xff\xff", "application/x-protobuf"),
        (b"<html>", "text/html"),
        (b"\x0a\x02\x08\x03", ""),
    ],
)
def test_an_answer_that_cannot_be_read_refused_nothing(body, content_type):
    assert rejected_of("traces", body, content_type) == (0, "")


@given(st.binary(max_size=40), st.sampled_from(["traces", "logs"]))
def test_no_answer_of_a_server_raises(body, kind):
    for content_type in ("application/json", "application/x-protobuf"):
        count, message = rejected_of(kind, body, content_type)
        assert count >= 0
        assert isinstance(message, str)
