"""A store that is copied to another: everything, once, as it was."""

import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_values import TRACE, WEATHER, a_report, a_score, a_span, a_trace, fields, write_as_before

from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import trace_id_text
from agenttrace.core.pending import WorkItem
from agenttrace.core.score import Score
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.store import MemoryStore, SQLiteStore, open_store
from agenttrace.store.copying import copy_store
from agenttrace.store.copying.repeatable_rows import lacking

NOW = time.time_ns()
UNCALLED = ToolDefinition("refund", (Parameter("amount"),))


def key(number):
    return TRACE + number


def ident(number):
    return trace_id_text(key(number))


def fill(store, traces=30):
    """Something of every kind, some of it twice, in every state."""
    for number in range(traces):
        spans = a_trace(key(number), calls=number % 4, start=NOW + number, project=f"p{number % 2}")
        store.write(Batch(spans))
    store.write(
        Batch([a_span(1, key(0) + (1 << 100), name="élève\N{PARTY POPPER}", output={"deep": [1, None, 2.5]})])
    )
    store.write(Batch(tools={"p0": [WEATHER, UNCALLED], "empty": [UNCALLED]}))
    equal = [ScoreRow(ident(1), None, a_score("Budget", 0.25))] * 3
    failed = ScoreRow(ident(2), None, Score.of("Order", 0.0, 0.5, reason="refund was not called"))
    errored = ScoreRow(ident(3), "000000000000000b", Score.errored("Judge", 0.5, "no answer"))
    nothing = [ScoreRow(None, None, a_score("Alone", 1.0))] * 2
    store.write(Batch(scores=[*equal, failed, errored, *nothing]))
    store.write_report(a_report("nightly", started_ns=NOW, results=3))
    store.write_report(a_report("daily", started_ns=NOW + 1, results=1))
    said = Annotation(
        annotation_id="a1", trace_id=ident(4), project="p0", label="wrong order", by="ada", created_ns=NOW
    )
    store.write(Batch(annotations=[said]))
    for content in ([1], [1, 2], [1]):
        store.save_dataset("refunds", "p0", content)
    store.save_dataset("others", "p1", {"input": "hi"})
    requests = [{"key": f"k{n}", "owner": None, "scorers": ["Loop"]} for n in range(3)]
    store.save_pending_evaluations("p0", requests)
    store.claim_pending_evaluations(["k1"], "worker 1", held_by=None)
    failure = store.failures(limit=1)[0]
    store.set_failure_state(failure.fingerprint, "fixed", fixed_in="abc1234")
    queue = store.work_queue()
    items = [WorkItem(f"p{n % 2}", ident(n), "sound") for n in range(6)]
    queue.add(items, 0.0)
    done, held = queue.claim("worker", 2, 600.0)
    queue.settle(done, "seen", [ScoreRow(done.item.trace_id, None, a_score("Sound", v)) for v in (0.5, 1.0)])
    return held


def everything(store):
    """All that a store holds, by what it says itself and by the times in its tables."""
    rows = store.table_rows()
    listed = [line.trace_id for line in store.traces(limit=10_000)]
    versions = [(project, alias, n) for project, alias, last in store.datasets() for n in range(1, last + 1)]
    return {
        "traces": {one: [fields(span) for span in store.trace(one).spans] for one in listed},
        "listed": [
            (line.trace_id, line.project, line.name, line.start_ns) for line in store.traces(limit=10_000)
        ],
        "tools": {one: dict(store.trace(one).tools) for one in listed},
        "scores": {one: Counter(map(repr, store.scores(one))) for one in listed},
        "times": Counter(rows.select("SELECT trace_id, name, created_ns FROM scores")),
        "alone": Counter(rows.select("SELECT name, value FROM scores WHERE trace_id IS NULL")),
        "runs": {run.run_id: store.run(run.run_id) for run in store.runs()},
        "annotations": store.annotations(),
        "datasets": {one: store.load_dataset(one[1], one[0], one[2]) for one in versions},
        "pending": {project: store.pending_evaluations(project) for project in ("p0", "p1")},
        "failures": sorted(map(repr, store.failures())),
        "cases": rows.select("SELECT count(*), max(seen_ns) FROM failure_cases"),
        "work": {project: tuple(counts) for project, counts in store.work_queue().counts().items()},
    }


def as_unclaimed(work):
    return {project: (w + d + c, *rest) for project, (w, d, c, *rest) in work.items()}


