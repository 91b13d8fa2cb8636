"""The dialects as data: under which keys instrumentations write which fact, the first that is there wins.

An entry of a table is the name of an attribute, or ``event:attribute`` for one of a span's events or of a log
record that belongs to it. What a dialect says differently is a row here, not code elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agenttrace.core import semconv
from agenttrace.core.model_requests import LLM
from agenttrace.core.tool import TOOL

AGENT, CHAIN, RETRIEVER, FUNCTION = "agent", "chain", "retriever", "function"

EVENT = "event"
"""The type of a log record that waits for the span to which it belongs."""

_PLAIN = {"tool": TOOL, "agent": AGENT, "llm": LLM, "chain": CHAIN, "retriever": RETRIEVER}
_OTHERS = dict.fromkeys(
    ("embedding", "reranker", "guardrail", "evaluator", "prompt", "parser", "unknown"),
    FUNCTION,
)

TYPES: Mapping[str, Mapping[str, str]] = {
    semconv.SPAN_TYPE: {},  # our own: as it stands
    "openinference.span.kind": _PLAIN | _OTHERS,
    "gen_ai.operation.name": {
        "execute_tool": TOOL,
        "chat": LLM,
        "text_completion": LLM,
        "generate_content": LLM,
        "invoke_agent": AGENT,
        "create_agent": FUNCTION,
        "invoke_workflow": CHAIN,
        "retrieval": RETRIEVER,
        "embeddings": FUNCTION,
        **_PLAIN,
    },
    "traceloop.span.kind": {"tool": TOOL, "agent": AGENT, "workflow": CHAIN, "task": FUNCTION},
    "langsmith.span.kind": _PLAIN | _OTHERS,
    "langfuse.observation.type": _PLAIN | _OTHERS | {"generation": LLM},
    "mlflow.spanType": _PLAIN | _OTHERS | {"chat_model": LLM, "workflow": CHAIN, "task": FUNCTION},
    "ai.operationId": {
        "ai.toolcall": TOOL,
        "ai.generatetext.dogenerate": LLM,
        "ai.streamtext.dostream": LLM,
        "ai.generateobject.dogenerate": LLM,
        "ai.streamobject.dostream": LLM,
        "ai.generatetext": AGENT,
        "ai.streamtext": AGENT,
        "ai.generateobject": AGENT,
        "ai.streamobject": AGENT,
    },
    "ag2.span.type": _PLAIN
    | {
        "conversation": CHAIN,
        "multi_conversation": CHAIN,
        "code_execution": FUNCTION,
        "speaker_selection": FUNCTION,
    },
    "span.type": {"interaction": AGENT, "llm_request": LLM, "tool": TOOL, "tool.execution": FUNCTION}
    | {"tool.blocked_on_user": FUNCTION, "hook": FUNCTION},
    "aws.genai.span_kind": _PLAIN | _OTHERS,
    "span_type": _PLAIN | _OTHERS,
}
"""The attributes that name a span's type, with the types for their words, compared in lower case."""

NAMED_TYPES: Mapping[str, str] = {
    "running tool": TOOL,
    "haystack.agent.step.tool": TOOL,
    "haystack.agent.step.llm": LLM,
    "haystack.agent.run": AGENT,
    "haystack.pipeline.run": CHAIN,
    "agent run": AGENT,
    "call_llm": LLM,
}
"""The types of spans that only their name tells."""

TOOL_NAMES = (
    "gen_ai.tool.name",
    "tool.name",
    "haystack.tool.name",
    "ai.toolCall.name",
    "tool_call.function.name",
    "tool_name",
)
"""A span with one of these that says nothing of its type is a tool's."""

TOOL_ENTITIES = ("traceloop.entity.name", "langsmith.trace.name", "mlflow.spanFunctionName")
"""Names of a tool that other spans have, too."""

AGENT_NAMES = (
    "gen_ai.agent.name",
    "agent.name",
    "agent_name",
    "ai.telemetry.functionId",
    "traceloop.entity.name",
    "graph.node.id",
)

