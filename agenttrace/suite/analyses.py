"""`SuiteAnalyses`: what a report needs to say how good its suite is: the scorers that it was scored with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

from agenttrace.core.mutation_score import MutationOptions, MutationScore
from agenttrace.core.report import EvaluationReport
from agenttrace.core.suite_coverage import Coverage
from agenttrace.suite.coverage import ScorersOf, coverage
from agenttrace.suite.mutation import mutation_score


@dataclass(frozen=True, slots=True)
class SuiteAnalyses:
    """The analyses of a report, by the scorers of each of its examples. Pickled it is None: scorers stay in
    their process."""

    scorers_of: ScorersOf

    def coverage(self, report: EvaluationReport, *, tools: Iterable[str] | None = None) -> Coverage:
        """See `agenttrace.suite.coverage`."""
        return coverage(report, self.scorers_of, tools=tools)

    def mutation_score(self, report: EvaluationReport, **options: Unpack[MutationOptions]) -> MutationScore:
        """See `agenttrace.evaluation.mutation_score`."""
        return mutation_score(report, self.scorers_of, **options)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()