def assert_equal(old, new):
    was, now = everything(old), everything(new)
    assert as_unclaimed(was.pop("work")) == as_unclaimed(now.pop("work"))
    assert now == was


@pytest.fixture(params=["file to file", "file to server", "server to file"])
def pair(request, tmp_path):
    """A store to copy from, and one to copy to."""
    where = {"file": str(tmp_path / "one.db"), "server": None}
    kind_from, _, kind_to = request.param.partition(" to ")
    if "server" in (kind_from, kind_to):
        where["server"] = request.getfixturevalue("postgres_address")
    old = open_store(where[kind_from])
    new = open_store(str(tmp_path / "two.db") if kind_from == kind_to else where[kind_to])
    yield old, new
    new.close()
    old.close()


def test_everything_arrives_once_and_as_it_was(pair):
    old, new = pair
    fill(old)
    copied = copy_store(old, new)
    assert_equal(old, new)
    assert copied.missing == {}
    kinds = copied.by_kind
    assert {kind: counts.looked_at for kind, counts in kinds.items()} == {
        "tools": 4, "traces": 31, "spans": 31 + sum(n % 4 for n in range(30)), "failures": 3, "scores": 9,
        "cases": 3, "runs": 2, "results": 4, "annotations": 1, "datasets": 4, "pending": 3, "work": 6,
    }  # fmt: skip
    assert all(counts.written == counts.looked_at == counts.there for counts in kinds.values())


def test_a_second_copy_writes_nothing_and_doubles_nothing(pair):
    old, new = pair
    fill(old)
    copy_store(old, new)
    again = copy_store(old, new)
    assert {kind: counts.written for kind, counts in again.by_kind.items() if counts.written} == {}
    assert again.missing == {}
    assert_equal(old, new)


def test_what_came_or_changed_since_is_copied_and_nothing_else(pair):
    old, new = pair
    fill(old)
    copy_store(old, new)
    old.write(
        Batch(
            [
                a_span(
                    1, key(0), name="agent", span_type="agent", project="p0", start_ns=NOW, output="redacted"
                )
            ]
        )
    )
    old.write(Batch(a_trace(key(500), start=NOW + 500)))
    old.write(
        Batch(
            scores=[ScoreRow(ident(1), None, a_score("Budget", 0.25)), ScoreRow(ident(500), None, a_score())]
        )
    )
    copied = copy_store(old, new).by_kind
    assert (copied["traces"].written, copied["scores"].written, copied["runs"].written) == (2, 2, 0)
    assert_equal(old, new)


def test_what_the_other_store_has_of_its_own_stays(pair):
    old, new = pair
    new.write(Batch(a_trace(key(900), start=NOW), [ScoreRow(ident(900), None, a_score())]))
    new.write_report(a_report("its own", started_ns=NOW))
    fill(old)
    copy_store(old, new)
    assert len(new.trace(ident(900)).spans) == 4
    assert len(new.scores(ident(900))) == 1
    assert {run.name for run in new.runs()} == {"nightly", "daily", "its own"}


def test_of_a_part_come_its_traces_with_their_scores_words_and_work(pair):
    old, new = pair
    fill(old)
    copied = copy_store(old, new, "project:p0")
    assert {line.project for line in new.traces(limit=100)} == {"p0"}
    assert len(new.traces(limit=100)) == 15
    for number in (0, 2, 4):
        of_no_run = "run_id IS NULL AND trace_id = ? ORDER BY id"
        query = f"SELECT name, value, reason, rest, created_ns FROM scores WHERE {of_no_run}"
        rows = [store.table_rows().select(query, (ident(number),)) for store in pair]
        assert rows[0] == rows[1]
    assert new.scores(ident(1)) == []
    assert [one.reason for _, one in new.scores(ident(2)) if one.name == "Order"] == ["refund was not called"]
    assert [one.label for one in new.annotations()] == ["wrong order"]
    assert sum(new.work_queue().counts()["p0"]) == 3
    assert (new.runs(), new.datasets(), copied.missing) == ([], [], {})


def test_scores_of_an_evaluation_that_is_done_again_take_the_place_of_the_copied_ones(pair):
    old, new = pair
    fill(old)
    copy_store(old, new)
    queue = new.work_queue()
    item = next(WorkItem(f"p{n % 2}", ident(n), "sound") for n in range(6) if sound(new, n))
    queue.add([item], 0.0)
    claim = next(one for one in queue.claim("worker", 10, 60.0) if one.item == item)
    assert queue.settle(claim, "seen again", [ScoreRow(item.trace_id, None, a_score("Sound", 0.75))])
    assert [score.value for _, score in new.scores(item.trace_id) if score.name == "Sound"] == [0.75]


