"""What pages read: statements, rows and characters, however large the store and the trace are."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter

import pytest

from agenttrace.core import semconv
from agenttrace.core.span import Span, SpanError
from agenttrace.store import SQLiteStore, connection
from agenttrace.store.light_traces import LightTrace
from agenttrace.viewer.app import PAGES
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.session_page import session_page
from agenttrace.viewer.span_page import span_page
from agenttrace.viewer.trace_list import trace_list
from agenttrace.viewer.trace_page import trace_page
from agenttrace.viewer.two_traces import two_traces

START = 1_750_000_000_000_000_000
TRACE = f"{9:032x}"


@pytest.fixture
def counts(monkeypatch) -> Counter[str]:
    """Statements, rows and characters of what readers read from now on."""
    seen: Counter[str] = Counter()
    connect = connection._connect_reader

    def row(cursor: sqlite3.Cursor, values: tuple) -> tuple:
        seen["rows"] += 1
        seen["characters"] += sum(len(value) for value in values if isinstance(value, str | bytes))
        return values

    def counting(uri: str, timeout: float) -> sqlite3.Connection:
        db = connect(uri, timeout)
        db.row_factory = row
        # Those that begin so are what SQLite asks itself for the index of words, in parts as it likes.
        db.set_trace_callback(lambda text: seen.update([] if text.startswith("--") else ["statements"]))
        return db

    monkeypatch.setattr(connection, "_connect_reader", counting)
    return seen


def span(key: int, parent: int | None, *, trace: int = 9, **more) -> Span:
    fields = {"name": f"step_{key % 7}", "span_type": "tool", "project": "p", **more}
    start = START + trace * 10**9 + key * 1_000
    return Span(
        trace_key=trace,
        span_key=key,
        parent_key=parent,
        index=key,
        start_ns=start,
        end_ns=start + 900,
        **fields,
    )


def long_run(path, spans: int = 5_000) -> Reads:
    """A trace whose spans have three kilobytes of values each; some of them failed."""
    values = {"input": {"order_id": 7, "text": "words " * 250}, "output": {"text": "words " * 250}}
    made = [span(1, None, name="agent", span_type="agent", **values)]
    for key in range(2, spans + 1):
        is_step = key % 25 == 0
        failed = {"status": "error", "error": SpanError("E", "no")} if key % 997 == 0 else {}
        parent = 1 if is_step or key < 25 else key // 25 * 25
        made.append(span(key, parent, span_type="chain" if is_step else "tool", **values, **failed))
    store = SQLiteStore(path)
    store.export(made)
    return Reads.of(store)


def test_a_page_of_5000_spans_reads_the_values_of_what_it_shows_alone(tmp_path, counts):
    reads = long_run(tmp_path / "traces.db")
    settled(tmp_path / "traces.db")
    reads.traces.refresh()
    counts.clear()
    status, text = trace_page(reads, {"id": TRACE})
    assert status == 200
    assert "words words" in text
    assert counts["rows"] <= 5_000 + 500
    assert counts["statements"] <= 80
    assert counts["characters"] <= 600_000  # of 15 million


def test_a_page_of_a_span_reads_its_values_and_no_others_whole(tmp_path, counts):
    reads = long_run(tmp_path / "traces.db")
    counts.clear()
    status, text = span_page(reads, {"id": TRACE, "span": f"{4_000:016x}"})
    assert status == 200
    assert "words words" in text
    assert counts["characters"] <= 100_000


def test_a_light_trace_is_the_whole_one_without_its_values(tmp_path):
    store = long_run(tmp_path / "traces.db", spans=60).store
    store.export(
        [
            span(
                100,
                77,
                status="cancelled",
                attributes={"status": "of mine", semconv.CALL_STATUS: "attempted"},
            ),
            span((1 << 64) - 1, 100, attributes={"status": "error"}, usage={"total_tokens": 3}, output="é"),
        ]
    )
    whole, light = store.trace(TRACE), LightTrace.of(store, TRACE[:31])
    names = ("trace_key", "span_key", "parent_key", "index", "name", "span_type", "start_ns", "end_ns")
    for one, other in zip(whole.spans, light.trace.spans, strict=True):
        assert [getattr(one, name) for name in (*names, "status", "project")] == [
            getattr(other, name) for name in (*names, "status", "project")
        ]
        assert other.input is None
        assert other.output is None
    assert [s.to_dict() for s in light.with_values(light.trace.spans)] == [s.to_dict() for s in whole.spans]
    assert light.inputs(light.trace.spans) == {
        s.span_key: s.input for s in whole.spans if s.input is not None
    }
    assert light.tool_calls == whole.tool_calls
    assert LightTrace.of(store, "f" * 32) is None


def test_a_trace_that_was_deleted_meanwhile_has_no_values(tmp_path):
    store = long_run(tmp_path / "traces.db", spans=60).store
    light = LightTrace.of(store, TRACE)
    store.delete_trace(TRACE)
    assert light.inputs(light.trace.spans) == {}
    assert light.with_values(light.trace.spans[:1]) == list(light.trace.spans[:1])
    assert len(light.tool_calls) == len([s for s in light.trace.spans if s.span_type == "tool"])


def settled(path) -> None:
    """Let the store's files look as if they were not changed lately: else readers look again each time."""
    for file in path.parent.glob(f"{path.name}*"):
        os.utime(file, (1_750_000_000, 1_750_000_000))


