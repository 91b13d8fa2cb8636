"""Pages that are open while a process records: nothing waits for them, and no span is lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore
from agenttrace.store.file_source import FileRows
from agenttrace.store.index_fill import Fill

SPANS = 4_000
PAGES = 8

RECORD = """
import json, sys
from agenttrace import Tracer

tracer = Tracer("shop", store=sys.argv[1])

@tracer.observe(span_type="tool")
def look_up(order: int) -> int:
    return order

@tracer.observe(span_type="agent")
def agent(first: int) -> None:
    for order in range(first, first + 49):
        look_up(order)

for first in range(0, int(sys.argv[2]), 50):
    agent(first)
tracer.shutdown(timeout=120.0)
stats = tracer.stats()
print(json.dumps({"written": stats["written"], "dropped": sum(stats["dropped"].values())}))
"""


def test_no_span_is_lost_while_eight_pages_ask_for_what_is_new(tmp_path, start_server):
    path = tmp_path / "traces.db"
    server = start_server(path)
    done = threading.Event()
    statuses: list[list[int]] = [[] for _ in range(PAGES)]

    def look(seen: list[int]) -> None:
        while not done.is_set() or len(seen) < 2:
            seen += [
                server.ask(address).status for address in ("/api/v1/changes?q=", "/traces?q=tool%3Alook_up")
            ]
            done.wait(0.05)

    threads = [threading.Thread(target=look, args=(seen,), daemon=True) for seen in statuses]
    for thread in threads:
        thread.start()
    try:
        recorded = subprocess.run(
            [sys.executable, "-c", RECORD, str(path), str(SPANS)],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
    finally:
        done.set()
        for thread in threads:
            thread.join(60)
    assert json.loads(recorded.stdout) == {"written": SPANS, "dropped": 0}
    assert {status for seen in statuses for status in seen} == {200}
    assert all(seen for seen in statuses)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*), count(DISTINCT trace_id) FROM spans").fetchone() == (
            SPANS,
            SPANS // 50,
        )
    listed = server.ask("/api/v1/traces?limit=200&fields=spans").json["traces"]
    assert [trace["spans"] for trace in listed] == [50] * (SPANS // 50)


def test_a_writer_stores_while_the_index_is_in_the_middle_of_reading(tmp_path, monkeypatch):
    def span(key: int) -> Span:
        return Span(trace_key=key, span_key=1, name="agent", project="p", start_ns=key, end_ns=key + 1)

    store = SQLiteStore(tmp_path / "traces.db")
    store.export([span(1)])
    writer = SQLiteStore(tmp_path / "traces.db")
    slices = Fill.fill_slice
    written = []

    def in_the_middle(self: Fill, rows: FileRows) -> bool:
        rows.trace_count()  # what it reads stays as it is now
        key = 2 + len(written)
        writer.export([span(key)])
        written.append(writer.health().waiting)
        return slices(self, rows)

    monkeypatch.setattr(Fill, "fill_slice", in_the_middle)
    store.trace_reads().refresh(seconds=0.0)
    monkeypatch.undo()
    assert written
    assert set(written) == {0}
    assert writer.health().mode == "sqlite"
    store.trace_reads().refresh()
    assert store.trace_reads().refresh().is_ready
    assert len(store.traces()) == 1 + len(written)
    writer.close()
    store.close()
