"""A trace as ATIF, and back: what the calls were, gave, and how they failed."""

import json

import pytest

from agenttrace import Trace, Tracer, trace_to_atif, traces_from_transcript
from tests.transcripts.conftest import ATIF, CLAUDE, CODEX


def facts(trace):
    return [
        (
            one.name,
            dict(one.arguments),
            one.known_output,
            one.status,
            one.error and one.error.message,
            one.agent,
            one.turn,
        )
        for one in trace.tool_calls
    ]


def answers(trace):
    return [
        (
            span.output.get("text"),
            span.output.get("reasoning"),
            span.usage,
            span.attributes.get("gen_ai.response.model"),
        )
        for span in sorted(trace.spans, key=lambda span: (span.end_ns, span.index))
        if span.span_type == "llm"
    ]


def back(trace):
    trajectory = json.loads(json.dumps(trace_to_atif(trace)))
    assert [step["step_id"] for step in trajectory["steps"]] == list(range(1, len(trajectory["steps"]) + 1))
    (read,) = traces_from_transcript(trajectory)
    return read


@pytest.mark.parametrize("source", [CLAUDE, CODEX, ATIF], ids=["claude_code", "codex", "atif"])
def test_a_transcript_written_as_atif_reads_back_the_same(source):
    (trace,) = traces_from_transcript(source)
    again = back(trace)
    assert facts(again) == facts(trace)
    assert answers(again) == answers(trace)
    assert (again.session_id, again.name, again.output) == (trace.session_id, trace.name, trace.output)
    assert again.offered_tools == trace.offered_tools


def test_a_recorded_trace_of_decorated_tools_reads_back_the_same():
    tracer = Tracer("atif", store="memory")

    @tracer.observe(span_type="tool")
    def look(city, days=3):
        if city == "Atlantis":
            raise ValueError("no such city")
        return {"city": city, "days": [1, 2]}

    @tracer.observe(span_type="agent")
    def helper(city):
        return look(city, days=1)

    @tracer.observe(span_type="tool")
    def ask(question):
        return helper(question)

    @tracer.observe(span_type="agent")
    def agent(question):
        look("Paris")
        try:
            look("Atlantis")
        except ValueError:
            pass
        ask("Rome")
        return "go"

    with tracer.capture() as captured:
        agent("where?")
    again = back(captured.trace)
    assert [fact[:6] for fact in facts(again)] == [fact[:6] for fact in facts(captured.trace)]
    assert again.output == "go"


def test_a_run_of_plain_messages_can_be_written():
    trace = Trace.from_messages(
        [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": '{"x": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "done"},
            {"role": "assistant", "content": "bye"},
        ]
    )
    again = back(trace)
    assert [(one.name, one.arguments, one.output, one.status) for one in again.tool_calls] == [
        ("a", {"x": 1}, "done", "answered")
    ]
    assert trace_to_atif(trace)["steps"][0]["source"] == "user"


def test_an_empty_trace_is_a_trajectory_without_steps():
    assert trace_to_atif(Trace())["steps"] == []


def test_results_name_a_call_of_their_own_step():
    (trace,) = traces_from_transcript(CLAUDE)
    for step in trace_to_atif(trace)["steps"]:
        ids = {entry["tool_call_id"] for entry in step.get("tool_calls", ())}
        results = step.get("observation", {}).get("results", ())
        assert {entry["source_call_id"] for entry in results} <= ids
