"""What has an instrumentation record the arguments and outputs that it leaves out by default."""

from __future__ import annotations

from collections.abc import Mapping

_CAPTURE = "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
REMEDIES: Mapping[str, str] = {
    "gcp.vertex.agent": f"{_CAPTURE}=SPAN_ONLY where Google ADK runs",
    "agent_framework": "enable_instrumentation(enable_sensitive_data=True)",
    "com.anthropic.sdk": 'Anthropic(open_telemetry={"traces": {"content_mode": "content"}})',
    "com.anthropic.claude_code": "set OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1, import the logs",
    "pydantic-ai": "InstrumentationSettings(include_content=True)",
    "autogen": "AutoGen never records them: observe the tools with span_type='tool'",
    "fastmcp": "MCP's own spans never have them: observe the tools with span_type='tool'",
    "mcp": "MCP's own spans never have them: observe the tools with span_type='tool'",
    "haystack": "set HAYSTACK_CONTENT_TRACING_ENABLED=true",
    "openinference": "set OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS to false",
    "opentelemetry.instrumentation": f"set TRACELOOP_TRACE_CONTENT=true, or {_CAPTURE}=true",
    "langsmith": "set LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS to false",
    "langfuse": "observe(capture_input=True, capture_output=True) of Langfuse",
    "ai.koog": "install(OpenTelemetry) { setVerbose(true) } of Koog",
    "gemini-cli": '"telemetry": {"logPrompts": true} in Gemini CLI\'s settings; results it never logs',
    "org.springframework.boot": "set spring.ai.tools.observations.include-content=true",
    "ai": "experimental_telemetry: {recordInputs: true, recordOutputs: true}",
    "agenttrace": f"OTLPExporter(content=True), or {_CAPTURE}=true where it was sent",
    "": f"{_CAPTURE}=true, or what your instrumentation calls it, where the agent runs",
}
"""For the beginning of a scope's name, what has it record arguments and outputs."""


def remedy_for(scope: str) -> str:
    """What would have had the instrumentation of this scope record arguments and outputs."""
    return next(remedy for name, remedy in REMEDIES.items() if scope.startswith(name))
