"""What a process lost at its end is where `agenttrace health` looks, also where others held the file."""

import os
import sqlite3
import subprocess
import sys

import pytest

from agenttrace.core.batch import ScoreRow
from agenttrace.core.score import Score
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.store.memory_note import memory_notes

KEY = "gh" + "p_" + "a1B2c3D4" * 5

_SCRIPT = """
import sys
from agenttrace import Tracer
tracer = Tracer("shop", store=sys.argv[1])
tracer.observe(lambda: 1)()
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return str(tmp_path / "traces.db")


def run(path):
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT, path],
        check=True,
        env=dict(os.environ),
        capture_output=True,
        text=True,
    )


def test_spans_that_were_left_because_others_held_the_file_are_noted_beside_it(path):
    run(path)
    assert memory_notes(path) == []
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    run(path)
    other.execute("rollback")
    other.close()
    (note,) = memory_notes(path)
    assert (note.waiting, note.dropped, note.runs) == (1, 0, False)
    assert "locked" in note.cause


def test_losses_of_a_process_that_wrote_nothing_are_noted_in_the_file(path):
    store = SQLiteStore(path)
    store.end({"queue_full": 7, "left_at_end": 2})
    (writer,) = SQLiteStore(path).writers()
    assert (writer.counts["queue_full"], writer.counts["left_at_end"]) == (7, 2)
    assert writer.ended_ns is not None


def test_a_process_that_lost_nothing_and_wrote_nothing_leaves_no_file(path):
    SQLiteStore(path).end({})
    assert not os.path.exists(path)


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_scores_that_are_given_to_a_store_are_redacted(path, kind):
    store = MemoryStore() if kind == "memory" else SQLiteStore(path)
    trace_id = "0" * 31 + "1"
    reason = f"it printed {KEY}, password=Hx7qPz2vRk9L"
    store.write_scores([ScoreRow(trace_id, None, Score.of("thumbs", 0.0, threshold=0.5, reason=reason))])
    ((_, score),) = store.scores(trace_id)
    assert score.reason == "it printed [redacted], password=[redacted]"
