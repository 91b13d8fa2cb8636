"""Times of spans that come in other units than OpenTelemetry's, and of spans that say none."""

import json

import pytest
from payloads import request, span

from agenttrace import Example, ScorerError, expect, traces_from_otlp
from agenttrace.core import semconv
from agenttrace.otlp_in.merging import merged
from agenttrace.otlp_in.payload import read_payload
from agenttrace.otlp_in.traces import spans_of
from agenttrace.scorers import BudgetScorer, ToolOrderScorer

BEGIN = 1_767_323_045  # seconds
ROOT = "aaaaaaaa-0000-4000-8000-000000000001"


def langsmith(key, name, kind, start, end, parent=None, **fields):
    return {
        "id": f"aaaaaaaa-0000-4000-8000-00000000000{key}", "trace_id": ROOT, "parent_run_id": parent,
        "run_type": kind, "name": name, "inputs": {"order": 7}, "outputs": {"output": "done"},
        "start_time": start, "end_time": end, **fields,
    }  # fmt: skip


def runs(of_seconds):
    """An agent of nine seconds that looks up and then refunds; the runs stand in the other order."""
    return [
        langsmith(1, "desk", "chain", of_seconds(0), of_seconds(9)),
        langsmith(2, "refund", "tool", of_seconds(3), of_seconds(4), ROOT),
        langsmith(3, "lookup", "tool", of_seconds(1), of_seconds(2), ROOT),
    ]


def read(payload):
    (trace,) = traces_from_otlp(json.dumps(payload).encode())
    return trace


def passes(trace, *tools):
    return ToolOrderScorer().score(Example(expected_tools=[*tools]), trace).passed


UNITS = [
    lambda after: BEGIN + after,
    lambda after: (BEGIN + after) * 1_000,
    lambda after: str((BEGIN + after) * 1_000),
    lambda after: (BEGIN + after) * 1_000_000,
    lambda after: (BEGIN + after) * 10**9,
    lambda after: float(BEGIN + after),
]


@pytest.mark.parametrize("of_seconds", UNITS)
def test_numbers_are_read_in_their_unit(of_seconds):
    trace = read(runs(of_seconds))
    assert trace.root.start_ns == BEGIN * 10**9
    assert trace.root.end_ns - trace.root.start_ns == 9 * 10**9
    assert passes(trace, "lookup", "refund")
    assert not passes(trace, "refund", "lookup")


@pytest.mark.parametrize("unreadable", [None, "soon", 0, -5])
def test_a_span_without_a_start_may_have_been_before_and_after_what_overlaps_it(unreadable):
    root, refund, lookup = runs(lambda after: f"2026-01-02T03:04:0{after}")
    trace = read([root, refund | {"start_time": unreadable}, lookup])
    assert min(one.start_ns for one in trace.spans) == trace.root.start_ns > 10**18
    assert passes(trace, "lookup", "refund")
    assert passes(trace, "refund", "lookup")
    with pytest.raises(ScorerError, match=r"1 of 3 spans do not say when they began .*'refund'"):
        BudgetScorer(seconds=60).score(Example(), trace)


def test_a_root_without_a_start_begins_with_the_first_of_its_spans():
    root, refund, lookup = runs(lambda after: f"2026-01-02T03:04:0{after}")
    trace = read([root | {"start_time": None}, refund, lookup])
    assert trace.root.start_ns == min(one.start_ns for one in trace.spans) > 10**18
    with pytest.raises(ScorerError, match="do not say when they began"):
        BudgetScorer(seconds=60).score(Example(), trace)


@pytest.mark.parametrize("start", ["0", "abc", None])
def test_opentelemetry_without_a_start_is_no_moment_of_1970(start):
    written = span(1, "desk", {"gen_ai.operation.name": "invoke_agent"}, start=10**18)
    child = span(2, "pay", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay"}, start=10**18)
    child |= {"parentSpanId": written["spanId"], "startTimeUnixNano": start}
    assert [one.start_ns for one in read(request(written, child)).spans] == [10**18] * 2


def test_a_run_of_langsmith_that_is_an_error_without_a_text_has_failed():
    pay = langsmith(
        1, "pay", "tool", "2026-01-02T03:04:05", "2026-01-02T03:04:06", status="error", error=None
    )
    (trace,) = traces_from_otlp(json.dumps([pay]).encode())
    (call,) = trace.tool_calls
    assert call.failed
    assert not ToolOrderScorer().score(Example(expected_tools=expect(["pay"], tool_errors=0)), trace).passed


@pytest.mark.parametrize("later", [None, "2026-01-02T03:04:03"])
def test_the_start_of_a_span_may_come_in_another_import(later):
    root, refund, _ = runs(lambda after: f"2026-01-02T03:04:0{after}")
    first, second = (None, refund["start_time"]) if later else (refund["start_time"], None)
    pieces = [spans_of(read_payload([root, refund | {"start_time": start}])) for start in (first, second)]
    before, now = (next(one for one in piece if one.name == "refund") for piece in pieces)
    span = merged(before, now)
    assert span.end_ns - span.start_ns == 10**9
    assert semconv.NO_START not in span.attributes


def test_a_span_of_which_no_import_has_the_start_has_none():
    root, refund, _ = runs(lambda after: f"2026-01-02T03:04:0{after}")
    piece = spans_of(read_payload([root, refund | {"start_time": None}]))
    span = next(one for one in piece if one.name == "refund")
    assert semconv.NO_START in merged(span, span).attributes
