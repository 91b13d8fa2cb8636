"""Coding agents that write log records of their calls: beside spans, or without any."""

import json

from payloads import log, request, span

from agenttrace import Example, ToolOrderScorer, call, traces_from_otlp

ARGS = {"command": "ls"}
TEXT = json.dumps(ARGS)


def logs(*records, scope=""):
    return {"resourceLogs": [{"scopeLogs": [{"scope": {"name": scope}, "logRecords": list(records)}]}]}


def without_trace(record):
    return {key: value for key, value in record.items() if key not in ("traceId", "spanId")}


def codex(number, **values):
    """As the bridge from Rust's tracing writes it: the record's own name is a place in the source."""
    said = {
        "event.name": "codex.tool_result",
        "conversation.id": "s-1",
        "tool_name": "shell",
        "call_id": f"c{number}",
        "arguments": TEXT,
        "duration_ms": "12",
        "success": "true",
        "output": "a.txt",
    }
    return without_trace(log(number, "event otel/src/events.rs:9", said | values))


def test_codex_calls_without_spans_are_calls_of_one_trace_for_each_session():
    other = codex(3, **{"conversation.id": "s-2"})
    failed = codex(2, success="false", output="no such file")
    first, second = traces_from_otlp(logs(codex(1), failed, other))
    good, bad = first.tool_calls
    assert (good.name, good.arguments, good.output, good.failed) == ("shell", ARGS, "a.txt", False)
    assert (bad.arguments, bad.failed, bad.error.message) == (ARGS, True, "no such file")
    assert (first.session_id, len(second.tool_calls)) == ("s-1", 1)


def test_a_logged_call_lasted_until_its_record_was_written():
    record = codex(1) | {"timeUnixNano": "50000000"}
    (trace,) = traces_from_otlp(logs(record))
    assert (trace.root.start_ns, trace.root.end_ns) == (38_000_000, 50_000_000)


def test_a_record_that_is_sent_twice_is_one_call():
    (trace,) = traces_from_otlp([logs(codex(1)), logs(codex(1))])
    assert len(trace.tool_calls) == 1


def test_gemini_cli_s_calls_have_arguments_and_no_result():
    said = {
        "event.name": "gemini_cli.tool_call",
        "session.id": "s-1",
        "function_name": "read_file",
        "function_args": json.dumps({"path": "a.txt"}, indent=2),
        "duration_ms": 3,
        "success": True,
        "tool_type": "native",
    }
    failed = said | {"success": False, "error": "gone", "error.message": "gone", "error.type": "not_found"}
    (trace,) = traces_from_otlp(
        logs(
            *(without_trace(log(n, "", values)) for n, values in enumerate((said, failed), 1)),
            scope="gemini-cli",
        )
    )
    good, bad = trace.tool_calls
    assert (good.name, good.arguments, good.failed) == ("read_file", {"path": "a.txt"}, False)
    assert (bad.failed, str(bad.error)) == (True, "not_found: gone")
    assert trace.session_id == "s-1"


def test_claude_code_s_calls_are_read_without_its_spans():
    said = {
        "event.name": "tool_result",
        "session.id": "s-1",
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "tool_input": TEXT,
        "success": "true",
        "duration_ms": "5",
    }
    record = log(1, "", said, body="claude_code.tool_result")
    (trace,) = traces_from_otlp(logs(without_trace(record), scope="com.anthropic.claude_code.events"))
    (only,) = trace.tool_calls
    assert (only.name, only.arguments, only.failed, trace.session_id) == ("Bash", ARGS, False, "s-1")


def test_arguments_that_claude_code_was_not_told_to_log_are_not_recorded():
    said = {"event.name": "tool_result", "session.id": "s-1", "tool_name": "Bash", "success": "true"}
    record = without_trace(log(1, "", said))
    (trace,) = traces_from_otlp(logs(record, scope="com.anthropic.claude_code.events"))
    assert ToolOrderScorer().score(Example(expected_tools=["Bash"]), trace).outcome == "passed"
    score = ToolOrderScorer().score(Example(expected_tools=[call("Bash", command="ls")]), trace)
    assert (score.outcome, "OTEL_LOG_TOOL_DETAILS" in score.reason) == ("errored", True)


def test_a_record_whose_span_is_there_is_no_second_call():
    said = {"event.name": "tool_result", "tool_name": "Bash", "tool_use_id": "t1", "tool_input": TEXT}
    values = {"span.type": "tool", "gen_ai.tool.name": "Bash"}
    agent = span(1, "claude_code.interaction", {"span.type": "interaction"})
    for identified in ({"tool_use_id": "t1"}, {}):
        tool = span(2, "claude_code.tool", values | identified, parent=1)
        (trace,) = traces_from_otlp(request(agent, tool, logs=[log(1, "", said)]))
        assert len(trace.tool_calls) == 1


def test_a_record_below_a_span_of_another_kind_is_a_call_there():
    said = {"event.name": "codex.tool_result", "tool_name": "shell", "call_id": "c1", "arguments": TEXT}
    turn = span(1, "session_task.turn", {})
    (trace,) = traces_from_otlp(request(turn, logs=[log(1, "", said)]))
    (only,) = trace.tool_calls
    assert (only.name, only.arguments, trace.root.name) == ("shell", ARGS, "session_task.turn")


def test_records_that_name_no_session_and_no_trace_are_left_out():
    record = without_trace(log(1, "", {"event.name": "codex.tool_result", "tool_name": "shell"}))
    assert traces_from_otlp(logs(record)) == []
