"""What UiPath's evaluators return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
