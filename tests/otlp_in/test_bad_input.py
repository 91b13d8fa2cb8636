"""Whatever a payload is: a list of traces, or an error that says what was got. Nothing else is lost."""

import gc
import gzip
import json
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from payloads import attribute, log, request, span

from agenttrace import TelemetryError, Trace, traces_from_otlp
from agenttrace.exporters.otlp_encoding import encode
from agenttrace.exporters.otlp_request import trace_request
from agenttrace.otlp_in import arrival
from agenttrace.otlp_in.payload import read_payload

TOOL = {"gen_ai.tool.name": "t", "gen_ai.tool.call.arguments": '{"a": 1}', "gen_ai.tool.call.result": "x"}
GOOD = request(span(1, "agent"), span(2, "execute_tool t", TOOL, parent=1))
(TRACE,) = traces_from_otlp(GOOD)
PROTOBUF = encode("traces", trace_request(TRACE.spans, resource={}, content=True), "http/protobuf")


def read(payload):
    """The traces, or the error's text; anything else is raised."""
    try:
        traces = traces_from_otlp(payload)
    except TelemetryError as error:
        return str(error)
    assert all(isinstance(trace, Trace) for trace in traces)
    for trace in traces:  # every reading of a trace ends
        assert len(trace.tool_calls) + len(list(trace.walk())) >= 0
        json.dumps(trace.to_dict(), allow_nan=False).encode()
    return traces


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "no bytes"),
        (b"hello", "protobuf"),
        (b"{", "no JSON"),
        (b"[1]", "wanted a request"),
        (b'{"a": 1}', "wanted resourceSpans"),
        (5, "wanted a request of OTLP"),
        ([[[[]]]], "wanted a request of OTLP"),
        ({"resourceSpans": 5}, "wanted a list"),
        ({"resourceSpans": [5]}, "wanted a mapping"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [5]}]}]}, "wanted a mapping"),
        (gzip.compress(b"x" * 1000, mtime=0)[:15], "gzip that is cut"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-8] + b"\xff" * 8, "gzip that is damaged"),
    ],
    ids=str,
)
def test_what_is_no_request_is_an_error_that_says_what_was_got(payload, words):
    assert words in read(payload)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"traceId": "ab"}, "trace id of 1 bytes"),
        ({"spanId": "0" * 16}, "span id of zeros"),
        ({"spanId": "abcd" * 8}, "span id of 16 bytes"),
        ({"parentSpanId": "abc"}, "parent's span id of 3 bytes"),
        ({"traceId": None}, "trace id of 0 bytes"),
    ],
    ids=str,
)
def test_ids_of_the_wrong_length_are_named_and_nothing_else_is_lost(change, words):
    payload = request(span(1, "good"), {**span(2, "bad"), **change})
    assert words in read(payload)
    assert "'bad'" in read(payload)
    whole = read_payload(payload)
    assert ([one.name for one in whole.spans], whole.unread) == (["good"], 1)


DEEP = {"stringValue": "x"}
for _ in range(50):
    DEEP = {"arrayValue": {"values": [DEEP]}}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"attributes": 5}, "attributes: got int 5"),
        ({"attributes": [{"key": "k", "value": {"arrayValue": 5}}]}, "arrayValue: got int 5"),
        ({"attributes": [{"key": "k", "value": DEEP}]}, "nested more than 32 levels"),
        ({"events": [5]}, "events: got int 5"),
        ({"status": "ERROR"}, "status: got str 'ERROR'"),
        (None, "spans: got int 5"),
    ],
    ids=str,
)
def test_a_record_of_wrong_types_is_named_and_nothing_else_is_lost(bad, words):
    one = 5 if bad is None else {**span(2, "bad"), **bad}
    whole = read_payload(request(span(1, "good"), one, span(3, "good")))
    assert ([each.name for each in whole.spans], whole.unread) == (["good", "good"], 1)
    assert words in whole.problems[0]
    assert bad is None or "'bad'" in whole.problems[0]


def test_a_resource_of_wrong_types_costs_its_own_spans_alone():
    parts = [{"resource": 5}, *request(span(1, "good"))["resourceSpans"], {"scopeSpans": 5}, 5]
    whole = read_payload({"resourceSpans": parts})
    assert ([each.name for each in whole.spans], whole.unread) == (["good"], 3)


