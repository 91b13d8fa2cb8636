"""What is to be sent: kept with what is stored, in memory or in the file, until it is settled."""

import itertools
import os
import random
import shutil
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_values import a_score, a_span

from agenttrace.core.batch import Batch, Destination, Refusal, ScoreRow
from agenttrace.store import MemoryStore, SQLiteStore, migrations, to_send
from agenttrace.store.retention import retire
from agenttrace.store.to_send import MAX_AGE_NS

SPANS = Destination("http://collector/v1/traces travel", "spans")
SCORES = Destination("http://collector/v1/logs travel", "scores")
OTHER = Destination("http://elsewhere/v1/traces travel", "spans")
ALL = {"most": 1_000, "max_bytes": 1_000_000}


@pytest.fixture(params=["sqlite", "memory"])
def store(request, tmp_path):
    store = MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "traces.db")
    yield store
    store.close()


@pytest.fixture
def db():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrations.migrate(db)
        yield db


def spans(*numbers, **fields):
    return [a_span(number, **fields) for number in numbers]


def waiting(store, destination=SPANS, **limits):
    unsent = store.unsent(destination, **{**ALL, **limits})
    return [] if unsent is None else [span.span_key for span in unsent.items]


def test_what_is_stored_waits_for_its_destinations_in_order(store):
    store.write(Batch(spans(1, 2), send_to=[SPANS, OTHER]))
    store.write(Batch(spans(3)))
    store.write(Batch(spans(4), send_to=[SPANS]))
    assert waiting(store) == [1, 2, 4]
    assert waiting(store, OTHER) == [1, 2]
    assert store.count_unsent(SPANS) == (3, 0, 0)
    assert store.unsent(SCORES, **ALL) is None


def test_scores_wait_with_their_ids_and_the_time_at_which_they_were_stored(store):
    rows = [ScoreRow("a" * 32, "b" * 16, a_score("first")), ScoreRow(None, None, a_score("second"))]
    store.write(Batch(spans(1), rows, send_to=[SPANS, SCORES]))
    unsent = store.unsent(SCORES, **ALL)
    assert [(row.trace_id, row.span_id, row.score.name) for row in unsent.items] == [
        ("a" * 32, "b" * 16, "first"),
        (None, None, "second"),
    ]
    assert len(unsent.times) == 2
    assert min(unsent.times) > 10**18


def test_what_was_sent_waits_no_more(store):
    store.write(Batch(spans(1, 2, 3), send_to=[SPANS, OTHER]))
    store.settle(store.unsent(SPANS, most=2, max_bytes=1_000_000))
    assert waiting(store) == [3]
    assert waiting(store, OTHER) == [1, 2, 3]
    store.settle(store.unsent(SPANS, **ALL))
    assert waiting(store) == []
    assert store.count_unsent(SPANS) == (0, 0, 0)


def test_what_was_refused_is_counted_and_waits_again_on_demand(store):
    store.write(Batch(spans(1, 2, 3, 4), send_to=[SPANS]))
    store.settle(store.unsent(SPANS, **ALL), [Refusal(1, 3, 2, "bad"), Refusal(3, 4, 1, "worse")])
    assert store.count_unsent(SPANS) == (0, 3, 0)
    assert waiting(store) == []
    assert store.retry_refused(SPANS) == 3
    assert waiting(store) == [2, 3, 4]
    assert store.count_unsent(SPANS) == (3, 0, 0)


def test_of_a_part_of_which_some_were_refused_only_those_are_counted(store):
    store.write(Batch(spans(1, 2, 3), send_to=[SPANS]))
    store.settle(store.unsent(SPANS, **ALL), [Refusal(0, 3, 1, "one of them")])
    assert store.count_unsent(SPANS) == (0, 1, 0)
    store.retry_refused(SPANS)
    assert waiting(store) == [1, 2, 3]


def test_a_request_is_bounded_and_holds_at_least_one_item(store):
    store.write(Batch(spans(*range(1, 11), output="x" * 10_000), send_to=[SPANS]))
    assert waiting(store, most=3) == [1, 2, 3]
    assert waiting(store, max_bytes=1) == [1]
    assert 2 <= len(waiting(store, max_bytes=35_000)) <= 4


