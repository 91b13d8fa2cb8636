"""Our own export, read back: the same calls, and the same verdicts."""

import gzip
import itertools
import json
from pathlib import Path

import pytest

from agenttrace import (
    Example,
    ToolCallOrderScorer,
    ToolOrderScorer,
    Trace,
    Tracer,
    TrajectoryScorer,
    call,
    traces_from_otlp,
)
from agenttrace.core.score import Score
from agenttrace.exporters.otlp_encoding import encode
from agenttrace.exporters.otlp_request import log_request, trace_request

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
RUNS = (
    "tau_bench_airline_gpt-4o",
    "tau_bench_retail_grok-3_faults",
    "tau2_airline_trajectories",
    "tau2_telecom_trajectories",
)
PROTOCOLS = ("http/json", "http/protobuf")


NAMES = ("both", "genai", "openinference")
WAYS = list(itertools.product(PROTOCOLS, NAMES))


def round_trip(trace, protocol="http/json", names="both"):
    exported = encode("traces", trace_request(trace.spans, resource={}, content=True, names=names), protocol)
    (read,) = traces_from_otlp(exported)
    return read


def told(trace):
    return [
        (c.name, dict(c.arguments), c.output, c.status, str(c.error), c.agent, c.turn, dict(c.metadata))
        for c in trace.tool_calls
    ]


@pytest.fixture
def live():
    tracer = Tracer("travel", store="memory")

    @tracer.observe(span_type="tool")
    def search(city, days=3, **options):
        if city == "Nowhere":
            raise ValueError("no such city")
        return {"city": city, "days": days, "share": 0.5, "nothing": None}

    @tracer.observe(span_type="retriever")
    def look_up(query, top=2):
        return [{"id": "d1", "content": "x"}]

    @tracer.observe(span_type="agent")
    def agent(question):
        tracer.set_session_id("s-1")
        tracer.set_tags(["a", "b"])
        tracer.update_metadata({"release": "1.2"})
        look_up("hotels")
        search("Paris", deep=True)
        with pytest.raises(ValueError):
            search("Nowhere")
        tracer.log("done")
        return "Booked"

    with tracer.capture() as captured:
        agent("Book")
    tracer.shutdown()
    return captured.trace


@pytest.mark.parametrize(("protocol", "names"), WAYS)
def test_a_live_trace_comes_back_as_it_was(live, protocol, names):
    read = round_trip(live, protocol, names)
    assert told(read) == told(live)
    assert (read.trace_id, read.name, read.input, read.output) == (
        live.trace_id,
        "agent",
        live.input,
        "Booked",
    )
    assert (read.session_id, read.tags, read.metadata) == ("s-1", ("a", "b"), {"release": "1.2"})
    for ours, theirs in zip(live.spans, read.spans, strict=True):
        assert (theirs.span_id, theirs.parent_id, theirs.index) == (ours.span_id, ours.parent_id, ours.index)
        assert (theirs.name, theirs.span_type, theirs.status) == (ours.name, ours.span_type, ours.status)
        assert (theirs.input, theirs.output, theirs.project) == (ours.input, ours.output, "travel")
        assert (theirs.start_ns, theirs.end_ns) == (ours.start_ns, ours.end_ns)


@pytest.mark.parametrize(("protocol", "names"), WAYS)
@pytest.mark.parametrize(
    "expected",
    [
        call("search", city="Paris", deep=True),
        call("search", city="Paris", days=3, deep=True),
        call("search", city="Paris"),
        call("search", city="Paris", options={"deep": True}),
    ],
    ids=repr,
)
def test_defaults_and_further_names_are_compared_as_they_were(live, protocol, names, expected):
    example = Example(expected_tools=[expected, call("search", city="Nowhere")])
    read = round_trip(live, protocol, names)
    ours, theirs = (ToolOrderScorer().score(example, trace) for trace in (live, read))
    assert (theirs.value, theirs.outcome, theirs.diff) == (ours.value, ours.outcome, ours.diff)
    again = ToolOrderScorer().score(example, round_trip(read, protocol, names))
    assert (again.value, again.diff) == (ours.value, ours.diff)


