"""An index that is behind is gone on with between requests, on a thread that ends when all is known."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from agenttrace.core.query import EVERYTHING
from agenttrace.core.query_parsing import parse
from agenttrace.core.span import Span
from agenttrace.store import MemoryStore, SQLiteStore, index_fields, index_fill
from agenttrace.viewer.filling import Filling

TRACES = 12


@pytest.fixture
def store(tmp_path, monkeypatch):
    for module in (index_fill, index_fields):
        monkeypatch.setattr(module, "FIRST_SLICE", 1)
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 1)
    store = SQLiteStore(tmp_path / "traces.db")
    for key in range(1, TRACES + 1):
        store.export([Span(trace_key=key, span_key=1, name="a", project="p", start_ns=key, end_ns=key + 1)])
    yield store
    store.close()


def known(store: SQLiteStore) -> int:
    with closing(sqlite3.connect(f"{store.path}-index")) as db:
        return db.execute("SELECT count(*) FROM traces").fetchone()[0]


def test_what_a_page_leaves_is_filled_in_after_it(store):
    reads, filling = store.trace_reads().within(0), Filling(store)
    assert len(reads.search(EVERYTHING).traces) == 1
    filling.go_on()
    filling.wait(60)
    assert known(store) == TRACES
    assert not store.trace_reads().is_behind


def test_fields_are_filled_in_where_a_page_has_asked_for_them(store):
    reads, filling = store.trace_reads().within(0), Filling(store)
    store.trace_reads().refresh()
    reads.search(parse("-input.order:7"))
    filling.go_on()
    filling.wait(60)
    assert len(reads.search(parse("-input.order:7")).traces) == TRACES


def test_without_anything_new_there_is_no_thread(store):
    filling = Filling(store)
    store.trace_reads().refresh()
    filling.go_on()
    assert filling._thread is None
    Filling(MemoryStore()).go_on()


def test_a_store_that_cannot_be_read_ends_the_thread(store):
    filling = Filling(store)
    store.trace_reads().within(0).search(EVERYTHING)
    store.close()
    with open(store.path, "wb") as file:
        file.write(b"x" * 5_000)
    filling.go_on()
    filling.wait(60)
    assert not filling._thread.is_alive()
