"""The inbox of failures: noted once for each case, counted, given states, back again after a fix."""

import sqlite3

import pytest

from agenttrace import Example, Score
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.failure import fingerprints_of
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore

LOW = Score.of("Contains", 0.0, 1.0)
BROKEN = Score.errored("Judge", 0.5, "TimeoutError: 30 s")


def span(trace, **fields):
    given = {"name": "agent", "span_type": "agent", "project": "shop", "start_ns": trace, "end_ns": trace + 5}
    return Span(trace_key=trace << 64, span_key=1, **{**given, **fields})


def trace_id(trace):
    return f"{trace << 64:032x}"


def fail(store, trace, *scores, **fields):
    store.write(Batch([span(trace, **fields)]))
    store.write(Batch(scores=[ScoreRow(trace_id(trace), None, score) for score in scores or (LOW,)]))


def run_of(*errors, commit="a" * 40, run_id="b" * 32):
    results = tuple(
        ScoringResult(
            example=Example(input="x"), scores=(LOW,), error=error, outcome="failed", position=place
        )
        for place, error in enumerate(errors)
    )
    return EvaluationReport(
        results=results, project="shop", metadata={"git": {"commit": commit}}, run_id=run_id
    )


def test_equal_failures_of_two_traces_are_one_with_a_count(store):
    for trace in (1, 2):
        fail(store, trace, LOW, BROKEN)
    low, broken = sorted(store.failures(), key=lambda failure: failure.scorer)
    assert (low.scorer, low.title, low.count, low.state, low.project) == (
        "Contains",
        "below its threshold",
        2,
        "open",
        "shop",
    )
    assert (broken.title, broken.count) == ("errored TimeoutError", 2)


def test_a_trace_that_is_scored_twice_is_one_case(store):
    fail(store, 1)
    fail(store, 1)
    (failure,) = store.failures()
    assert failure.count == 1


def test_a_failure_knows_the_traces_the_customers_and_what_they_cost(path):
    store = SQLiteStore(path)
    parts = {"usage": {"cost": 0.25}, "attributes": {"enduser.id": "acme"}}
    fail(store, 1, **parts)
    fail(store, 2, **{**parts, "attributes": {"enduser.id": "zeta"}})
    (failure,) = store.failures()
    assert (failure.customers, failure.cost) == (("acme", "zeta"), 0.5)
    assert set(failure.traces) == {trace_id(1), trace_id(2)}
    store.delete_trace(trace_id(1))
    (failure,) = store.failures()
    assert (failure.customers, failure.cost, failure.count) == (("zeta",), 0.25, 2)
    store.close()


def test_a_run_counts_each_result_once_however_often_it_is_written(store):
    for _ in range(2):
        store.write_report(run_of(None, "ValueError: no order 7", "ValueError: no order 8"))
    counts = {failure.title: failure.count for failure in store.failures()}
    assert counts == {"below its threshold": 3, "raised ValueError": 2}


def test_what_is_fixed_is_back_when_it_is_seen_again(store):
    fail(store, 1)
    (failure,) = store.failures()
    fixed = store.set_failure_state(failure.fingerprint[:6], "fixed", fixed_in="v2")
    assert (fixed.state, fixed.fixed_in) == ("fixed", "v2")
    fail(store, 2)
    (failure,) = store.failures()
    assert (failure.state, failure.fixed_in, failure.count) == ("back", "v2", 2)
    assert store.set_failure_state(failure.fingerprint, "open").state == "open"


def test_a_revision_that_had_it_before_the_fix_does_not_bring_it_back(path):
    store = SQLiteStore(path)
    store.write_report(run_of(None, commit="a" * 40, run_id="1" * 32))
    (failure,) = store.failures()
    store.set_failure_state(failure.fingerprint, "fixed", fixed_in="c" * 8)
    store.write_report(run_of(None, commit="a" * 40, run_id="2" * 32))
    assert [(f.state, f.count) for f in store.failures()] == [("fixed", 2)]
    store.write_report(run_of(None, commit="c" * 40, run_id="3" * 32))
    assert [(f.state, f.count) for f in store.failures()] == [("back", 3)]
    store.close()


