"""What has an instrumentation record the arguments and outputs that it may leave out: one table of switches.

It says so in the scores that lack them, and in `agenttrace doctor`.
"""

from __future__ import annotations

from typing import NamedTuple

_GENAI = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_ON_SPANS = frozenset({"span_only", "span_and_event"})


class Switch(NamedTuple):
    """How one library is made to record arguments and outputs.

    `remedy` says what to do. `scope` is how the names of its instrumentation scopes begin, `package` its name
    on the index. Where an environment variable decides, `variable` is its name; `on` has the words, in lower
    case, that switch recording on, or where it is on by itself `off` those that switch it off.
    """

    remedy: str
    scope: str | None = None
    package: str | None = None
    variable: str | None = None
    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()

    def is_on(self, value: str | None) -> bool:
        """Whether the library records them while its variable has this value; None: it is not set."""
        word = (value or "").strip().lower()
        return word in self.on if self.on else word not in self.off


CUT = "raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT where the agent runs: the arguments end too early"
"""What would have had arguments recorded of which only the beginning is there."""

NOT_ENDED = "it had not ended when it was exported: export and import it again when it has"
"""What would have had the output recorded of a span that came without its end."""

_OWN_TOOLS = "observe the tools with span_type='tool'"

SWITCHES = (
    Switch(
        f"set {_GENAI}=SPAN_ONLY where Google ADK runs", "gcp.vertex.agent", "google-adk", _GENAI, _ON_SPANS
    ),
    Switch(
        "enable_instrumentation(enable_sensitive_data=True)",
        "agent_framework",
        "agent-framework",
        "ENABLE_SENSITIVE_DATA",
        _TRUE,
    ),
    Switch(
        'Anthropic(open_telemetry={"traces": {"content_mode": "content"}}), or wrap(client)',
        "com.anthropic.sdk",
        "anthropic",
    ),
    Switch(
        "set OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1, import the logs",
        "com.anthropic.claude_code",
    ),
    Switch("InstrumentationSettings(include_content=True), its default", "pydantic-ai", "pydantic-ai"),
    Switch(f"AutoGen never records them: {_OWN_TOOLS}", "autogen", "autogen-core"),
    Switch(f"MCP's own spans never have them: {_OWN_TOOLS}", "fastmcp", "fastmcp"),
    Switch(f"MCP's own spans never have them: {_OWN_TOOLS}", "mcp", "mcp"),
    Switch(
        "set HAYSTACK_CONTENT_TRACING_ENABLED=true before Haystack is imported",
        "haystack",
        "haystack-ai",
        "HAYSTACK_CONTENT_TRACING_ENABLED",
        frozenset({"true"}),
    ),
    Switch(
        "set OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS to false, their default",
        "openinference",
        "openinference-instrumentation",
        "OPENINFERENCE_HIDE_INPUTS",
        off=_TRUE,
    ),
    Switch(
        f"set TRACELOOP_TRACE_CONTENT=true, its default; of OpenTelemetry's own, {_GENAI}=SPAN_ONLY and "
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental (older ones: true, import the logs)",
        "opentelemetry.instrumentation",
        "traceloop-sdk",
        "TRACELOOP_TRACE_CONTENT",
        off=_FALSE,
    ),
    Switch(
        f"wrap(client), or {_GENAI}=SPAN_ONLY with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
        package="opentelemetry-instrumentation-openai-v2",
        variable=_GENAI,
        on=_ON_SPANS | {"true", "event_only"},
    ),
    Switch(
        "set LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS to false, their default",
        "langsmith",
        "langsmith",
        "LANGSMITH_HIDE_INPUTS",
        off=frozenset({"true"}),
    ),
    Switch(
        "observe(capture_input=True, capture_output=True) of Langfuse, its default",
        "langfuse",
        "langfuse",
        "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED",
        off=_FALSE,
    ),
    Switch("install(OpenTelemetry) { setVerbose(true) } of Koog", "ai.koog"),
    Switch(
        '"telemetry": {"logPrompts": true} in Gemini CLI\'s settings; results it never logs', "gemini-cli"
    ),
    Switch("set spring.ai.tools.observations.include-content=true", "org.springframework.boot"),
    Switch("experimental_telemetry: {isEnabled: true, recordInputs: true, recordOutputs: true}", "ai"),
    Switch(f"OTLPExporter(content=True), or {_GENAI}=true where it was sent", "agenttrace"),
    Switch("wrap(client) records requests, answers and the calls that a model asks for", package="openai"),
    Switch("the handler of agenttrace.integrations.langgraph records arguments", package="langgraph"),
    Switch("the processor of agenttrace.integrations.openai_agents", package="openai-agents"),
    Switch(f"set {_GENAI}=SPAN_ONLY, or what your instrumentation calls it, where the agent runs", ""),
)
"""The first whose scope fits counts; the last one fits every scope."""


def remedy_for(scope: str) -> str:
    """What would have had the instrumentation of this scope record arguments and outputs."""
    return next(one.remedy for one in SWITCHES if one.scope is not None and scope.startswith(one.scope))
