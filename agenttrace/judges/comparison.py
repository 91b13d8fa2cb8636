"""Whether the output matches the expected one in one respect."""

from __future__ import annotations

from agenttrace.core.errors import ScorerError
from agenttrace.core.protocols import ChatModel
from agenttrace.judges.evidence import Evidence
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, rate


class ComparisonScorer(JudgeScorer):
    """How far the output matches the expected output in one respect.

    `criteria` names the respect, `description` explains it where a word is not enough. A rating of 1 to 5 as
    (rating − 1) / 4: higher is better, and the value is bounded, unlike a count of differences. One call a
    vote.
    """

    name = "Comparison"
    needs = ("actual_output", "expected_output")

    def __init__(
        self,
        threshold: float = 0.5,
        *,
        criteria: str,
        description: str = "",
        model: str | ChatModel | None = None,
        votes: int = 1,
        name: str | None = None,
        gate: bool = True,
    ) -> None:
        if not isinstance(criteria, str) or not criteria.strip():
            raise ScorerError(f"criteria says in which respect to compare, such as 'tone'; got {criteria!r}")
        super().__init__(
            threshold, model=model, votes=votes, name=name or f"Comparison: {criteria}", gate=gate
        )
        self.criteria = criteria
        self.description = description

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for one rating."""
        words = {"criteria": self.criteria, "description": self.description}
        finding = await rate(judge, "comparison", evidence.blocks(*self.needs), words)
        return Finding(finding.value, finding.reason, {**finding.details, "criteria": self.criteria})
