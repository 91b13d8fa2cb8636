"""Run the comparison: one example or many. Say how good the examples are."""

from agenttrace.core.suite_coverage import merged_coverage
from agenttrace.evaluation.assertion import assert_test, assert_test_async
from agenttrace.evaluation.coverage import coverage
from agenttrace.evaluation.evaluate import run_evaluation, run_evaluation_async
from agenttrace.evaluation.mutation import mutation_score
from agenttrace.evaluation.requirement import Requirement

__all__ = [
    "Requirement",
    "assert_test",
    "assert_test_async",
    "coverage",
    "merged_coverage",
    "mutation_score",
    "run_evaluation",
    "run_evaluation_async",
]
