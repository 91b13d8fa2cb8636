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
        "tool.execute": TOOL,
        "tool_call": TOOL,
        "llm_call": LLM,
        "tool_selection": LLM,
        "agent.run": AGENT,
        "agent_call": AGENT,
        "workflow.run": CHAIN,
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
    "spring.ai.kind": {
        "tool_call": TOOL,
        "chat_client": AGENT,
        "advisor": FUNCTION,
        "vector_store": RETRIEVER,
    },
    "mastra.span.type": {
        "tool_call": TOOL,
        "mcp_tool_call": TOOL,
        "provider_tool_call": TOOL,
        "agent_run": AGENT,
        "workflow_run": CHAIN,
        "llm_generation": LLM,
        "model_generation": LLM,
    },
    "logfire.msg_template": {
        "function: {name}": TOOL,
        "agent run: {name!r}": AGENT,
        "agent run: {name}": AGENT,
    },
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
    "spring.ai.tool.definition.name",
    "lk.function_tool.name",
    "claude_code.tool_result:tool_name",
    "codex.tool_result:tool_name",
    "gemini_cli.tool_call:function_name",
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
    r"(?:execute_tool|tool\.execute|tool_call|call_tool|MCP send tools/call|tools/call|running tool:?|"
    r"tool call:?|Function:|anthropic\.custom_tool_use|ai\.toolCall|tool:)\s+"
)
NAME_TEMPLATE = re.compile(r"\{(\w+)\}")
"""What stands in a span's name for the value of an attribute: Logfire's ``Function: {name}``."""
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
    "gen_ai.tool.call_id",
    "spring.ai.tool.call.id",
    "lk.function_tool.id",
    "claude_code.tool_result:tool_use_id",
    "codex.tool_result:call_id",
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
    "spring.ai.tool.call.arguments",
    "lk.pii.function_tool.arguments",
    "lk.function_tool.arguments",
    "codex.tool_result:arguments",
    "gemini_cli.tool_call:function_args",
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
    "spring.ai.tool.call.result",
    "lk.pii.function_tool.output",
    "lk.function_tool.output",
    "codex.tool_result:output",
    "output",
)

MASKS = frozenset({"HIDDEN:non-empty", "__REDACTED__"})
"""What stands in place of a content that was not to be recorded: Koog's, OpenInference's."""
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
    "error": frozenset({"true"}),
    "lk.function_tool.is_error": frozenset({"true"}),
    "gen_ai.tool.success": frozenset({"false"}),
    "codex.tool_result:success": frozenset({"false"}),
    "gemini_cli.tool_call:success": frozenset({"false"}),
}
"""Attributes that tell of a failure, with the words, in lower case, by which they do."""

MESSAGES_OF_FAILURE = (
    "exception:exception.message",
    "claude_code.tool_result:error",
    "error",
    "error.message",
    "langfuse.observation.status_message",
    "gemini_cli.tool_call:error.message",
    "codex.tool_result:error.message",
)
TYPES_OF_FAILURE = (
    "exception:exception.type",
    "error.type",
    "error_class",
    "claude_code.tool_result:error_type",
    "gemini_cli.tool_call:error.type",
    "gemini_cli.tool_call:error_type",
)

SESSIONS = (
    "session.id",
    "gen_ai.conversation.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "gcp.vertex.agent.session_id",
    "spring.ai.chat.client.conversation.id",
    "ai.telemetry.metadata.sessionId",
    "claude_code.tool_result:session.id",
    "codex.tool_result:conversation.id",
    "gemini_cli.tool_call:session.id",
)
CUSTOMERS = ("enduser.id", "user.id", "langfuse.user.id", "ai.telemetry.metadata.userId")
TAGS = ("langfuse.trace.tags", "tag.tags", "langsmith.span.tags")

MESSAGE_EVENTS: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "answer",
}
"""Events that are one message each, with its role."""
EVENT_CONTENT = "gen_ai.event.content"
"""The attribute of such an event that holds what others have in its body."""
EVENT_PREFIXES = ("gen_ai.", "claude_code.", "codex.", "gemini_cli.", "tool.", "exception")
"""Beginnings of the names of events that stand in these tables."""
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
"""The event whose attributes are those that other instrumentations put on the span."""
CALL_EVENTS = frozenset({"claude_code.tool_result", "codex.tool_result", "gemini_cli.tool_call"})
"""Log records that tell of a call to a tool: of one that has a span, or without any span."""
LOG_EVENTS = frozenset({DETAILS_EVENT, *CALL_EVENTS})
"""Log records that say something of a call to a model or to a tool, beside `MESSAGE_EVENTS`."""
LOG_CALL_IDS = ("tool_use_id", "gen_ai.tool.call.id", "call_id")
"""The attributes of log records that hold a call's id."""
LOG_SESSIONS = ("session.id", "conversation.id", "gen_ai.conversation.id")
"""The attributes by which log records without a trace belong together."""
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
    "mastra.agent_run.input",
    "mastra.workflow_run.input",
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
    "ai.result.text",
    "ai.response.object",
    "ai.result.object",
    "gen_ai.output.messages",
    "gen_ai.completion",
    "langfuse.trace.output",
    "mastra.agent_run.output",
    "mastra.workflow_run.output",
    "output",
)
"""What a span of another type was given, and what it gave back."""
ANSWERS = frozenset({"gen_ai.output.messages", "gen_ai.completion"})
"""Those of them that hold messages, of which the last text is what it gave back."""

PROJECTS = (semconv.PROJECT, semconv.PHOENIX_PROJECT, semconv.SERVICE_NAME)
"""Attributes of a resource that name the project."""

LANGSMITH_KIND = "langsmith.span.kind"
"""The attribute that says what a run of LangSmith is."""
LANGSMITH_COST = "gen_ai.usage.cost"
LANGSMITH_SIDES = (("inputs", "gen_ai.prompt"), ("outputs", "gen_ai.completion"))
"""The attributes under which LangSmith sends what a run was given and gave."""
