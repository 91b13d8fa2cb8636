"""Whether the output contradicts the retrieval context."""

from __future__ import annotations

from agenttrace.judges.evidence import Evidence
from agenttrace.judges.formulas import share_not_denied, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, finding_of


class FaithfulnessScorer(JudgeScorer):
    """The share of the output's claims that the retrieval context does not contradict.

    (verdicts other than "no") / n; an output without claims is 1. A claim that the context says nothing about
    counts as not contradicted: see `GroundednessScorer` for support. Two calls a vote, one where there are
    no claims. An empty `retrieval_context` counts as missing: nothing could contradict it.
    """

    name = "Faithfulness"
    needs = ("actual_output", "retrieval_context")

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for the output's claims, then for a verdict on each."""
        claims = await judge.items("claims", evidence.blocks("actual_output"))
        verdicts = await judge.verdicts("faithfulness_verdicts", claims, evidence.blocks("retrieval_context"))
        words = words_of(verdicts)
        reason = (
            f"{words.count('no')} of {len(words)} claims are contradicted by the context"
            if claims
            else "The output makes no claims"
        )
        return finding_of(share_not_denied(words), reason, claims, verdicts, "no")
