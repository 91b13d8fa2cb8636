"""Whether the agent stayed with its task."""

from __future__ import annotations

from agenttrace.core.errors import ScorerError
from agenttrace.judges.evidence import TRAJECTORY, Evidence
from agenttrace.judges.judge import Judge
from agenttrace.judges.scorer import Finding, JudgeScorer, rate

_COURSE = (TRAJECTORY, "actual_output")


class DerailmentScorer(JudgeScorer):
    """Whether the agent stayed with the task that the input sets; 1 is never derailed, higher is better.

    Shown are the trajectory and the output, whichever are there; one must be. A rating of 1 to 5 as
    (rating − 1) / 4. One call a vote.
    """

    name = "Derailment"
    needs = ("input",)

    def require(self, evidence: Evidence) -> None:
        """A course to judge is needed."""
        evidence.require(*self.needs)
        if not any(evidence.has(part) for part in _COURSE):
            raise ScorerError(
                f"{self.name} needs 'actual_output' or a trace, and both are missing; "
                "set actual_output= on the Example or run the agent under a tracer"
            )

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """One rating."""
        course = [part for part in _COURSE if evidence.has(part)]
        return await rate(judge, "derailment", evidence.blocks(*self.needs, *course))
