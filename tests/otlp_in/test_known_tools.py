"""What tools a recorder knew survives an export: what is imported again has the scores of the live run."""

import pytest

from agenttrace import (
    Example,
    ToolCallOrderScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    Tracer,
    TrajectoryScorer,
    call,
    expect,
    opt,
    traces_from_otlp,
)
from agenttrace.cli.main import main
from agenttrace.core.errors import AgentTraceError
from agenttrace.exporters import otlp_tools
from agenttrace.exporters.otlp_encoding import encode
from agenttrace.exporters.otlp_request import trace_request
from agenttrace.receiver import Keeper, StoreSink
from agenttrace.receiver.keeping import Request
from agenttrace.receiver.outcome import JSON, PROTOBUF
from agenttrace.store import open_store
from agenttrace.tracing import observed_function

WAYS = ("imported", "JSON", "protobuf", "a receiver", "a receiver, in pieces", "a collector between", "again")


@pytest.fixture(autouse=True)
def _no_other_tools(monkeypatch):
    monkeypatch.setattr(observed_function, "_tools", {})


def observed(tracer):
    """An agent with three tools, of which it calls the first alone."""

    @tracer.observe(span_type="tool", tags=["read"])
    def lookup(order, days=3):
        return {"order": order}

    @tracer.observe(span_type="tool", tags=["write"])
    def refund(order, amount=1, *, token="sk-live-4f9aK2mQ8xW7rT3vZ6bN1cYd"):
        return True

    @tracer.observe(span_type="tool", name="refresh_token", tags=["write"])
    def refresh(scope="all"):
        """Makes a new token."""

    @tracer.observe(span_type="agent")
    def agent(question):
        lookup(7)
        return "Done"

    return agent


@pytest.fixture
def runs(tmp_path, capsys):
    """One run: as it was captured, as it was stored, and as it comes back from each way out and in."""
    tracer = Tracer("shop", store=tmp_path / "live.db")
    with tracer.capture() as captured:
        observed(tracer)("Where is it?")
    tracer.shutdown()
    store = open_store(tmp_path / "live.db")
    stored = store.trace(captured.trace.trace_id)
    store.close()
    runs = {"live": captured.trace, "stored": stored}
    runs["imported"] = imported(exported(tmp_path / "live.db", tmp_path), tmp_path / "imported.db")
    runs["again"] = imported(exported(tmp_path / "imported.db", tmp_path), tmp_path / "again.db")
    sent = requests(stored)
    for way, protocol in (("JSON", "http/json"), ("protobuf", "http/protobuf")):
        (runs[way],) = traces_from_otlp(encode("traces", sent(stored.spans), protocol))
    runs["a receiver"] = received(sent(stored.spans))
    runs["a receiver, in pieces"] = received(*[sent([span]) for span in reversed(stored.spans)])
    runs["a collector between"] = received(through_a_collector(sent(stored.spans)))
    return runs


def exported(store, folder):
    run("traces", "export", "--to", "otlp", "--store", store, "-o", folder / "exported.jsonl")
    return folder / "exported.jsonl"


def imported(file, path):
    run("traces", "import", file, "--store", path)
    store = open_store(path)
    (trace,) = store.iter_traces()
    store.close()
    return trace


def run(*arguments):
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    assert left.value.code == 0


def requests(trace):
    """What makes a request of spans, as an exporter that knows the tools of their project does."""
    tools = {"shop": list(trace.tools.values())}
    return lambda spans: trace_request(spans, resource={}, content=True, tools=tools)


def received(*sent):
    """The trace of requests that a receiver got, each by itself, in turn as protobuf and as JSON."""
    store = open_store("memory")
    keeper = Keeper(StoreSink(store))
    for number, each in enumerate(sent):
        protocol, kind = [("http/protobuf", PROTOBUF), ("http/json", JSON)][number % 2]
        (reply,) = keeper.keep([Request(encode("traces", each, protocol), "identity", kind)])
        assert reply.outcome.status == 200
    (trace,) = store.iter_traces()
    return trace


def through_a_collector(sent):
    """As others pass it on: attributes in another order, with some of their own, in a nameless scope."""
    (resource,) = sent["resource_spans"]
    (scope,) = resource["scope_spans"]
    for span in scope["spans"]:
        span["attributes"] = [
            *reversed(span["attributes"]),
            {"key": "k8s.pod.name", "value": {"string_value": "p-1"}},
        ]
    return {
        "resource_spans": [{"resource": resource["resource"], "scope_spans": [{"spans": scope["spans"]}]}]
    }


