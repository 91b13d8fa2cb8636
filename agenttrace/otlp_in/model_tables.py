"""The dialects as data, of models: tokens, messages, the tools that a model was offered."""

from __future__ import annotations

from collections.abc import Mapping

from agenttrace.core import semconv

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
        "ai.usage.inputTokenDetails.cacheReadTokens",
        "gen_ai.usage.cached_input_tokens",
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
        "ai.usage.outputTokenDetails.reasoningTokens",
        "gen_ai.usage.reasoning_tokens",
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
    "langfuse.observation.cost_details": {"cost": "total"},
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
    "gen_ai.content.prompt:gen_ai.prompt",
    "gen_ai.content.prompt:gen_ai.event.content",
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
    "gen_ai.content.completion:gen_ai.completion",
    "gen_ai.content.completion:gen_ai.event.content",
)
ANSWER_TEXTS = ("ai.response.text", "ai.result.text")
ANSWER_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")
"""Where an answer's text and the calls that it asks for stand apart."""
NUMBERED_INPUT = ("llm.input_messages.", "gen_ai.prompt.")
NUMBERED_OUTPUT = ("llm.output_messages.", "gen_ai.completion.")
"""Beginnings of attributes that spell one list of messages, ``prefix.0.role``, ``prefix.0.content`` …"""

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
OWN_SCHEMAS = (
    "gen_ai.tool.json_schema",
    "tool.json_schema",
    "tool.parameters",
    "gen_ai.tool.parameters",
    "spring.ai.tool.definition.schema",
)
"""Attributes of a tool's span that hold the schema of its parameters."""
