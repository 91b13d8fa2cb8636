"""Compare an example with a trace: pure, deterministic, no key, no network."""

from agenttrace.scorers.execution_order import ExecutionOrderScorer
from agenttrace.scorers.tool_order import ToolOrderScorer

__all__ = ["ExecutionOrderScorer", "ToolOrderScorer"]
