"""The input of UiPath's evaluators (spans, configurations, criteria) with the shape of their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import AliasChoices, AliasGenerator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from agenttrace.core import semconv
from agenttrace.core.errors import AgentTraceError, ConfigError, did_you_mean
from agenttrace.core.json_reader import json_or_literal
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.trace import Trace

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


class _Shape(BaseModel):
    """Fields in snake case, or in camel case as UiPath's files have them; others are an error."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        arbitrary_types_allowed=True,
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name, to_camel(name))),
    )


class ToolCallOrderEvaluationCriteria(_Shape):
    """The tools in the expected order; a tool that is called twice stands there twice."""

    tool_calls_order: list[str]


class ToolCallCountEvaluationCriteria(_Shape):
    """For each tool an operator (``= == != > >= < <=``) and a number."""

    tool_calls_count: dict[str, Any]


class ExpectedArgs(_Shape):
    """One expected call. `id` takes UiPath's null; calls are matched by name."""

    name: str
    args: dict[str, Any]
    id: None = None


class ToolCallArgsEvaluationCriteria(_Shape):
    """The expected calls with their arguments."""

    tool_calls: list[ExpectedArgs]


class ExpectedOutput(_Shape):
    """One expected output: a value, or its text. `id` takes UiPath's null; calls are matched by name."""

    name: str
    output: Any
    id: None = None


class ToolCallOutputEvaluationCriteria(_Shape):
    """The expected outputs."""

    tool_outputs: list[ExpectedOutput]


class TrajectoryEvaluationCriteria(_Shape):
    """What the agent should have done, in words."""

    expected_agent_behavior: str


class EvaluatorConfig(_Shape):
    """What every evaluator's configuration holds. `name` None is the evaluator's class name."""

    name: str | None = None
    description: str = ""
    default_evaluation_criteria: Any = None


class ToolCallEvaluatorConfig(EvaluatorConfig):
    """Strict: all or nothing."""

    strict: bool = False


class ToolCallArgsEvaluatorConfig(ToolCallEvaluatorConfig):
    """Subset: the arguments that are listed must agree, at any depth; without it, no others may be there."""

    subset: bool = False


class LLMJudgeTrajectoryEvaluatorConfig(EvaluatorConfig):
    """The judge: a model's name, or a `ChatModel`; None as for `LLMJudgeTrajectoryScorer`."""

    model: Any = None
    votes: int = 1


S = TypeVar("S", bound=BaseModel)


def read_shape(shape: type[S], value: Any, what: str, error: type[AgentTraceError]) -> S:
    """Read a configuration or criteria: an object of the shape, or a mapping.

    Raises:
        `error`: a key is unknown (the text names the nearest known one), missing, or its value has a wrong
        type.
    """
    if isinstance(value, shape):
        return value
    if not isinstance(value, Mapping):
        raise error(f"{what} is a mapping or {shape.__name__}, got {type(value).__name__} {value!r:.200}")
    try:
        return shape.model_validate(dict(value))
    except ValidationError as invalid:
        first = invalid.errors()[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            raise error(f"{what} has no {where!r}{did_you_mean(where, shape.model_fields)}") from None
        got_text = "" if first["type"] == "missing" else f", got {first['input']!r:.200}"
        raise error(f"{what}: {where}: {first['msg'].lower()}{got_text}") from None


@dataclass(frozen=True, slots=True)
class ToolCallOrderEvaluatorJustification:
    """The two sequences, and their longest common subsequence."""

    actual_tool_calls_order: list[str]
    expected_tool_calls_order: list[str]
    lcs: list[str]


@dataclass(frozen=True, slots=True)
class ToolCallCountEvaluatorJustification:
    """For each tool ``actual``, ``operator``, ``expected``, ``held``."""

    explained_tool_calls_count: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolCallArgsEvaluatorJustification:
    """For each expected call, as ``name_0``: the matching call, or the nearest one and what differs."""

    explained_tool_calls_args: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolCallOutputEvaluatorJustification:
    """For each expected output, as ``name_0``: the matching call, or the nearest one and what differs."""

    explained_tool_calls_outputs: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LLMJudgeJustification:
    """The judge's reason, with the expected behaviour."""

    expected_agent_behavior: str
    justification: str


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """A score from 0 to 1, its details, and its arithmetic in words."""

    score: float
    details: Any
    reason: str = ""


_MESSAGE_KEYS = frozenset({
    "content", "type", "name", "id", "tool_call_id", "status", "artifact", "example",
    "additional_kwargs", "response_metadata",
})  # fmt: skip
"""The keys of a LangChain tool message; its content is the tool's output."""


def trace_of_spans(spans: Sequence[ReadableSpan], output: Any = None) -> Trace:
    """Return the tool calls among spans, by start time; spans that start together keep their places.

    A span is a tool call where it has a ``tool.name`` and no true ``tool.synthesized``. Arguments are
    ``input.value``: a mapping, or its text as JSON or as a Python literal; text that is neither makes a call
    whose arguments could not be read. The output is ``output.value``, see `read_value`; of a tool message it
    is the ``content``. A span with the status ERROR is a failed call, and a call all the same.

    Raises:
        ConfigError: `spans` holds something that is not a span.
    """
    for span in spans:
        if not isinstance(getattr(span, "attributes", {}) or {}, Mapping) or not hasattr(span, "start_time"):
            raise ConfigError(f"agent_trace holds OpenTelemetry's ReadableSpans, got {span!r:.200}")
    by_start = sorted(spans, key=lambda span: span.start_time or 0)
    calls = [_call(span.attributes, span) for span in by_start if span.attributes]
    return Trace.from_calls([call for call in calls if call is not None], output=output)


def _call(attributes: Mapping[str, Any], span: ReadableSpan) -> dict[str, Any] | None:
    name = attributes.get(semconv.OPENINFERENCE_TOOL)
    if not name or attributes.get("tool.synthesized"):
        return None
    arguments = attributes.get(semconv.INPUT_VALUE)
    if isinstance(arguments, str):
        value = read_value(arguments)
        arguments = value if isinstance(value, Mapping) else arguments
    elif arguments is not None and not isinstance(arguments, Mapping):
        arguments = to_json(jsonable(arguments))
    output = read_value(attributes.get(semconv.OUTPUT_VALUE))
    if isinstance(output, Mapping) and "content" in output and output.keys() <= _MESSAGE_KEYS:
        output = read_value(output["content"])
    code = getattr(getattr(span, "status", None), "status_code", None)
    is_error = getattr(code, "name", "") == "ERROR"
    return {"name": str(name), "arguments": arguments, "output": output, "error": is_error}


def read_value(value: Any) -> Any:
    """Return the value of a text that is JSON or a Python literal; any other value as it is."""
    return json_or_literal(value) if isinstance(value, str) else value
