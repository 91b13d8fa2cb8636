"""What the side index costs, in bytes and in steps: these do not depend on the machine."""

import os
import sqlite3
from contextlib import closing

import pytest

from agenttrace.core.query_parsing import parse
from agenttrace.core.trace_reads import NEWEST_FIRST, Sort
from agenttrace.store import SQLiteStore, index_fill
from agenttrace.store.index_queries import IndexQueries
from benchmarks import index

TRACES = 1_500


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = SQLiteStore(tmp_path_factory.mktemp("index") / "traces.db")
    index.fill(store, 0, TRACES)
    store.close()
    store.trace_reads().refresh()
    return store


def test_the_index_takes_at_most_an_eighth_of_the_store(store):
    size, of_index = (os.path.getsize(store.path + end) for end in ("", "-index"))
    assert of_index <= 0.12 * size


def steps(store, text, sort=NEWEST_FIRST):
    """How many instructions SQLite carries out for a page of 50."""
    count = 0

    def step():
        nonlocal count
        count += 1

    with closing(sqlite3.connect(store.path + "-index")) as db:
        db.set_progress_handler(step, 1)
        page = IndexQueries(db).search(parse(text), sort, 50, None, None)
        db.set_progress_handler(None, 0)
    assert page.traces
    return count


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("", "-time"),
        ("", "-duration"),
        ("", "-cost"),
        ("", "score"),
        ("session:session-3", "-time"),
        ("looped:3", "-time"),
    ],
)
def test_a_page_reads_no_more_than_it_shows(store, text, sort):
    """Walking all 1,500 traces would take at least 12 steps each."""
    assert steps(store, text, Sort.of(sort)) < (6_000 if not text else 12_000)


def test_new_traces_alone_are_read_again(store, monkeypatch):
    read = []
    original = index_fill._traces

    def counted(*arguments):
        for number, outlines in original(*arguments):
            read.append(len(outlines))
            yield number, outlines

    monkeypatch.setattr(index_fill, "_traces", counted)
    spans = index.fill(store, TRACES, 20)
    store.trace_reads().refresh()
    assert (len(read), sum(read)) == (20, spans)
    store.close()
    store.trace_reads().refresh()
    assert len(read) == 20


def test_everything_is_measured(monkeypatch):
    monkeypatch.setattr(index, "QUERIES", {"newest 50": ("", "-time")})
    monkeypatch.setattr(index, "QUICK", 60)
    monkeypatch.setattr(index, "NEW", (1, 2))
    found = index.measure(quick=True)
    assert found["spans"] > 60
    assert "newest 50" in index.report(found)
