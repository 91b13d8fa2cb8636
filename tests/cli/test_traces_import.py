import gzip
import json
import sqlite3
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "otlp_in"))
from payloads import log, request, span

from agenttrace.store import open_store
from tests.stored_text import everything_in

TOOL = {
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.call.arguments": '{"city": "Paris", "token": "hunter2-x"}',
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))

    def write(name, payload):
        path = tmp_path / name
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        path.write_bytes(data)
        return path

    return write


def stored():
    store = open_store()
    traces = [store.trace(summary.trace_id) for summary in store.traces()]
    store.close()
    return traces


def test_a_file_comes_into_the_store_once(agenttrace, write):
    path = write("a.json", request(span(1, "agent"), span(2, "execute_tool get_weather", TOOL, parent=1)))
    first, second = agenttrace("traces", "import", path), agenttrace("traces", "import", path)
    assert (first.code, second.code) == (0, 0)
    assert first.out == f"{path}: 2 spans of 1 traces; new: 2 spans, 1 traces\n"
    assert second.out == f"{path}: 2 spans of 1 traces; new: 0 spans, 0 traces\n"
    (trace,) = stored()
    assert [call.name for call in trace.tool_calls] == ["get_weather"]


def test_parents_and_log_records_may_come_later_and_in_other_files(agenttrace, write):
    values = {"gen_ai.tool.name": "get_weather", "tool_use_id": "t1"}
    said = {"tool_use_id": "t1", "tool_input": '{"city": "Paris"}', "success": "true"}
    logs = request(logs=[log(1, "claude_code.tool_result", said)])
    child, parent = request(span(2, "x", values, parent=1)), request(span(1, "agent"))
    files = [
        write("l.json", logs),
        write("c.json.gz", gzip.compress(json.dumps(child).encode())),
        write("p.json", parent),
    ]
    for file in files:
        assert agenttrace("traces", "import", file).code == 0
    (trace,) = stored()
    assert (trace.name, len(trace.spans)) == ("agent", 2)
    assert [call.arguments for call in trace.tool_calls] == [{"city": "Paris"}]
    agenttrace("traces", "import", *files)
    assert len(stored()[0].spans) == 2


def test_what_cannot_be_read_is_said_and_the_rest_is_stored(agenttrace, write, tmp_path):
    good = write("good.json", request(span(1, "good")))
    half = write("half.json", request(span(2, "fine"), {**span(3, "bad"), "traceId": "ab"}))
    cut = write("cut.json", b'{"resourceSpans": [')
    ran = agenttrace("traces", "import", cut, half, tmp_path / "none.json", good)
    assert ran.code == 2
    assert f"{cut}: got text that is no JSON" in ran.err
    assert "none.json" in ran.err
    assert f"{half}: span 'bad': got a trace id of 1 bytes, wanted 16" in ran.err
    assert {one.name for trace in stored() for one in trace.spans} == {"good", "fine"}


def test_secrets_are_redacted_and_the_project_is_named(agenttrace, write):
    path = write(
        "a.json", request(span(1, "execute_tool get_weather", TOOL), resource={"service.name": "shop"})
    )
    agenttrace("traces", "import", path)
    (trace,) = stored()
    assert trace.tool_calls[0].arguments == {"city": "Paris", "token": "[redacted]"}
    assert "hunter2" not in repr(trace.to_dict())
    assert trace.spans[0].project == "shop"
    agenttrace("traces", "import", path, "--project", "other")
    assert stored()[0].spans[0].project == "other"


def test_a_list_shows_the_calls_with_their_failures(agenttrace, write):
    failed = span(2, "execute_tool get_weather", TOOL, parent=1, error="oh")
    agenttrace("traces", "import", write("a.json", request(span(1, "agent"), failed)))
    assert "get_weather✗" in agenttrace("traces", "list").out
    assert "get_weather" in agenttrace("traces", "show", stored()[0].trace_id[:8]).out


