"""Whether the retrieval context is relevant, supports the expected output, has what is useful first."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agenttrace.judges.evidence import Evidence, named_nodes
from agenttrace.judges.formulas import average_precision, facts, share_affirmed, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, finding_of
from agenttrace.judges.verdict import MAX_ITEMS, Reply, Verdict, VerdictsReply, wrong_number


class _RetrievalScorer(JudgeScorer):
    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where `retrieval_context` is missing; an empty one is scored 0."""
        evidence.require(*self.needs)
        evidence.require_list("retrieval_context")


class ContextualPrecisionScorer(_RetrievalScorer):
    """How far up the useful nodes stand in the retrieval context.

    Mean over the ranks k of useful nodes of (useful among the first k) / k (average precision); no useful
    node, or nothing retrieved, is 0. One call a vote, none where nothing was retrieved.
    """

    name = "Contextual Precision"
    needs = ("input", "expected_output")

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


class ContextualRecallScorer(_RetrievalScorer):
    """The share of the expected output's sentences that the retrieval context supports.

    "yes" / n; an expected output without sentences is 0, and so is an empty retrieval, without a call. Two
    calls a vote otherwise.
    """

    name = "Contextual Recall"
    needs = ("expected_output",)

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
        return finding_of(
            share_affirmed(words, none=0.0), reason, sentences, verdicts, "no", "idk", lead="; not: "
        )


class _Statement(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    statement: str
    reason: str
    verdict: Verdict


class _Node(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    statements: list[_Statement] = Field(max_length=MAX_ITEMS)


class _NodesReply(Reply):
    nodes: list[_Node] = Field(max_length=MAX_ITEMS)


class ContextualRelevancyScorer(_RetrievalScorer):
    """The share of the retrieved statements that are relevant to the input, all nodes pooled.

    "yes" / n over the statements of all nodes; no statement, or nothing retrieved, is 0. One call a vote,
    none where nothing was retrieved.
    """

    name = "Contextual Relevancy"
    needs = ("input",)

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for the statements of each node with their verdicts."""
        nodes = evidence.nodes("retrieval_context")
        if not nodes:
            return Finding(0.0, "Nothing was retrieved.", {"nodes": []})

        def one_each(reply: _NodesReply) -> str | None:
            return wrong_number(len(reply.nodes), len(nodes), "nodes")

        blocks = {**evidence.blocks("input"), **named_nodes("node", nodes)}
        reply = await judge.ask("contextual_relevancy", blocks, _NodesReply, check=one_each)
        verdicts = [statement.verdict for node in reply.nodes for statement in node.statements]
        return Finding(
            share_affirmed(verdicts, none=0.0),
            f"{verdicts.count('yes')} of {len(verdicts)} statements in {len(nodes)} retrieved nodes "
            "are relevant to the input.",
            {"nodes": [node.model_dump()["statements"] for node in reply.nodes]},
        )
