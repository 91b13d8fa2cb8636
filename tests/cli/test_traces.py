import json

import pytest

from agenttrace.core.score import Score
from agenttrace.tracer import Tracer


@pytest.fixture
def recorded(tmp_path):
    """Two traces in the store; the id of the newer."""
    tracer = Tracer(project_name="travel", store=tmp_path / "traces.db")

    @tracer.observe(span_type="tool")
    def search(city, days=3):
        if city == "Nowhere":
            raise ValueError("no such \x1b[31mcity")
        return [f"{city} museum"]

    @tracer.observe
    def run_agent(prompt):
        return search(prompt)

    @tracer.observe
    def other():
        return 1

    other()
    with tracer.capture() as captured, pytest.raises(ValueError):
        run_agent("Nowhere")
    tracer.flush(timeout=5)
    tracer.store.write_scores(
        [(captured.trace.trace_id, None, Score.of("Tool Order", 0.5, 1.0, reason="1 of 2"))]
    )
    tracer.shutdown(timeout=5)
    return captured.trace.trace_id


def test_list_shows_the_newest_first(agenttrace, recorded):
    ran = agenttrace("traces", "list")
    head, first, second = ran.out.splitlines()
    assert ran.code == 0
    columns = "TRACE STARTED NAME PROJECT SPANS TOOLS DURATION STATUS SCORE CALLS"
    assert head.split() == columns.split()
    assert first.startswith(recorded[:12])
    assert "run_agent" in first
    assert first.endswith("error   ✗ Tool Order 0.5  search✗")
    assert "other" in second


def test_list_can_be_narrowed_and_read_by_programs(agenttrace, recorded):
    assert len(agenttrace("traces", "list", "--limit", 1).out.splitlines()) == 2
    assert agenttrace("traces", "list", "--project", "none").out == ""
    rows = [
        json.loads(line)
        for line in agenttrace("traces", "list", "--name", "run_agent", "--json").out.splitlines()
    ]
    assert [(row["trace_id"], row["spans"], row["tool_calls"]) for row in rows] == [(recorded, 2, 1)]


def test_list_without_a_store_says_what_to_do_and_makes_no_file(agenttrace, tmp_path):
    ran = agenttrace("traces", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "agenttrace demo" in ran.err
    assert f"{tmp_path / 'traces.db'}, which is not there yet" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["list", "show"])
def test_a_path_given_at_which_nothing_is_ends_with_2(agenttrace, recorded, tmp_path, command):
    ran = agenttrace("traces", command, "--store", "nothere.db")
    assert (ran.code, ran.out) == (2, "")
    assert f"there is no store at {tmp_path / 'nothere.db'}" in ran.err


def test_the_store_can_be_an_address_of_sqlite(agenttrace, recorded, tmp_path):
    ran = agenttrace("traces", "list", "--store", "sqlite:///traces.db")
    assert recorded[:12] in ran.out
    ran = agenttrace("traces", "list", "--store", "sqlite:///nothere.db")
    assert (ran.code, ran.out) == (2, "")
    assert f"there is no store at {tmp_path / 'nothere.db'}" in ran.err


def test_an_address_of_another_kind_ends_with_2_and_shows_no_password(agenttrace):
    ran = agenttrace("traces", "list", "--store", "mysql://annabel:hunter2@127.0.0.1/traces")
    assert (ran.code, ran.out) == (2, "")
    assert "sqlite:///relative.db" in ran.err
    assert "hunter2" not in ran.err


def test_a_server_that_does_not_answer_ends_with_2_and_shows_no_password(agenttrace):
    pytest.importorskip("psycopg")
    ran = agenttrace("traces", "list", "--store", "postgresql://annabel:hunter2@127.0.0.1:1/traces")
    assert (ran.code, ran.out) == (2, "")
    assert "annabel@127.0.0.1:1/traces cannot be read" in ran.err
    assert "hunter2" not in ran.err


def test_list_of_a_store_without_such_traces_names_the_store(agenttrace, recorded, tmp_path):
    ran = agenttrace("traces", "list", "--store", "traces.db", "--project", "none")
    assert ran.code == 0
    assert f"no traces found in {tmp_path / 'traces.db'};" in ran.err


@pytest.mark.parametrize("length", [4, 8, 32])
def test_show_is_a_tree_with_parameters_errors_and_scores(agenttrace, recorded, length):
    ran = agenttrace("traces", "show", recorded[:length])
    assert ran.code == 0
    assert f"Trace {recorded}\n" in ran.out
    assert "✗ Tool Order: 0.5 (threshold 1.0)  1 of 2\n" in ran.out
    assert 'prompt = "Nowhere"\n' in ran.out
    assert "└─ search  [tool]" in ran.out
    assert 'city = "Nowhere"\n' in ran.out
    assert "days = 3\n" in ran.out
    assert "✗ ValueError: no such \\x1b[31mcity\n" in ran.out


def test_show_without_an_id_takes_the_newest(agenttrace, recorded):
    assert agenttrace("traces", "show").out == agenttrace("traces", "show", recorded).out


def test_show_as_json_holds_spans_and_scores(agenttrace, recorded):
    trace = json.loads(agenttrace("traces", "show", recorded, "--json").out)
    assert [span["name"] for span in trace["spans"]] == ["run_agent", "search"]
    assert trace["scores"][0]["value"] == 0.5


def test_show_of_an_unknown_trace_ends_with_2(agenttrace, recorded):
    unknown = agenttrace("traces", "show", "0000dead")
    assert unknown.code == 2
    assert "agenttrace traces list" in unknown.err


def test_show_of_an_empty_store_ends_with_2(agenttrace):
    ran = agenttrace("traces", "show")
    assert ran.code == 2
    assert "there are no traces yet in" in ran.err


@pytest.mark.parametrize("limit", [0, -1, 10**9, "1e9", "1; DROP TABLE spans"])
@pytest.mark.parametrize("table", ["traces", "runs"])
def test_no_limit_is_none_or_without_end(agenttrace, recorded, table, limit):
    """Scenario 119."""
    ran = agenttrace(table, "list", "--limit", limit)
    assert ran.code == 2
    assert "--limit" in ran.err


def test_beside_a_file_of_another_kind_nothing_is_begun(agenttrace, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "examples.yaml").write_text("examples: []\n")
    ran = agenttrace("traces", "list", "--store", folder / "examples.yaml")
    assert (ran.code, "is no trace store but a file of another kind" in ran.err) == (2, True)
    assert [path.name for path in folder.iterdir()] == ["examples.yaml"]
