"""``agenttrace store copy``."""

import json

import pytest

from agenttrace import Tracer
from agenttrace.core.score import Score
from agenttrace.store import SQLiteStore


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A store of three runs of an agent, one of which has a score; it knows no tools of other tests."""
    monkeypatch.setattr("agenttrace.tracing.observed_function._tools", {})
    path = tmp_path / "from.db"
    tracer = Tracer("shop", store=str(path))

    @tracer.observe(span_type="agent")
    def agent(n):
        return n

    for n in range(3):
        agent(n)
    tracer.flush()
    trace_id = tracer.store.traces()[0].trace_id
    tracer.store.write_scores([(trace_id, None, Score.of("Budget", 0.0, 0.5))])
    tracer.shutdown()
    return path


def test_it_says_of_each_kind_how_much_was_written_and_is_there(agenttrace, recorded, tmp_path):
    ran = agenttrace("store", "copy", recorded, tmp_path / "to.db")
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()][:3] == [
        ["KIND", "FROM", "WRITTEN", "TO"],
        ["traces", "3", "3", "3"],
        ["spans", "3", "3", "3"],
    ]
    assert "to.db has everything that was copied from" in ran.err
    again = agenttrace("store", "copy", recorded, f"sqlite:///{tmp_path}/to.db", "--json")
    lines = [json.loads(line) for line in again.out.splitlines()]
    assert lines[0] == {"kind": "traces", "from": 3, "written": 0, "to": 3}
    assert len(SQLiteStore(tmp_path / "to.db").traces()) == 3


def test_a_part_is_what_a_query_finds(agenttrace, recorded, tmp_path):
    ran = agenttrace("store", "copy", recorded, tmp_path / "to.db", "--where", "scorer:Budget")
    assert ran.code == 0
    assert len(SQLiteStore(tmp_path / "to.db").traces()) == 1
    none = agenttrace("store", "copy", recorded, tmp_path / "none.db", "--where", "tool:nothing")
    assert (none.code, none.out) == (0, "nothing to copy\n")


def test_what_is_there_otherwise_is_an_exit_code_of_one(agenttrace, recorded, tmp_path):
    for name, content in (("from.db", [1]), ("to.db", [2])):
        SQLiteStore(tmp_path / name).save_dataset("refunds", "shop", content)
    ran = agenttrace("store", "copy", recorded, tmp_path / "to.db")
    assert ran.code == 1
    assert "to.db has not, or has otherwise: 1 datasets" in ran.err


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("from.db", "from.db", "itself"),
        ("from.db", "sqlite:///./from.db", "itself"),
        ("from.db", "memory", "memory"),
        (":memory:", "to.db", "memory"),
        ("nowhere.db", "to.db", "no store at"),
        ("from.db", "mysql://there/db", "another kind"),
        ("from.db", "postgresql://me:secret@127.0.0.1:1/db", "127.0.0.1"),
    ],
)
def test_what_cannot_be_copied_is_said(agenttrace, recorded, tmp_path, source, target, says):
    ran = agenttrace("store", "copy", source, target)
    assert ran.code == 2
    assert says in ran.err
    assert "secret" not in ran.err
    assert not (tmp_path / "to.db").exists()


def test_a_file_is_copied_to_a_server_and_back(agenttrace, recorded, tmp_path, postgres_address):
    assert agenttrace("store", "copy", recorded, postgres_address).code == 0
    ran = agenttrace("store", "copy", postgres_address, tmp_path / "back.db")
    assert ran.code == 0
    assert "not-asked-for" not in ran.out + ran.err
    one, other = SQLiteStore(recorded), SQLiteStore(tmp_path / "back.db")
    assert [trace.to_dict() for trace in one.iter_traces()] == [
        trace.to_dict() for trace in other.iter_traces()
    ]


@pytest.mark.parametrize("place", ["file.txt/to.db", "file.txt/deeper/to.db"])
def test_a_file_that_can_never_be_made_is_not_waited_for_and_said_with_the_reason(
    agenttrace, recorded, tmp_path, place
):
    (tmp_path / "file.txt").write_text("no folder")
    ran = agenttrace("store", "copy", recorded, tmp_path / place)
    assert ran.code == 2
    assert f"{place} cannot be written: " in ran.err
    assert "directory" in ran.err or "exists" in ran.err