OBSERVATIONS = [
    {
        "id": "o1",
        "traceId": "lf1",
        "type": "AGENT",
        "name": "desk",
        "startTime": "2026-10-02T10:00:00.000Z",
        "endTime": "2026-10-02T10:00:02.000Z",
        "input": {"question": "refund 7"},
        "level": "DEFAULT",
        "parentObservationId": None,
    },
    {
        "id": "o2",
        "traceId": "lf1",
        "type": "TOOL",
        "name": "refund",
        "startTime": "2026-10-02T10:00:00.000Z",
        "endTime": "2026-10-02T10:00:01.000Z",
        "input": {"order": 7},
        "output": "ok",
        "parentObservationId": "o1",
    },
]
LANGFUSE = {
    "id": "lf1",
    "name": "desk",
    "userId": "ann",
    "sessionId": "s9",
    "tags": ["beta"],
    "release": "2.4",
    "version": "v7",
    "metadata": {"plan": "pro", "password": "hunter2-x", "scope": {"name": "langfuse-sdk"}},
    "observations": OBSERVATIONS,
    "scores": [{"name": "thumbs", "value": 1}, {"name": "tone", "stringValue": "kind"}],
}


def test_what_langfuse_says_of_a_trace_is_found_by_queries_and_shown(agenttrace, write):
    ran = agenttrace("traces", "import", write("t.json", LANGFUSE))
    assert ran.code == 0
    assert "not imported are 2 scores of Langfuse" in ran.err
    (trace,) = stored()
    assert (trace.tags, trace.customer_id, trace.session_id) == (("beta",), "ann", "s9")
    metadata = {"plan": "pro", "password": "[redacted]", "release": "2.4", "version": "v7"}
    assert trace.metadata == metadata
    assert "agenttrace.tags" not in trace.spans[1].attributes
    assert "desk" in agenttrace("traces", "list", "--where", "release:2.4 tag:beta plan:pro").out
    assert "2.4" in agenttrace("traces", "show", trace.trace_id).out


def test_a_trace_of_langfuse_without_observations_is_said(agenttrace, write):
    ran = agenttrace("traces", "import", write("t.json", {"id": "lf1", "observations": []}))
    assert "not imported are 1 traces of Langfuse without an observation" in ran.err


def test_a_later_import_takes_nothing_away_that_an_earlier_one_brought(agenttrace, write):
    whole = write("t.json", LANGFUSE)
    lines = write("o.jsonl", b"\n".join(json.dumps(one).encode() for one in OBSERVATIONS))
    agenttrace("traces", "import", whole, "--project", "shop")
    (before,) = stored()
    assert agenttrace("traces", "import", lines).code == 0
    (after,) = stored()
    assert after.to_dict() == before.to_dict()
    assert agenttrace("traces", "list", "--where", "release:2.4 customer:ann project:shop").code == 0


def test_what_a_later_import_says_of_a_span_counts(agenttrace, write):
    agenttrace("traces", "import", write("t.json", LANGFUSE))
    failed = OBSERVATIONS[1] | {"level": "ERROR", "statusMessage": "declined", "output": None}
    agenttrace("traces", "import", write("o.jsonl", failed | {"endTime": "2026-10-02T10:00:01.500Z"}))
    (trace,) = stored()
    (call,) = trace.tool_calls
    assert (call.error.message, call.end_ns - call.start_ns) == ("declined", 1_500_000_000)
    assert trace.tags == ("beta",)


def test_log_records_that_came_with_a_span_stay_when_it_comes_again(agenttrace, write):
    values = {"gen_ai.tool.name": "get_weather", "tool_use_id": "t1"}
    said = {"tool_use_id": "t1", "tool_input": '{"city": "Paris"}', "success": "true"}
    spans, logs = request(span(2, "x", values)), request(logs=[log(2, "claude_code.tool_result", said)])
    agenttrace("traces", "import", write("both.json", [spans, logs]))
    agenttrace("traces", "import", write("spans.json", spans))
    (trace,) = stored()
    assert [call.arguments for call in trace.tool_calls] == [{"city": "Paris"}]


def conversation(text, **fields):
    asked = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"order": 7}'}}
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok, password: hunter2-x"},
        {"role": "assistant", "content": "Done."},
    ]
    return {"messages": messages, **fields}


