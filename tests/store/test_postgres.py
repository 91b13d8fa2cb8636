"""The store on a PostgreSQL server: its address, and what it does while the server is away."""

import os
import sys
import threading
import time

import pytest
from store_values import TRACE, a_report, a_score, a_span, a_trace

from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import ConfigError, MissingDependency, StoreError
from agenttrace.core.pending import WorkItem
from agenttrace.store import open_store
from agenttrace.store.postgres import PostgresStore
from agenttrace.store.postgres import connection as connections
from agenttrace.store.postgres.spans import month_of

ID = f"{TRACE:032x}"
NOWHERE = "postgresql://annabel:hunter2@127.0.0.1:1/traces"


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "says"),
        [
            ("postgresql://annabel:hunter2@host/traces?shema=x", "did you mean 'schema'"),
            ("postgresql://annabel:hunter2@host:port/traces", "port"),
            ("postgresql://annabel:hunter2@[host/traces", "host"),
            ("postgresql://annabel:hunter2@host/\0", "zero"),
            ("postgresql://annabel:hunter2@host/traces?schema=", "1 to 63 bytes"),
            ("postgresql://annabel:hunter2@host/traces?schema=pg_temp", "pg_"),
            (f"postgresql://annabel:hunter2@host/traces?schema={'x' * 64}", "63 bytes"),
        ],
    )
    def test_a_wrong_one_is_an_error_that_says_what_is_wanted_and_no_password(self, address, says):
        with pytest.raises(ConfigError) as caught:
            open_store(address)
        assert says in str(caught.value)
        assert "hunter2" not in str(caught.value)

    def test_a_password_is_shown_nowhere(self, caplog):
        store = open_store(NOWHERE)
        store.write(Batch(a_trace()))
        with pytest.raises(StoreError) as caught:
            store.traces()
        texts = [repr(store), store.address, str(caught.value), str(store.health()), caplog.text]
        assert [text for text in texts if "hunter2" in text] == []
        assert "annabel@127.0.0.1:1" in texts[0]

    def test_a_missing_driver_is_an_error_that_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(MissingDependency, match=r"agenttrace-evals\[postgres\]"):
            open_store(NOWHERE).traces()

    def test_a_size_is_no_limit_of_a_server(self):
        with pytest.raises(ConfigError, match="age alone"):
            open_store(NOWHERE, keep="5GB")

    @pytest.mark.parametrize("schema", ["select", "Team A", 'a"b', "größe", "x';--"])
    def test_a_schema_may_have_any_name(self, postgres_server, schema):
        from urllib.parse import quote

        import psycopg

        store = PostgresStore(f"{postgres_server.address}?schema={quote(schema)}")
        store.export(a_trace())
        assert store.trace(ID) is not None
        store.close()
        with psycopg.connect(postgres_server.address, autocommit=True) as db:
            db.execute(psycopg.sql.SQL("DROP SCHEMA {} CASCADE").format(psycopg.sql.Identifier(schema)))