def sound(store, number):
    return any(score.name == "Sound" for _, score in store.scores(ident(number)))


def test_another_dataset_under_the_same_number_stays_and_is_said(pair):
    old, new = pair
    old.save_dataset("refunds", "p", [1])
    new.save_dataset("refunds", "p", [2])
    assert copy_store(old, new).missing == {"datasets": 1}
    assert new.load_dataset("refunds", "p", 1) == [2]


def test_spans_of_other_libraries_are_copied_as_they_came(pair):
    old, new = pair
    received = {"agenttrace.received": True, "gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    old.write(Batch([a_span(1, name="chat m", span_type="span", attributes=received, start_ns=NOW)]))
    reading, new_reading = old.reading, new.reading
    copy_store(old, new)
    assert (old.reading, new.reading) == (reading, new_reading)
    for store in pair:
        store.reading = None
    assert fields(new.trace(ident(0)).spans[0]) == fields(old.trace(ident(0)).spans[0])


def test_a_file_of_an_older_version_is_copied(tmp_path):
    write_as_before(tmp_path / "old.db", traces=250)
    old, new = SQLiteStore(tmp_path / "old.db"), SQLiteStore(tmp_path / "new.db")
    assert copy_store(old, new).missing == {}
    assert len(new.traces(limit=1_000)) == 250
    assert [span.span_key for span in new.trace(f"{7:032x}").spans] == list(range(1, 12))


def test_a_copy_deletes_nothing_for_want_of_room(tmp_path):
    old, new = SQLiteStore(tmp_path / "old.db"), SQLiteStore(tmp_path / "new.db", max_bytes=10_000)
    fill(old, traces=300)
    assert copy_store(old, new).missing == {}
    assert len(new.traces(limit=1_000)) == 301
    assert new.max_bytes == 10_000


def test_no_number_of_a_score_that_waits_to_be_sent_is_given_to_a_copied_one(tmp_path):
    old, new = SQLiteStore(tmp_path / "old.db"), SQLiteStore(tmp_path / "new.db")
    fill(old)
    new.write(Batch(a_trace(key(900))))
    with closing(sqlite3.connect(tmp_path / "new.db")) as db, db:
        db.execute(
            "INSERT INTO to_send (destination, kind, first, last, items, extended_ns)"
            " VALUES ('there', 'scores', 1, 70, 70, 0)"
        )
    copy_store(old, new)
    assert new.table_rows().select("SELECT min(id) FROM scores") == [(71,)]


def test_memory_and_a_store_itself_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = SQLiteStore(tmp_path / "one.db")
    for old, new in ((MemoryStore(), store), (store, MemoryStore())):
        with pytest.raises(ConfigError, match="MemoryStore"):
            copy_store(old, new)
    with pytest.raises(ConfigError, match="itself"):
        copy_store(store, open_store(Path("one.db")))


def test_a_server_by_another_name_is_the_same_store(postgres_address):
    old, new = open_store(postgres_address), open_store(postgres_address.replace("127.0.0.1", "localhost"))
    with pytest.raises(ConfigError, match="itself"):
        copy_store(old, new)
    old.close()
    new.close()


few = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=12)


@given(few, few)
def test_what_is_lacking_makes_of_equal_rows_as_many_as_either_has(wanted, there):
    new = lacking(wanted, there)
    assert Counter(there) + Counter(new) == Counter(wanted) | Counter(there)
    assert (
        new == [row for row in wanted if row in new][-len(new) :] if len(set(wanted)) == len(wanted) else True
    )


def test_a_text_with_a_zero_character_arrives_at_a_server_as_it_can_be_stored_there(
    tmp_path, postgres_address
):
    old, new = SQLiteStore(tmp_path / "one.db"), open_store(postgres_address)
    zero = Score.of("Odd", 0.0, 0.5, reason="a\0b")
    old.write(Batch(a_trace(start=NOW), [ScoreRow(ident(0), None, zero)] * 2))
    old.write_report(a_report("odd\0name", started_ns=NOW))
    assert copy_store(old, new).missing == {}
    assert copy_store(old, new).by_kind["scores"].written == 0
    assert [score.reason for _, score in new.scores(ident(0)) if score.name == "Odd"] == ["a␀b"] * 2
    new.close()
