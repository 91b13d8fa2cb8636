"""Whether the output is relevant to the input."""

from __future__ import annotations

from agenttrace.judges.evidence import Evidence
from agenttrace.judges.formulas import share_not_denied, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, finding_of


class AnswerRelevancyScorer(JudgeScorer):
    """The share of the output's statements that are relevant to the input.

    (verdicts other than "no") / n; an output without statements is 1. Two calls a vote, one where there are
    no statements.
    """

    name = "Answer Relevancy"
    needs = ("input", "actual_output")

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for the output's statements, then for a verdict on each."""
        statements = await judge.items("statements", evidence.blocks("actual_output"))
        verdicts = await judge.verdicts("answer_relevancy_verdicts", statements, evidence.blocks("input"))
        words = words_of(verdicts)
        reason = (
            f"{len(words) - words.count('no')} of {len(words)} statements are relevant to the input"
            if statements
            else "The output makes no statements"
        )
        return finding_of(share_not_denied(words), reason, statements, verdicts, "no", lead="; not: ")
