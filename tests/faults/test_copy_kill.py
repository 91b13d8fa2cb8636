"""A copy of a store that is killed, and begun again."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from store_faults import a_span, is_sound, scaled

from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.identity import trace_id_text
from agenttrace.core.score import Score
from agenttrace.store import SQLiteStore, open_store

pytestmark = pytest.mark.faults

TRACES, SPANS = 3_000, 5


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("copied") / "from.db"
    store = SQLiteStore(path)
    for first in range(1, TRACES + 1, 100):
        keys = range(first, first + 100)
        start = time.time_ns()
        spans = [
            a_span(n, key, start_ns=start + key, end_ns=start + key + n, output={"text": "x" * 200})
            for key in keys
            for n in range(1, SPANS + 1)
        ]
        # Equal scores of one trace: only their number says whether a copy has them all, and none twice.
        scores = [ScoreRow(trace_id_text(key), None, Score.of("Budget", 1.0, 0.5)) for key in keys] * 2
        store.write(Batch(spans, scores))
        store.save_dataset("refunds", "p", list(range(first)))
    store.close()
    return path


@pytest.mark.parametrize("kind", ["file", "server"])
def test_a_copy_that_is_killed_over_and_over_ends_with_everything_once(
    kind, source, tmp_path, request, record_property
):
    """Scenario 121."""
    where = str(tmp_path / "to.db") if kind == "file" else request.getfixturevalue("postgres_address")
    # The shorter of two: the first one may still have to compile what it imports.
    whole_s = min(seconds_of_a_whole_copy(source, tmp_path / f"undisturbed-{n}.db") for n in range(2))
    chance = random.Random(121)
    kills = 0
    for _ in range(scaled(6, 60)):
        child = start_copy(source, where)
        try:
            child.wait(chance.uniform(0.3, 0.9) * whole_s)
        except subprocess.TimeoutExpired:
            child.kill()
            kills += 1
        child.communicate()
        if kind == "file" and Path(where).exists():
            assert is_sound(where)
    child = start_copy(source, where)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 0, err

    assert kills
    old, new = open_store(source), open_store(where)
    assert contents(new) == contents(old)
    new.close()
    record_property("figure", f"{kills} kills while copying to a {kind}: everything there, once")


def seconds_of_a_whole_copy(source, where):
    """How long one takes here: a fixed time would be past the last row of a fast machine."""
    start = time.monotonic()
    _, err = (child := start_copy(source, where)).communicate(timeout=120)
    assert child.returncode == 0, err
    return time.monotonic() - start


def start_copy(source, where):
    return subprocess.Popen(
        [sys.executable, "-m", "agenttrace", "store", "copy", str(source), where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def contents(store):
    rows = store.table_rows()
    spans = Counter(
        (span.trace_key, span.span_key, span.start_ns, span.end_ns, span.output["text"])
        for trace in store.iter_traces()
        for span in trace.spans
    )
    scores = Counter(rows.select("SELECT trace_id, name, value, created_ns FROM scores"))
    versions = rows.select(
        "SELECT project, alias, version, created_ns, content FROM datasets ORDER BY version"
    )
    stored = rows.select(f"SELECT count(*) FROM {'span_rows' if rows.kind == 'server' else 'all_span_rows'}")
    assert sum(spans.values()) == stored[0][0] == TRACES * SPANS
    return spans, scores, versions
