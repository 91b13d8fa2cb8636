"""A damaged row of a store harms no other: its trace is read, and says what of it cannot be."""

import json
import sqlite3

import pytest
from rotten import ROTTEN, fill, rot

from agenttrace import Tracer
from agenttrace.cli.main import main
from agenttrace.store import SQLiteStore


@pytest.fixture(params=ROTTEN)
def damaged(request, tmp_path):
    path = tmp_path / "traces.db"
    rotten, good = fill(path)
    rot(path, rotten, request.param)
    return path, rotten, good


def test_a_damaged_trace_is_read_and_its_neighbour_as_ever(damaged):
    path, rotten, good = damaged
    store = SQLiteStore(path)
    assert {summary.trace_id for summary in store.traces()} == {rotten, good}
    assert store.trace(good).name == "good_agent"
    trace = store.trace(rotten)
    assert len(trace.spans) == 3
    assert trace.duration_ns >= 0
    str(trace), repr(trace), list(trace.walk()), trace.tools, trace.tool_calls
    for span in trace.spans:
        assert isinstance(span.name, str)
        assert isinstance(span.start_ns, int)
        assert isinstance(span.end_ns, int)
    store.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE span_rows SET function = -5 WHERE id = 2",
        "UPDATE traces SET trace_id = 'zz' WHERE id = 1",
        "UPDATE span_rows SET start_ns = -9223372036854775808, end_ns = 9223372036854775807 WHERE id = 1",
    ],
    ids=["a span of no function", "a trace of no id", "a span of all time"],
)
def test_a_row_that_leads_nowhere_ends_no_other_command(tmp_path, capsys, damage):
    path = tmp_path / "traces.db"
    fill(path)
    with sqlite3.connect(path) as db:
        assert db.execute(damage).rowcount == 1
    db.close()
    store = SQLiteStore(path)
    streamed = list(store.iter_traces())
    assert streamed
    for trace in streamed:
        assert len(store.trace(trace.trace_id).spans) == len(trace.spans)
    store.close()
    for words in (["traces", "list"], ["health"], ["redact", "--where", "name:good_agent", "--yes"]):
        with pytest.raises(SystemExit):
            main([*words, "--store", str(path)])
        assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage",
    ["outcome = 'maybe'", "outcome = 7", "threshold = 'NaN'", "value = 'much'", "name = x'ff00'"],
)
def test_a_score_that_can_be_none_is_errored_and_ends_no_command(tmp_path, capsys, damage):
    path = tmp_path / "traces.db"
    tracer = Tracer("shop", store=str(path))

    @tracer.observe(span_type="tool")
    def search():
        tracer.score_current_span("quality", 0.5, threshold=0.3)

    search(), search()
    tracer.shutdown()
    ids = [line.trace_id for line in tracer.store.traces()]
    with sqlite3.connect(path) as db:
        assert db.execute(f"UPDATE scores SET {damage} WHERE id = 1").rowcount == 1
    db.close()
    for words in (["traces", "list"], ["scores", "list"], ["sessions"], ["redact", "--where", "tool:search"]):
        with pytest.raises(SystemExit) as left:
            main([*words, "--store", str(path), *(["--yes"] if words[0] == "redact" else [])])
        printed = capsys.readouterr()
        assert left.value.code == 0, printed.err
    for trace_id in ids:
        with pytest.raises(SystemExit) as left:
            main(["traces", "show", trace_id, "--store", str(path)])
        assert left.value.code == 0
    shown = capsys.readouterr().out
    assert ("quality: errored" in shown) == ("name" not in damage)
    with pytest.raises(SystemExit):
        main(["traces", "list", "--where", "verdict:errored", "--json", "--store", str(path)])
    assert len(capsys.readouterr().out.splitlines()) == (0 if "name" in damage else 1)


def test_commands_list_and_show_a_damaged_trace(damaged, capsys):
    path, rotten, good = damaged

    def run(*words):
        with pytest.raises(SystemExit) as left:
            main([*words, "--store", str(path)])
        assert left.value.code == 0
        return capsys.readouterr().out

    listed = run("traces", "list", "--json")
    assert {json.loads(line)["trace_id"] for line in listed.splitlines()} == {rotten, good}
    for words in (["traces", "show", rotten], ["traces", "show", rotten, "--json"], ["traces", "show", good]):
        assert run(*words)


def test_what_cannot_be_read_of_a_span_is_an_attribute(tmp_path):
    from agenttrace.core import semconv

    path = tmp_path / "traces.db"
    rotten, _ = fill(path)
    rot(path, rotten, "a status that is a number")
    store = SQLiteStore(path)
    assert {span.status for span in store.trace(rotten).spans} == {"error"}
    assert store.trace(rotten).spans[0].attributes == {semconv.UNREADABLE: {"status": 5}}
    store.close()
