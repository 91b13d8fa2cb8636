"""What the receiver answers to odd trees, impossible ids and times, and requests of other sites' pages."""

import gzip
import json

import pytest
from asking import ask

from agenttrace.receiver import Intake, Keeper, OTLPReceiver, StoreSink
from agenttrace.store import MemoryStore

TRACE = "a" * 32


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def app(store):
    intake = Intake(Keeper(StoreSink(store)))
    yield OTLPReceiver(intake)
    assert intake.close(60)


def span(number, parent=None, **fields):
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": f"s{number}",
        "startTimeUnixNano": str(1_790_000_000_000_000_000 + number),
        "endTimeUnixNano": str(1_790_000_000_000_001_000 + number),
        **fields,
    }


def payload(*spans):
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def test_a_child_before_its_parent_in_another_request_stands_below_it(app, store):
    assert ask(app, payload(span(2, 1))).status == 200
    assert store.trace(TRACE).spans[0].parent_id == f"{1:016x}"
    assert ask(app, payload(span(1))).status == 200
    trace = store.trace(TRACE)
    assert [one.name for one in trace.roots] == ["s1"]
    assert len(trace.spans) == 2


@pytest.mark.parametrize(
    ("spans", "roots"),
    [
        ([span(1, 9), span(2, 9)], 2),
        ([span(1, 2), span(2, 3), span(3, 1)], 0),
        ([span(1, 1)], 0),
        ([span(1), *(span(number, number - 1) for number in range(2, 5_001))], 1),
        ([span(1), *(span(number, 1) for number in range(2, 20_001))], 1),
    ],
    ids=["no parent", "a loop", "its own parent", "5,000 levels", "20,000 children"],
)
def test_every_span_of_an_odd_tree_is_kept_and_the_trace_is_read(app, store, spans, roots):
    answer = ask(app, gzip.compress(payload(*spans)), content_encoding="gzip")
    assert (answer.status, answer.json()) == (200, {})
    trace = store.trace(TRACE)
    assert len(trace.spans) == len(spans)
    assert len(trace.roots) == roots or roots == 0
    assert len(list(trace.tool_calls)) == 0


BAD = {
    "an id of zeros": {"spanId": "0" * 16},
    "a trace of zeros": {"traceId": "0" * 32},
    "an id that is too short": {"spanId": "ab"},
    "an id that is no hex": {"spanId": "x" * 16},
    "an id that is too long": {"traceId": "a" * 64},
}
ODD_TIMES = {
    "an end before the start": {"endTimeUnixNano": "5"},
    "before 1970": {"startTimeUnixNano": "-5"},
    "beyond 64 bits": {"endTimeUnixNano": str(1 << 70)},
    "no number": {"startTimeUnixNano": "soon"},
    "none": {"startTimeUnixNano": None, "endTimeUnixNano": None},
}


@pytest.mark.parametrize("fields", BAD.values(), ids=BAD)
def test_a_span_with_an_impossible_id_is_refused_alone_and_counted(app, store, fields):
    answer = ask(app, payload(span(1), span(2, 1, **fields), span(3, 1)))
    assert answer.status == 200
    assert answer.json()["partialSuccess"]["rejectedSpans"] in (1, "1")
    assert [one.name for one in store.trace(TRACE).spans] == ["s1", "s3"]


@pytest.mark.parametrize("fields", ODD_TIMES.values(), ids=ODD_TIMES)
def test_impossible_times_cost_no_other_span(app, store, fields):
    assert ask(app, payload(span(1), span(2, 1, **fields), span(3, 1))).status == 200
    names = {one.name for one in store.trace(TRACE).spans}
    assert {"s1", "s3"} <= names
    for one in store.trace(TRACE).spans:
        assert one.end_ns >= one.start_ns


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""],
)
def test_what_a_page_of_another_site_may_send_unasked_is_no_telemetry(app, store, kind):
    """A browser sends only these kinds to another site without asking first; nothing allows it more."""
    answer = ask(app, payload(span(1)), kind=kind, origin="http://elsewhere.example")
    assert answer.status == 415
    assert store.traces() == []
    asked_first = ask(app, method="OPTIONS", origin="http://elsewhere.example")
    assert asked_first.status == 405
    assert not any(name.startswith("access-control") for name in {**answer.headers, **asked_first.headers})
