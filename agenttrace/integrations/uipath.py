"""UiPath's evaluators of tool calls, over the scorers of this package.

Construct with an id and a configuration, evaluate OpenTelemetry spans against criteria::

    evaluator = ToolCallOrderEvaluator(id="order", config={"strict": False})
    result = await evaluator.validate_and_evaluate_criteria(
        agent_execution=AgentExecution(agent_input={}, agent_output={}, agent_trace=spans),
        evaluation_criteria={"tool_calls_order": ["search", "display"]},
    )
    result.score, result.details.lcs

Names are exact. Criteria that cannot be understood, and an empty order or count, raise; they are not a score
of 0. Empty lists of expected calls or outputs are 1.0 where nothing was called, else 0.0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel

from agenttrace.core.errors import ConfigError, JudgeError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.integrations.uipath_shapes import (
    EvaluationResult,
    EvaluatorConfig,
    ExpectedArgs,
    ExpectedOutput,
    LLMJudgeJustification,
    LLMJudgeTrajectoryEvaluatorConfig,
    ToolCallArgsEvaluationCriteria,
    ToolCallArgsEvaluatorConfig,
    ToolCallArgsEvaluatorJustification,
    ToolCallCountEvaluationCriteria,
    ToolCallCountEvaluatorJustification,
    ToolCallEvaluatorConfig,
    ToolCallOrderEvaluationCriteria,
    ToolCallOrderEvaluatorJustification,
    ToolCallOutputEvaluationCriteria,
    ToolCallOutputEvaluatorJustification,
    TrajectoryEvaluationCriteria,
    read_shape,
    read_value,
    trace_of_spans,
)
from agenttrace.judges.trajectory_judge import LLMJudgeTrajectoryScorer
from agenttrace.scorers.tool_call_args import ToolCallArgsScorer
from agenttrace.scorers.tool_call_count import ToolCallCountScorer
from agenttrace.scorers.tool_call_order import ToolCallOrderScorer
from agenttrace.scorers.tool_call_output import ToolCallOutputScorer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentExecution:
    """The agent's input, output and spans. `agent_trace` is read in the order of start times."""

    agent_input: Mapping[str, Any] | None = None
    agent_output: Mapping[str, Any] | str | None = None
    agent_trace: Sequence[ReadableSpan] = ()
    expected_agent_behavior: str | None = None


Criteria = TypeVar("Criteria", bound=BaseModel)
Config = TypeVar("Config", bound=EvaluatorConfig)


class _Evaluator(ABC, Generic[Criteria, Config]):
    """An evaluator: `id` is the user's, `config` a mapping or a configuration object.

    Raises:
        ConfigError: the configuration cannot be understood, or has an unknown key.
        ScorerError: the default criteria cannot be understood, or an option of the judge, such as its
            `votes`.
    """

    criteria_shape: ClassVar[type[Any]]
    config_shape: ClassVar[type[Any]]

    def __init__(self, *, id: str, config: Mapping[str, Any] | Config | None = None) -> None:  # noqa: A002 - UiPath's own word
        kind = type(self).__name__
        self.id = id
        self.config: Config = read_shape(
            self.config_shape, config or {}, f"the config of {kind}", ConfigError
        )
        self.name = self.config.name or kind
        default = self.config.default_evaluation_criteria
        self.default_criteria: Criteria | None = None if default is None else self._read(default)

    async def validate_and_evaluate_criteria(
        self, agent_execution: AgentExecution, evaluation_criteria: Mapping[str, Any] | Criteria | None = None
    ) -> EvaluationResult:
        """Score an execution; without criteria, by the default ones.

        Raises:
            ScorerError: there are no criteria, or they cannot be understood or are empty.
            ConfigError: the trace holds something that is not a span, or a judge has no model.
            JudgeError: the judge gives no usable verdict.
        """
        criteria = self.default_criteria if evaluation_criteria is None else self._read(evaluation_criteria)
        if criteria is None:
            criteria = self._implied(agent_execution)
        scorer = self._scorer(criteria)
        execution = agent_execution
        example = Example(
            input=None if execution.agent_input is None else dict(execution.agent_input),
            actual_output=execution.agent_output,
        )
        result = scorer.score(example, trace_of_spans(execution.agent_trace, execution.agent_output))
        score = await result if isawaitable(result) else result
        if score.value is None:
            raise JudgeError(f"{self.name}: {score.reason}")
        return EvaluationResult(score.value, self._details(score, criteria), score.reason)

    def _read(self, value: Any) -> Criteria:
        criteria: Criteria = read_shape(
            self.criteria_shape, value, f"the criteria of {self.name}", ScorerError
        )
        self._scorer(criteria)
        return criteria

    def _implied(self, execution: AgentExecution) -> Criteria:
        raise ScorerError(
            f"{self.name} needs evaluation_criteria, or default_evaluation_criteria in its config"
        )

    @abstractmethod
    def _scorer(self, criteria: Criteria) -> Scorer:
        """Return the scorer that compares the run with the criteria."""

    @abstractmethod
    def _details(self, score: Score, criteria: Criteria) -> Any:
        """Return the score's details in UiPath's shape."""