def test_scores_beside_the_spans_are_no_spans(live):
    score = Score.of("Tool Order", 1.0, 1.0)
    logs = log_request([(live.trace_id, None, score)], [1], project="travel", resource={}, content=True)
    spans = trace_request(live.spans, resource={}, content=True)
    for protocol in PROTOCOLS:
        both = [encode("traces", spans, protocol), gzip.compress(encode("logs", logs, protocol))]
        (read,) = traces_from_otlp(both)
        assert len(read.spans) == len(live.spans)


def test_what_was_sent_without_content_is_not_recorded(live):
    (read,) = traces_from_otlp(trace_request(live.spans, resource={}, content=False))
    calls = [{"tool_name": "search", "parameters": {"city": city}} for city in ("Paris", "Nowhere")]
    score = ToolOrderScorer(exact_match=True).score(Example(expected_tools=calls), read)
    assert score.outcome == "errored"
    assert "OTLPExporter(content=True)" in score.reason


def example_of(record, trace):
    expected = record.get("expected") or [
        {"name": call.name, "args": dict(call.arguments)} for call in trace.tool_calls
    ]
    names = [{"tool_name": one["name"], "parameters": one.get("args") or {}} for one in expected]
    return Example(expected_tools=names)


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize(
    "result", ["21", 21, '{"a": 1}', {"a": 1}, "null", None, "", "content='x' id='1'", [1]]
)
def test_a_result_comes_back_with_its_type(result, names):
    trace = Trace.from_calls([{"name": "count", "args": {"n": "7", "m": 7}, "output": result}])
    (call,) = round_trip(trace, names=names).tool_calls
    assert (call.output, dict(call.arguments)) == (result, {"n": "7", "m": 7})


@pytest.mark.parametrize("marked", ["text/plain", "application/json", None])
def test_a_result_that_others_mark_as_text_is_text(marked):
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "count"}
    attributes |= {"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "21"}
    (call,) = one_span(attributes | ({} if marked is None else {"output.mime_type": marked})).tool_calls
    assert call.output == ("21" if marked == "text/plain" else 21)


@pytest.mark.parametrize("word", ["cache_creation", "cache_write"])
def test_tokens_written_to_a_cache_have_had_two_names(word):
    attributes = {"gen_ai.operation.name": "chat", f"gen_ai.usage.{word}.input_tokens": 7}
    assert one_span(attributes).spans[0].usage == {"cache_write_tokens": 7}


def one_span(attributes):
    span = {
        "traceId": "1" * 32,
        "spanId": "2" * 16,
        "name": "work",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": [
            {"key": key, "value": {"intValue": value} if isinstance(value, int) else {"stringValue": value}}
            for key, value in attributes.items()
        ],
    }
    (trace,) = traces_from_otlp({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    return trace


@pytest.mark.shared
@pytest.mark.parametrize("name", RUNS)
def test_every_recorded_run_has_the_same_verdicts_after_a_round_trip(name):
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("the recorded runs are not here")
    scorers = [
        ToolOrderScorer(),
        ToolOrderScorer(exact_match=True),
        ToolCallOrderScorer(),
        TrajectoryScorer(),
    ]
    records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    runs = 0
    for record in records:
        if not record["actual"]:
            continue
        keys = ("name", "args", "output", "error", "turn")
        trace = Trace.from_calls(
            [{key: call[key] for key in keys if key in call} for call in record["actual"]]
        )
        read = round_trip(trace, *WAYS[runs % len(WAYS)])
        assert told(read) == told(trace)
        example = example_of(record, trace)
        ours, theirs = ([scorer.score(example, one) for scorer in scorers] for one in (trace, read))
        assert [(s.value, s.outcome) for s in ours] == [(s.value, s.outcome) for s in theirs]
        runs += 1
    assert runs > 100