def score_of(expected, scorer, trace):
    """Value, outcome, whether it says nothing, and the reason; or the error that an evaluation reports."""
    try:
        score = scorer.score(Example(expected_tools=expected), trace)
    except AgentTraceError as error:
        return type(error).__name__, str(error)
    return score.value, score.outcome, score.details, score.reason


CASES = {
    "all tools, one not called": (["lookup", "refund"], ToolOrderScorer(), (0.0, "failed")),
    "optional": (["lookup", opt("refund")], TrajectoryScorer(), (1.0, "passed")),
    "the calls alone": (["lookup"], ToolOrderScorer(), (1.0, "passed")),
    "in any case": (["refund", "lookup"], ToolCallOrderScorer(), (0.5, "failed")),
    "defaults": ([call("lookup", order=7)], ToolOrderScorer(), (1.0, "passed")),
    "another than the default": ([call("lookup", order=7, days=4)], ToolOrderScorer(), (0.0, "failed")),
    "no such parameter": ([call("lookup", ordr=7)], ToolOrderScorer(), None),
    "misspelt": (["lookup", "refnd"], ToolOrderScorer(), None),
    "unknown": (["lookup", "weather"], TrajectoryScorer(), None),
    "never": (expect(["lookup"], never="refund"), TrajectoryScorer(), (1.0, "passed")),
    "never, of no such tool": (expect(never="refnd"), TrajectoryScorer(), (1.0, "passed")),
    "never, of the called one": (expect(never="lookup"), TrajectoryScorer(), (0.0, "failed")),
    "tag of the called one": (["lookup"], ToolOrderScorer(tools="tag:read"), (1.0, "passed")),
    "tag of the others": (["lookup", "refund"], ToolOrderScorer(tools="tag:write"), (0.0, "failed")),
    "misspelt tag": (["lookup"], ToolOrderScorer(tools="tag:wrte"), None),
    "comparator": (
        [call("lookup", order=8)],
        ToolOrderScorer(comparators={"lookup": {"order": lambda *_: True}}),
        (1.0, "passed"),
    ),
    "comparator of one not called": (
        ["lookup"],
        ToolOrderScorer(comparators={"refund": {"amount": lambda *_: True}}),
        (1.0, "passed"),
    ),
    "comparator of no such parameter": (
        ["lookup"],
        ToolOrderScorer(comparators={"refund": {"amout": lambda *_: True}}),
        None,
    ),
    "comparator of no such tool": (["lookup"], ToolOrderScorer(comparators={"refnd": min}), None),
    "may not": (None, ToolPermissionScorer(deny=["refund"]), (1.0, "passed")),
    "may not, of no such tool": (None, ToolPermissionScorer(deny=["refnd"]), (1.0, "passed")),
}


def test_every_way_out_and_in_gives_the_scores_of_the_live_run(runs):
    for case, (expected, scorer, wanted) in CASES.items():
        scores = {way: score_of(expected, scorer, trace) for way, trace in runs.items()}
        live = scores["live"]
        assert scores == dict.fromkeys(("live", "stored", *WAYS), live), case
        assert live[:2] == wanted if wanted else isinstance(live[1], str), (case, live)


def test_the_tools_are_those_that_were_stored_and_tell_no_secret(runs):
    tools = runs["stored"].tools
    assert set(tools) == {"lookup", "refund", "refresh_token"}
    for way in WAYS:
        assert runs[way].tools == tools
        assert runs[way].tools["refresh_token"].description == "Makes a new token."
    assert (
        "sk-live"
        not in encode("traces", requests(runs["stored"])(runs["stored"].spans), "http/json").decode()
    )


def captured_run():
    tracer = Tracer("shop", store="memory")
    with tracer.capture() as captured:
        observed(tracer)("Where is it?")
    tracer.shutdown()
    return captured.trace


def of_the_version_before(trace):
    """A request that has the definitions of the tools that were called, alone."""
    return trace_request(trace.spans, resource={}, content=True)


def left_out(trace, monkeypatch):
    monkeypatch.setattr(otlp_tools, "LONGEST", 100)
    sent = requests(trace)(trace.spans)
    assert '{"left_out":3}' in encode("traces", sent, "http/json").decode().replace("\\", "").replace(" ", "")
    return sent


