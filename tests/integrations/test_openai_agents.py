"""What the OpenAI Agents SDK reports becomes spans; the SDK's own objects are stood in for by plain ones."""

import json
import sys
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pytest

from agenttrace import Example, MissingDependency, ToolOrderScorer, Tracer, call
from agenttrace.integrations.openai_agents import AgentTraceProcessor, instrument


@pytest.fixture
def tracer():
    tracer = Tracer("travel", store="memory")
    yield tracer
    tracer.shutdown()


class Reported:
    """Runs steps as the SDK does: a trace, spans inside each other, data that is filled in before the end."""

    def __init__(self, processor, group_id=None):
        self.processor = processor
        self.trace = SimpleNamespace(
            trace_id="trace_1", name="Agent workflow", export=lambda: {"group_id": group_id}
        )
        self.open = []
        self.count = 0

    @contextmanager
    def run(self):
        self.processor.on_trace_start(self.trace)
        yield self
        self.processor.on_trace_end(self.trace)

    @contextmanager
    def step(self, kind, name=None, error=None, **data):
        self.count += 1
        parent_id = self.open[-1] if self.open else None
        span_data = SimpleNamespace(type=kind, **({} if name is None else {"name": name}))
        span = SimpleNamespace(
            span_id=f"span_{self.count}",
            parent_id=parent_id,
            trace_id=self.trace.trace_id,
            span_data=span_data,
            error=error,
        )
        self.processor.on_span_start(span)
        self.open.append(span.span_id)
        yield span
        self.open.pop()
        vars(span_data).update(data)
        self.processor.on_span_end(span)

    def tool(self, name, arguments, output, error=None):
        with self.step("function", name, error, input=arguments, output=output, mcp_data=None):
            pass


def names_below(trace, span):
    return [child.name for child in trace.spans if child.parent_id == span.span_id]


def test_a_run_with_its_agent_its_model_and_its_tools(tracer):
    reported = Reported(AgentTraceProcessor(tracer), group_id="conversation-7")
    answer = {
        "id": "resp_1",
        "model": "gpt-5",
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny."}]}
        ],
        "usage": {"input_tokens": 50, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 10}},
    }
    groups = ExitStack()
    with tracer.capture() as captured, reported.run(), groups:
        for kind, name in (("task", "Agent workflow"), ("agent", "Travel"), ("turn", None)):
            groups.enter_context(reported.step(kind, name))
        with reported.step("response", input=[{"role": "user", "content": "?"}], response=None) as step:
            response = SimpleNamespace(**{**answer, "output": answer["output"]})
        reported.tool("weather", json.dumps({"city": "Paris"}), "sunny")
        with reported.step("response", input="?", response=response):
            pass
    trace = captured.trace
    root, agent = trace.spans[0], trace.spans[1]
    assert step.span_id
    assert (root.name, root.span_type, trace.session_id) == ("Agent workflow", "chain", "conversation-7")
    assert (agent.name, agent.span_type, agent.parent_id) == ("Travel", "agent", root.span_id)
    assert names_below(trace, agent) == ["response", "weather", "gpt-5"]
    [tool_call] = trace.tool_calls
    assert (tool_call.name, tool_call.arguments, tool_call.output) == ("weather", {"city": "Paris"}, "sunny")
    model = trace.spans[-1]
    assert (model.span_type, model.output["text"]) == ("llm", "Sunny.")
    assert model.usage["input_tokens"] == 50
    assert model.usage["cache_read_tokens"] == 10


def test_a_call_of_chat_completions_has_its_messages_and_its_usage(tracer):
    reported = Reported(AgentTraceProcessor(tracer))
    data = {
        "model": "gpt-4.1",
        "input": [{"role": "user", "content": "?"}],
        "output": [{"role": "assistant", "content": "Sunny."}],
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }
    with tracer.capture() as captured, reported.run(), reported.step("generation", **data):
        pass
    model = captured.trace.spans[1]
    assert (model.name, model.input["messages"], model.output) == ("gpt-4.1", data["input"], data["output"])
    assert (model.usage["input_tokens"], model.usage["output_tokens"]) == (5, 2)


def test_a_tool_that_fails_says_why(tracer):
    reported = Reported(AgentTraceProcessor(tracer))
    error = {"message": "Error running tool", "data": {"tool_name": "weather", "error": "unknown city"}}
    with tracer.capture() as captured, reported.run():
        reported.tool("weather", '{"city": "Atlantis"}', None, error)
    [tool_call] = captured.trace.tool_calls
    assert "unknown city" in str(tool_call.error)


def test_a_handoff_is_a_call_of_the_tool_that_the_model_was_offered(tracer):
    reported = Reported(AgentTraceProcessor(tracer))
    handoff = reported.step("handoff", from_agent="Triage", to_agent="Refund Desk")
    with tracer.capture() as captured, reported.run(), handoff:
        pass
    assert [one.name for one in captured.trace.tool_calls] == ["transfer_to_refund_desk"]


def test_what_is_recorded_inside_a_tool_stands_under_it(tracer):
    reported = Reported(AgentTraceProcessor(tracer))

    @tracer.observe
    def look_up(city):
        return city

    with tracer.capture() as captured, reported.run():
        with reported.step("function", "weather", input="{}", output="x", mcp_data=None):
            look_up("Paris")
        look_up("Rome")
    trace = captured.trace
    [weather] = [span for span in trace.spans if span.name == "weather"]
    assert names_below(trace, weather) == ["look_up"]


def test_arguments_that_the_sdk_keeps_to_itself_are_not_recorded(tracer):
    reported = Reported(AgentTraceProcessor(tracer))
    with tracer.capture() as captured, reported.run():
        reported.tool("weather", None, None)
    [span] = [span for span in captured.trace.spans if span.name == "weather"]
    assert (span.input, span.output) == (None, None)


def test_a_recorded_run_is_scored(tracer):
    reported = Reported(AgentTraceProcessor(tracer))
    with tracer.capture() as captured, reported.run():
        reported.tool("weather", '{"city": "Paris"}', "sunny")
        reported.tool("book", '{"city": "Paris", "nights": 2}', "done")
    expected = [call("weather", city="Paris"), call("book", city="Paris", nights=2)]
    assert ToolOrderScorer().score(Example(expected_tools=expected), captured.trace).value == 1.0


def test_an_event_that_cannot_be_read_breaks_no_run(tracer):
    processor = AgentTraceProcessor(tracer)
    processor.on_span_start(object())
    processor.on_span_end(SimpleNamespace(span_data=None))
    processor.on_trace_start(None)
    assert processor.recording_errors == 3


def test_what_is_open_at_the_end_of_the_process_is_abandoned(tracer):
    processor = AgentTraceProcessor(tracer)
    reported = Reported(processor)
    processor.on_trace_start(reported.trace)
    processor.force_flush()
    processor.shutdown()
    tracer.flush()
    [summary] = tracer.store.traces()
    assert [span.status for span in tracer.store.trace(summary.trace_id).spans] == ["abandoned"]


def test_one_line_adds_it_to_the_sdk(tracer, monkeypatch):
    processors = []
    monkeypatch.setitem(sys.modules, "agents", SimpleNamespace(add_trace_processor=processors.append))
    processor = instrument(tracer)
    assert processors == [processor]


def test_without_the_sdk_the_line_says_what_to_install(tracer, monkeypatch):
    monkeypatch.setitem(sys.modules, "agents", None)
    with pytest.raises(MissingDependency, match="openai-agents"):
        instrument(tracer)
