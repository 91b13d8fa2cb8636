"""Whether the agent kept to its task."""

from __future__ import annotations

from agenttrace.core.errors import ScorerError
from agenttrace.judges.evidence import TRAJECTORY, Evidence
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, rate

_SUBJECTS = (TRAJECTORY, "actual_output")


class DerailmentScorer(JudgeScorer):
    """Whether the agent kept to the task that the input sets; 1 is never derailed, higher is better.

    The judge sees the trajectory and the output; one of them must be there. A rating of 1 to 5 as
    (rating − 1) / 4. One call a vote.
    """

    name = "Derailment"
    needs = ("input",)

    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where there is neither a trajectory nor an output."""
        evidence.require(*self.needs)
        if not any(evidence.has(part) for part in _SUBJECTS):
            raise ScorerError(
                f"{self.name} needs 'actual_output' or a trace, and both are missing; "
                "set actual_output= on the Example or run the agent under a tracer"
            )

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for one rating."""
        subjects = [part for part in _SUBJECTS if evidence.has(part)]
        return await rate(judge, "derailment", evidence.blocks(*self.needs, *subjects))