class ToolCallOrderEvaluator(_Evaluator[ToolCallOrderEvaluationCriteria, ToolCallEvaluatorConfig]):
    """See `ToolCallOrderScorer`: LCS by expected; strict: equal or not. An empty order is an error."""

    criteria_shape = ToolCallOrderEvaluationCriteria
    config_shape = ToolCallEvaluatorConfig

    def _scorer(self, criteria: ToolCallOrderEvaluationCriteria) -> Scorer:
        return ToolCallOrderScorer(criteria.tool_calls_order, self.config.strict, name=self.name)

    def _details(self, score: Score, criteria: ToolCallOrderEvaluationCriteria) -> Any:
        return ToolCallOrderEvaluatorJustification(**score.details)


class ToolCallCountEvaluator(_Evaluator[ToolCallCountEvaluationCriteria, ToolCallEvaluatorConfig]):
    """See `ToolCallCountScorer`: the share of counts that hold, also on a run without any calls."""

    criteria_shape = ToolCallCountEvaluationCriteria
    config_shape = ToolCallEvaluatorConfig

    def _scorer(self, criteria: ToolCallCountEvaluationCriteria) -> Scorer:
        return ToolCallCountScorer(criteria.tool_calls_count, self.config.strict, name=self.name)

    def _details(self, score: Score, criteria: ToolCallCountEvaluationCriteria) -> Any:
        counts = {tool: score.details[tool] for tool in criteria.tool_calls_count}
        return ToolCallCountEvaluatorJustification(counts)


class ToolCallArgsEvaluator(_Evaluator[ToolCallArgsEvaluationCriteria, ToolCallArgsEvaluatorConfig]):
    """See `ToolCallArgsScorer`: the share of expected calls matched; without `subset`, no other arguments."""

    criteria_shape = ToolCallArgsEvaluationCriteria
    config_shape = ToolCallArgsEvaluatorConfig

    def _scorer(self, criteria: ToolCallArgsEvaluationCriteria) -> Scorer:
        calls = [{"name": call.name, "args": call.args} for call in criteria.tool_calls]
        mode: Literal["exact", "listed"] = "listed" if self.config.subset else "exact"
        return ToolCallArgsScorer(calls, self.config.strict, mode, name=self.name)

    def _details(self, score: Score, criteria: ToolCallArgsEvaluationCriteria) -> Any:
        return ToolCallArgsEvaluatorJustification(_by_name(criteria.tool_calls, score))


class ToolCallOutputEvaluator(_Evaluator[ToolCallOutputEvaluationCriteria, ToolCallEvaluatorConfig]):
    """See `ToolCallOutputScorer`; texts that write down a value are compared as that value."""

    criteria_shape = ToolCallOutputEvaluationCriteria
    config_shape = ToolCallEvaluatorConfig

    def _scorer(self, criteria: ToolCallOutputEvaluationCriteria) -> Scorer:
        outputs = [{"name": call.name, "output": read_value(call.output)} for call in criteria.tool_outputs]
        return ToolCallOutputScorer(outputs, self.config.strict, name=self.name)

    def _details(self, score: Score, criteria: ToolCallOutputEvaluationCriteria) -> Any:
        return ToolCallOutputEvaluatorJustification(_by_name(criteria.tool_outputs, score))


class LLMJudgeTrajectoryEvaluator(
    _Evaluator[TrajectoryEvaluationCriteria, LLMJudgeTrajectoryEvaluatorConfig]
):
    """See `LLMJudgeTrajectoryScorer`; the criteria are its expected behaviour.

    Without criteria, the execution's own `expected_agent_behavior` is used.
    """

    criteria_shape = TrajectoryEvaluationCriteria
    config_shape = LLMJudgeTrajectoryEvaluatorConfig

    def _implied(self, execution: AgentExecution) -> TrajectoryEvaluationCriteria:
        if execution.expected_agent_behavior is None:
            return super()._implied(execution)
        return TrajectoryEvaluationCriteria(expected_agent_behavior=execution.expected_agent_behavior)

    def _scorer(self, criteria: TrajectoryEvaluationCriteria) -> Scorer:
        return LLMJudgeTrajectoryScorer(
            expected_behavior=criteria.expected_agent_behavior,
            model=self.config.model,
            votes=self.config.votes,
            name=self.name,
        )

    def _details(self, score: Score, criteria: TrajectoryEvaluationCriteria) -> Any:
        return LLMJudgeJustification(criteria.expected_agent_behavior, score.reason)


def _by_name(expected: Sequence[ExpectedArgs | ExpectedOutput], score: Score) -> dict[str, dict[str, Any]]:
    """Return the rows under ``name_0``, ``name_1``: each tool's expected calls numbered from 0."""
    counts: Counter[str] = Counter()
    rows_by_name = {}
    rows = {row["number"]: row for row in score.details["calls"]}
    for number, call in enumerate(expected, 1):
        rows_by_name[f"{call.name}_{counts[call.name]}"] = rows[number]
        counts[call.name] += 1
    return rows_by_name
