"""The side index of a store on a server: what is new, late and gone there; where it lies."""

import os
import stat

import pytest
from store_values import a_score, a_trace

from agenttrace.core.batch import ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.query_parsing import parse
from agenttrace.store import MemoryStore
from agenttrace.store.bulk_scores import replace_scores
from agenttrace.store.index_file import SideIndex
from agenttrace.store.index_reads import IndexReads
from agenttrace.store.postgres import index_source
from agenttrace.store.postgres.index_source import ServerSource
from agenttrace.store.postgres.store import PostgresStore
from agenttrace.store.root_inputs import root_inputs
from agenttrace.store.searched import reads_of
from agenttrace.viewer.reads import Reads


@pytest.fixture(autouse=True)
def caches(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches"


@pytest.fixture
def store(postgres_address):
    store = PostgresStore(postgres_address)
    yield store
    store.close()


@pytest.fixture
def fresh(store):
    """Reads that share nothing with those of other tests but the file, as of another process."""
    sources = []

    def reads():
        sources.append(ServerSource(store._address))
        return IndexReads(SideIndex(sources[-1]))

    yield reads
    for source in sources:
        source.close()


def ids(reads, text=""):
    return [int(facts.trace_id, 16) for facts in reads.each_match(parse(text))]


def connect(address):
    import psycopg

    return psycopg.connect(address.partition("?")[0], autocommit=True)


def path_of(address):
    return address.rpartition("schema=")[2]


def test_the_index_lies_in_the_users_own_folder_and_nobody_else_reads_it(store, fresh, caches):
    store.export(a_trace(1))
    assert ids(fresh()) == [1]
    [path] = caches.glob("agenttrace/postgresql-*-index")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    assert b"not-asked-for" not in path.read_bytes()


def test_where_no_folder_can_be_made_memory_stands_in(store, fresh, caches):
    caches.write_text("in the way")
    store.export(a_trace(1))
    reads = fresh()
    assert ids(reads) == [1]
    store.export(a_trace(2, start=10**6))
    assert ids(reads) == [2, 1]


def test_what_a_transaction_commits_late_is_taken_over_although_later_ones_were_before(
    store, fresh, postgres_address
):
    store.export(a_trace(1))
    reads = fresh()
    assert ids(reads) == [1]
    with connect(postgres_address) as db, db.transaction():
        db.execute(f'SET LOCAL search_path TO "{path_of(postgres_address)}"')
        [number] = db.execute(
            "INSERT INTO traces (trace_id, project, name, started_ns) VALUES (%s, 'p', 'slow', 9)"
            " RETURNING id",
            (f"{7:032x}",),
        ).fetchone()
        db.execute(
            "INSERT INTO span_rows SELECT %s, 5, month, NULL, 1, function, 9, 10, NULL, NULL, NULL"
            " FROM span_rows WHERE parent IS NULL LIMIT 1",
            (number,),
        )
        store.export(a_trace(2, start=10**6))
        assert ids(reads) == [2, 1]
    assert sorted(ids(reads)) == [1, 2, 7]


def test_an_index_that_is_far_behind_goes_on_in_slices(store, fresh, monkeypatch):
    monkeypatch.setattr(index_source, "TRACES_AT_ONCE", 4)
    store.export(a_trace(1))
    reads = fresh()
    assert ids(reads) == [1]
    for number in range(2, 30):
        store.export(a_trace(number, start=number * 1_000))
    assert not fresh().refresh(seconds=0).is_ready
    assert ids(fresh(), "input.city:Paris") == list(range(29, 0, -1))
    assert ids(reads) == list(range(29, 0, -1))


def test_when_nothing_was_written_no_row_is_read(store, fresh, monkeypatch):
    store.export(a_trace(1))
    reads = fresh()
    assert ids(reads) == [1]
    monkeypatch.setattr(index_source.ServerRows, "new_spans", None)
    assert ids(reads) == [1]


def test_an_index_that_is_older_than_the_notes_of_deleted_traces_is_made_anew(store, fresh, postgres_address):
    for number in (1, 2, 3):
        store.export(a_trace(number, start=number * 1_000))
    reads = fresh()
    assert ids(reads) == [3, 2, 1]
    store.delete_trace(f"{2:032x}")
    with connect(postgres_address) as db:
        db.execute(f'SET search_path TO "{path_of(postgres_address)}"')
        db.execute("UPDATE gone_traces SET at = now() - interval '31 days'")
    store._old_notes._again_at = 0.0
    store.export(a_trace(4, start=4_000))
    with connect(postgres_address) as db:
        db.execute(f'SET search_path TO "{path_of(postgres_address)}"')
        assert db.execute("SELECT count(*) FROM gone_traces").fetchone() == (0,)
    assert ids(reads) == [4, 3, 1]
    assert ids(reads) == [4, 3, 1]


def test_tables_that_were_made_anew_are_another_store(store, fresh, postgres_address):
    store.export(a_trace(1))
    reads = fresh()
    assert ids(reads) == [1]
    with connect(postgres_address) as db:
        db.execute(f'DROP SCHEMA "{path_of(postgres_address)}" CASCADE')
    anew = PostgresStore(postgres_address)
    anew.export(a_trace(2))
    anew.close()
    assert ids(reads) == [2]


def test_a_server_that_cannot_be_asked_is_said():
    reads = reads_of(PostgresStore("postgresql://somebody@127.0.0.1:1/nowhere?connect_timeout=1"))
    with pytest.raises(StoreError, match="cannot be read"):
        ids(reads)


def test_pages_show_what_is_known_and_lists_read_inputs_at_once(store):
    store.export([*a_trace(1), *a_trace(2, start=10**6)])
    reads = Reads.of(store, fill_seconds=60)
    assert reads.facts(f"{1:032x}") is not None
    assert reads.index_state() is None
    assert reads.path == store.address
    assert not reads.is_missing
    wanted = [f"{number:032x}" for number in (1, 2, 3)]
    alone = MemoryStore()
    alone.export([*a_trace(1), *a_trace(2, start=10**6)])
    assert root_inputs(store, wanted) == root_inputs(alone, wanted) != {}


def test_scores_that_are_made_again_take_the_place_of_the_old_ones(store):
    store.export(a_trace(1))
    row = (f"{1:032x}", None, a_score(value=0.0))
    store.write_scores([row])
    for _ in range(2):
        replace_scores(store, [ScoreRow(*row)], {})
    assert len(store.scores(f"{1:032x}")) == 1
