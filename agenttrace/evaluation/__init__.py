"""Run the comparison: one example or many."""

from agenttrace.evaluation.assertion import Requirement, assert_test
from agenttrace.evaluation.evaluate import run_evaluation

__all__ = ["Requirement", "assert_test", "run_evaluation"]
