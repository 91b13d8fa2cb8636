"""`iter_traces` gives, trace by trace, what `trace` gives for each id; stores in files read in parts."""

import sqlite3
from contextlib import closing
from itertools import islice

import pytest
from store_values import TRACE, WEATHER, a_span, a_trace, fields, write_as_before

from agenttrace.core import semconv
from agenttrace.core.errors import QueryError, StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.query_parsing import parse
from agenttrace.store import SQLiteStore, open_store, trace_stream
from agenttrace.store.remote import reads as remote_reads


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(trace_stream, "_TRACES_AT_ONCE", 3)
    monkeypatch.setattr(remote_reads, "_AT_ONCE", 3)


def key(number):
    return number << 112


def all_fields(trace):
    return trace.trace_id, [fields(span) for span in trace.spans], dict(trace.tools)


def filled(store, traces=10, project=lambda number: "p"):
    for number in range(1, traces + 1):
        store.export(a_trace(key(number), start=number * 1_000, project=project(number)))


def test_every_trace_comes_once_the_newest_first_as_trace_gives_it(store, small_parts):
    filled(store)
    streamed = list(store.iter_traces())
    assert [trace.trace_key for trace in streamed] == [key(number) for number in range(10, 0, -1)]
    assert [all_fields(trace) for trace in streamed] == [
        all_fields(store.trace(trace.trace_id)) for trace in streamed
    ]
    assert streamed[0].tool_calls[0].tool == WEATHER


def test_traces_that_began_at_once_are_all_there_across_parts(store, small_parts):
    for number in range(1, 11):
        store.export(a_trace(key(number), start=1_000))
    assert sorted(trace.trace_key for trace in store.iter_traces()) == [key(n) for n in range(1, 11)]


@pytest.mark.parametrize("limit", [0, 1, 3, 4, 10, 11, None])
def test_a_limit_is_how_many_there_are_at_most(store, small_parts, limit):
    filled(store)
    assert len(list(store.iter_traces(limit=limit))) == (10 if limit is None else min(limit, 10))


def test_a_limit_beyond_every_number_of_traces_is_none(store):
    assert list(store.iter_traces(limit=10**30)) == list(store.iter_traces())


@pytest.mark.parametrize("limit", [-1, 1.5, True, "3"])
def test_a_limit_that_is_no_number_of_traces_is_refused_at_the_call(store, limit):
    with pytest.raises(StoreError, match="limit"):
        store.iter_traces(limit=limit)


def test_a_query_and_a_project_choose_the_traces(store, small_parts):
    filled(store, project=lambda number: "even" if number % 2 == 0 else "odd")

    def numbers(*args, **options):
        return [trace.trace_key >> 112 for trace in store.iter_traces(*args, **options)]

    assert numbers(project="even") == [10, 8, 6, 4, 2]
    assert numbers("project:even") == numbers(parse("project:even")) == [10, 8, 6, 4, 2]
    assert numbers("tool:get_weather", project="odd", limit=4) == [9, 7, 5, 3]
    assert numbers("tool:nothing") == numbers(project="nobody") == []


def test_a_query_that_cannot_be_read_is_refused_at_the_call(store):
    with pytest.raises(QueryError):
        store.iter_traces("spans>>")


def test_an_empty_store_and_one_without_a_file_have_none(store):
    assert list(store.iter_traces()) == list(store.iter_traces("tool:x")) == []


def test_writing_and_deleting_go_on_between_two_traces(store, small_parts):
    filled(store)
    traces = store.iter_traces()
    first = next(traces)
    store.export(a_trace(key(77), start=77_000))
    store.delete_trace(f"{key(2):032x}")
    rest = [trace.trace_key >> 112 for trace in traces]
    assert first.trace_key == key(10)
    assert rest == [9, 8, 7, 6, 5, 4, 3, 1]


def test_no_connection_is_open_between_two_traces(sqlite_store, path, small_parts):
    filled(sqlite_store)
    traces = sqlite_store.iter_traces()
    next(traces)
    sqlite_store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        busy, in_log, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert (busy, in_log) == (0, 0), "a reader keeps the log from being folded into the database"
    assert len(list(traces)) == 9


