# ruff: noqa: SIM117 - it is the end of a replay's block that raises
"""The weather agent on OpenAI's client: recorded against a model on loopback, replayed without a network."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from agenttrace.core.batch import Batch
from agenttrace.core.errors import SimulationError
from agenttrace.store import open_store

openai = pytest.importorskip("openai")

EXAMPLE = Path(__file__).parents[2] / "examples" / "weather_agent.py"
QUESTION = "Do I need an umbrella in Paris?"


@pytest.fixture
def agent(monkeypatch):
    spec = importlib.util.spec_from_file_location("weather_agent", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "weather_agent", module)
    spec.loader.exec_module(module)
    yield module
    module.tracer.shutdown()


def asks(city):
    """A reply that asks for the forecast, its JSON spaced as providers do."""
    function = {"name": "forecast", "arguments": f'{{"city":"{city}"}}'}
    message = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "tool_calls": [{"id": "call-1", "type": "function", "function": function}],
    }
    return reply(message, "tool_calls")


def reply(message, finish):
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47},
    }


class Script:
    """A model on loopback: it asks for the forecast of Paris, then answers."""

    def __init__(self, endpoint, respond):
        def answer(request):
            last = request.json["messages"][-1]
            if last["role"] != "tool":
                return respond(asks("Paris"))
            text = f"Expect {json.loads(last['content'])['sky']}."
            return respond(reply({"role": "assistant", "content": text, "refusal": None}, "stop"))

        self.endpoint = endpoint(answer)
        self.client = openai.OpenAI(api_key="none", base_url=f"{self.endpoint.url}/v1", max_retries=0)


@pytest.fixture
def script(endpoint, respond):
    return Script(endpoint, respond)


@pytest.fixture
def recorded(agent, script):
    """A run of the agent; since then the network is closed."""
    with agent.tracer.capture() as captured:
        assert agent.run_agent(QUESTION, script.client) == "Expect rain."
    assert len(script.endpoint.requests) == 2
    script.endpoint.stop()
    return captured.trace


def trajectory(trace):
    spans = []
    for span in trace.spans:
        data = span.to_dict()
        spans.append({key: data[key] for key in ("name", "span_type", "output", "status", "usage")})
    return spans


def test_the_replayed_trajectory_is_the_recorded_one_with_the_network_closed(agent, script, recorded):
    with agent.tracer.capture() as captured, agent.tracer.replay(recorded) as run:
        assert agent.run_agent(QUESTION, script.client) == "Expect rain."
    assert len(script.endpoint.requests) == 2
    assert trajectory(captured.trace) == trajectory(recorded)
    assert [call.name for call in run.calls] == [
        "a request to a model",
        "forecast",
        "a request to a model",
    ]
    simulated = [span.attributes.get("agenttrace.simulated") for span in captured.trace.spans]
    assert simulated == [None, "recording", "recording, call 2", "recording"]


def test_the_first_difference_of_a_changed_agent_is_named(agent, script, recorded):
    with pytest.raises(SimulationError) as caught:
        with agent.tracer.replay(recorded):
            agent.run_agent(QUESTION, script.client, prompt="Answer in verse.")
    text = str(caught.value)
    assert text.startswith("left the recording at call 1: a request to a model(")
    assert "messages[0].content: recorded 'Answer in one sentence.', got 'Answer in verse.'" in text
    assert len(script.endpoint.requests) == 2


def test_a_changed_tool_call_is_named(agent, script, recorded, monkeypatch):
    observed = agent.forecast
    monkeypatch.setattr(agent, "forecast", lambda city: observed(city, day="tomorrow"))
    with pytest.raises(
        SimulationError, match=r"left the recording at call 2.*day: recorded 'today', got 'tomorrow'"
    ):
        with agent.tracer.replay(recorded):
            agent.run_agent(QUESTION, script.client)


def test_a_stored_trace_is_replayed_as_well(agent, script, recorded, tmp_path):
    store = open_store(tmp_path / "traces.db")
    store.write(Batch(spans=recorded.spans))
    trace = store.trace(recorded.trace_id)
    store.close()
    with agent.tracer.replay(trace):
        assert agent.run_agent(QUESTION, script.client) == "Expect rain."


def test_live_models_are_asked_and_tools_are_not(agent, endpoint, respond):
    script = Script(endpoint, respond)
    with agent.tracer.capture() as captured:
        agent.run_agent(QUESTION, script.client)
    with agent.tracer.replay(captured.trace, models="live"):
        assert agent.run_agent(QUESTION, script.client, prompt="Answer in verse.") == "Expect rain."
    assert len(script.endpoint.requests) == 4
