"""Whether the output makes the statements of the expected output."""

from __future__ import annotations

from agenttrace.judges.evidence import Evidence
from agenttrace.judges.formulas import share_affirmed, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, finding_of


class AnswerCorrectnessScorer(JudgeScorer):
    """The share of the expected output's statements that the output makes, too.

    "yes" / n; an expected output without statements is 1. What the output says beyond them does not count
    against it. Two calls a vote, one where there are no statements.
    """

    name = "Answer Correctness"
    needs = ("actual_output", "expected_output")

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for the statements of the expected output, then for a verdict on each."""
        statements = await judge.items("statements", evidence.blocks("expected_output"))
        verdicts = await judge.verdicts(
            "answer_correctness_verdicts", statements, evidence.blocks("actual_output")
        )
        words = words_of(verdicts)
        reason = (
            f"{words.count('yes')} of {len(words)} expected statements are made by the output"
            if statements
            else "The expected output makes no statements"
        )
        return finding_of(
            share_affirmed(words, none=1.0), reason, statements, verdicts, "no", "idk", lead="; not: "
        )
