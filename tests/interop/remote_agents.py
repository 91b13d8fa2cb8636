"""Real agents of other languages, asserted on like local ones: Vercel's AI SDK on Node, and Claude's command.

``make interop`` runs it: each agent is installed in a folder of its own, talks to the scripted model on
loopback, and is scored by `assert_test(otlp=True)`. Nothing else is reached.

    python tests/interop/remote_agents.py [--environments DIR] [vercel] [claude]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # these files are programs, and no package

import scripted_model
from environments import installed, node_version_in, nowhere_else, place_for

from agenttrace import Example, ToolOrderScorer, Tracer, assert_test, call

QUESTION = "Book a hotel in Paris for two nights if it is sunny there."
SECONDS = 120.0

VERCEL = """
import { createOpenAI } from "@ai-sdk/openai";
import { context, propagation } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const processor = new BatchSpanProcessor(new OTLPTraceExporter());
const provider = new NodeTracerProvider({ spanProcessors: [processor] });
provider.register();
const caller = propagation.extract(context.active(), { traceparent: process.env.TRACEPARENT });
const city = z.string();
const tools = {
  get_weather: tool({ description: "Get the weather in a city", inputSchema: z.object({ city }),
    execute: async ({ city }) => `sunny in ${city}` }),
  book_hotel: tool({ description: "Book a hotel", inputSchema: z.object({ city, nights: z.number() }),
    execute: async ({ city, nights }) => `booked ${nights} nights in ${city}` }),
};
const model = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL, apiKey: "none" }).chat("gpt-4.1");
const answer = await context.with(caller, () => generateText({
  model, prompt: process.argv[2], tools, stopWhen: stepCountIs(5),
  experimental_telemetry: { isEnabled: true },
}));
await provider.shutdown();
console.log(answer.text);
"""

TOOLS = '''
"""The tools, as an MCP server on standard input and output."""

import json
import sys

TOOLS = [
    {"name": "get_weather", "description": "Get the weather in a city",
     "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    {"name": "book_hotel", "description": "Book a hotel",
     "inputSchema": {"type": "object", "required": ["city", "nights"],
                     "properties": {"city": {"type": "string"}, "nights": {"type": "integer"}}}},
]

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    given = asked.get("params") or {}
    if asked["method"] == "initialize":
        answer = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "travel", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer = {"tools": TOOLS}
    elif asked["method"] == "tools/call":
        values = given["arguments"]
        text = (f"sunny in {values['city']}" if given["name"] == "get_weather"
                else f"booked {values['nights']} nights in {values['city']}")
        answer = {"content": [{"type": "text", "text": text}]}
    else:
        answer = {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
'''


def vercel(folder: Path, address: str) -> Callable[..., str]:
    """An agent of Vercel's AI SDK, a command."""
    (folder / "agent.mjs").write_text(VERCEL)

    def agent(prompt: str, *, otlp: Any) -> str:
        environment = nowhere_else() | {"OPENAI_BASE_URL": f"{address}/v1"} | otlp.environment
        return said(["node", "agent.mjs", prompt], folder, environment)

    return agent


def claude(folder: Path, address: str) -> Callable[..., str]:
    """Claude's command, with the tools as an MCP server and its own telemetry."""
    (folder / "tools.py").write_text(TOOLS)
    servers = {"mcpServers": {"travel": {"command": sys.executable, "args": [str(folder / "tools.py")]}}}
    (folder / "mcp.json").write_text(json.dumps(servers))
    [command] = map(str, folder.glob("node_modules/@anthropic-ai/claude-code-*/claude"))  # its own platform's
    allowed = "mcp__travel__get_weather,mcp__travel__book_hotel"

    def agent(prompt: str, *, otlp: Any) -> str:
        environment = (
            nowhere_else()
            | otlp.environment
            | {
                "HOME": str(folder),
                "ANTHROPIC_BASE_URL": address,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
                "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "ENABLE_TOOL_SEARCH": "false",
                "OTEL_TRACES_EXPORTER": "otlp",
                "OTEL_LOGS_EXPORTER": "otlp",
                "OTEL_METRICS_EXPORTER": "none",
                "OTEL_LOG_TOOL_DETAILS": "1",
                "OTEL_LOG_TOOL_CONTENT": "1",
                "OTEL_LOG_USER_PROMPTS": "1",
            }
        )
        options = ["--mcp-config", "mcp.json", "--strict-mcp-config", "--allowedTools", allowed]
        return said([command, "-p", prompt, "--model", "claude-sonnet-4-5", *options], folder, environment)

    return agent


def said(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What a command prints; its errors are the exception's text."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout)[-2_000:])
    return done.stdout


AGENTS: dict[str, tuple[Callable[[Path, str], Callable[..., str]], list[str], str]] = {
    "vercel": (
        vercel,
        [
            *("ai@6", "@ai-sdk/openai@3", "zod", "@opentelemetry/api", "@opentelemetry/sdk-trace-node"),
            "@opentelemetry/exporter-trace-otlp-proto",
        ],
        "ai",
    ),
    "claude": (claude, ["@anthropic-ai/claude-code"], "@anthropic-ai/claude-code"),
}


def try_one(name: str, environments: Path | None) -> str:
    """Install an agent, and assert on it; returns its version."""
    make, packages, package = AGENTS[name]
    with place_for(name, environments) as place:
        place.mkdir(parents=True, exist_ok=True)
        installed(place, ["pip"], packages)
        address, stop = scripted_model.start()
        tracer = Tracer("interop", store="memory")
        wanted = [call(tool, **given) for tool, given in scripted_model.CALLS]
        example = Example(name=name, input={"prompt": QUESTION}, expected_tools=wanted)
        wrong = Example(name="wrong", input={"prompt": QUESTION}, expected_tools=list(reversed(wanted)))
        options: Any = {"function": make(place, address), "otlp": True, "tracer": tracer, "timeout": SECONDS}
        try:
            assert_test([example], [ToolOrderScorer()], **options)
            try:
                assert_test([wrong], [ToolOrderScorer()], **options)
            except AssertionError as failure:
                print(failure)
            else:
                raise RuntimeError("an expectation that does not hold passed")
        finally:
            stop()
            tracer.shutdown()
        return node_version_in(place, package)


def main() -> int:
    """Try the agents named, or both; returns 1 if one of them is not as it should be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("agents", nargs="*", metavar="agent", help=", ".join(AGENTS))
    parser.add_argument("--environments", type=Path, help="a folder that keeps what was installed")
    options = parser.parse_args()
    failed = 0
    for name in options.agents or AGENTS:
        try:
            print(f"{name}: {try_one(name, options.environments)} passes, and fails where it should")
        except (AssertionError, RuntimeError, subprocess.SubprocessError) as error:
            failed = 1
            print(f"{name}: {error}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
