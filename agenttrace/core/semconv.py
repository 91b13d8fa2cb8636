"""The names of span attributes in OpenTelemetry's GenAI semantic conventions.

As of `SCHEMA_URL`; our own names begin with ``agenttrace.``. Where the conventions have no name for an input
or an output, OpenInference's is used; tools and retrievers have theirs beside the conventions' by default.
"""

from __future__ import annotations

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
"""By which readers know the version of the names; the conventions' own, which has no release yet."""

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
ERROR_TYPE = "error.type"

REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_TOP_P = "gen_ai.request.top_p"
REQUEST_TOP_K = "gen_ai.request.top_k"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_SEED = "gen_ai.request.seed"
REQUEST_STOP = "gen_ai.request.stop_sequences"
REQUEST_CHOICES = "gen_ai.request.choice.count"
REQUEST_FREQUENCY_PENALTY = "gen_ai.request.frequency_penalty"
REQUEST_PRESENCE_PENALTY = "gen_ai.request.presence_penalty"

RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
TIME_TO_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
"""Seconds from the request to the first part of the answer, for streams."""

INPUT_TOKENS = "gen_ai.usage.input_tokens"
"""Tokens of the prompt, those read from or written to a cache included."""
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_write.input_tokens"
"""Until version 1.41 of the conventions ``gen_ai.usage.cache_creation.input_tokens``."""
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"

AGENT_ID = "gen_ai.agent.id"
AGENT_NAME = "gen_ai.agent.name"
WORKFLOW_NAME = "gen_ai.workflow.name"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_DESCRIPTION = "gen_ai.tool.description"
TOOL_CALL_ID = "gen_ai.tool.call.id"
HOSTED = "extension"
"""The `TOOL_TYPE` of a tool that the model's provider runs."""
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
DATA_SOURCE_ID = "gen_ai.data_source.id"
RETRIEVAL_QUERY = "gen_ai.retrieval.query.text"
RETRIEVAL_DOCUMENTS = "gen_ai.retrieval.documents"

INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"

INPUT_VALUE = "input.value"
INPUT_MIME_TYPE = "input.mime_type"
OUTPUT_VALUE = "output.value"
OUTPUT_MIME_TYPE = "output.mime_type"
OPENINFERENCE_KIND = "openinference.span.kind"
OPENINFERENCE_TOOL = "tool.name"
OPENINFERENCE_TOOL_DESCRIPTION = "tool.description"
OPENINFERENCE_DOCUMENTS = "retrieval.documents"
"""The prefix of a retriever's documents: ``retrieval.documents.0.document.content``."""

CONVERSATION_ID = "gen_ai.conversation.id"
SESSION_ID = "session.id"
USER_ID = "user.id"
CUSTOMER_ID = "enduser.id"
"""The attribute of a trace's customer; later conventions call it `USER_ID`."""

EVALUATION_RESULT = "gen_ai.evaluation.result"
EVALUATION_NAME = "gen_ai.evaluation.name"
EVALUATION_VALUE = "gen_ai.evaluation.score.value"
EVALUATION_LABEL = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION = "gen_ai.evaluation.explanation"
EVALUATION = "agenttrace.evaluation."
"""The beginning of what we say of a score beside the conventions' attributes: threshold, range, versions."""

EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"
EXCEPTION_STACKTRACE = "exception.stacktrace"
OTHER_ERROR = "_OTHER"
"""The value of `ERROR_TYPE` for a failure of unknown type."""

SERVICE_NAME = "service.name"
SCOPE_NAME = "otel.scope.name"
"""The instrumentation that made a span, where that is not `observe`."""
SDK_NAME = "telemetry.sdk.name"
SDK_LANGUAGE = "telemetry.sdk.language"
SDK_VERSION = "telemetry.sdk.version"

NAME = "agenttrace.name"
SPAN_TYPE = "agenttrace.span.type"
INDEX = "agenttrace.index"
STATUS = "agenttrace.status"
PROJECT = "agenttrace.project"
PHOENIX_PROJECT = "openinference.project.name"
"""The attribute in which Phoenix looks for a span's project; without it, spans go to its default project."""
COST = "agenttrace.cost.total"
"""US dollars."""
OTHER_USAGE = "agenttrace.usage."
"""The prefix for counts in ``span.usage`` that the conventions do not name."""
OTHER_INPUT = "agenttrace.input"
"""The parameters of an input that the conventions do not name, beside others that they do."""

