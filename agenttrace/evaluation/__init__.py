"""Run the comparison: one example or many."""

from agenttrace.core.report import EvaluationInterrupted
from agenttrace.evaluation.assertion import assert_test, assert_test_async
from agenttrace.evaluation.evaluate import run_evaluation, run_evaluation_async
from agenttrace.evaluation.requirement import Requirement

__all__ = [
    "EvaluationInterrupted",
    "Requirement",
    "assert_test",
    "assert_test_async",
    "run_evaluation",
    "run_evaluation_async",
]