def cut(trace, _):
    sent = requests(trace)(trace.spans)
    for span in sent["resource_spans"][0]["scope_spans"][0]["spans"]:
        for attribute in span["attributes"]:
            if attribute["key"] == "agenttrace.tools":
                attribute["value"]["string_value"] = attribute["value"]["string_value"][:90]
    return sent


@pytest.mark.parametrize(
    "sent", [lambda trace, _: of_the_version_before(trace), left_out, cut], ids=["before", "left out", "cut"]
)
def test_where_not_all_tools_are_known_a_definition_is_of_its_call_alone(sent, monkeypatch):
    trace = received(sent(captured_run(), monkeypatch))
    assert not trace.tools
    tried = {
        "all tools, one not called": (0.0, "failed"),
        "optional": (1.0, "passed"),
        "misspelt": (0.0, "failed"),
        "defaults": (1.0, "passed"),
        "another than the default": (0.0, "failed"),
        "never, of no such tool": (1.0, "passed"),
        "never, of the called one": (0.0, "failed"),
        "tag of the called one": (1.0, "passed"),
        "comparator": (1.0, "passed"),
        "comparator of no such tool": (1.0, "passed"),
        "may not, of no such tool": (1.0, "passed"),
    }
    for case, wanted in tried.items():
        expected, scorer, _ = CASES[case]
        value, outcome, details, reason = score_of(expected, scorer, trace)
        assert (value, outcome) == wanted, (case, reason)
        assert "vacuous" not in details, case
    assert score_of(*CASES["no such parameter"][:2], trace)[0] == "ExpectationError"


@pytest.mark.parametrize("newer_first", [True, False])
def test_a_file_of_the_version_before_and_a_newer_one_are_known_together(tmp_path, newer_first):
    trace = captured_run()
    files = {"before": of_the_version_before(trace), "newer": requests(trace)(trace.spans)}
    for name in sorted(files, reverse=newer_first):
        (tmp_path / name).write_bytes(encode("traces", files[name], "http/protobuf"))
        both = imported(tmp_path / name, tmp_path / "store.db")
    assert both.tools == trace.tools


def test_a_trace_in_two_pieces_knows_the_tools_of_both_services():
    trace = captured_run()
    root, lookup = trace.spans
    other = Tracer("warehouse", store="memory")

    @other.observe(span_type="tool")
    def pack(order):
        return True

    with other.capture() as captured:
        pack(7)
    other.shutdown()
    (packed,) = captured.trace.spans
    packed.trace_key, packed.parent_key = trace.trace_key, lookup.span_key
    pack_definition = {"warehouse": [packed.tool]}
    ours = requests(trace)([root, lookup])
    theirs = trace_request([packed], resource={}, content=True, tools=pack_definition)
    assert set(received(ours, theirs).tools) == {"lookup", "refund", "refresh_token", "pack"}
    of_before = trace_request([packed], resource={}, content=True)
    for pieces in ([ours, of_before], [of_before, ours]):
        assert not received(*pieces).tools  # the other service may have more


def test_what_is_sent_without_content_tells_of_no_tools():
    trace = captured_run()
    tools = {"shop": list(trace.tools.values())}
    sent = trace_request(trace.spans, resource={}, content=False, tools=tools)
    assert b"refund" not in encode("traces", sent, "http/json")


def test_a_request_says_the_tools_of_a_project_on_one_span_of_each_trace():
    traces = [captured_run(), captured_run()]
    spans = [span for trace in traces for span in reversed(trace.spans)]
    tools = {"shop": list(traces[0].tools.values())}
    texts = otlp_tools.known_tools_texts(spans, tools)
    assert set(texts) == {(trace.trace_key, trace.root.span_key) for trace in traces}
    parts = otlp_tools.known_tools_texts([trace.spans[1] for trace in traces], tools)
    assert set(parts) == {(trace.trace_key, trace.spans[1].span_key) for trace in traces}


def test_what_models_asked_for_beside_the_called_tools_is_no_attempt_where_others_may_be_known():
    trace = captured_run()
    tracer = Tracer("shop", store="memory")
    asked = [{"id": "1", "function": {"name": "refund", "arguments": "{}"}}]
    with tracer.capture() as captured, tracer.span("model", span_type="llm") as span:
        span.output = {"role": "assistant", "tool_calls": asked}
    tracer.shutdown()
    (model,) = captured.trace.spans
    model.trace_key = trace.trace_key
    read = received(trace_request([*trace.spans, model], resource={}, content=True))
    assert {call.name: call.status for call in read.tool_calls} == {"lookup": "ok", "refund": "requested"}