def test_a_log_record_with_ids_of_the_wrong_length_is_counted():
    records = [log(1, "a", {}), {**log(1, "b", {}), "traceId": "ab"}, {**log(1, "c", {}), "spanId": "abcd"}]
    records.append({key: value for key, value in log(1, "d", {}).items() if not key.endswith("Id")})
    whole = read_payload(request(logs=records))
    assert [each.event.name for each in whole.logs] == ["a", "d"]
    assert whole.problems == [
        "log record 'b': got a trace id of 1 bytes, wanted 16",
        "log record 'c': got a span id of 2 bytes, wanted 8",
    ]


def test_a_record_of_protobuf_that_cannot_be_read_costs_itself_alone():
    field = lambda number, content: bytes([number << 3 | 2]) + varint(len(content)) + content  # noqa: E731
    ids = [field(1, b"\1" * 16) + field(2, bytes([number]) * 8) for number in (1, 2, 3)]
    records = [ids[0] + field(5, b"good"), ids[1] + b"\xff\xff", ids[2] + field(5, b"good")]
    whole = read_payload(field(1, field(2, b"".join(field(2, record) for record in records))))
    assert ([each.name for each in whole.spans], whole.unread) == (["good", "good"], 1)
    assert "cut or damaged" in whole.problems[0]


@pytest.mark.parametrize("lines", [("{bad", 1, 2), (1, "{bad", 2), ("", "{bad", 1, 2), (1, 2, "{")], ids=str)
def test_a_broken_line_costs_itself_alone_wherever_it_stands(lines):
    good = {number: json.dumps(request(span(number, "good"))) for number in (1, 2)}
    whole = read_payload("\n".join(good.get(one, one) for one in lines).encode())
    assert (len(whole.spans), whole.unread) == (2, 1)


