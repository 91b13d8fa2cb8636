"""Trace, test and monitor LLM agents: one decorator, no account, no server, no key.

The front door: every public name, each loaded when it is first asked for, so that ``import agenttrace`` loads
nothing else.
"""

from __future__ import annotations

import importlib

from agenttrace.version import __version__

# Type checkers take it as true; importing `typing` for it would cost more than all the rest here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from agenttrace.client import Client
    from agenttrace.conversations import Conversation, ScriptedUser, UserSimulator
    from agenttrace.core.errors import (
        AgentTraceError,
        ConfigError,
        DatasetError,
        ExpectationError,
        JudgeError,
        MissingDependency,
        ScorerError,
        SimulationError,
        StoreError,
    )
    from agenttrace.core.example import Example
    from agenttrace.core.handlers import register_snapshot
    from agenttrace.core.limits import Limits
    from agenttrace.core.protocols import Scorer
    from agenttrace.core.rates import CostLimit, DroppedShare, ErroredShare, Rate
    from agenttrace.core.report import EvaluationFailed, EvaluationReport, ScoringResult
    from agenttrace.core.score import Score
    from agenttrace.core.scorer_data import ScorerData
    from agenttrace.core.span import Span
    from agenttrace.core.tool_call import ANY, ExpectedToolCall, ToolCall
    from agenttrace.core.trace import Trace
    from agenttrace.datasets import EvalDataset, get_examples_from_yaml
    from agenttrace.defaults import default_tracer, observe, wrap
    from agenttrace.evaluation import (
        assert_test,
        assert_test_async,
        run_evaluation,
        run_evaluation_async,
    )
    from agenttrace.expectations import (
        ABSENT,
        any_of,
        approx,
        call,
        expect,
        gt,
        gte,
        has,
        length,
        lt,
        lte,
        many,
        not_,
        one_of,
        opt,
        par,
        re_,
        ref,
        semantic,
        seq,
        type_,
    )
    from agenttrace.exporters.otlp import OTLPExporter
    from agenttrace.integrations.opentelemetry import AgentTraceSpanProcessor
    from agenttrace.judges import (
        AnswerCorrectnessScorer,
        AnswerRelevancyScorer,
        ClassifierScorer,
        ComparisonScorer,
        ContextualPrecisionScorer,
        ContextualRecallScorer,
        ContextualRelevancyScorer,
        DerailmentScorer,
        FaithfulnessScorer,
        FakeChatModel,
        GroundednessScorer,
        HallucinationScorer,
        InstructionAdherenceScorer,
        LLMJudgeTrajectoryScorer,
        PromptScorer,
        SummarizationScorer,
        TrajectoryJudge,
    )
    from agenttrace.online.alerts import LowScore, every, log_alert, webhook
    from agenttrace.online.handle import EvaluationHandle
    from agenttrace.online.rate_watch import RateAlert
    from agenttrace.online.trouble_watch import TroubleAlert
    from agenttrace.otlp_in import TelemetryError, traces_from_otlp
    from agenttrace.redaction import Redaction
    from agenttrace.scorers import (
        BudgetScorer,
        ContainsScorer,
        ExactMatchScorer,
        ExecutionOrderScorer,
        FunctionCallCoverageScorer,
        JSONCorrectnessScorer,
        JSONSimilarityScorer,
        LoopScorer,
        NumericDifferenceScorer,
        RegexScorer,
        StateScorer,
        ToolCallArgsScorer,
        ToolCallCountScorer,
        ToolCallOrderScorer,
        ToolCallOutputScorer,
        ToolDependencyScorer,
        ToolOrderScorer,
        ToolPermissionScorer,
        TrajectoryScorer,
        TurnsScorer,
        scorer,
    )
    from agenttrace.tasks import Task, load_task
    from agenttrace.tracer import Tracer
    from agenttrace.tracing.context import propagate
    from agenttrace.tracing.live import LiveSpan
    from agenttrace.transcripts import trace_to_atif, traces_from_transcript

