"""How good a suite is: what its expectations look at, what damage to a run they would notice."""

from agenttrace.core.suite_coverage import merged_coverage
from agenttrace.suite.coverage import coverage
from agenttrace.suite.mutation import mutation_score

__all__ = ["coverage", "merged_coverage", "mutation_score"]