TOOL_PREFIX = re.compile(
    r"(?:execute_tool|MCP send tools/call|tools/call|running tool:?|tool call:?|call_tool|"
    r"anthropic\.custom_tool_use|ai\.toolCall|tool:)\s+"
)
TOOL_SUFFIX = re.compile(r"\.(?:tool|__call__|run|_run|arun|invoke)\Z")
AGENT_PREFIX = re.compile(r"(?:invoke_agent|create_agent|agent_run)\s+")

NO_TOOLS = frozenset({"(merged tools)"})
"""Names under which a library sums up several calls that have spans of their own."""
NOT_EXECUTED = ("tool.synthesized",)
"""Flags of a tool's span that stands for no call."""
NO_TOOL_NAMES = ("MCP send ",)
"""Beginnings of names of what carries a request to a tool, beside spans of the request itself."""

CALL_IDS = (
    "gen_ai.tool.call.id",
    "tool.id",
    "tool_call.id",
    "ai.toolCall.id",
    "tool_use_id",
    "gen_ai.tool.message:id",
)

ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "tool_arguments",
    "ai.toolCall.args",
    "ai.toolCall.input",
    "haystack.agent.step.tool.input",
    "tool_call.function.arguments",
    "claude_code.tool_result:tool_input",
    "tool_input",
    "gen_ai.tool.message:content",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "traceloop.entity.input",
    "input.value",
    "tool.parameters",
    "gen_ai.prompt",
    "gen_ai.tool.arguments",
    "gen_ai.tool.input",
    "input",
)

RESULTS = (
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "tool_response",
    "ai.toolCall.result",
    "ai.toolCall.output",
    "haystack.agent.step.tool.output",
    "anthropic.tool_result.content",
    "tool.output:output",
    "gen_ai.choice:message",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "traceloop.entity.output",
    "output.value",
    "gen_ai.completion",
    "gen_ai.tool.result",
    "gen_ai.tool.output",
    "tool.result",
    "output",
)

MARKED_RESULTS = frozenset({semconv.TOOL_RESULT, semconv.OUTPUT_VALUE})
"""Those of them that a MIME type may stand beside."""

WRAPPED_IN_RESULT = ("gcp.vertex.agent", "openinference.instrumentation.google_adk")
"""Scopes that put whatever is no mapping under ``result``."""

FAILURES: Mapping[str, frozenset[str]] = {
    "haystack.tool.error": frozenset({"true"}),
    "gen_ai.tool.status": frozenset({"error"}),
    "langfuse.observation.level": frozenset({"error"}),
    "level": frozenset({"error"}),
    "success": frozenset({"false"}),
    "claude_code.tool_result:success": frozenset({"false"}),
    "tool.is_error": frozenset({"true"}),
    "is_error": frozenset({"true"}),
}
"""Attributes that tell of a failure, with the words, in lower case, by which they do."""

MESSAGES_OF_FAILURE = (
    "exception:exception.message",
    "claude_code.tool_result:error",
    "error",
    "error.message",
    "langfuse.observation.status_message",
)
TYPES_OF_FAILURE = (
    "exception:exception.type",
    "error.type",
    "error_class",
    "claude_code.tool_result:error_type",
)

USAGE: Mapping[str, tuple[str, ...]] = {
    "input_tokens": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
        "llm.usage.prompt_tokens",
        "input_tokens",
    ),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
        "llm.usage.completion_tokens",
        "output_tokens",
    ),
    "cache_read_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
        "cache_read_tokens",
    ),
    "cache_write_tokens": (
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
        "cache_creation_tokens",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
        "ai.usage.reasoningTokens",
        "llm.usage.reasoning_tokens",
        "thinking_tokens",
    ),
    "cost": (
        semconv.COST,
        "operation.cost",
        "gen_ai.cost.total_cost",
        "gen_ai.usage.cost",
        "llm.cost.total",
    ),
}
"""For each count in a span's usage, its keys."""

