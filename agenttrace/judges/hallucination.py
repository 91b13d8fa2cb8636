"""Whether the output contradicts the documents of `context`."""

from __future__ import annotations

from agenttrace.judges.evidence import Evidence, named_nodes
from agenttrace.judges.formulas import share_denied, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, finding_of
from agenttrace.judges.verdict import VerdictsReply


class HallucinationScorer(JudgeScorer):
    """The share of the context documents that the output contradicts; lower is better.

    "no" / n over the documents of `context`; passes at or below the threshold. One call a vote. An empty
    `context` counts as missing: nothing could contradict it.
    """

    name = "Hallucination"
    needs = ("actual_output", "context")
    lower_is_better = True

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for a verdict on each document."""
        documents = evidence.nodes("context")
        blocks = {**evidence.blocks("actual_output"), **named_nodes("document", documents)}
        reply = await judge.ask(
            "hallucination_verdicts", blocks, VerdictsReply, check=VerdictsReply.one_for_each(documents)
        )
        words = words_of(reply.verdicts)
        reason = f"{words.count('no')} of {len(words)} context documents are contradicted by the output"
        return finding_of(share_denied(words), reason, documents, reply.verdicts, "no")
