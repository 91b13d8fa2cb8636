"""What is true of every outbox: in memory, in the store's file."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Batch
from agenttrace.core.span import Span
from agenttrace.exporters.otlp_signal import MemoryOutbox
from agenttrace.store import outbox as outbox_module
from agenttrace.store.outbox import SQLiteOutbox
from agenttrace.store.sqlite import SQLiteStore


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    def make(max_bytes=10_000):
        if request.param == "memory":
            return MemoryOutbox(max_bytes)
        store = SQLiteStore(tmp_path / "traces.db")
        return SQLiteOutbox(store._must_write, store._read, "http://collector", max_bytes)

    return make


@pytest.fixture
def outbox(make):
    return make()


def batch(body=b"body", items=1, kind="traces"):
    return Batch(kind, "application/x-protobuf", items, body)


def bodies(outbox, max_bytes=1_000):
    return [found.body for found in outbox.oldest(max_bytes)]


def test_an_empty_outbox_holds_nothing(outbox):
    assert outbox.oldest(5) == []
    assert outbox.counts() == (0, 0)
    assert outbox.retry_refused() == 0


def test_batches_come_out_whole_and_oldest_first(outbox):
    outbox.put([batch(b"a", 3), batch(b"b", 4, "logs")])
    outbox.put([batch(b"\x00\xff", 5)])
    found = outbox.oldest(10)
    assert [(p.kind, p.content_type, p.items, p.body) for p in found] == [
        ("traces", "application/x-protobuf", 3, b"a"),
        ("logs", "application/x-protobuf", 4, b"b"),
        ("traces", "application/x-protobuf", 5, b"\x00\xff"),
    ]
    assert len({p.key for p in found}) == 3
    assert bodies(outbox, 2) == [b"a", b"b"]
    assert bodies(outbox, 0) == [b"a"]
    assert outbox.counts() == (12, 0)


def test_what_was_sent_is_dropped_and_dropping_it_again_does_nothing(outbox):
    outbox.put([batch(b"a"), batch(b"b")])
    first = outbox.oldest(1)[0].key
    assert outbox.settle([first]) == 1
    assert outbox.settle([first]) == 0
    assert bodies(outbox) == [b"b"]


def test_what_was_refused_waits_no_more_until_it_is_retry_refusedted(outbox):
    outbox.put([batch(b"good and bad", 9), batch(b"fine")])
    key = outbox.oldest(1)[0].key
    assert outbox.settle([key], [(batch(b"bad", 7), "answered 400 \ud800")]) == 9
    assert bodies(outbox) == [b"fine"]
    assert outbox.counts() == (1, 7)
    assert outbox.retry_refused() == 7
    assert sorted(bodies(outbox)) == [b"bad", b"fine"]
    assert outbox.counts() == (8, 0)
    assert outbox.retry_refused() == 0


def test_what_went_in_the_meantime_is_not_refused_into_the_outbox_again(outbox):
    outbox.put([batch(b"gone")])
    key = outbox.oldest(1)[0].key
    outbox.settle([key])
    assert outbox.settle([key], [(batch(b"gone"), "answered 400")]) == 0
    assert outbox.counts() == (0, 0)


def test_beyond_its_size_the_refused_go_then_the_oldest_and_are_counted(make):
    outbox = make(max_bytes=100)
    assert outbox.put([batch(b"a" * 40, 2)]) == 0
    assert outbox.put([batch(b"b" * 40, 3)]) == 0
    outbox.settle([outbox.oldest(100)[1].key], [(batch(b"b" * 40, 3), "bad")])
    assert outbox.put([batch(b"c" * 40, 4)]) == 3
    assert bodies(outbox) == [b"a" * 40, b"c" * 40]
    assert outbox.put([batch(b"d" * 40, 5)]) == 2
    assert outbox.counts() == (9, 0)
    assert outbox.put([batch(b"e" * 500, 9)]) == 18
    assert outbox.counts() == (0, 0)


def test_in_a_file_what_nobody_sends_for_long_goes(tmp_path, monkeypatch):
    outbox = SQLiteStore(tmp_path / "traces.db").outbox("http://used-no-more")
    outbox.put([batch(b"old")])
    monkeypatch.setattr(outbox_module, "MAX_AGE_NS", -1)
    SQLiteStore(tmp_path / "traces.db").outbox("http://another").put([batch(b"new")])
    assert outbox.counts() == (0, 0)


def test_what_waits_in_a_file_costs_no_trace_its_place(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db", max_bytes=2_000_000)
    spans = [Span(trace_key=number + 1, span_key=1, name="kept") for number in range(50)]
    store.export(spans)
    for number in range(8):
        store.outbox(f"http://{number}").put([batch(b"x" * 400_000)])
    store.export([Span(trace_key=99, span_key=1, name="newest")])
    assert len(store.traces(limit=100)) == 51


def test_in_a_file_destinations_are_apart_and_outlive_the_process(tmp_path):
    one = SQLiteStore(tmp_path / "traces.db")
    one.outbox("http://a").put([batch(b"a")])
    one.outbox("http://b").put([batch(b"b")])
    one.close()
    other = SQLiteStore(tmp_path / "traces.db")
    assert bodies(other.outbox("http://a")) == [b"a"]
    assert bodies(other.outbox("http://b")) == [b"b"]


def test_in_a_file_one_sends_at_a_time(tmp_path):
    first = SQLiteStore(tmp_path / "traces.db").outbox("http://a")
    second = SQLiteStore(tmp_path / "traces.db").outbox("http://a")
    assert first.lease("one", 30.0)
    assert first.lease("one", 30.0)
    assert not second.lease("two", 30.0)
    second.release("two")
    assert not second.lease("two", 30.0)
    first.release("one")
    assert second.lease("two", 30.0)


def test_the_lease_of_one_who_died_runs_out(tmp_path):
    outbox = SQLiteStore(tmp_path / "traces.db").outbox("http://a")
    assert outbox.lease("dead", 0.0)
    assert outbox.lease("alive", 30.0)


def test_a_lease_from_before_the_clock_was_set_back_is_void(tmp_path):
    outbox = SQLiteStore(tmp_path / "traces.db").outbox("http://a")
    assert outbox.lease("yesterday", 3600.0 * 24)
    assert outbox.lease("now", 5.0)


def test_a_file_that_cannot_be_written_is_an_error_that_its_caller_can_see(tmp_path):
    (tmp_path / "traces.db").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        SQLiteStore(tmp_path / "traces.db").outbox("http://a").put([batch()])
