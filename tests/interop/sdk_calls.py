"""Calls of one SDK, of whatever version is installed here, and what was not recorded of each, as JSON.

It runs inside the environments that ``sdks.py`` makes: python sdk_calls.py openai|anthropic|opentelemetry
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # these files are programs, and no package

import scripted_model

from agenttrace import OTLPExporter, Tracer, traces_from_otlp, wrap

PROMPT = "Book a hotel in Paris for two nights if it is sunny there."
ASKED: list[Any] = [{"role": "user", "content": PROMPT}]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NAME, ARGUMENTS = scripted_model.CALLS[0]

Call = Callable[[], object]


def of_openai(address: str, tracer: Tracer) -> Mapping[str, Call]:
    """Every way to a chat completion or a response."""
    from openai import AsyncOpenAI, OpenAI

    client = wrap(OpenAI(base_url=f"{address}/v1", api_key="none"), tracer=tracer)
    strict = {"name": NAME, "parameters": {**CITY, "additionalProperties": False}, "strict": True}
    chat: Any = {"model": "gpt-4.1", "messages": ASKED, "tools": [{"type": "function", "function": strict}]}
    ask: Any = {"model": "gpt-4.1", "input": PROMPT, "tools": [{"type": "function", **strict}]}
    usage = {"stream_options": {"include_usage": True}}

    def helper(stream: Any) -> None:
        with stream as events:
            list(events)

    def waiting() -> Any:  # its connections belong to one event loop
        return wrap(AsyncOpenAI(base_url=f"{address}/v1", api_key="none"), tracer=tracer).chat.completions

    return {
        "create": lambda: client.chat.completions.create(**chat),
        "stream": lambda: list(client.chat.completions.create(**chat, stream=True, **usage)),
        "stream helper": lambda: helper(client.chat.completions.stream(**chat, **usage)),
        "parse": lambda: client.chat.completions.parse(**chat),
        "raw response": lambda: client.chat.completions.with_raw_response.create(**chat).parse(),
        "with_options": lambda: client.with_options(timeout=9).chat.completions.create(**chat),
        "responses": lambda: client.responses.create(**ask),
        "responses stream": lambda: list(client.responses.create(**ask, stream=True)),
        "responses stream helper": lambda: helper(client.responses.stream(**ask)),
        "async create": lambda: asyncio.run(waiting().create(**chat)),
        "async stream": lambda: asyncio.run(all_of(waiting().create(**chat, stream=True, **usage))),
    }


def of_anthropic(address: str, tracer: Tracer) -> Mapping[str, Call]:
    """Every way to a message; the tool runner makes three calls."""
    from anthropic import Anthropic, AsyncAnthropic, beta_tool

    client = wrap(Anthropic(base_url=address, api_key="none"), tracer=tracer)
    base: Any = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": ASKED}
    ask: Any = {**base, "tools": [{"name": NAME, "input_schema": CITY}]}

    @beta_tool
    def get_weather(city: str) -> str:
        """Get the weather in a city."""
        return f"sunny in {city}"

    def waiting() -> Any:
        return wrap(AsyncAnthropic(base_url=address, api_key="none"), tracer=tracer).messages

    def helper() -> None:
        with client.messages.stream(**ask) as events:
            list(events)

    return {
        "create": lambda: client.messages.create(**ask),
        "stream": lambda: list(client.messages.create(**ask, stream=True)),
        "stream helper": helper,
        "raw response": lambda: client.messages.with_raw_response.create(**ask).parse(),
        "with_options": lambda: client.with_options(timeout=9).messages.create(**ask),
        "tool runner": lambda: client.beta.messages.tool_runner(**base, tools=[get_weather]).until_done(),
        "async create": lambda: asyncio.run(waiting().create(**ask)),
        "async stream": lambda: asyncio.run(all_of(waiting().create(**ask, stream=True))),
    }


async def all_of(stream: Any) -> list[Any]:
    return [item async for item in await stream]


def fault_of_call(call: Call, tracer: Tracer) -> str:
    """What the first LLM span of a call does not have that it should; empty where it has all."""
    try:
        with tracer.capture() as captured:
            call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    models = [span for span in captured.trace.spans if span.span_type == "llm"]
    if not models:
        return "no LLM span"
    span = models[0]
    output = span.output if isinstance(span.output, dict) else {}
    asked = [(one["name"], one["arguments"]) for one in output.get("tool_calls") or []]
    calls = [(one.name, one.arguments) for one in captured.trace.tool_calls]
    faults = {
        f"error {span.error}": span.error is None,
        f"asked {asked}": asked == [(NAME, ARGUMENTS)],
        f"calls {calls}": calls == [(NAME, ARGUMENTS)],
        f"usage {span.usage}": (span.usage or {}).get("output_tokens") == 7,
        f"input {str(span.input)[:60]}": PROMPT in json.dumps(span.input),
    }
    return ", ".join(fault for fault, is_right in faults.items() if not is_right)


def of_opentelemetry(tracer: Tracer) -> Mapping[str, str]:
    """A tool's span through our processor, in a capture and without; our spans through our exporter."""
    from opentelemetry import trace

    from agenttrace.integrations.opentelemetry import instrument

    library = instrument(tracer) and trace.get_tracer("a.framework")

    def tool() -> None:
        said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": NAME}
        with library.start_as_current_span(f"execute_tool {NAME}", attributes=said) as span:
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps(ARGUMENTS))
            raise ValueError("unknown city")

    def tried() -> None:
        try:
            tool()
        except ValueError:
            pass

    with tracer.capture() as captured, tracer.span("agent", span_type="agent"):
        tried()
    tried()
    tracer.flush()
    stored = [tracer.store.trace(one.trace_id) for one in tracer.store.traces()]
    found = {
        "capture": captured.trace.tool_calls,
        "store": stored[0].tool_calls if stored else [],
        **exported(),
    }
    return {kind: fault_of_tools(calls) for kind, calls in found.items()}