_HOMES = {
    "agenttrace.client": "Client",
    "agenttrace.core.errors": (
        "AgentTraceError ConfigError DatasetError ExpectationError JudgeError MissingDependency"
        " ScorerError SimulationError StoreError"
    ),
    "agenttrace.core.example": "Example",
    "agenttrace.core.protocols": "Scorer",
    "agenttrace.core.rates": "CostLimit DroppedShare ErroredShare Rate",
    "agenttrace.core.report": "EvaluationFailed EvaluationReport ScoringResult",
    "agenttrace.core.scorer_data": "ScorerData",
    "agenttrace.core.score": "Score",
    "agenttrace.core.handlers": "register_snapshot",
    "agenttrace.core.limits": "Limits",
    "agenttrace.core.span": "Span",
    "agenttrace.redaction": "Redaction",
    "agenttrace.core.tool_call": "ANY ExpectedToolCall ToolCall",
    "agenttrace.core.trace": "Trace",
    "agenttrace.conversations": "Conversation ScriptedUser UserSimulator",
    "agenttrace.datasets": "EvalDataset get_examples_from_yaml",
    "agenttrace.defaults": "default_tracer observe wrap",
    "agenttrace.evaluation": "assert_test assert_test_async run_evaluation run_evaluation_async",
    "agenttrace.expectations": (
        "ABSENT any_of approx call expect gt gte has length lt lte many not_ one_of opt par re_ ref"
        " semantic seq type_"
    ),
    "agenttrace.exporters.otlp": "OTLPExporter",
    "agenttrace.judges": (
        "AnswerCorrectnessScorer AnswerRelevancyScorer ClassifierScorer ComparisonScorer"
        " ContextualPrecisionScorer ContextualRecallScorer ContextualRelevancyScorer DerailmentScorer"
        " FaithfulnessScorer FakeChatModel GroundednessScorer HallucinationScorer"
        " InstructionAdherenceScorer LLMJudgeTrajectoryScorer PromptScorer SummarizationScorer"
        " TrajectoryJudge"
    ),
    "agenttrace.online.alerts": "LowScore every log_alert webhook",
    "agenttrace.online.handle": "EvaluationHandle",
    "agenttrace.online.rate_watch": "RateAlert",
    "agenttrace.online.trouble_watch": "TroubleAlert",
    "agenttrace.integrations.opentelemetry": "AgentTraceSpanProcessor",
    "agenttrace.otlp_in": "TelemetryError traces_from_otlp",
    "agenttrace.scorers": (
        "BudgetScorer ContainsScorer ExactMatchScorer ExecutionOrderScorer FunctionCallCoverageScorer"
        " JSONCorrectnessScorer JSONSimilarityScorer LoopScorer NumericDifferenceScorer RegexScorer"
        " StateScorer"
        " ToolCallArgsScorer ToolCallCountScorer ToolCallOrderScorer ToolCallOutputScorer"
        " ToolDependencyScorer ToolOrderScorer ToolPermissionScorer TrajectoryScorer"
        " TurnsScorer scorer"
    ),
    "agenttrace.tasks": "Task load_task",
    "agenttrace.tracer": "Tracer",
    "agenttrace.tracing.context": "propagate",
    "agenttrace.tracing.live": "LiveSpan",
    "agenttrace.transcripts": "trace_to_atif traces_from_transcript",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "ABSENT",
    "ANY",
    "AgentTraceError",
    "AgentTraceSpanProcessor",
    "AnswerCorrectnessScorer",
    "AnswerRelevancyScorer",
    "BudgetScorer",
    "ClassifierScorer",
    "Client",
    "ComparisonScorer",
    "ConfigError",
    "ContainsScorer",
    "ContextualPrecisionScorer",
    "ContextualRecallScorer",
    "ContextualRelevancyScorer",
    "Conversation",
    "CostLimit",
    "DatasetError",
    "DerailmentScorer",
    "DroppedShare",
    "ErroredShare",
    "EvalDataset",
    "EvaluationFailed",
    "EvaluationHandle",
    "EvaluationReport",
    "ExactMatchScorer",
    "Example",
    "ExecutionOrderScorer",
    "ExpectationError",
    "ExpectedToolCall",
    "FaithfulnessScorer",
    "FakeChatModel",
    "FunctionCallCoverageScorer",
    "GroundednessScorer",
    "HallucinationScorer",
    "InstructionAdherenceScorer",
    "JSONCorrectnessScorer",
    "JSONSimilarityScorer",
    "JudgeError",
    "LLMJudgeTrajectoryScorer",
    "Limits",
    "LiveSpan",
    "LoopScorer",
    "LowScore",
    "MissingDependency",
    "NumericDifferenceScorer",
    "OTLPExporter",
    "PromptScorer",
    "Rate",
    "RateAlert",
    "Redaction",
    "RegexScorer",
    "Score",
    "Scorer",
    "ScorerData",
    "ScorerError",
    "ScoringResult",
    "ScriptedUser",
    "SimulationError",
    "Span",
    "StateScorer",
    "StoreError",
    "SummarizationScorer",
    "Task",
    "TelemetryError",
    "ToolCall",
    "ToolCallArgsScorer",
    "ToolCallCountScorer",
    "ToolCallOrderScorer",
    "ToolCallOutputScorer",
    "ToolDependencyScorer",
    "ToolOrderScorer",
    "ToolPermissionScorer",
    "Trace",
    "Tracer",
    "TrajectoryJudge",
    "TrajectoryScorer",
    "TroubleAlert",
    "TurnsScorer",
    "UserSimulator",
    "__version__",
    "any_of",
    "approx",
    "assert_test",
    "assert_test_async",
    "call",
    "default_tracer",
    "every",
    "expect",
    "get_examples_from_yaml",
    "gt",
    "gte",
    "has",
    "length",
    "load_task",
    "log_alert",
    "lt",
    "lte",
    "many",
    "not_",
    "observe",
    "one_of",
    "opt",
    "par",
    "propagate",
    "re_",
    "ref",
    "register_snapshot",
    "run_evaluation",
    "run_evaluation_async",
    "scorer",
    "semantic",
    "seq",
    "trace_to_atif",
    "traces_from_otlp",
    "traces_from_transcript",
    "type_",
    "webhook",
    "wrap",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'agenttrace' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