def test_only_one_holds_a_lease_until_it_ends_or_is_given_back(store):
    assert store.lease("send", "first", 60)
    assert store.lease("send", "first", 60)
    assert not store.lease("send", "second", 60)
    assert store.lease("other", "second", 60)
    store.release("send", "second")
    assert not store.lease("send", "second", 60)
    store.release("send", "first")
    assert store.lease("send", "second", 0)
    assert store.lease("send", "first", 60)


def test_memory_drops_the_oldest_beyond_its_bound_and_counts_them():
    from agenttrace.store.unsent_in_memory import UnsentInMemory

    unsent = UnsentInMemory(max_bytes=50)
    unsent.add(SPANS, range(8), [10] * 8)
    assert unsent.counts(SPANS) == (5, 0, 3)
    assert unsent.next_unsent(SPANS, 10, 1_000, {}).items == [3, 4, 5, 6, 7]


def test_a_forked_child_leaves_what_waits_in_memory_to_its_parent():
    store = MemoryStore()
    store.write(Batch(spans(1), send_to=[SPANS]))
    store.after_fork()
    assert waiting(store) == []
    assert store.traces()


def test_what_memory_kept_waits_in_the_file_once_it_can_be_written(tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory should be")
    store = SQLiteStore(blocked / "traces.db")
    store.write(Batch(spans(1, 2), send_to=[SPANS]))
    store.write(Batch(spans(3), [ScoreRow("a" * 32, None, a_score())], send_to=[SPANS, SCORES]))
    store.write(Batch(spans(4)))
    assert waiting(store) == [1, 2, 3]
    store.settle(store.unsent(SPANS, most=1, max_bytes=1_000_000))
    blocked.unlink()
    assert store.flush(60)
    assert waiting(store) == [2, 3]
    assert len(store.unsent(SCORES, **ALL).items) == 1
    with closing(sqlite3.connect(store.path)) as file:
        assert file.execute("SELECT total(items) FROM to_send WHERE kind = 'spans'").fetchone() == (2,)
    store.close()


def test_what_was_refused_while_memory_kept_it_is_not_forgotten_with_the_memory(tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory should be")
    store = SQLiteStore(blocked / "traces.db")
    store.write(Batch(spans(1, 2), send_to=[SPANS]))
    store.settle(store.unsent(SPANS, **ALL), [Refusal(0, 1, 1, "no")])
    blocked.unlink()
    assert store.flush(60)
    assert waiting(store) == [1]  # and may be refused once more: then the file knows
    store.close()


def test_batches_that_follow_each_other_are_one_range(tmp_path):
    """So what waits takes a byte a span at the most, however small the batches are."""
    store = SQLiteStore(tmp_path / "traces.db")
    for number in range(1, 51):
        store.write(Batch(spans(number), send_to=[SPANS]))
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("SELECT first, last, items FROM to_send").fetchall() == [(1, 50, 50)]
    store.close()


def test_what_a_user_deletes_is_not_sent_and_holds_up_nothing(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    store.write(Batch([a_span(1, 7), a_span(2, 8), a_span(3, 7)], send_to=[SPANS]))
    assert store.delete_trace(f"{7:032x}")
    assert waiting(store) == [2]
    store.settle(store.unsent(SPANS, **ALL))
    assert store.count_unsent(SPANS) == (0, 0, 0)
    assert store.delete_trace(f"{8:032x}")
    store.write(Batch(spans(4), send_to=[SPANS]))
    assert waiting(store) == [4]  # whose row has no number that was in use before
    store.close()


def test_the_number_of_a_score_that_waits_is_not_given_to_another(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    store.write(Batch([a_span(1, 7)], [ScoreRow(f"{7:032x}", None, a_score("mine"))], send_to=[SCORES]))
    assert store.delete_trace(f"{7:032x}")
    store.write(Batch(scores=[ScoreRow("a" * 32, None, a_score("somebody's"))]))
    assert store.unsent(SCORES, **ALL).items == []
    store.close()


def test_a_span_that_cannot_be_stored_is_not_sent_and_its_neighbours_are(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    store.write(Batch([a_span(1), a_span(2, name=None), a_span(3)], send_to=[SPANS]))
    assert waiting(store) == [1, 3]
    assert store.health().quarantined == 1
    store.close()


def test_a_score_that_cannot_be_stored_costs_neither_spans_nor_other_scores(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    bad = a_score("bad")
    object.__setattr__(bad, "threshold", object())
    rows = [ScoreRow("a" * 32, None, score) for score in (a_score("good"), bad, a_score("fine"))]
    store.write(Batch(spans(1), rows, send_to=[SPANS, SCORES]))
    assert waiting(store) == [1]
    assert [row.score.name for row in store.unsent(SCORES, **ALL).items] == ["good", "fine"]
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("SELECT name FROM quarantine").fetchall() == [("bad",)]
    store.close()


def test_requests_that_an_older_version_encoded_are_sent_first(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    store.write(Batch(spans(1), send_to=[SPANS]))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as db:
        db.execute(
            "INSERT INTO outbox (destination, kind, content_type, items, bytes, created_ns, body)"
            " VALUES (?, 'traces', 'application/json', 3, 4, 1, x'7b7d')",
            (SPANS.name,),
        )
    assert store.count_unsent(SPANS) == (4, 0, 0)
    unsent = store.unsent(SPANS, **ALL)
    assert (unsent.body, unsent.content_type, unsent.items) == (b"{}", "application/json", ())
    store.settle(unsent, [Refusal(0, 1, 1, "no")])
    assert waiting(store) == [1]
    store.retry_refused(SPANS)
    store.settle(store.unsent(SPANS, **ALL))
    assert waiting(store) == [1]
    store.close()


def test_what_lies_between_refused_rows_and_is_not_for_that_place_is_not_sent_there(tmp_path):
    """Another tracer's spans, in the same file, of which the destination is never to hear."""
    store = SQLiteStore(tmp_path / "traces.db")
    store.write(Batch(spans(1, 2), send_to=[SPANS]))
    store.write(Batch(spans(3, 4)))
    store.write(Batch(spans(5, 6), send_to=[SPANS]))
    store.settle(store.unsent(SPANS, **ALL), [Refusal(0, 4, 3, "three of these")])
    assert store.count_unsent(SPANS) == (0, 3, 0)
    assert store.retry_refused(SPANS) == 3
    assert waiting(store) == [1, 2, 5, 6]
    assert store.count_unsent(SPANS) == (4, 0, 0)
    store.close()


def test_what_was_read_from_one_file_settles_nothing_in_another_that_took_its_place(tmp_path):
    store, backup = (SQLiteStore(tmp_path / name) for name in ("traces.db", "backup.db"))
    backup.write(Batch(spans(7, 8, 9), send_to=[SPANS]))
    backup.close()
    store.write(Batch(spans(1, 2, 3), send_to=[SPANS]))
    unsent = store.unsent(SPANS, **ALL)
    os.rename(backup.path, store.path)
    store.settle(unsent, [Refusal(0, 1, 1, "no")])
    assert waiting(store) == [7, 8, 9]
    assert store.count_unsent(SPANS) == (3, 0, 0)
    store.close()


def test_what_was_read_from_memory_settles_nothing_of_what_memory_keeps_later(tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory should be")
    store = SQLiteStore(blocked / "traces.db")
    store.write(Batch(spans(1, 2), send_to=[SPANS]))
    unsent = store.unsent(SPANS, **ALL)
    blocked.unlink()
    assert store.flush(60)
    shutil.rmtree(blocked)
    blocked.write_text("again")
    store.write(Batch(spans(3, 4), send_to=[SPANS]))
    assert waiting(store) == [3, 4]
    store.settle(unsent)
    assert waiting(store) == [3, 4]


def test_what_a_user_deletes_is_not_sent_from_memory_either(store):
    scores = [ScoreRow(f"{7:032x}", None, a_score("gone")), ScoreRow(None, None, a_score("stays"))]
    store.write(Batch([a_span(1, 7), a_span(2, 8)], scores, send_to=[SPANS, SCORES]))
    store.settle(store.unsent(SPANS, most=1, max_bytes=1), [Refusal(0, 1, 1, "no")])
    assert store.delete_trace(f"{7:032x}")
    store.retry_refused(SPANS)
    assert waiting(store) == [2]
    assert [row.score.name for row in store.unsent(SCORES, **ALL).items] == ["stays"]


class TestRetention:
    def fill(self, store, traces, send_to=()):
        for number in traces:
            span = a_span(1, number, start_ns=number, output="x" * 2_000)
            store.write(Batch([span], send_to=send_to))

    def test_keeps_what_is_still_to_be_sent(self, tmp_path):
        store = SQLiteStore(tmp_path / "traces.db", max_bytes=500_000)
        self.fill(store, range(1, 31), [SPANS])  # the oldest
        self.fill(store, range(31, 600))
        assert store.health().retired_traces > 0
        assert store.count_unsent(SPANS).waiting == 30
        assert len(waiting(store)) == 30
        store.close()

    def test_sends_no_more_of_what_is_over_half_of_all_and_says_so(self, tmp_path):
        store = SQLiteStore(tmp_path / "traces.db", max_bytes=265_000)
        self.fill(store, range(1, 400), [SPANS])
        counts = store.count_unsent(SPANS)
        assert counts.refused > 0
        assert len(waiting(store)) == counts.waiting > 10
        with closing(sqlite3.connect(store.path)) as db:
            (size,) = db.execute(
                "SELECT (page_count - freelist_count) * page_size"
                " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
            ).fetchone()
        assert size < 275_000
        store.close()

    def test_keeps_what_waits_for_one_of_several_destinations(self, tmp_path):
        store = SQLiteStore(tmp_path / "traces.db", max_bytes=500_000)
        self.fill(store, range(1, 11), [SPANS])
        self.fill(store, range(11, 21), [SPANS, OTHER])
        self.fill(store, range(21, 31), [SPANS])
        self.fill(store, range(31, 600))
        assert len(waiting(store)) == 30
        assert len(waiting(store, OTHER)) == 10
        store.close()

    def test_looks_at_few_ranges_however_many_there_are(self, db):
        """A write that finds the file too large would hold up every process otherwise."""

        def work(ranges):
            steps = itertools.count()
            db.execute("DELETE FROM to_send")
            for first in range(1, 2_001, 2_000 // ranges):
                to_send.add_to_send(db, SPANS, first, first)
            db.execute("BEGIN")
            db.set_progress_handler(lambda: next(steps) < 0, 100)
            retire(db, 0)
            db.set_progress_handler(None, 0)
            db.execute("ROLLBACK")
            return next(steps)

        keep_spans(
            db, to_send_functions(), [a_span(1, number, start_ns=number) for number in range(1, 2_001)]
        )
        assert work(1_000) < 3 * work(10)

    def test_forgets_what_nobody_has_sent_for_a_fortnight(self, db, monkeypatch):
        to_send.add_to_send(db, SPANS, 1, 10)
        now = to_send.time.time_ns()
        monkeypatch.setattr(to_send.time, "time_ns", lambda: now + MAX_AGE_NS + 10**9)
        to_send.add_to_send(db, OTHER, 11, 20)
        to_send.give_up_oldest(db, 1_000)
        assert to_send.count_unsent(db, SPANS) == (0, 0, 0)
        assert to_send.count_unsent(db, OTHER) == (10, 0, 0)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(1, 5)),
            st.tuples(st.just("gap"), st.integers(1, 3)),
            st.tuples(st.just("send"), st.integers(1, 8)),
            st.tuples(st.just("refuse"), st.integers(1, 8)),
            st.tuples(st.just("retry"), st.just(0)),
        ),
        max_size=30,
    )
)
def test_ranges_say_what_sets_of_numbers_would(steps):
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrations.migrate(db)
        store = SQLiteStore(__file__)  # a file that is there; nothing opens it
        store._read = lambda query, nothing: query(db)
        store._must_write = lambda action, **_: action(db, None)
        stored, expected, refused = 0, [], []
        for step, count in steps:
            if step in ("add", "gap"):
                batch = [a_span(stored + offset + 1) for offset in range(count)]
                functions = to_send_functions()
                keep_spans(db, functions, batch, [SPANS] if step == "add" else [])
                expected += range(stored + 1, stored + count + 1) if step == "add" else []
                stored += count
            elif step == "retry":
                store.retry_refused(SPANS)
                expected, refused = sorted(expected + refused), []
            elif (unsent := store.unsent(SPANS, most=count, max_bytes=10**9)) is not None:
                keys = [span.span_key for span in unsent.items]
                assert keys == expected[:count]
                middle = random.Random(count).randrange(len(keys) + 1) if step == "refuse" else len(keys)
                rest = len(keys) - middle
                store.settle(unsent, [Refusal(middle, len(keys), rest, "no")] if rest else [])
                refused += keys[middle:]
                expected = expected[len(keys) :]
            assert store.count_unsent(SPANS)[:2] == (len(expected), len(refused))


def to_send_functions():
    from agenttrace.store.function_ids import FunctionIds

    return FunctionIds()


def keep_spans(*arguments):
    from agenttrace.store import span_writes

    span_writes.keep_spans(*arguments)
