"""Whether the useful nodes come first in the retrieval context."""

from __future__ import annotations

from agenttrace.judges.evidence import Evidence, named_nodes
from agenttrace.judges.formulas import average_precision, facts, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer
from agenttrace.judges.verdict import VerdictsReply


class ContextualPrecisionScorer(JudgeScorer):
    """How far up the useful nodes stand in the retrieval context.

    Mean over the ranks k of useful nodes of (useful among the first k) / k (average precision); no useful
    node, or nothing retrieved, is 0. One call a vote, none where nothing was retrieved.
    """

    name = "Contextual Precision"
    needs = ("input", "expected_output")

    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where `retrieval_context` is missing; an empty one is scored 0."""
        evidence.require(*self.needs)
        evidence.require_list("retrieval_context")

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for a verdict on each node, in rank order."""
        nodes = evidence.nodes("retrieval_context")
        if not nodes:
            return Finding(0.0, "Nothing was retrieved.", {"verdicts": []})
        blocks = {**evidence.blocks("input", "expected_output"), **named_nodes("node", nodes)}
        reply = await judge.ask(
            "contextual_precision_verdicts", blocks, VerdictsReply, check=VerdictsReply.one_for_each(nodes)
        )
        words = words_of(reply.verdicts)
        ranks = [rank for rank, word in enumerate(words, 1) if word == "yes"]
        terms = ", ".join(f"{count}/{rank}" for count, rank in enumerate(ranks, 1))
        reason = (
            f"{len(ranks)} of {len(words)} retrieved nodes are useful; mean of {terms}."
            if ranks
            else f"None of {len(words)} retrieved nodes is useful."
        )
        return Finding(average_precision(words), reason, {"verdicts": facts(nodes, reply.verdicts)})
