"""Whether the retrieval context supports the expected output."""

from __future__ import annotations

from agenttrace.judges.evidence import Evidence
from agenttrace.judges.formulas import culprits, facts, share_affirmed, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer


class ContextualRecallScorer(JudgeScorer):
    """The share of the expected output's sentences that the retrieval context supports.

    "yes" / n; an expected output without sentences is 0, and so is an empty retrieval, without a call. Two
    calls a vote otherwise.
    """

    name = "Contextual Recall"
    needs = ("expected_output",)

    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where `retrieval_context` is missing; an empty one is scored 0."""
        evidence.require(*self.needs)
        evidence.require_list("retrieval_context")

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for the sentences of the expected output, then for a verdict on each."""
        if not evidence.nodes("retrieval_context"):
            return Finding(0.0, "Nothing was retrieved.", {"verdicts": []})
        sentences = await judge.items("sentences", evidence.blocks("expected_output"))
        verdicts = await judge.verdicts(
            "contextual_recall_verdicts", sentences, evidence.blocks("retrieval_context")
        )
        words = words_of(verdicts)
        reason = (
            f"{words.count('yes')} of {len(words)} expected sentences can be found in the retrieval context"
            if sentences
            else "The expected output has no sentences"
        )
        return Finding(
            share_affirmed(words, none=0.0),
            reason + culprits(sentences, verdicts, "no", "idk"),
            {"verdicts": facts(sentences, verdicts)},
        )