@pytest.mark.parametrize(
    "first",
    [
        b'ue": {"stringValue": "refund"}}]}]}]}]}',
        b"# exported on Monday",
        b"2026-10-02 10:00:00 INFO exporter started",
        '\u00e9tait"}'.encode()[1:],
        b"\n  cut",
        b"",
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_first_line_that_is_none_costs_itself_alone(first, pack):
    lines = [first, *(json.dumps(request(span(number, "x"))).encode() for number in (1, 2))]
    arrival = read_payload(pack(b"\n".join(lines)))
    assert len(arrival.spans) == 2
    assert arrival.unread == (1 if first else 0)


def test_damaged_protobuf_with_documents_in_its_texts_is_protobuf():
    whole = b"\n\x00" + b'\x12{"a": 1}\n{"a": 1}\n'
    with pytest.raises(TelemetryError, match="protobuf"):
        read_payload(whole)


def test_a_document_over_lines_that_was_cut_is_one_error():
    text = json.dumps(request(span(1, "x"), span(2, "y")), indent=1)
    assert read(text[: len(text) // 2].encode()).startswith("got text that is no JSON")


def test_a_request_as_text_is_an_error_that_says_what_to_hand_over():
    text = json.dumps(GOOD)
    assert "payload.encode()" in read(text)
    assert "payload.encode()" in read(text * 100)


def test_a_role_that_is_no_text_loses_nothing():
    said = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.content": "x"}
    for role in ({"a": 1}, ["user"], 5):
        named = said | {"llm.input_messages.0.message.role": role}
        (trace,) = read(request(span(1, "chat", named), span(2, "execute_tool t", TOOL)))
        assert trace.tool_calls[0].arguments == {"a": 1}


def test_an_observation_without_a_trace_is_counted_not_put_with_others():
    good = {"id": "a", "traceId": "t1", "type": "TOOL", "name": "good"}
    whole = read_payload({"data": [good, {"id": "b", "type": "TOOL", "name": "bad"}]})
    assert ([one.name for one in whole.spans], whole.problems) == (
        ["good"],
        ["observation 'bad': got no trace's id"],
    )
    assert "wanted resourceSpans" in read({"type": ["TOOL"], "id": "a"})


def test_protobuf_cut_anywhere_is_an_error_or_a_shorter_list():
    for size in range(len(PROTOBUF)):
        read(PROTOBUF[:size])


@given(st.binary(max_size=200), st.integers(0, len(PROTOBUF)), st.integers(0, 40))
def test_damaged_protobuf_is_an_error_or_a_list(noise, at, skipped):
    read(noise)
    read(b"\n" + noise)
    read(PROTOBUF[:at] + noise + PROTOBUF[at + skipped :])


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["{", '{"a":', "[[", "'", "NaN", '"\\ud800"', "1e999", "{1: 2}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(
    [
        "traceId",
        "spanId",
        "parentSpanId",
        "name",
        "startTimeUnixNano",
        "endTimeUnixNano",
        "attributes",
        "events",
        "status",
    ]
)


@given(st.dictionaries(keys, json_values, max_size=3))
def test_fields_of_wrong_types_are_an_error_or_are_read(fields):
    read(request(span(1, "x"), {**span(2, "y"), **fields}))


@given(json_values)
def test_any_json_is_an_error_or_a_list(value):
    read(json.dumps([value]).encode())
    read(value if isinstance(value, dict) else None)
    read({"resourceSpans": value})
    read({"resourceLogs": value})


WORDS = [
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "tool.name",
    "openinference.span.kind",
    "input.value",
    "output.value",
    "tool.parameters",
    "llm.output_messages.0.message.role",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name",
    "gen_ai.completion.0.tool_calls.0.name",
    "gen_ai.output.messages",
    "gen_ai.input.messages",
    "gen_ai.tool.definitions",
    "agenttrace.span.type",
    "agenttrace.received",
    "agenttrace.metadata",
    "agenttrace.tags",
    "agenttrace.call",
    "agenttrace.call.status",
    "agenttrace.turn",
    "agenttrace.index",
    "gen_ai.agent.name",
    "session.id",
    "gen_ai.tool.call.id",
    "events",
    "agenttrace.not_recorded",
    "otel.scope.name",
    "error.type",
    "gen_ai.usage.input_tokens",
    "ai.response.toolCalls",
]
SAID = [
    "TOOL",
    "LLM",
    "execute_tool",
    "chat",
    "tool",
    "{}",
    "[]",
    "null",
    '{"a": [1]}',
    '[{"role": 5, "parts": [5]}]',
    '{"properties": {"a": 5}}',
    '[{"name": "t", "parameters": {"properties": {"a": {"default": 1}}}}]',
    "assistant",
    '[{"role": "assistant", "parts": [{"type": "tool_call", "name": "t", "arguments": "["}]}]',
]


@given(
    st.lists(
        st.dictionaries(st.sampled_from(WORDS), st.sampled_from(SAID) | json_values, max_size=5),
        min_size=1,
        max_size=4,
    )
)
def test_any_attributes_are_read(spans):
    """Under the names that tables know, any value: hostile ones, and those of other dialects."""
    written = [span(number, "x", parent=number - 1 or None) for number in range(1, len(spans) + 1)]
    for one, values in zip(written, spans, strict=True):
        one["attributes"] = [{"key": key, "value": attribute_of(value)} for key, value in values.items()]
    assert isinstance(read(request(*written)), list)


def attribute_of(value):
    try:
        return attribute("", value)["value"]
    except KeyError:
        return {"arrayValue": {"values": []}}


def test_values_are_bounded_in_depth():
    value = {"stringValue": "x"}
    for _ in range(2_000):
        value = {"arrayValue": {"values": [value]}}
    one = span(1, "x")
    one["attributes"] = [{"key": "deep", "value": value}]
    assert "nested" in read(request(one))
    deep = "[" * 50_000
    (trace,) = read(request(span(1, "t", {"tool.name": "t", "input.value": deep + "]" * 50_000})))
    assert trace.tool_calls[0].arguments == {"input": deep + "]" * 50_000}
    inner = b"\x0a\x01x"
    for _ in range(100):
        items = b"\x0a" + varint(len(inner)) + inner
        inner = b"\x2a" + varint(len(items)) + items
    field = lambda number, content: bytes([number << 3 | 2]) + varint(len(content)) + content  # noqa: E731
    pair = field(9, field(1, b"k") + field(2, inner))
    whole = field(1, field(2, field(2, field(1, b"\1" * 16) + field(2, b"\1" * 8) + pair)))
    assert "nested" in read(whole)


def varint(number):
    written = b""
    while number > 0x7F:
        written, number = written + bytes([number & 0x7F | 0x80]), number >> 7
    return written + bytes([number])


def test_the_error_is_a_value_error_of_the_house():
    assert issubclass(TelemetryError, ValueError)


def test_payloads_are_bounded_in_size_and_number(monkeypatch):
    monkeypatch.setattr("agenttrace.otlp_in.payload.MOST_BYTES", 10_000)
    assert "more than 10,000 bytes" in read(gzip.compress(b" " * 1_000_000))
    assert "more than 10,000 bytes" in read(b"[" + b" " * 20_000 + b"]")
    monkeypatch.setattr(arrival, "MOST_RECORDS", 5)
    assert "more than 5 records" in read(request(*[span(number, "x") for number in range(1, 9)]))


def test_a_hundred_thousand_spans_in_one_request():
    one = span(1, "execute_tool t", {"gen_ai.tool.name": "t"})
    spans = [{**one, "spanId": f"{number:016x}", "parentSpanId": f"{1:016x}"} for number in range(1, 100_001)]
    (trace,) = traces_from_otlp(request(*spans))
    assert len(trace.spans) == 100_000


def test_parents_in_a_circle_end():
    spans = [
        span(1, "execute_tool t", TOOL, parent=2),
        span(2, "execute_tool t", TOOL, parent=1),
        span(3, "x", parent=3),
    ]
    (trace,) = read(request(*spans))
    assert len(trace.spans) == 3


def test_a_chain_of_very_many_parents_is_read_and_paths_are_bounded():
    chain = [span(number, f"s{number}", parent=number - 1 or None) for number in range(1, 10_001)]
    (trace,) = traces_from_otlp(request(*chain, span(10_001, "execute_tool t", TOOL, parent=10_000)))
    (only,) = trace.tool_calls
    assert (len(only.path), only.path[-1], only.path[0]) == (500, "s10000", "s9501")


def test_the_same_batch_twice_counts_once():
    (trace,) = traces_from_otlp([GOOD, GOOD, PROTOBUF])
    assert len(trace.spans) == 2


def test_parents_may_come_later():
    child, parent = request(span(2, "execute_tool t", TOOL, parent=1)), request(span(1, "agent"))
    (trace,) = traces_from_otlp([child, parent])
    assert trace.root.name == "agent"
    assert [call.path for call in trace.tool_calls] == [("agent",)]


def test_clocks_that_are_apart_lose_nothing():
    spans = [
        span(1, "agent", start=5_000_000, end=1_000),
        span(2, "execute_tool t", TOOL, parent=1, start=10, end=20),
    ]
    (trace,) = traces_from_otlp(request(*spans))
    assert len(trace.tool_calls) == 1
    assert all(one.duration_ns >= 0 for one in trace.spans)
    odd = {**span(3, "x"), "startTimeUnixNano": "-5", "endTimeUnixNano": 1e40}
    (trace,) = traces_from_otlp(request(odd))
    assert (trace.spans[0].start_ns, trace.spans[0].end_ns) == ((1 << 63) - 1, (1 << 63) - 1)


def test_every_way_to_hand_a_payload_over(tmp_path):
    text = json.dumps(GOOD)
    lines = tmp_path / "lines.jsonl"
    lines.write_text(f"{text}\n\n{json.dumps(request(span(7, 'x')))}\n")
    packed = tmp_path / "packed.bin"
    packed.write_bytes(gzip.compress(PROTOBUF))
    names = {"agent", "t"}
    for payload in (
        GOOD,
        text.encode(),
        "\ufeff".encode() + text.encode(),
        PROTOBUF,
        packed,
        str(packed),
        [GOOD],
    ):
        (trace,) = traces_from_otlp(payload)
        assert {one.name for one in trace.spans} == names
    (trace,) = traces_from_otlp(lines)
    assert {one.name for one in trace.spans} == names | {"x"}
    with pytest.raises(TelemetryError, match=r"lines\.jsonl"):
        lines.write_text(text + "\n{broken\n") and traces_from_otlp(lines)
    with pytest.raises(FileNotFoundError):
        traces_from_otlp(tmp_path / "none.json")


def test_a_double_that_is_no_number_is_kept_as_what_it_was():
    one = span(1, "x")
    one["attributes"] = [{"key": "share", "value": {"doubleValue": "NaN"}}]
    (trace,) = read(request(one))
    assert trace.spans[0].attributes["share"] == {"$float": "NaN"}
    assert struct.calcsize("<d") == 8


def test_reading_takes_time_in_proportion():
    """Twice the spans, about twice the processor time: nothing here is quadratic."""

    def seconds(count):
        payload = request(
            *[span(n, "execute_tool t", TOOL, parent=n - 1 or None) for n in range(1, count + 1)]
        )
        begun = time.thread_time()  # of this thread alone: those of other tests may be at work
        traces_from_otlp(payload)
        return time.thread_time() - begun

    seconds(100)
    gc.collect()
    gc.disable()  # what other tests left is not to be gone through on the way
    try:
        assert seconds(8_000) < 20 * max(seconds(2_000), 0.01)
    finally:
        gc.enable()