@pytest.mark.parametrize("bound", ["_SPANS_AT_ONCE", "_TEXT_AT_ONCE"])
def test_a_part_ends_with_the_trace_that_fills_it(sqlite_store, monkeypatch, bound):
    monkeypatch.setattr(trace_stream, bound, 1)
    filled(sqlite_store, traces=4)
    sizes = []
    read = trace_stream._read
    monkeypatch.setattr(trace_stream, "_read", lambda *args: sizes.append(read(*args)) or sizes[-1])
    assert len(list(sqlite_store.iter_traces())) == 4
    assert len(list(sqlite_store.iter_traces("tool:get_weather"))) == 4
    assert {len(part.traces) for part in sizes} == {1}


def test_the_file_is_opened_once_for_many_traces(sqlite_store, monkeypatch):
    filled(sqlite_store, traces=50)
    opened = []
    read = SQLiteStore._read
    monkeypatch.setattr(SQLiteStore, "_read", lambda self, *args: opened.append(1) or read(self, *args))
    assert len(list(sqlite_store.iter_traces())) == 50
    assert len(opened) == 1


def test_what_waits_in_memory_is_among_them_with_what_the_file_has_of_it(sqlite_store, small_parts):
    filled(sqlite_store, traces=5)
    fallback = sqlite_store._fallback
    fallback.open(OSError("the disk is full"))
    fallback._again_at = float("inf")
    sqlite_store.export([a_span(99, key(3), name="late"), *a_trace(key(8), start=8_000)])
    streamed = {trace.trace_key >> 112: trace for trace in sqlite_store.iter_traces()}
    assert sorted(streamed) == [1, 2, 3, 4, 5, 8]
    assert len(list(sqlite_store.iter_traces())) == 6
    assert [all_fields(trace) for trace in streamed.values()] == [
        all_fields(sqlite_store.trace(trace.trace_id)) for trace in streamed.values()
    ]


def test_a_file_of_an_older_version_can_be_gone_through(path, small_parts):
    write_as_before(path, traces=7)
    store = SQLiteStore(path)
    streamed = list(store.iter_traces())
    assert len(streamed) == 7
    assert [all_fields(trace) for trace in streamed] == [
        all_fields(store.trace(trace.trace_id)) for trace in streamed
    ]


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_traces_of_other_libraries_are_read_as_trace_reads_them(kind, path):
    store = open_store(path if kind == "file" else "memory")
    attributes = {
        semconv.RECEIVED: True,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
    }
    store.export([a_span(5, TRACE, name="execute_tool search", span_type="span", attributes=attributes)])
    (streamed,) = store.iter_traces()
    (asked_for,) = store.iter_traces("spans>0")
    assert all_fields(streamed) == all_fields(asked_for) == all_fields(store.trace(streamed.trace_id))
    assert [call.name for call in streamed.tool_calls] == ["search"]
    store.close()


def test_a_store_without_a_stream_of_its_own_is_gone_through_one_by_one(store):
    class Plain:
        """A store of the user's own, as it was written before there were streams."""

        trace, traces, scores = store.trace, store.traces, store.scores
        runs, run = store.runs, store.run

    filled(store, traces=4)
    assert [t.trace_id for t in trace_stream.iter_traces(Plain(), "spans>1", limit=3)] == [
        t.trace_id for t in islice(store.iter_traces(), 3)
    ]


def test_a_store_that_only_inherits_the_protocol_is_gone_through_one_by_one(store):
    class Inheriting(Store):
        trace, traces, scores = store.trace, store.traces, store.scores
        runs, run = store.runs, store.run

    filled(store, traces=4)
    inheriting = Inheriting()
    wanted = [trace.trace_id for trace in store.iter_traces()]
    assert [trace.trace_id for trace in inheriting.iter_traces()] == wanted
    assert [trace.trace_id for trace in inheriting.iter_traces("spans>1")] == wanted
