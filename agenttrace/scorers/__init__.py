"""Compare an example with a trace: pure, deterministic, no key, no network."""

from agenttrace.scorers.budget import BudgetScorer
from agenttrace.scorers.contains import ContainsScorer
from agenttrace.scorers.custom import FunctionScorer, scorer
from agenttrace.scorers.exact_match import ExactMatchScorer
from agenttrace.scorers.execution_order import ExecutionOrderScorer
from agenttrace.scorers.function_call_coverage import FunctionCallCoverageScorer
from agenttrace.scorers.json_correctness import JSONCorrectnessScorer
from agenttrace.scorers.json_similarity import JSONSimilarityScorer
from agenttrace.scorers.loop import LoopScorer
from agenttrace.scorers.numeric_difference import NumericDifferenceScorer
from agenttrace.scorers.regex import RegexScorer
from agenttrace.scorers.registry import known_scorers, register_scorer, scorer_named
from agenttrace.scorers.state import StateScorer
from agenttrace.scorers.tool_call_args import ToolCallArgsScorer
from agenttrace.scorers.tool_call_count import ToolCallCountScorer
from agenttrace.scorers.tool_call_order import ToolCallOrderScorer
from agenttrace.scorers.tool_call_output import ToolCallOutputScorer
from agenttrace.scorers.tool_dependency import ToolDependencyScorer
from agenttrace.scorers.tool_order import ToolOrderScorer
from agenttrace.scorers.tool_permission import ToolPermissionScorer
from agenttrace.scorers.trajectory import TrajectoryScorer
from agenttrace.scorers.turns import TurnsScorer

__all__ = [
    "BudgetScorer",
    "ContainsScorer",
    "ExactMatchScorer",
    "ExecutionOrderScorer",
    "FunctionCallCoverageScorer",
    "FunctionScorer",
    "JSONCorrectnessScorer",
    "JSONSimilarityScorer",
    "LoopScorer",
    "NumericDifferenceScorer",
    "RegexScorer",
    "StateScorer",
    "ToolCallArgsScorer",
    "ToolCallCountScorer",
    "ToolCallOrderScorer",
    "ToolCallOutputScorer",
    "ToolDependencyScorer",
    "ToolOrderScorer",
    "ToolPermissionScorer",
    "TrajectoryScorer",
    "TurnsScorer",
    "known_scorers",
    "register_scorer",
    "scorer",
    "scorer_named",
]

for _name in __all__:
    if _name.endswith("Scorer") and _name != "FunctionScorer":  # which the decorator `scorer` makes
        register_scorer(globals()[_name])
