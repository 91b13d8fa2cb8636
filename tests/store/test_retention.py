import os

import pytest
from store_values import a_span, a_trace

from agenttrace.core.errors import ConfigError
from agenttrace.store import SQLiteStore


def test_an_old_open_trace_is_kept_for_a_day_and_then_goes(path, monkeypatch):
    store = SQLiteStore(path, max_bytes=250_000)
    now = 10**18
    monkeypatch.setattr("agenttrace.store.span_writes.time.time_ns", lambda: now)
    store.export([a_span(5, 1, parent_key=1, start_ns=now - 3600 * 10**9)])
    store.export([a_span(5, 2, parent_key=1, start_ns=now - 3 * 86400 * 10**9)])
    for number in range(3, 200):
        store.export(a_trace(number, calls=20, start=now + number))
    trace_keys = {int(line.trace_id, 16) for line in store.traces(limit=1000)}
    assert 1 in trace_keys
    assert 2 not in trace_keys
    assert 199 in trace_keys
    assert store.health().retired_traces == 199 - len(trace_keys)
    store.close()
    assert os.path.getsize(path) < 400_000


def test_a_file_does_not_grow_by_the_many_traces_of_one_write(path):
    store = SQLiteStore(path, max_bytes=250_000)
    for number in range(4):
        store.export([a_span(1 + number * 4_000 + place, 1, parent_key=None) for place in range(4_000)])
    store.close()
    assert os.path.getsize(path) < 2_000_000
    assert len(list(store.traces(limit=20_000))) < 2_000


@pytest.mark.parametrize("max_bytes", [True, -1, 0, "5GB", 5e9, float("nan"), None])
def test_a_size_that_is_no_number_of_bytes_is_refused(path, max_bytes):
    with pytest.raises(ConfigError, match="max_bytes is a whole number of bytes, 1 or more, got"):
        SQLiteStore(path, max_bytes=max_bytes)


def test_a_trace_that_is_larger_than_the_limit_stays_until_a_newer_one_ends(path):
    store = SQLiteStore(path, max_bytes=250_000)
    now = 10**18
    store.export(a_trace(1, calls=20, start=now))
    store.export(a_trace(2, calls=8_000, start=now + 1))
    assert [int(line.trace_id, 16) for line in store.traces()] == [2]
    store.export(a_trace(3, calls=20, start=now + 2))
    assert [int(line.trace_id, 16) for line in store.traces()] == [3]
    store.close()