def many_traces(path, traces: int) -> Reads:
    store = SQLiteStore(path)
    made = []
    for key in range(1, traces + 1):
        made += [span(1, None, trace=key, name="agent", span_type="agent", input={"prompt": "where"})]
        made += [span(number, 1, trace=key) for number in range(2, 6)]
    store.export(made)
    return Reads.of(store)


@pytest.mark.parametrize("query", ["", "tool:step_3", "where", "-status:error"])
def test_a_list_of_many_traces_takes_hardly_more_statements_than_one_of_few(tmp_path, counts, query):
    needed = []
    for traces in (150, 600):
        reads = many_traces(tmp_path / f"{traces}.db", traces)
        settled(tmp_path / f"{traces}.db")
        reads.traces.refresh()
        counts.clear()
        assert trace_list(reads, {"q": query})[0] == 200
        needed.append(dict(counts))
    few, many = needed
    assert few["statements"] <= many["statements"] <= few["statements"] + 20
    assert many["statements"] <= 140
    # What is counted (matches, facets, bars) is a row of a number or of labels a trace, of 5,000 at most.
    assert many["rows"] <= few["rows"] + 10 * 450


@pytest.mark.parametrize("path", PAGES)
def test_a_page_of_a_small_store_takes_few_statements(reads, counts, path):
    from test_pages import asks

    asked = asks(reads).get(path, {})
    reads.traces.refresh()
    counts.clear()
    assert PAGES[path](reads, asked)[0] == 200
    assert counts["statements"] <= 400


def test_a_session_reads_the_values_of_roots_alone(tmp_path, counts):
    reads = long_run(tmp_path / "traces.db", spans=1_000)
    root = {"attributes": {semconv.SESSION_ID: "s"}, "input": {"prompt": "where is it"}, "output": "there"}
    reads.store.export([span(1, None, name="agent", span_type="agent", **root)])
    reads.traces.refresh()
    counts.clear()
    status, text = session_page(reads, {"session": "s"})
    assert status == 200
    assert "where is it" in text
    assert counts["characters"] <= 100_000


def test_two_long_traces_beside_each_other_stay_a_small_page(tmp_path):
    reads = long_run(tmp_path / "traces.db", spans=1_000)
    status, text = two_traces(reads, {"id": TRACE, "other": TRACE})
    assert status == 200
    assert len(text.encode()) <= 100_000
    assert text.count("<") - text.count("</") <= 2_500
    assert "more" in text


def test_a_trace_whose_spans_have_to_be_read_together_is_not_read_light(tmp_path):
    def reading(spans):
        if semconv.RECEIVED not in spans[0].attributes:
            return spans, {}
        return [span(one.span_key, None, name="read together") for one in spans], {}

    store = SQLiteStore(tmp_path / "traces.db")
    store.export([span(1, None, attributes={semconv.RECEIVED: {}}), span(2, None, trace=10)])
    store.reading = reading
    assert [one.name for one in LightTrace.of(store, TRACE).trace.spans] == ["read together"]
    assert [one.name for one in LightTrace.of(store, f"{10:032x}").trace.spans] == ["step_2"]
    store.reading = None
    assert [one.name for one in LightTrace.of(store, TRACE).trace.spans] == ["step_1"]
