"""Killed while it writes."""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from store_faults import a_span, is_sound, rows, scaled, start

from agenttrace.store import SQLiteStore

pytestmark = pytest.mark.faults


def test_kill_9_while_writing_and_checkpointing_loses_nothing_that_was_stored(tmp_path, record_property):
    """Scenario 62."""
    path = tmp_path / "traces.db"
    chance = random.Random(62)
    for attempt in range(1, scaled(5, 200) + 1):
        child = start("write-for-ever", path, attempt)
        stored = 0
        for _ in range(chance.randrange(1, 12)):
            stored = int(child.stdout.readline())
        time.sleep(chance.random() * 0.01)
        child.kill()
        stored = max([stored, *(int(line) for line in child.communicate()[0].split())])

        (kept,) = rows(path, "SELECT count(*) FROM spans WHERE trace_id = ?", f"{attempt:032x}")[0]
        assert kept >= stored
        assert kept % 20 == 0, "a batch is stored whole or not at all"
    assert is_sound(path)
    assert list(tmp_path.glob("*corrupt*")) == []
    record_property("figure", f"{attempt} kills while writing: every batch whole, none lost")


def test_kill_9_while_a_store_is_made_leaves_one_that_opens(tmp_path):
    """Scenario 63."""
    chance = random.Random(63)
    for attempt in range(scaled(5, 50)):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        child = start("migrate-for-ever", directory)
        assert child.stdout.readline() == "ready\n"
        time.sleep(chance.random() * 0.03)
        child.kill()
        child.communicate()

        for path in directory.glob("*.db"):
            store = SQLiteStore(path)
            assert len(store.traces()) <= 1
            store.export([a_span(2)])
            assert store.health().moved_aside == []
            assert store.health().mode == "sqlite"
            store.close()
            assert is_sound(path)


def test_kill_9_while_the_rows_of_an_older_file_are_moved_loses_none_and_doubles_none(tmp_path):
    chance = random.Random(64)
    path = tmp_path / "traces.db"
    for attempt in range(scaled(3, 30)):
        make_old(path, traces=300)
        kills = 0
        while len(tables_of_spans(path)) == 2 or kills == 0:
            child = start("write-for-ever", path, 10_000 + attempt)
            child.stdout.readline()
            time.sleep(chance.random() * 0.05)
            child.kill()
            child.communicate()
            kills += 1
            seen = "SELECT count(*), count(DISTINCT trace_id || span_id) FROM spans WHERE trace_id <= ?"
            assert rows(path, seen, f"{300:032x}") == [(3_300, 3_300)]
            assert is_sound(path)
        trace = SQLiteStore(path).trace(f"{300:032x}")
        assert [span.span_key for span in trace.spans] == list(range(1, 12))
        assert list(tmp_path.glob("*corrupt*")) == []
        for file in tmp_path.iterdir():
            file.unlink()


def make_old(path, traces):
    """In a process of its own: the other tests' helpers are not on this one's path."""
    code = (
        "import sys; from store_values import write_as_before; write_as_before(sys.argv[1], int(sys.argv[2]))"
    )
    helpers = Path(__file__).parents[1] / "store"
    subprocess.run(
        [sys.executable, "-c", code, path, str(traces)],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (helpers, helpers.parents[1])))},
    )


def tables_of_spans(path):
    return rows(path, "SELECT name FROM sqlite_master WHERE name IN ('span_rows', 'old_span_rows')")


def test_no_journal_is_on_disk_while_a_store_is_made(tmp_path):
    """Left there by a kill, it would stop all readers, and spoil a backup put in the store's place."""
    made = threading.Event()
    seen = set()

    def watch():
        while not made.is_set():
            seen.update(name for name in os.listdir(tmp_path) if name.endswith("-journal"))

    watching = threading.Thread(target=watch)
    watching.start()
    for number in range(30):
        store = SQLiteStore(tmp_path / f"{number}.db")
        store.export([a_span(1)])
        store.close()
    made.set()
    watching.join()
    assert seen == set()
