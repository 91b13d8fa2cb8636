"""Each process that writes notes its counts, seldom, and that it has ended."""

import subprocess
import sys

from agenttrace import Tracer
from agenttrace.core.batch import Batch
from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore, writer_notes


def span(number):
    return Span(trace_key=number << 64, span_key=1, name="a", span_type="agent", start_ns=1, end_ns=2)


class Recorder:
    def __init__(self, **counts):
        self._counts = counts

    def counts(self):
        return self._counts


def test_the_counts_of_the_tracers_and_of_the_store_are_noted_together(path):
    store = SQLiteStore(path)
    first, second = Recorder(queue_full=3), Recorder(queue_full=4, sampled_out=1)
    for at, recorder in enumerate((first, second)):
        store._notes._again_at = 0.0
        store.write(Batch([span(at)], recorder=recorder))
    (writer,) = store.writers()
    assert (writer.counts["queue_full"], writer.counts["sampled_out"]) == (7, 1)
    assert writer.counts["written"] == 1  # what was stored before this batch
    assert writer.ended_ns is None
    store.close()
    (writer,) = SQLiteStore(path).writers()
    assert (writer.counts["written"], writer.ended_ns is not None) == (2, True)


def test_they_are_noted_with_a_batch_and_not_more_often_than_every_few_seconds(path, monkeypatch):
    noted = []
    note = writer_notes.WriterNotes.note
    monkeypatch.setattr(
        writer_notes.WriterNotes, "note", lambda *args, **more: noted.append(more) or note(*args, **more)
    )
    store, recorder = SQLiteStore(path), Recorder()
    for at in range(50):
        store.write(Batch([span(at)], recorder=recorder))
    assert noted == [{}]
    store.close()
    assert noted == [{}, {"ended": True, "losses": {}}]


def test_what_comes_without_a_tracer_leaves_no_row(path):
    store = SQLiteStore(path)
    store.export([span(1)])
    store.close()
    assert SQLiteStore(path).writers() == []


SCRIPT = """
import sys
from agenttrace import Tracer
tracer = Tracer("p", store=sys.argv[1])
@tracer.observe
def work(): pass
for _ in range(20): work()
"""


def test_every_process_has_a_row_and_says_when_it_has_ended(path):
    for _ in range(2):
        subprocess.run([sys.executable, "-c", SCRIPT, path], check=True, timeout=60)
    writers = SQLiteStore(path).writers()
    assert len({writer.pid for writer in writers}) == 2
    assert [(writer.counts["written"], writer.ended_ns is not None) for writer in writers] == [(20, True)] * 2


def test_a_tracer_s_drops_are_in_its_row(tmp_path):
    tracer = Tracer("p", store=tmp_path / "t.db", sample_rate=0.0)

    @tracer.observe
    def work():
        pass

    work()
    kept = Tracer("p", store=tracer.store)
    with kept.span("a"):
        pass
    kept.flush()
    (writer,) = tracer.store.writers()
    assert set(writer.counts) >= {"queue_full", "sampled_out", "written", "lost", "busy"}
    kept.shutdown()
    tracer.shutdown()