TOOL_DEFINITION = "agenttrace.tool.definition"
"""A tool's parameters with their defaults, its tags and its description, on each of its calls: what is
expected of them is compared through these."""
KNOWN_TOOLS = "agenttrace.tools"
"""The tools that the recorder knew, called or not: on one span of each part of a trace that is sent at once.
A mapping: their ``definitions``, or ``left_out``, how many they are where that would be too long."""
RECORDED = "agenttrace.recorded"
"""True on the root of a run that was given as data: its calls have no durations, nor a root of their own."""
NOTES_LEFT_OUT = "agenttrace.notes_left_out"
"""How many logs, scores and attributes of a span there was no room for."""
TEXT_INPUT = "agenttrace.input.text"
"""True on a span that was given a text alone, which stands under ``input`` for want of a parameter's name."""
TAGS = "agenttrace.tags"
METADATA = "agenttrace.metadata"
"""What was said of a trace, by name; on its root."""
TURN = "agenttrace.turn"
"""The number of the turn of a conversation, from 1; on its span, or on the spans of a recorded run."""
TURNS = "agenttrace.turns"
"""The number of the last turn that was begun; on the root."""
ATTEMPT = "agenttrace.attempt"
STATE_CHANGED = "agenttrace.state.changed"
"""Of a state: the places that changed, as they were before secrets were removed."""
STATE_UNKNOWN = "agenttrace.state.unknown"
STATE_PROBLEM = "agenttrace.state.problem"
STATE_SHARED = "agenttrace.state.shared"
ARGUMENTS_ERROR = "agenttrace.arguments_error"
"""Why the arguments of a recorded call could not be read."""
CALL_STATUS = "agenttrace.call.status"
"""What is known of a call without a recorded execution; see `ToolCall`."""
FROM_ANSWER = "agenttrace.call.from_answer"
"""True for a recorded call whose output is the answer that the model was given."""
CALL_METADATA = "agenttrace.call"
"""What was recorded of a call besides its arguments and output, by name."""
ITEMS = "agenttrace.items"
"""How many items a generator gave."""
RETURNED = "agenttrace.returned"
"""What a generator returned, besides its items."""
LOGS = "agenttrace.logs"
"""What `tracer.log` noted: message, label, score, and ``after_ns``, nanoseconds since the span began."""
SIMULATED = "agenttrace.simulated"
"""On a call that was answered in the place of its function: by what, such as ``return`` or ``recording``."""
RECEIVED = "agenttrace.received"
"""On a span that came by OpenTelemetry: what it had beside its attributes, so that it can be read anew."""
NOT_RECORDED = "agenttrace.not_recorded"
"""On a tool's span that came without arguments or output: what would have had them recorded."""
UNFINISHED = "agenttrace.unfinished"
"""True on a span that came by OpenTelemetry without its end: how long it took is not known."""
NO_START = "agenttrace.no_start"
"""True on a span that came by OpenTelemetry without its start: it stands where the one above it does."""
MCP_METHOD = "mcp.method.name"
"""On each side of a request of the Model Context Protocol: client, transport and server."""
UNREADABLE = "agenttrace.unreadable"
"""What the store holds of a span in another form than this version reads."""

CONTENT = frozenset(
    {
        TOOL_ARGUMENTS,
        TOOL_RESULT,
        REQUEST_STOP,
        RETRIEVAL_QUERY,
        RETRIEVAL_DOCUMENTS,
        INPUT_MESSAGES,
        OUTPUT_MESSAGES,
        SYSTEM_INSTRUCTIONS,
        TOOL_DEFINITIONS,
        INPUT_VALUE,
        INPUT_MIME_TYPE,
        OUTPUT_VALUE,
        OUTPUT_MIME_TYPE,
        EVALUATION_EXPLANATION,
        EXCEPTION_MESSAGE,
        EXCEPTION_STACKTRACE,
        OTHER_INPUT,
        TOOL_DEFINITION,
        KNOWN_TOOLS,
        "gen_ai.prompt",
        "gen_ai.completion",
        ARGUMENTS_ERROR,
        CALL_METADATA,
        LOGS,
        RETURNED,
        RECEIVED,
        UNREADABLE,
    }
)
"""Attributes that hold content: prompts, arguments, answers, error messages."""

USAGE = {
    "input_tokens": INPUT_TOKENS,
    "output_tokens": OUTPUT_TOKENS,
    "cache_read_tokens": CACHE_READ_TOKENS,
    "cache_write_tokens": CACHE_WRITE_TOKENS,
    "reasoning_tokens": REASONING_TOKENS,
}
"""For each token count in ``span.usage``, its name in the conventions."""

REQUEST = {
    "model": REQUEST_MODEL,
    "stream": REQUEST_STREAM,
    "temperature": REQUEST_TEMPERATURE,
    "top_p": REQUEST_TOP_P,
    "top_k": REQUEST_TOP_K,
    "max_tokens": REQUEST_MAX_TOKENS,
    "max_completion_tokens": REQUEST_MAX_TOKENS,
    "max_output_tokens": REQUEST_MAX_TOKENS,
    "seed": REQUEST_SEED,
    "stop": REQUEST_STOP,
    "stop_sequences": REQUEST_STOP,
    "n": REQUEST_CHOICES,
    "frequency_penalty": REQUEST_FREQUENCY_PENALTY,
    "presence_penalty": REQUEST_PRESENCE_PENALTY,
}
"""For each request setting as providers call it, its name in the conventions."""
