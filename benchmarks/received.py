"""What it costs to read spans that came by OpenTelemetry, in processor time for each span.

A request is a run of an agent as a framework writes it: an agent, three requests to a model with all messages
so far and the tools' definitions (about 3 kB a span), three calls of tools; in GenAI's dialect, or in
OpenInference's numbered attributes.

    python benchmarks/received.py [--quick] [--json]
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from agenttrace.otlp_in.payload import read_payload
from agenttrace.otlp_in.reading import read_anew
from agenttrace.otlp_in.traces import spans_of, traces_of
from benchmarks.options import parse as options_of

Attributes = dict[str, Any]

SYSTEM = (
    "You are the support agent of a shop. Be brief and kind, never promise what no tool has confirmed. " * 4
)
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "default": "c"}},
}
TOOLS = [{"type": "function", "name": name, "parameters": SCHEMA} for name in ("get_weather", "book_hotel")]
RUNS, ROUNDS, QUICK_ROUNDS = 200, 5, 1


def genai(turn: int) -> Attributes:
    """A request to a model: all messages so far as JSON."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"type": "text", "content": "A hotel in Paris"}]}
    ]
    for earlier in range(turn):
        call = {
            "type": "tool_call",
            "id": f"c{earlier}",
            "name": "get_weather",
            "arguments": {"city": "Paris"},
        }
        messages += [
            {"role": "assistant", "parts": [call]},
            {
                "role": "tool",
                "parts": [{"type": "tool_call_response", "id": f"c{earlier}", "response": "sunny"}],
            },
        ]
    asked = {"type": "tool_call", "id": f"c{turn}", "name": "get_weather", "arguments": {"city": "Paris"}}
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4.1",
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": SYSTEM}]),
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [asked]}]),
        "gen_ai.tool.definitions": json.dumps(TOOLS),
        "gen_ai.usage.input_tokens": 500,
        "gen_ai.usage.output_tokens": 20,
    }


def openinference(turn: int) -> Attributes:
    """The same with numbered attributes."""
    attributes: Attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4.1",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": SYSTEM,
        "llm.token_count.prompt": 500,
        "llm.token_count.completion": 20,
    }
    for number, tool in enumerate(TOOLS):
        attributes[f"llm.tools.{number}.tool.json_schema"] = json.dumps(
            {"type": "function", "function": tool}
        )
    for earlier in range(turn + 1):
        answer = f"llm.input_messages.{2 * earlier + 1}" if earlier < turn else "llm.output_messages.0"
        call = f"{answer}.message.tool_calls.0.tool_call"
        attributes[f"{answer}.message.role"] = "assistant"
        attributes[f"{call}.id"] = f"c{earlier}"
        attributes[f"{call}.function.name"] = "get_weather"
        attributes[f"{call}.function.arguments"] = '{"city": "Paris"}'
        if earlier < turn:
            result = f"llm.input_messages.{2 * earlier + 2}.message"
            attributes |= {
                f"{result}.role": "tool",
                f"{result}.tool_call_id": f"c{earlier}",
                f"{result}.content": "x",
            }
    return attributes


def tool(turn: int) -> Attributes:
    """A call of a tool."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.call.id": f"c{turn}",
        "gen_ai.tool.call.arguments": '{"city": "Paris"}',
        "gen_ai.tool.call.result": '{"sky": "sunny", "degrees": 21}',
    }


def spans(run: int, model: Callable[[int], Attributes]) -> Iterator[dict[str, Any]]:
    """The spans of one run."""
    contents = [("invoke_agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "travel"})]
    for turn in range(3):
        contents += [("chat gpt-4.1", model(turn)), ("execute_tool get_weather", tool(turn))]
    for number, (name, values) in enumerate(contents, 1):
        kinds = (
            (key, "intValue" if type(value) is int else "stringValue", value) for key, value in values.items()
        )
        yield {
            "traceId": f"{run + 1:032x}",
            "spanId": f"{number:016x}",
            **({"parentSpanId": f"{1:016x}"} if number > 1 else {}),
            "name": name,
            "startTimeUnixNano": str(1_000 * number),
            "endTimeUnixNano": str(1_000 * number + 500),
            "attributes": [{"key": key, "value": {kind: value}} for key, kind, value in kinds],
        }


def best(work: Callable[[], Any], rounds: int, count: int) -> float:
    """The least microseconds of processor time a span, of several rounds."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        times.append((time.process_time() - begun) * 1e6 / count)
    return round(min(times), 1)


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """For each dialect, the cost of each step."""
    figures = {}
    for name, model in (("GenAI", genai), ("OpenInference", openinference)):
        every = [span for run in range(RUNS) for span in spans(run, model)]
        payload = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": every}]}]}).encode()
        arrival = read_payload(payload)
        read = spans_of(arrival)
        traces = traces_of(read)
        count = len(read)
        figures[name] = {
            "bytes": round(len(payload) / count),
            "payload": best(lambda data=payload: read_payload(data), rounds, count),
            "facts": best(lambda one=arrival: spans_of(one), rounds, count),
            "joins": best(lambda one=read: traces_of(one), rounds, count),
            "read from the store": best(lambda one=traces: [read_anew(t.spans) for t in one], rounds, count),
        }
    return figures


def main() -> None:
    options = options_of(__doc__)
    figures = measure(QUICK_ROUNDS if options.quick else ROUNDS)
    if options.json:
        print(json.dumps(figures))
        return
    for name, steps in figures.items():
        print(f"{name}: " + ", ".join(f"{step} {value:g}" for step, value in steps.items()) + " (µs a span)")


if __name__ == "__main__":
    main()