@pytest.mark.parametrize("form", ["object", "list", "lines", "spread over lines"])
def test_conversations_come_into_the_store_once_and_without_their_secrets(form, agenttrace, write):
    rows = [conversation("refund 7", id="a", timestamp="2026-10-02T10:00:00Z"), conversation("refund 8")]
    if form in ("object", "spread over lines"):
        rows = rows[:1]
    data = {
        "object": json.dumps(rows[0]),
        "list": json.dumps(rows),
        "lines": "\n".join(map(json.dumps, rows)),
        "spread over lines": json.dumps(rows[0], indent=2),
    }[form]
    path = write("m.jsonl", data.encode())
    first, second = agenttrace("traces", "import", path), agenttrace("traces", "import", path)
    assert (first.code, second.code) == (0, 0), first.err
    assert f"new: {4 * len(rows)} spans, {len(rows)} traces" in first.out
    assert "new: 0 spans, 0 traces" in second.out
    by_text = {trace.input["input"]: trace for trace in stored()}
    assert len(by_text) == len(rows)
    assert [call.arguments for call in by_text["refund 7"].tool_calls] == [{"order": 7}]
    assert by_text["refund 7"].root.start_ns == 1_790_935_200_000_000_000
    assert "hunter2" not in repr([trace.to_dict() for trace in by_text.values()])


def test_equal_conversations_of_a_file_are_traces_of_their_own(agenttrace, write):
    data = "\n".join([json.dumps(conversation("refund 7"))] * 2).encode()
    assert "of 2 traces" in agenttrace("traces", "import", write("m.jsonl", data)).out
    assert len(stored()) == 2


def test_a_conversation_that_cannot_be_read_is_said_with_its_number(agenttrace, write):
    rows = [conversation("refund 7"), {"messages": [{"role": "wizard", "content": "?"}]}]
    ran = agenttrace("traces", "import", write("m.json", rows))
    assert ran.code == 2
    assert "conversation 2: messages[0]" in ran.err
    assert "wizard" in ran.err


def test_runs_of_langsmith_come_into_the_store(agenttrace, write):
    times = {"start_time": "2026-10-02T10:00:00", "end_time": "2026-10-02T10:00:01"}
    root = {"id": "r", "trace_id": "r", "run_type": "chain", "name": "desk", "inputs": {"q": "?"}, **times}
    tool = {"id": "t", "trace_id": "r", "parent_run_id": "r", "run_type": "tool", "name": "refund", **times}
    tool |= {"inputs": {"order": 7, "password": "hunter2-x"}, "outputs": {"output": "ok"}}
    assert agenttrace("traces", "import", write("r.json", [root, tool])).code == 0
    (trace,) = stored()
    assert [call.arguments for call in trace.tool_calls] == [{"order": 7, "password": "[redacted]"}]


SESSIONS = {
    "atif": {
        "schema_version": "ATIF-v1.4",
        "session_id": "s-1",
        "agent": {"name": "desk", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Log in with AKIAIOSFODNN7EXAMPLE"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "tool_calls": [
                    {"tool_call_id": "c", "function_name": "log_in", "arguments": {"password": "hunter2-x"}}
                ],
                "observation": {"results": [{"source_call_id": "c", "content": "AKIAIOSFODNN7EXAMPLE"}]},
            },
        ],
    },
    "claude_code": [
        {
            "type": "user",
            "uuid": "u1",
            "sessionId": "s-1",
            "timestamp": "2026-01-02T03:04:01.000Z",
            "message": {"role": "user", "content": "Log in"},
        },
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            "sessionId": "s-1",
            "timestamp": "2026-01-02T03:04:02.000Z",
            "message": {
                "role": "assistant",
                "id": "m",
                "model": "m",
                "content": [
                    {"type": "tool_use", "id": "c", "name": "log_in", "input": {"password": "hunter2-x"}}
                ],
            },
        },
        {
            "type": "user",
            "uuid": "u3",
            "parentUuid": "u2",
            "sessionId": "s-1",
            "timestamp": "2026-01-02T03:04:03.000Z",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": "AKIAIOSFODNN7EXAMPLE"}],
            },
        },
    ],
}


def as_file(session):
    if isinstance(session, dict):
        return json.dumps(session, indent=1).encode()
    return "\n".join(map(json.dumps, session)).encode()