USAGE_IN_JSON: Mapping[str, Mapping[str, str]] = {
    "langfuse.observation.usage_details": {
        "input_tokens": "input",
        "output_tokens": "output",
        "cache_read_tokens": "input_cache_read",
        "cache_write_tokens": "input_cache_creation",
    },
    "mlflow.chat.tokenUsage": {"input_tokens": "input_tokens", "output_tokens": "output_tokens"},
}
"""Attributes that hold all counts as JSON, with their names there."""

CACHE_APART = ("com.anthropic.claude_code",)
"""Scopes whose count of input tokens leaves out those of the cache."""

MODELS = (
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
    "langfuse.observation.model.name",
    "gen_ai.response.model",
    "model",
)

SESSIONS = (
    "session.id",
    "gen_ai.conversation.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "gcp.vertex.agent.session_id",
)
CUSTOMERS = ("enduser.id", "user.id", "langfuse.user.id")
TAGS = ("langfuse.trace.tags", "tag.tags", "langsmith.span.tags")

INPUT_MESSAGES = (
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "haystack.agent.step.llm.input",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "gcp.vertex.agent.llm_request",
    "traceloop.entity.input",
    "gen_ai.prompt",
    "ai.prompt",
    "input.value",
)
OUTPUT_MESSAGES = (
    "gen_ai.output.messages",
    "haystack.agent.step.llm.output",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "gcp.vertex.agent.llm_response",
    "traceloop.entity.output",
    "gen_ai.completion",
    "output.value",
)
NUMBERED_INPUT = ("llm.input_messages.", "gen_ai.prompt.")
NUMBERED_OUTPUT = ("llm.output_messages.", "gen_ai.completion.")
"""Beginnings of attributes that spell one list of messages, ``prefix.0.role``, ``prefix.0.content`` …"""

MESSAGE_EVENTS: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "answer",
}
"""Events that are one message each, with its role."""
EVENT_PREFIXES = ("gen_ai.", "claude_code.", "tool.", "exception")
"""Beginnings of the names of events that stand in these tables."""
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
"""The event whose attributes are those that other instrumentations put on the span."""
LOG_EVENTS = frozenset({DETAILS_EVENT, "claude_code.tool_result"})
"""Log records that say something of a call to a model or to a tool, beside `MESSAGE_EVENTS`."""
LISTED_EVENTS = "events"
"""The attribute in which such events stand as one JSON list."""

INPUTS = (
    "input.value",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "traceloop.entity.input",
    "haystack.agent.input",
    "gen_ai.input.messages",
    "gen_ai.prompt",
    "ai.prompt",
    "user_prompt",
    "langfuse.trace.input",
    "input",
)
OUTPUTS = (
    "output.value",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "traceloop.entity.output",
    "haystack.agent.output",
    "final_result",
    "ai.response.text",
    "gen_ai.output.messages",
    "gen_ai.completion",
    "langfuse.trace.output",
    "output",
)
"""What a span of another type was given, and what it gave back."""
ANSWERS = frozenset({"gen_ai.output.messages", "gen_ai.completion"})
"""Those of them that hold messages, of which the last text is what it gave back."""

DEFINITIONS = (
    "gen_ai.tool.definitions",
    "ai.prompt.tools",
    "haystack.agent.tools",
    "model_request_parameters",
    "mlflow.chat.tools",
    "gcp.vertex.agent.llm_request",
    "llm.invocation_parameters",
    "input.value",
)
"""Attributes that hold, somewhere near their top, a list of the tools that a model was offered."""
MIXED_DEFINITIONS = frozenset({"input.value", "llm.invocation_parameters"})
"""Those of them that hold other things as well: the tools are what stands under a name for tools."""
NUMBERED_DEFINITIONS = ("llm.tools.", "llm.request.functions.")
OWN_SCHEMAS = ("gen_ai.tool.json_schema", "tool.json_schema", "tool.parameters", "gen_ai.tool.parameters")
"""Attributes of a tool's span that hold the schema of its parameters."""

PROJECTS = (semconv.PROJECT, semconv.PHOENIX_PROJECT, semconv.SERVICE_NAME)
"""Attributes of a resource that name the project."""
