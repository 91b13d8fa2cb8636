"""Run the comparison: one example or many."""

from agenttrace.evaluation.assertion import assert_test
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.evaluation.requirement import Requirement

__all__ = ["Requirement", "assert_test", "run_evaluation"]
