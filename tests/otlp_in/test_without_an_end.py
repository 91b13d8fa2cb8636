"""Spans that come without their end: how long they took, and how they ended, is not known."""

import json
from functools import reduce

import pytest
from payloads import TRACE, request, span

from agenttrace import Example, ScorerError, Trace, expect, traces_from_otlp
from agenttrace.core import semconv
from agenttrace.core.marks import remedy_in
from agenttrace.exporters.otlp_encoding import encode
from agenttrace.exporters.otlp_request import trace_request
from agenttrace.otlp_in.merging import merged
from agenttrace.otlp_in.payload import read_payload
from agenttrace.otlp_in.traces import spans_of
from agenttrace.reports.tree import trace_lines
from agenttrace.scorers import BudgetScorer, ToolOrderScorer

ROOT, CHILD = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
DAY = "2026-10-02T10:00:"


def langsmith(end, output=None, kind="chain", key=ROOT, parent=None, **fields):
    return {
        "id": key, "trace_id": ROOT, "parent_run_id": parent, "run_type": kind, "name": "desk",
        "inputs": {"order": 7}, "outputs": output, "start_time": f"{DAY}00",
        "end_time": end and f"{DAY}{end}", **fields,
    }  # fmt: skip


def langfuse(end, **fields):
    return {
        "id": "o1", "traceId": TRACE, "type": "SPAN", "name": "desk", "input": {"order": 7},
        "startTime": f"{DAY}00Z", "endTime": end and f"{DAY}{end}Z", **fields,
    }  # fmt: skip


def otlp(end):
    written = span(1, "desk", {"gen_ai.operation.name": "invoke_agent"}, start=10**18)
    del written["endTimeUnixNano"]
    return request(written | ({} if end is None else {"endTimeUnixNano": end}))


def jaeger(duration):
    written = {"traceID": TRACE, "spanID": "1", "operationName": "desk", "startTime": 10**15}
    return {"data": [{"spans": [written | ({} if duration is None else {"duration": duration})]}]}


WITHOUT_END = [langsmith(None), langfuse(None), otlp(None), otlp("0"), otlp(""), otlp("soon"), jaeger(None)]


@pytest.mark.parametrize("payload", WITHOUT_END)
def test_a_span_without_an_end_is_abandoned_and_its_output_not_recorded(payload):
    (trace,) = traces_from_otlp(json.dumps(payload).encode())
    assert trace.root.status == "abandoned"
    assert "had not ended" in remedy_in(trace.output)


@pytest.mark.parametrize("payload", WITHOUT_END)
def test_a_limit_on_seconds_is_errored_and_says_why(payload):
    (trace,) = traces_from_otlp(payload)
    with pytest.raises(ScorerError, match=r"Budget limits seconds, and 1 of 1 spans had not ended .*'desk'"):
        BudgetScorer(seconds=1).score(Example(), trace)
    with pytest.raises(ScorerError, match="had not ended"):
        ToolOrderScorer().score(Example(expected_tools=expect([], seconds=1)), trace)


def test_what_is_known_of_the_time_is_enough_to_break_a_limit():
    (trace,) = traces_from_otlp([langsmith(None), langsmith("09", "x", key=CHILD, parent=ROOT)])
    score = BudgetScorer(seconds=5).score(Example(), trace)
    assert (score.value, score.reason) == (0.0, "0 of 1 limits kept: seconds at least 9 of 5")


@pytest.mark.parametrize(
    ("fields", "status", "failed"),
    [
        ({}, "requested", None),
        ({"output": {"output": "done"}}, "answered", None),
        ({"error": "ValueError('declined')"}, "error", True),
    ],
)
def test_of_a_tool_without_an_end_only_what_is_recorded_is_known(fields, status, failed):
    tool = langsmith(None, kind="tool", key=CHILD, parent=ROOT, **fields)
    (trace,) = traces_from_otlp([langsmith("09", {"output": "x"}), tool])
    (call,) = trace.tool_calls
    assert (call.status, call.failed, call.arguments) == (status, failed, {"order": 7})
    if status == "requested":
        assert "had not ended" in remedy_in(call.known_output)


def test_a_moment_of_langfuse_has_ended():
    (trace,) = traces_from_otlp(langfuse(None, type="EVENT"))
    assert trace.root.status == "ok"
    assert BudgetScorer(seconds=1).score(Example(), trace).passed


def test_a_duration_of_nothing_is_one():
    (trace,) = traces_from_otlp(jaeger(0))
    assert trace.root.status == "ok"


FIRST, LAST = langsmith(None, kind="tool"), langsmith("02", {"output": "done"}, kind="tool")


@pytest.mark.parametrize("payloads", [[FIRST, LAST], [LAST, FIRST], [FIRST, LAST, FIRST]])
def test_the_end_may_come_in_another_import(payloads):
    span = reduce(merged, [spans_of(read_payload(payload))[0] for payload in payloads])
    (call,) = Trace([span]).tool_calls
    assert (call.status, call.output, call.end_ns - call.start_ns) == ("ok", "done", 2 * 10**9)
    assert semconv.UNFINISHED not in span.attributes


def test_the_tree_says_what_had_not_ended():
    tool = langsmith(None, kind="tool", key=CHILD, parent=ROOT) | {"name": "refund"}
    (trace,) = traces_from_otlp([langsmith(None), tool])
    text = "\n".join(line.text for line in trace_lines(trace))
    assert "desk  [chain]  not ended  ABANDONED" in text
    assert "refund  [tool]  not ended  ABANDONED" in text
    assert "requested, execution not recorded" in text
    assert " so far · 2 spans" in text


def test_an_export_of_what_had_not_ended_is_read_back_as_such():
    (trace,) = traces_from_otlp(FIRST)
    sent = encode("traces", trace_request(trace.spans, resource={}, content=True, names="both"), "http/json")
    (read,) = traces_from_otlp(sent)
    (call,) = read.tool_calls
    assert (call.status, read.root.status) == ("requested", "abandoned")
    with pytest.raises(ScorerError, match="had not ended"):
        BudgetScorer(seconds=1).score(Example(), read)


@pytest.mark.parametrize("payload", [[FIRST, LAST], [LAST, FIRST]])
def test_of_a_span_that_stands_twice_the_one_with_an_end_counts(payload):
    (trace,) = traces_from_otlp(payload)
    assert (trace.tool_calls[0].status, trace.tool_calls[0].output) == ("ok", "done")
