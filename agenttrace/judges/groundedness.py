"""Whether the sources that the agent had support the output."""

from __future__ import annotations

from agenttrace.core.errors import ScorerError
from agenttrace.judges.evidence import TRAJECTORY, Evidence
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, rate

_SOURCES = ("retrieval_context", "context", TRAJECTORY)


class GroundednessScorer(JudgeScorer):
    """How far the output rests on its sources: the retrieval context, the context, the tools' outputs.

    Stricter than `FaithfulnessScorer`: what the sources do not say counts against the output, even if nothing
    contradicts it. The judge sees those of the three sources that are there; there must be one. A rating of 1
    to 5 as (rating − 1) / 4. One call a vote.
    """

    name = "Groundedness"
    needs = ("input", "actual_output")

    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where there is no source."""
        evidence.require(*self.needs)
        if not any(evidence.has(source) for source in _SOURCES):
            raise ScorerError(
                f"{self.name} needs one of 'retrieval_context', 'context' or a trace, and all are missing; "
                "set retrieval_context= on the Example or run the agent under a tracer"
            )

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for one rating."""
        sources = [source for source in _SOURCES if evidence.has(source)]
        return await rate(judge, "groundedness", evidence.blocks(*self.needs, *sources))
