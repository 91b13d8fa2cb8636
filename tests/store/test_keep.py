"""Retention by age: ``keep="30d"``."""

import time

import pytest

from agenttrace import ConfigError, Tracer
from agenttrace.core.batch import Batch, Destination
from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore, open_store
from agenttrace.store.retention import Keep

DAY = 86_400 * 10**9


def began(days_ago, *, root=True):
    number = int(days_ago * 1000) + 1
    start = time.time_ns() - int(days_ago * DAY)
    return Span(
        trace_key=number << 64, span_key=2, parent_key=None if root else 1, name="a", span_type="agent",
        start_ns=start, end_ns=start + 5,
    )  # fmt: skip


def names(store):
    return sorted((time.time_ns() - line.start_ns) // DAY for line in store.traces(limit=1_000))


def test_what_is_older_than_its_age_goes_with_the_next_write(path):
    store = SQLiteStore(path, keep="30d")
    store.export([began(days) for days in (40, 31, 29, 1)])
    assert names(store) == [1, 29]
    assert store.health().retired_traces == 2
    store.close()


def test_what_may_still_run_or_is_still_to_be_sent_stays(path):
    store = SQLiteStore(path, keep="1h")
    store.write(Batch([began(0.5, root=False)]))
    store.write(Batch([began(3), began(4)], send_to=[Destination("there", "spans")]))
    store._age_limit._again_at = 0.0
    store.export([began(2)])
    assert names(store) == [0, 3, 4]
    store.close()


def test_many_old_traces_go_in_parts(path):
    plain = SQLiteStore(path)
    plain.export([began(50 + number / 100) for number in range(450)])
    plain.close()
    store = SQLiteStore(path, keep="30d")
    left = []
    for _ in range(4):
        store.export([began(0)])
        left.append(len(names(store)) - 1)
    assert left == [250, 50, 0, 0]
    store.close()


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("30d", Keep(30 * 86_400.0)),
        ("5GB", Keep(None, 5 * 1024**3)),
        ("12h, 500mb", Keep(12 * 3_600.0, 500 * 1024**2)),
        ("2w 1.5TB", Keep(14 * 86_400.0, int(1.5 * 1024**4))),
    ],
)
def test_an_age_a_size_or_both(text, keep):
    assert Keep.of(text) == keep


@pytest.mark.parametrize("text", ["", "soon", "30", "30d 10d", "5GB 6GB", "-3d", "0d", 30, "0GB"])
def test_what_is_neither_is_an_error_at_once(text):
    with pytest.raises(ConfigError, match="keep"):
        Tracer("p", store="memory", keep=text)


def test_a_tracer_gives_it_to_the_store_that_it_opens(tmp_path):
    tracer = Tracer("p", store=tmp_path / "t.db", keep="30d 5GB")
    assert (tracer.store._age_limit.seconds, tracer.store.max_bytes) == (30 * 86_400.0, 5 * 1024**3)
    with pytest.raises(ConfigError, match="give it to your own"):
        Tracer("p", store=open_store("memory"), keep="30d")
    tracer.shutdown()