def test_the_release_of_a_trace_is_its_revision(path):
    store = SQLiteStore(path)
    old = {"attributes": {"agenttrace.metadata": {"release": "1.0"}}}
    fail(store, 1, **old)
    (failure,) = store.failures()
    assert failure.revisions == ("1.0",)
    store.set_failure_state(failure.fingerprint, "fixed", fixed_in="1.1")
    fail(store, 2, **old)
    assert store.failures()[0].state == "fixed"
    store.close()


def test_one_of_several_who_ask_is_told_that_a_failure_is_new_and_again_when_it_is_back(store):
    fail(store, 1)
    keys = fingerprints_of(LOW)
    assert store.first_tellings("shop", keys) == {keys[0].key: "new"}
    assert store.first_tellings("shop", keys) == {}
    store.set_failure_state(keys[0].key, "fixed", fixed_in="v2")
    assert store.first_tellings("shop", keys) == {}
    fail(store, 2)
    assert store.first_tellings("shop", keys) == {keys[0].key: "back again"}
    assert store.first_tellings("shop", keys) == {}


def test_a_failure_that_nobody_knows_or_that_several_begin_with_is_an_error(store):
    store.export([span(9)])
    with pytest.raises(StoreError, match="no failure begins with 'abcd'"):
        store.set_failure_state("abcd", "open")
    with pytest.raises(StoreError, match="at least 4"):
        store.set_failure_state("a", "open")
    store.write_report(run_of(None))
    fail(store, 1, project="other")
    key = fingerprints_of(LOW)[0].key
    with pytest.raises(StoreError, match="begins several failures"):
        store.set_failure_state(key, "open")
    assert store.set_failure_state(key, "fixed", project="other").project == "other"


def test_what_a_store_in_memory_kept_for_the_file_is_noted_there(path, monkeypatch):
    store = SQLiteStore(path)
    fail(store, 1)
    before = store.failures()[0].count
    batch = Batch([span(2)], [ScoreRow(trace_id(2), None, LOW)])
    store._fallback.open(OSError("full"))
    store._fallback.keep(batch)
    store._fallback._again_at = 0.0
    assert store.flush(60)
    assert store.failures()[0].count == before + 1
    store.close()


def test_a_file_of_an_older_version_has_no_failures_to_read(path, monkeypatch):
    from agenttrace.store import migrations

    whole = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", whole[:5])
    store = SQLiteStore(path)
    store.export([span(1)])
    store.close()
    monkeypatch.setattr(migrations, "MIGRATIONS", whole)
    later = SQLiteStore(path)
    assert (later.failures(), later.annotations(), later.writers()) == ([], [], [])
    fail(later, 2)
    assert len(later.failures()) == 1
    later.close()


def test_a_version_with_five_steps_may_go_on_with_the_file(path):
    store = SQLiteStore(path)
    store.export([span(1)])
    store.close()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (5,)


def test_kinds_of_failure_are_bounded_and_the_newest_stay(path, monkeypatch):
    from agenttrace.store import failures

    monkeypatch.setattr(failures, "MOST_FAILURES", 100)
    store = SQLiteStore(path)
    store.export([span(1)])
    rows = [ScoreRow(trace_id(1), None, Score.errored(f"s{number}", 1, "x")) for number in range(250)]
    store.write(Batch(scores=rows))
    kinds = store.failures(limit=1_000)
    assert 100 <= len(kinds) < 200
    assert kinds[0].scorer == "s249"
    store.close()


def test_the_failures_of_each_state_are_counted(store):
    fail(store, 1, LOW, BROKEN)
    store.set_failure_state(fingerprints_of(LOW)[0].key, "fixed")
    assert store.failure_counts() == {("shop", "open"): 1, ("shop", "fixed"): 1}


def test_a_name_that_is_no_text_is_looked_for_and_is_not_there(tmp_path):
    """As a command line has bytes that are no UTF-8."""
    store = SQLiteStore(tmp_path / "t.db")
    store.write(Batch(scores=[ScoreRow("1" * 32, None, Score.of("Judge", 0.0, 0.5))]))
    name = "\udcff"
    assert store.failures(project=name) == []
    assert store.annotations(trace_id=name, project=name) == []
    assert store.stored_scores(name=name, project=name) == []
    with pytest.raises(StoreError, match="no failure begins"):
        store.set_failure_state(name * 4, "open", project=name)
    store.close()
