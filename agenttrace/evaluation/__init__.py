"""Run the comparison: one example or many."""

from agenttrace.evaluation.assertion import Requirement, assert_test, assert_test_async
from agenttrace.evaluation.evaluate import run_evaluation, run_evaluation_async

__all__ = ["Requirement", "assert_test", "assert_test_async", "run_evaluation", "run_evaluation_async"]