class TestTables:
    def test_of_many_processes_that_open_at_once_one_makes_them(self, postgres_address):
        stores = [PostgresStore(postgres_address) for _ in range(6)]
        failures = []

        def use(store, number):
            try:
                store.export(a_trace(number))
                assert store.health().mode == "postgres"
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=use, args=(one, n)) for n, one in enumerate(stores, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failures == []
        assert len(stores[0].traces()) == 6
        for store in stores:
            store.close()

    def test_those_of_a_newer_version_are_left_alone_and_what_is_recorded_waits(self, postgres_address, db):
        first = PostgresStore(postgres_address)
        first.export(a_trace())
        first.close()
        db.execute("INSERT INTO steps VALUES ('9999_of_the_future', 1)")
        db.execute("INSERT INTO about VALUES ('least', '9999_of_the_future')")
        store = PostgresStore(postgres_address)
        with pytest.raises(StoreError, match="newer version"):
            store.traces()
        store.export(a_trace(2))
        assert store.health().mode == "memory"
        db.execute("DELETE FROM about WHERE key = 'least'")  # what it adds means nothing to this version
        at_once(store)
        assert store.flush(30)
        assert len(store.traces()) == 2
        store.close()

    def test_a_month_has_a_table_and_times_beyond_all_sense_have_one_too(self, postgres_address, db):
        store = PostgresStore(postgres_address)
        starts = [-5, 0, 1_700_000_000_000_000_000, (1 << 63) - 1]
        store.export([a_span(n, n, start_ns=start) for n, start in enumerate(starts, 1)])
        names = {name for (name,) in db.execute("SELECT relname FROM pg_class WHERE relkind = 'r'")}
        assert {"span_rows_0", "span_rows_202311", "span_rows_209913"} <= names
        assert sorted(one.start_ns for one in store.traces()) == starts
        store.close()

    @pytest.mark.parametrize(
        ("moment", "month"),
        [
            ("2019-12-31T23:59:59", 0),
            ("2020-01-01T00:00:00", 202001),
            ("2024-02-29T23:59:59", 202402),
            ("2099-12-31T23:59:59", 209912),
            ("2100-01-01T00:00:00", 209913),
        ],
    )
    def test_months_are_those_of_utc(self, moment, month):
        from datetime import UTC, datetime

        seconds = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
        assert month_of(int(seconds) * 10**9) == month


def test_zero_characters_and_halves_of_pairs_harm_nobody(postgres_address):
    store = PostgresStore(postgres_address)
    store.export([
        a_span(1, name="a\0b", input={"text": "x\0y"}, output="\0", project="p\0"),
        a_span(2, output={"half": "\ud800"}, name="c"),
    ])  # fmt: skip
    store.write_scores([(ID, None, a_score("s\0"))])
    trace = store.trace(ID)
    assert {span.span_key: span.input for span in trace.spans}[1] == {"text": "x\0y"}
    assert [score.name for _, score in store.scores(ID)] == ["s\N{SYMBOL FOR NULL}"]
    assert store.health().quarantined == 0
    store.close()


def test_a_bad_span_goes_into_quarantine_and_harms_no_other(postgres_address, db):
    store = PostgresStore(postgres_address)
    store.export([a_span(1), a_span(1 << 64), a_span(2)])
    assert len(store.trace(ID).spans) == 2
    assert store.health().quarantined == 1
    assert db.execute("SELECT count(*) FROM quarantine").fetchone() == (1,)
    store.close()


def test_traces_that_are_too_old_go(postgres_address):
    store = PostgresStore(postgres_address, keep="1d")
    store.write_scores([(ID, None, a_score())])
    store.export(a_trace(start=1_600_000_000_000_000_000))
    store._age_limit._again_at = 0.0
    store.export(a_trace(2, start=time.time_ns()))
    assert [line.trace_id for line in store.traces()] == [f"{2:032x}"]
    assert store.scores(ID) == []
    store.close()


@pytest.fixture
def db(postgres_address):
    import psycopg

    schema = postgres_address.rpartition("=")[2]
    with psycopg.connect(postgres_address.partition("?")[0], autocommit=True) as connection:
        connection.execute(f"SET search_path TO {schema}")
        yield connection


def at_once(store):
    """Let the store try the server again with the next write, not in some seconds."""
    store._fallback._again_at = 0.0


class TestAServerThatGoesAway:
    def test_nothing_is_lost_and_nothing_is_there_twice(self, own_postgres_server):
        store = PostgresStore(own_postgres_server.address)
        store.write(Batch(a_trace(1), [ScoreRow(f"{1:032x}", None, a_score())]))
        own_postgres_server.kill()
        for number in range(2, 12):
            store.write(Batch(a_trace(number), [ScoreRow(f"{number:032x}", None, a_score())]))
            at_once(store)
        store.write_report(a_report())
        assert store.health().mode == "memory"
        assert store.health().waiting > 0
        own_postgres_server.start()
        at_once(store)
        store.write(Batch(a_trace(12), [ScoreRow(f"{12:032x}", None, a_score())]))
        assert store.health().mode == "postgres"
        assert len(store.traces()) == 12
        assert [len(store.scores(f"{n:032x}")) for n in range(2, 13)] == [1] * 11
        assert len(store.runs()) == 1
        store.close()

    def test_one_that_is_frozen_holds_a_write_up_for_a_bounded_time(self, own_postgres_server, monkeypatch):
        monkeypatch.setattr(connections, "STATEMENT_SECONDS", 2.0)
        monkeypatch.setattr(connections, "CONNECT_SECONDS", 2)
        store = PostgresStore(own_postgres_server.address)
        store.export(a_trace(1))
        own_postgres_server.freeze()
        store.export(a_trace(2))
        assert store.health().mode == "memory"
        own_postgres_server.thaw()
        at_once(store)
        assert store.flush(60)
        assert len(store.traces()) == 2
        store.close()

    def test_a_transaction_of_which_nobody_said_how_it_ended_is_done_once(
        self, postgres_address, monkeypatch
    ):
        store = PostgresStore(postgres_address)
        store.export(a_trace(1))
        run = connections.Connection._run

        def answer_lost(self, action):
            run(self, action)
            monkeypatch.setattr(connections.Connection, "_run", run)
            raise connections.Away("the line is dead", is_sure=False)

        monkeypatch.setattr(connections.Connection, "_run", answer_lost)
        store.write(Batch(scores=[ScoreRow(f"{1:032x}", None, a_score())]))
        assert store.health().mode == "memory"
        at_once(store)
        assert store.flush(30)
        assert [score.name for _, score in store.scores(f"{1:032x}")] == ["Tool Order"]

        monkeypatch.setattr(connections.Connection, "_run", answer_lost)
        queue = store.work_queue()
        queue.add([WorkItem("p", f"{1:032x}", "r")], 0)
        [claim] = queue.claim("a", 1, 60)
        monkeypatch.setattr(connections.Connection, "_run", answer_lost)
        assert queue.settle(claim, "seen", [ScoreRow(f"{1:032x}", None, a_score("once"))])
        assert [score.name for _, score in store.scores(f"{1:032x}")] == ["Tool Order", "once"]
        store.close()

    def test_what_memory_has_no_room_for_is_counted(self):
        store = open_store(NOWHERE)
        store._fallback.memory.max_bytes = 5_000
        for number in range(1, 60):
            store.export(a_trace(number))
        health = store.health()
        assert health.dropped > 0
        assert health.waiting + health.dropped == 59 * len(a_trace(1))

    def test_reading_says_that_it_cannot_be_read(self):
        with pytest.raises(StoreError, match="cannot be read"):
            open_store(NOWHERE).trace(ID)
        with pytest.raises(StoreError, match="cannot be written"):
            open_store(NOWHERE).save_dataset("a", "p", [])


def test_a_forked_child_uses_a_connection_of_its_own(postgres_address):
    store = PostgresStore(postgres_address)
    store.export(a_trace(1))
    child = os.fork()
    if not child:
        try:
            store.export(a_trace(2))
            os._exit(0 if store.health().mode == "postgres" else 1)
        except BaseException:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert status == 0
    store.export(a_trace(3))
    assert len(store.traces()) == 3
    assert store._to_write.opened == 1
    store.close()


def test_writers_of_the_same_traces_at_once_lose_nothing(postgres_address):
    stores = [PostgresStore(postgres_address) for _ in range(4)]

    def write(number):
        for round_ in range(20):
            spans = [a_span(number * 100 + round_, trace) for trace in range(1, 9)]
            stores[number].write(Batch(spans, [ScoreRow(f"{1:032x}", None, a_score(f"{number} {round_}"))]))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [len(stores[0].trace(f"{trace:032x}").spans) for trace in range(1, 9)] == [80] * 8
    assert len(stores[0].scores(f"{1:032x}")) == 80
    assert {store.health().mode for store in stores} == {"postgres"}
    for store in stores:
        store.close()
