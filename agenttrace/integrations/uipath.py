"""UiPath's evaluators of tool calls, over the scorers of this package.

Construct with an id and a configuration, evaluate OpenTelemetry spans against criteria::

    evaluator = ToolCallOrderEvaluator(id="order", config={"strict": False})
    result = await evaluator.validate_and_evaluate_criteria(
        agent_execution=AgentExecution(agent_input={}, agent_output={}, agent_trace=spans),
        evaluation_criteria={"tool_calls_order": ["search", "display"]},
    )
    result.score, result.details.lcs

Names are exact. Criteria that cannot be understood, or that are empty, raise; they are no score of 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from agenttrace.core.errors import ConfigError, JudgeError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.integrations.uipath_shapes import (
    EvaluatorConfig,
    LLMJudgeTrajectoryEvaluatorConfig,
    ToolCallArgsEvaluationCriteria,
    ToolCallArgsEvaluatorConfig,
    ToolCallCountEvaluationCriteria,
    ToolCallEvaluatorConfig,
    ToolCallOrderEvaluationCriteria,
    ToolCallOutputEvaluationCriteria,
    TrajectoryEvaluationCriteria,
    read_shape,
)
from agenttrace.integrations.uipath_spans import read_value, trace_of_spans
from agenttrace.judges.trajectory_judge import LLMJudgeTrajectoryScorer
from agenttrace.scorers.tool_call_args import ToolCallArgsScorer
from agenttrace.scorers.tool_call_count import ToolCallCountScorer
from agenttrace.scorers.tool_call_order import ToolCallOrderScorer
from agenttrace.scorers.tool_call_output import ToolCallOutputScorer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentExecution:
    """What the agent was given, gave, and did. `agent_trace` is read in the order of start times."""

    agent_input: Mapping[str, Any] | None = None
    agent_output: Mapping[str, Any] | str | None = None
    agent_trace: Sequence[ReadableSpan] = ()
    expected_agent_behavior: str | None = None


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
    reason: str = field(default="")


Criteria = TypeVar("Criteria", bound=BaseModel)
Config = TypeVar("Config", bound=EvaluatorConfig)


class _Evaluator(ABC, Generic[Criteria, Config]):
    """An evaluator: `id` is the user's, `config` a mapping or a configuration object.

    Raises:
        ConfigError: a configuration that cannot be understood, an unknown key in it included.
        ScorerError: default criteria that cannot be understood.
    """

    criteria_shape: ClassVar[type[Any]]
    config_shape: ClassVar[type[Any]]

    def __init__(self, *, id: str, config: Mapping[str, Any] | Config | None = None) -> None:  # noqa: A002 - UiPath's own word
        kind = type(self).__name__
        self.id = id
        self.config: Config = read_shape(self.config_shape, config or {}, f"the config of {kind}", ConfigError)
        self.name = self.config.name or kind
        default = self.config.default_evaluation_criteria
        self.default_criteria: Criteria | None = None if default is None else self._read(default)

    async def validate_and_evaluate_criteria(
        self,
        agent_execution: AgentExecution,
        evaluation_criteria: Mapping[str, Any] | Criteria | None = None,
    ) -> EvaluationResult:
        """Score an execution; without criteria, by the default ones.

        Raises:
            ScorerError: no criteria at all, or ones that cannot be understood or hold nothing.
            ConfigError: the trace holds something that is no span; a judge has no model.
            JudgeError: the judge gave no usable verdict.
        """
        criteria = self.default_criteria if evaluation_criteria is None else self._read(evaluation_criteria)
        if criteria is None:
            criteria = self._implied(agent_execution)
        scorer = self._scorer(criteria)
        given = agent_execution
        example = Example(
            input=None if given.agent_input is None else dict(given.agent_input),
            actual_output=given.agent_output,
        )
        found = scorer.score(example, trace_of_spans(given.agent_trace, given.agent_output))
        score = await found if isawaitable(found) else found
        if score.value is None:
            raise JudgeError(f"{self.name}: {score.reason}")
        return EvaluationResult(score.value, self._details(score, criteria), score.reason)

    def _read(self, given: Any) -> Criteria:
        criteria: Criteria = read_shape(self.criteria_shape, given, f"the criteria of {self.name}", ScorerError)
        self._scorer(criteria)
        return criteria

    def _implied(self, execution: AgentExecution) -> Criteria:
        raise ScorerError(
            f"{self.name} needs evaluation_criteria, or default_evaluation_criteria in its config"
        )

    @abstractmethod
    def _scorer(self, criteria: Criteria) -> Scorer:
        """The scorer that does the work."""

    @abstractmethod
    def _details(self, score: Score, criteria: Criteria) -> Any:
        """The score's facts in UiPath's shape."""
