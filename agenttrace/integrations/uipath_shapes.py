"""What UiPath's evaluators are given, what they return: configurations, criteria, results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import AliasChoices, AliasGenerator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from agenttrace.core.errors import AgentTraceError, did_you_mean


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


def read_shape(shape: type[S], given: Any, what: str, error: type[AgentTraceError]) -> S:
    """Read a configuration or criteria: one already made, or a mapping.

    Raises:
        `error`: an unknown key (with the nearest known one), a value of the wrong type, a missing one.
    """
    if isinstance(given, shape):
        return given
    if not isinstance(given, Mapping):
        raise error(f"{what} is a mapping or {shape.__name__}, got {type(given).__name__} {given!r:.200}")
    try:
        return shape.model_validate(dict(given))
    except ValidationError as invalid:
        first = invalid.errors()[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            raise error(f"{what} has no {where!r}{did_you_mean(where, shape.model_fields)}") from None
        got = "" if first["type"] == "missing" else f", got {first['input']!r:.200}"
        raise error(f"{what}: {where}: {first['msg'].lower()}{got}") from None


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
    """For each expected call, as ``name_0``, what was ``matched``, or the nearest call and what differs."""

    explained_tool_calls_args: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolCallOutputEvaluatorJustification:
    """For each expected output, as ``name_0``, what was ``matched``, or the nearest call and what differs."""

    explained_tool_calls_outputs: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LLMJudgeJustification:
    """What the judge said."""

    expected_agent_behavior: str
    justification: str


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """A score from 0 to 1, what it rests on, and its arithmetic in words."""

    score: float
    details: Any
    reason: str = ""
