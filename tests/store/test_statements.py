"""Few statements a batch: each gives the interpreter's lock away, and beside a busy thread that is 5 ms."""

import sqlite3

import pytest

from agenttrace.core.batch import Batch, Destination
from agenttrace.core.semconv import CUSTOMER_ID
from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore
from agenttrace.store.span_writes import insert_many


@pytest.fixture
def store(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    store.write(Batch([span(1, 1)]))
    yield store
    store.close()


def span(trace, number, **fields):
    fields = {"name": "tool", "project": "shop", "input": {"city": "Paris"}, "output": "sunny"} | fields
    return Span(trace_key=trace, span_key=number, parent_key=1 if number > 1 else None, **fields)


def statements(store, batch):
    """The statements of a batch; SQLite reports those within them as comments."""
    found = []
    db = store._writer._db
    db.set_trace_callback(found.append)
    store.write(batch)
    db.set_trace_callback(None)
    return [text for text in found if not text.startswith("--")]


def test_a_batch_takes_six_statements(store):
    assert len(statements(store, Batch([span(2, n) for n in range(1, 3_201)]))) <= 6
    assert len(statements(store, Batch([span(n, 1) for n in range(10, 3_210)]))) <= 6
    assert len(statements(store, Batch([span(3, n) for n in range(1, 11)]))) <= 6


def test_a_large_batch_takes_few_and_its_traces_one(store):
    texts = statements(store, Batch([span(2 + n // 99, n) for n in range(28_800)]))
    assert sum("INTO traces" in text for text in texts) == 1
    assert sum("INTO span_rows" in text for text in texts) <= 9
    assert len(texts) <= 14


def test_a_batch_of_any_size_takes_few_more(store):
    for size in (1, 19, 21, 999, 3_199):
        assert len(statements(store, Batch([span(size + 9, n) for n in range(1, size + 1)]))) <= 5 + 8


def test_what_is_to_be_sent_takes_a_few_more(store):
    batch = Batch([span(5, n) for n in range(1, 401)], send_to=[Destination("collector", "spans")])
    assert len(statements(store, batch)) <= 10


def test_a_span_that_cannot_be_stored_costs_none_of_its_neighbours(store):
    spans = [span(7, n) for n in range(1, 30)]
    spans[3] = span(7, 4, input={"a": object()})
    spans[5] = span(7, 1 << 65)
    store.write(Batch(spans))
    assert len(store.trace(spans[0].trace_id).spans) == 28
    assert store.health().quarantined == 1


@pytest.mark.parametrize("rows", [0, 1, 19, 20, 21, 49, 50, 3_199, 3_200, 3_201, 7_000])
@pytest.mark.parametrize("most", [999, 32_766])
@pytest.mark.parametrize("at_once", [False, True])
def test_every_row_is_inserted_once_and_in_order(rows, most, at_once):
    db = sqlite3.connect(":memory:")
    db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, most)
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)")
    flat = [value for row in range(rows) for value in (row, str(row))]
    insert_many(db, "INSERT INTO t (a, b) VALUES ", 2, flat, at_once=at_once)
    assert db.execute("SELECT a, b FROM t ORDER BY id").fetchall() == [(n, str(n)) for n in range(rows)]
    db.close()


def test_a_column_that_seldom_has_a_value_has_exactly_its_own(store):
    """Zero stands for NULL there: neither a text of zero nor an empty one is taken for it."""
    customers = {2: None, 3: "", 4: "0", 5: "ann"}
    store.write(
        Batch(
            [
                span(trace, 1, attributes={} if name is None else {CUSTOMER_ID: name})
                for trace, name in customers.items()
            ]
        )
    )
    rows = store._writer._db.execute(
        "SELECT customer, typeof(customer), typeof(rest) FROM traces"
        " JOIN span_rows ON span_rows.trace = traces.id ORDER BY trace_id"
    ).fetchall()[1:]
    assert rows == [
        (None, "null", "null"),
        ("", "text", "text"),
        ("0", "text", "text"),
        ("ann", "text", "text"),
    ]