@pytest.mark.parametrize("kind", SESSIONS)
def test_a_transcript_comes_into_the_store_once_and_without_its_secrets(agenttrace, write, kind):
    path = write("session", as_file(SESSIONS[kind]))
    first, second = agenttrace("traces", "import", path), agenttrace("traces", "import", path)
    assert (first.code, second.code) == (0, 0), first.err
    assert "1 traces" in first.out
    assert second.out.endswith("new: 0 spans, 0 traces\n")
    (trace,) = stored()
    (made,) = trace.tool_calls
    assert (made.name, made.arguments, made.output) == ("log_in", {"password": "[redacted]"}, "[redacted]")
    assert trace.session_id == "s-1"
    for secret in ("hunter2", "AKIAIOSFODNN7EXAMPLE"):
        assert secret not in repr(trace.to_dict())


def test_a_session_that_went_on_stays_one_trace(agenttrace, write):
    session = SESSIONS["claude_code"]
    agenttrace("traces", "import", write("session", as_file(session[:2])))
    assert [call.status for call in stored()[0].tool_calls] == ["requested"]
    agenttrace("traces", "import", write("session", as_file(session)))
    (trace,) = stored()
    assert [call.status for call in trace.tool_calls] == ["ok"]


def test_a_transcript_that_was_cut_says_so_and_the_rest_is_stored(agenttrace, write):
    path = write("session", as_file(SESSIONS["claude_code"])[:-20])
    ran = agenttrace("traces", "import", path)
    assert ran.code == 2
    assert "1 lines are no JSON" in ran.err
    assert [call.name for call in stored()[0].tool_calls] == ["log_in"]


HIDDEN = "x7Kd92mNqPz4"
LISTS = [
    ["x", "--password", HIDDEN],
    ["mysqldump", "--password", HIDDEN],
    ["Authorization", f"Basic {HIDDEN}=="],
    [["user", "password"], ["ann", HIDDEN]],
]


@pytest.mark.parametrize("items", LISTS, ids=str)
def test_a_list_that_an_attribute_spells_is_redacted_as_one(items, agenttrace, tmp_path):
    attribute = {"key": "process.command_args", "value": {"stringValue": json.dumps(items)}}
    span = {"traceId": "1" * 32, "spanId": "1" * 16, "name": "n", "attributes": [attribute]}
    span.update({"startTimeUnixNano": "1000", "endTimeUnixNano": "2000"})
    payload = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "x"}, "spans": [span]}]}]}
    (tmp_path / "spans.json").write_text(json.dumps(payload))
    store = tmp_path / "traces.db"
    assert agenttrace("traces", "import", tmp_path / "spans.json", "--store", store).code == 0
    assert HIDDEN not in everything_in(store)
    with sqlite3.connect(store) as db:
        assert db.execute("SELECT count(*) FROM spans").fetchone() == (1,)
    db.close()


def test_our_own_lines_are_refused_with_what_can_be_imported(agenttrace, write, tmp_path):
    agenttrace("traces", "import", write("a.json", request(span(1, "agent"))))
    files = [tmp_path / f"exported.{form}" for form in ("jsonl", "otlp")]
    for file in files:
        assert agenttrace("traces", "export", "--to", file.suffix[1:], "--output", file).code == 0
    lines, otlp = (agenttrace("traces", "import", file) for file in files)
    assert (lines.code, otlp.code) == (2, 0)
    assert lines.err.endswith("to have it imported again, export it with --to otlp\n")


def test_a_file_that_cannot_be_read_is_said_in_words(agenttrace, tmp_path):
    ran = agenttrace("traces", "import", "none.json", ".")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "Error: cannot read none.json: No such file or directory",
        "Error: cannot read .: Is a directory",
    ]


def test_times_of_conversations_that_cannot_be_read_are_said(agenttrace, write):
    rows = [conversation("refund 7", created_at="bad"), conversation("refund 8", created="never")]
    rows.append(conversation("refund 9", created=1_767_323_045_000))
    result = agenttrace("traces", "import", write("m.jsonl", "\n".join(map(json.dumps, rows)).encode()))
    assert result.code == 0
    assert (
        "not imported are 2 times that cannot be read, such as 'bad': the time of this import" in result.err
    )