def fault_of_tools(calls: Any) -> str:
    told = [(one.name, one.arguments, "unknown city" in str(one.error)) for one in calls]
    return "" if told == [(NAME, ARGUMENTS, True)] else f"got {told}"


def exported() -> Mapping[str, Any]:
    """What arrives of a call of our own, sent by `OTLPExporter`, in each form."""
    found: dict[str, Any] = {}
    for protocol in ("http/protobuf", "http/json"):
        with receiver() as (address, bodies):
            tracer = Tracer("travel", store="memory", exporters=[OTLPExporter(address, protocol=protocol)])

            @tracer.observe(span_type="tool")
            def get_weather(city: str) -> str:
                raise ValueError("unknown city")

            try:
                get_weather("Paris")
            except ValueError:
                pass
            tracer.flush(30)
            tracer.shutdown()
            traces = traces_from_otlp(bodies)
            found[f"exported, {protocol}"] = [call for one in traces for call in one.tool_calls]
    return found


@contextmanager
def receiver() -> Iterator[tuple[str, list[bytes]]]:
    """A server that keeps the traces that it is sent."""
    bodies: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            packed = self.headers.get("content-encoding") == "gzip"
            if self.path == "/v1/traces":
                bodies.append(gzip.decompress(body) if packed else body)
            self.send_response(200)
            self.send_header("content-type", self.headers["content-type"])
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bodies
    finally:
        server.shutdown()
        server.server_close()


def main(sdk: str) -> None:
    tracer = Tracer("interop", store="memory")
    if sdk == "opentelemetry":
        faults = of_opentelemetry(tracer)
    else:
        address, stop = scripted_model.start()
        calls = {"openai": of_openai, "anthropic": of_anthropic}[sdk](address, tracer)
        faults = {kind: fault_of_call(call, tracer) for kind, call in calls.items()}
        stop()
    tracer.shutdown()
    print(json.dumps(faults))


if __name__ == "__main__":
    main(sys.argv[1])
