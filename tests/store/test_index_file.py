"""The index file: made anew where it is of no use, left alone where it is not ours, done without at need."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from store_values import TRACE, a_report, a_score, a_span, a_trace, write_as_before

from agenttrace.core import semconv
from agenttrace.core.errors import QueryError, StoreError
from agenttrace.core.query import Query
from agenttrace.core.query_parsing import parse
from agenttrace.core.span import Span
from agenttrace.core.trace_search import EveryTrace
from agenttrace.store import (
    MemoryStore,
    SQLiteStore,
    file_source,
    index_fields,
    index_file,
    index_fill,
    index_owner,
    index_queries,
    index_rows,
)
from agenttrace.store.index_reads import IndexReads
from agenttrace.store.lock import FileLock
from agenttrace.store.searched import reads_of, searched_traces
from agenttrace.store.vacuum import vacuum


@pytest.fixture
def store(path):
    store = SQLiteStore(path, busy_timeout=2)
    store.export(a_trace(trace=1, start=1_000))
    store.export(a_trace(trace=2, start=2_000, name="other"))
    yield store
    store.close()


def ids(reads, text=""):
    return [int(facts.trace_id, 16) for facts in reads.each_match(parse(text))]


def own(store):
    """Reads that share nothing with those of other tests, as of another process."""
    return IndexReads(index_file.SideIndex(file_source.FileSource(store.path, 2)))


def test_the_index_lies_beside_the_store_for_its_owner_only(store, path):
    assert ids(own(store)) == [2, 1]
    assert stat.S_IMODE(os.stat(path + "-index").st_mode) == 0o600


def test_looking_changes_no_byte_of_the_store(store, path):
    store.close()
    before = Path(path).read_bytes()
    assert ids(own(store), "tool:get_weather since:1970-01-01") == [2, 1]
    assert Path(path).read_bytes() == before


def test_without_a_store_nothing_is_made(path, tmp_path):
    reads = reads_of(SQLiteStore(path))
    assert ids(reads) == []
    assert reads.search(Query()).traces == ()
    assert reads.facets(Query(), ["tool"])["tool"].values == ()
    assert list(tmp_path.iterdir()) == []


def test_what_is_new_late_and_gone_is_taken_over(store):
    reads = own(store)
    assert ids(reads, "calls>3") == []
    store.export([a_span(99, 1, parent_key=1, start_ns=1_050, end_ns=1_060, name="late")])
    assert ids(reads, "calls>3") == [1]
    assert ids(reads, "tool:late") == [1]
    store.delete_trace(f"{2:032x}")
    assert ids(reads) == [1]
    assert ids(reads, "name:other") == []


def test_a_number_that_is_used_again_is_another_trace(store):
    """The newest trace is deleted, and the next one gets its number in the store."""
    reads = own(store)
    assert ids(reads, "hi name:other") == [2]
    store.delete_trace(f"{2:032x}")
    store.export([a_span(1, 3, name="third", span_type="agent", start_ns=9, end_ns=10, input={"p": "bye"})])
    assert ids(reads) == [1, 3]
    assert ids(reads, "hi") == [1]
    assert ids(reads, "bye") == [3]


def test_scores_whose_numbers_are_used_again_are_seen(store):
    reads = own(store)
    store.write_scores([(f"{2:032x}", None, a_score(value=0.25))])
    assert ids(reads, "score<0.5") == [2]
    store.delete_trace(f"{2:032x}")
    store.write_scores([(f"{1:032x}", None, a_score(value=0.125))])
    assert ids(reads, "score<0.2") == [1]


def test_a_root_that_is_stored_again_is_found_by_its_new_words_alone(store):
    reads = own(store)
    assert ids(reads, "hi") == [2, 1]
    again = a_trace(trace=1, start=1_000)[-1]
    again.input, again.output = {"prompt": "farewell"}, None
    store.export([again])
    assert ids(reads, "farewell") == [1]
    assert ids(reads, "hi") == [2]
    again.input = None
    store.export([again])
    assert ids(reads, "farewell") == []


def test_runs_name_examples_and_are_found_by_name_and_id(store):
    from agenttrace.core.trace import Trace

    reads = own(store)
    assert ids(reads, "is:example") == []
    report = a_report("nightly", trace=Trace(trace_key=1))
    run_id = store.write_report(report)
    assert ids(reads, "run:nightly") == ids(reads, f"run:{run_id}") == ids(reads, 'example:"case 0"') == [1]
    (facts,) = reads.each_match(parse("is:example"))
    assert (facts.verdict, facts.label("example")) == ("passed", "case 0")


def test_a_trace_without_spans_is_in_no_list_and_compared_once(store, path):
    reads = own(store)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO traces (trace_id, project, started_ns) VALUES ('f', 'p', 1)")
    assert ids(reads) == [2, 1]
    store.delete_trace(f"{2:032x}")
    assert ids(reads) == [1]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: b"not a database at all" * 100, id="another content"),
        pytest.param(lambda content: content[: len(content) // 2], id="cut in half"),
        pytest.param(lambda content: content[:4096] + os.urandom(len(content) - 4096), id="noise"),
        pytest.param(lambda content: b"", id="empty"),
    ],
)
def test_a_damaged_index_is_made_anew(store, path, damage):
    assert ids(own(store)) == [2, 1]
    content = damage(Path(path + "-index").read_bytes())
    Path(path + "-index").write_bytes(content)
    assert ids(own(store), "tool:get_weather") == [2, 1]
    assert ids(own(store), "name:other") == [2]


def test_an_index_of_another_version_is_made_anew(store, path):
    ids(own(store))
    with closing(sqlite3.connect(path + "-index")) as db, db:
        db.execute("UPDATE about SET value = -1 WHERE key = 'version'")
        db.execute("DROP TABLE labelled")
    assert ids(own(store), "name:other") == [2]


def test_another_store_in_its_place_has_an_index_of_its_own(store, path, tmp_path):
    reads = own(store)
    assert ids(reads) == [2, 1]
    other = SQLiteStore(tmp_path / "other.db")
    other.export(a_trace(trace=7))
    other.close()
    store.close()
    os.replace(other.path, path)
    assert ids(reads) == [7]


def test_a_restored_backup_is_noticed(store, path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM INTO ?", (path + ".backup",))
    reads = own(store)
    store.export(a_trace(trace=3, start=3_000))
    assert ids(reads) == [3, 2, 1]
    store.close()
    os.replace(path + ".backup", path)
    assert ids(reads) == [2, 1]


@pytest.mark.parametrize("what", ["a link", "a directory", "another application's database"])
def test_what_is_not_ours_is_left_alone_and_memory_stands_in(store, path, tmp_path, what):
    elsewhere = tmp_path / "elsewhere"
    if what == "a link":
        elsewhere.write_bytes(b"precious")
        os.symlink(elsewhere, path + "-index")
    elif what == "a directory":
        os.mkdir(path + "-index")
    else:
        with closing(sqlite3.connect(path + "-index")) as db, db:
            db.execute("CREATE TABLE theirs (x)")
    reads = own(store)
    assert ids(reads, "name:other") == [2]
    store.export(a_trace(trace=3, start=3_000))
    assert ids(reads) == [3, 2, 1]
    if what == "a link":
        assert elsewhere.read_bytes() == b"precious"
    elif what != "a directory":
        with closing(sqlite3.connect(path + "-index")) as db:
            assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_in_a_directory_that_may_not_be_written_memory_stands_in(store, path, tmp_path):
    store.close()
    tmp_path.chmod(0o500)
    try:
        assert ids(own(store), "name:other") == [2]
        assert not os.path.exists(path + "-index")
    finally:
        tmp_path.chmod(0o700)


def test_where_the_lock_cannot_be_made_memory_stands_in(store, path):
    os.mkdir(path + "-index.lock")
    assert ids(own(store), "name:other") == [2]
    assert not os.path.exists(path + "-index")


def test_a_store_of_an_older_version_is_read_anew_after_each_change(path):
    write_as_before(path, traces=3)
    reads = own(SQLiteStore(path))
    assert ids(reads, "tool:get_weather") == [3, 2, 1]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM traces WHERE id = 2")
        db.execute("DELETE FROM span_rows WHERE trace = 2")
    assert ids(reads) == [3, 1]
    store = SQLiteStore(path)
    store.export(a_trace(trace=9, start=10**6))  # the file is brought up to date
    assert ids(reads) == [9, 3, 1]
    store.close()


def test_an_index_is_built_in_slices_from_the_newest_and_gone_on_with(store, monkeypatch):
    monkeypatch.setattr(index_fill, "FIRST_SLICE", 2)
    monkeypatch.setattr(index_fill, "ROWS_AT_ONCE", 4)
    for number in range(3, 12):
        store.export(a_trace(trace=number, start=number * 1_000))
    state = own(store).refresh(seconds=0)
    assert not state.is_ready
    assert (state.done, state.total) == (2, 11)
    partial = own(store).within(0)
    assert [int(facts.trace_id, 16) for facts in partial.search(Query()).traces][:2] == [11, 10]
    store.export(a_trace(trace=12, start=12_000))
    store.delete_trace(f"{4:032x}")
    assert ids(own(store)) == [12, 11, 10, 9, 8, 7, 6, 5, 3, 2, 1]
    assert own(store).refresh().is_ready


def test_fields_are_taken_over_when_a_query_first_asks_for_one_and_bounded_as_all_else(store, monkeypatch):
    monkeypatch.setattr(index_fields, "FIRST_SLICE", 2)
    monkeypatch.setattr(index_fields, "ROWS_AT_ONCE", 4)
    for number in range(3, 12):
        store.export(a_trace(trace=number, start=number * 1_000))

    def known():
        with closing(sqlite3.connect(store.path + "-index")) as db:
            return db.execute("SELECT count(*) FROM fields").fetchone()[0]

    reads = own(store)
    assert ids(reads, "tool:get_weather") == [*range(11, 0, -1)]
    assert known() == 0
    query = parse("-input.city:nowhere")
    partial = own(store).within(0)
    assert [int(facts.trace_id, 16) for facts in partial.search(query).traces] == [11, 10]
    state = own(store).refresh(0, query=query)
    assert (state.is_ready, state.done, state.total) == (False, 4, 11)
    assert own(store).refresh(0).is_ready  # what other queries need is known
    assert ids(reads, "-input.city:nowhere") == [*range(11, 0, -1)]
    assert own(store).refresh(0, query=query).is_ready
    store.export([a_span(1, 12, name="late", span_type="tool", input={"city": "nowhere"}, start_ns=12_000)])
    store.delete_trace(f"{3:032x}")
    assert ids(reads, "input.city:nowhere") == [12]
    assert ids(reads, "-input.city:nowhere") == [11, 10, 9, 8, 7, 6, 5, 4, 2, 1]


def test_spans_that_come_in_many_slices_are_all_taken_over(store, monkeypatch):
    monkeypatch.setattr(index_fill, "ROWS_AT_ONCE", 5)
    reads = own(store)
    assert ids(reads) == [2, 1]
    for number in range(3, 9):
        store.export(a_trace(trace=number, start=number * 1_000))
    assert [facts.spans for facts in reads.each_match(Query())] == [4] * 8


def test_labels_that_many_traces_have_are_walked_and_still_right(store, monkeypatch):
    for module in (index_rows, index_queries):
        monkeypatch.setattr(module, "FEW", 3)
    for number in range(3, 12):
        store.export(a_trace(trace=number, start=number * 1_000, name=f"agent {number % 4}"))
    reads, traces = own(store), list(searched_traces(store))
    for text in ("tool:get_weather", 'name:"agent 1"', "-tool:get_weather", "status:ok hi", "customer:*"):
        query = parse(text)
        assert list(reads.each_match(query)) == list(EveryTrace(lambda: traces).each_match(query))
    with closing(sqlite3.connect(store.path + "-index")) as db:
        lists = dict(db.execute("SELECT label, count(*) FROM labelled GROUP BY label"))
        assert max(lists.values()) <= 3


def test_many_readers_fill_one_index_at_once(store):
    for number in range(3, 60):
        store.export(a_trace(trace=number, start=number * 1_000))
    answers, threads = [], []
    for _ in range(6):
        reads = own(store)
        threads.append(threading.Thread(target=lambda reads=reads: answers.append(ids(reads))))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [list(range(59, 0, -1))] * 6


def test_a_reader_does_not_wait_longer_than_it_may_for_another_that_fills(store, path):
    lock = index_file.FileLock(path + "-index")
    assert lock.acquire(60)
    try:
        state = own(store).refresh(seconds=0.01)
        assert not state.is_ready
    finally:
        lock.release()


def test_when_nothing_changed_the_store_is_not_even_opened(store, monkeypatch):
    reads = own(store)
    deadline = time.monotonic() + 10
    while True:
        reads.refresh()
        if time.time() - max(os.stat(store.path + end).st_mtime for end in ("", "-wal")) > 0.2:
            reads.refresh()
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    monkeypatch.setattr(file_source, "read", None)
    assert ids(reads, "name:other") == [2]


def test_an_answer_that_takes_too_long_is_stopped_and_says_what_to_do(store, monkeypatch):
    reads = own(store)
    ids(reads)
    monkeypatch.setattr(index_file, "SECONDS_TO_ANSWER", -1.0)
    monkeypatch.setattr(index_file, "_STEPS", 1)
    with pytest.raises(QueryError, match="narrow it, for example with since:2d"):
        reads.search(parse("hi"))


def test_a_store_that_cannot_be_read_says_so_as_ever(store, path):
    ids(own(store))
    store.close()
    with open(path, "wb") as file:
        file.write(b"x" * 5_000)
    with pytest.raises(StoreError, match="cannot be read"):
        ids(own(store))


def test_a_store_without_an_index_answers_the_same(store):
    memory = MemoryStore()
    for number, name in ((1, "agent"), (2, "other")):
        memory.export(a_trace(trace=number, start=number * 1_000, name=name))
    attributes = {semconv.CUSTOMER_ID: "acme"}
    for each in (memory, store):
        each.export([a_span(1, 3, name="third", start_ns=1, attributes=attributes, span_type="agent")])
        each.write_scores([(f"{TRACE:032x}", None, a_score()), (f"{1:032x}", None, a_score(value=0.25))])
        each.write_report(a_report())
    for text in ("", "customer:acme", "score<0.5", "name:other", "day"):
        query = parse(text)
        assert list(reads_of(memory).each_match(query)) == list(own(store).each_match(query))


def test_vacuum_gives_back_what_deleted_traces_took(store, path):
    big = [a_span(n, 5, parent_key=1, output="x" * 5_000, start_ns=n) for n in range(2, 400)]
    store.export(big)
    assert store.delete_trace(f"{5:032x}")
    size = vacuum(path, 2)
    assert size.before - size.after > 1_000_000
    assert size.after == sum(
        os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end)
    )
    store.export(a_trace(trace=6, start=6_000))  # the store goes on
    assert ids(own(store)) == [6, 2, 1]


def test_an_index_that_another_process_is_about_to_begin_is_empty_and_left_alone(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    store.export([Span(trace_key=1, span_key=1, name="agent", project="p", start_ns=1, end_ns=2)])
    path = tmp_path / "traces.db-index"
    lock = FileLock(str(path))
    assert lock.acquire(60)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {index_owner.APPLICATION_ID}")
        db.execute("PRAGMA journal_mode = WAL")
    number = path.stat().st_ino
    reads = store.trace_reads().within(0.0)
    try:
        assert reads.search(Query()).traces == ()
        assert not reads.refresh(0.0).is_ready
    finally:
        lock.release()
    assert path.stat().st_ino == number
    assert len(store.trace_reads().search(Query()).traces) == 1
    store.close()


@pytest.mark.parametrize("end", ["-index", "-index-wal"])
def test_a_pipe_where_the_index_goes_is_not_waited_for(store, path, end):
    os.mkfifo(path + end)
    assert ids(own(store), "name:other") == [2]
    assert stat.S_ISFIFO(os.stat(path + end).st_mode)


def test_a_file_of_somebodys_words_where_the_index_goes_is_moved_aside_and_not_deleted(store, path):
    Path(path + "-index").write_text("precious\n" * 100)
    assert ids(own(store), "name:other") == [2]
    (aside,) = Path(path).parent.glob("*-index.replaced-*")
    assert aside.read_text() == "precious\n" * 100


def test_a_damaged_database_of_another_application_is_left_alone(store, path):
    with closing(sqlite3.connect(path + "-index")) as db, db:
        db.execute("CREATE TABLE theirs (x)")
    content = Path(path + "-index").read_bytes()
    Path(path + "-index").write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    before = Path(path + "-index").read_bytes()
    assert ids(own(store), "name:other") == [2]
    assert Path(path + "-index").read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_index_that_another_user_planted_learns_nothing(store, path):
    Path(path + "-index").touch(mode=0o666)
    os.chown(path + "-index", 65_534, 65_534)
    assert ids(own(store), "name:other") == [2]
    assert os.stat(path + "-index").st_size == 0
