from __future__ import annotations

import pytest

from agenttrace import Tracer, traces_from_otlp, traces_from_transcript
from agenttrace.core.batch import Batch
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.datasets import EvalDataset
from agenttrace.expectations import call
from agenttrace.scorers import ToolOrderScorer
from agenttrace.store.memory import MemoryStore


def _captured() -> Trace:
    root = Span(
        trace_key=1,
        span_key=1,
        name="run_agent",
        input={"prompt": "Paris?"},
        output="sunny",
        end_ns=9,
        attributes={"session.id": "s1", "agenttrace.tags": ("beta",)},
    )
    tool = Span(
        trace_key=1,
        span_key=2,
        parent_key=1,
        index=1,
        name="weather",
        span_type="tool",
        input={"city": "Paris"},
        output=21,
        start_ns=1,
        end_ns=2,
    )
    return Trace([root, tool])


def test_a_run_becomes_an_example_of_what_went_in_and_came_out() -> None:
    (example,) = EvalDataset.from_traces([_captured()])
    assert example.input == {"prompt": "Paris?"}
    assert example.actual_output == "sunny"
    assert example.tools_called == [
        {"name": "weather", "arguments": {"city": "Paris"}, "output": {"$truncated": "span"}}
    ]
    (whole,) = EvalDataset.from_traces([_captured()], outputs=True)
    assert whole.tools_called == [{"name": "weather", "arguments": {"city": "Paris"}, "output": 21}]
    assert example.expected_tools is None
    assert example.name == "run_agent: Paris?"
    assert example.additional_metadata == {"trace_id": f"{1:032x}", "session_id": "s1"}
    assert example.tags == ["beta"]


def test_the_calls_can_be_taken_as_the_expectation() -> None:
    (named,) = EvalDataset.from_traces([_captured()], expect="names")
    (called,) = EvalDataset.from_traces([_captured()], expect="calls")
    assert named.expected_tools == ["weather"]
    assert called.expected_tools == [{"tool_name": "weather", "parameters": {"city": "Paris"}}]


def test_the_called_tools_read_back_as_the_same_calls() -> None:
    calls = [
        {"name": "pay", "args": {"n": 1}, "error": "no", "agent": "a", "turn": 2, "kind": "write"},
        "log",
    ]
    trace = Trace.from_calls(calls)
    (example,) = EvalDataset.from_traces([trace])
    again = Trace.from_calls(example.tools_called or [])
    for before, after in zip(trace.tool_calls, again.tool_calls, strict=True):
        assert (before.name, before.arguments, before.error, before.agent, before.turn, before.metadata) == (
            after.name,
            after.arguments,
            after.error,
            after.agent,
            after.turn,
            after.metadata,
        )


def test_an_undecorated_agent_leaves_the_input_unknown() -> None:
    tool = Span(trace_key=1, span_key=1, name="weather", span_type="tool", input={"city": "Paris"})
    (example,) = EvalDataset.from_traces([Trace([tool])])
    assert example.input is None


def test_a_recorded_chat_has_its_first_text_as_input() -> None:
    trace = Trace.from_messages(
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    )
    (example,) = EvalDataset.from_traces([trace])
    assert (example.input, example.actual_output) == ("hi", "hello")


def _imported(**attributes: object) -> Trace:
    values = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "agent", "attributes": values}
    (trace,) = traces_from_otlp({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    return trace


def test_a_text_that_an_imported_agent_was_given_is_the_input_as_it_stands() -> None:
    (example,) = EvalDataset.from_traces([_imported(**{"input.value": "refund 5"})])
    assert (example.input, example.name) == ("refund 5", "agent: refund 5")


def test_the_argument_called_input_of_an_imported_agent_stays_an_argument() -> None:
    (example,) = EvalDataset.from_traces([_imported(**{"input.value": '{"input": "refund 5"}'})])
    assert example.input == {"input": "refund 5"}
    own = {"agenttrace.span.type": "agent", "input.value": '{"input": "refund 5"}'}
    (example,) = EvalDataset.from_traces([_imported(**own)])
    assert example.input == {"input": "refund 5"}


def test_an_imported_text_is_the_input_also_from_the_store() -> None:
    store = MemoryStore()
    store.write(Batch(list(_imported(**{"input.value": "refund 5"}).spans)))
    trace = store.trace("1" * 32)
    assert trace is not None
    assert EvalDataset.from_traces([trace])[0].input == "refund 5"


def test_the_argument_called_input_of_a_decorated_agent_stays_an_argument() -> None:
    tracer = Tracer(store="memory")

    @tracer.observe(span_type="agent")
    def agent(input: str) -> str:  # noqa: A002 - the name is the point
        return input

    with tracer.capture() as captured:
        agent("refund 5")
    assert EvalDataset.from_traces([captured.trace])[0].input == {"input": "refund 5"}


def test_the_prompt_of_a_transcript_is_the_input_as_it_stands() -> None:
    steps = [{"step_id": 1, "source": "user", "message": "refund 5"}]
    session = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a"}, "steps": steps}
    traces = traces_from_transcript(session)
    assert EvalDataset.from_traces(traces)[0].input == "refund 5"


def test_plain_calls_leave_the_input_unknown() -> None:
    (example,) = EvalDataset.from_traces([Trace.from_calls(["a"])])
    assert example.input is None


@pytest.mark.parametrize("agent_input", ["hi", {"order": 7}, {"input": {"order": 7}}, None])
def test_a_recorded_run_gives_back_its_name_and_its_input(agent_input) -> None:
    (example,) = EvalDataset.from_traces([Trace.from_calls(["a"], name="task 1", input=agent_input)])
    assert (example.name, example.input) == ("task 1", agent_input)


def test_names_tell_the_runs_apart() -> None:
    chat = [{"role": "user", "content": "hi\n there"}, {"role": "assistant", "content": "hello"}]
    runs = [
        Trace.from_messages(chat),
        Trace.from_messages(chat),
        Trace.from_calls(["a"]),
        Trace.from_calls([]),
    ]
    names = [example.name for example in EvalDataset.from_traces(runs)]
    assert names == ["hi there", "hi there (2)", "recorded run", "recorded run (2)"]
    root = Span(trace_key=1, span_key=1, name="desk", input={"order": 7, "note": "x" * 99, "deep": [1]})
    (example,) = EvalDataset.from_traces([Trace([root])])
    assert example.name == "desk: 7, " + "x" * 50 + "…"


def test_without_outputs_an_expectation_about_one_cannot_be_told() -> None:
    (example,) = EvalDataset.from_traces([_captured()])
    example.expected_tools = [call("weather", city="Paris", output=21)]
    assert ToolOrderScorer().score(example).outcome == "errored"
    example.expected_tools = [call("weather", city="Paris")]
    assert ToolOrderScorer().score(example).outcome == "passed"
