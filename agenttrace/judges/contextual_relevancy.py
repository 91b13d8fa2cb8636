"""How much of the retrieval context is relevant to the input."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agenttrace.judges.evidence import Evidence, named_nodes
from agenttrace.judges.formulas import share_affirmed
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer
from agenttrace.judges.verdict import MAX_ITEMS, Reply, Verdict, wrong_number


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


class ContextualRelevancyScorer(JudgeScorer):
    """The share of the retrieved statements that are relevant to the input, all nodes pooled.

    "yes" / n over the statements of all nodes; no statement, or nothing retrieved, is 0. One call a vote,
    none where nothing was retrieved.
    """

    name = "Contextual Relevancy"
    needs = ("input",)

    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where `retrieval_context` is missing; an empty one is scored 0."""
        evidence.require(*self.needs)
        evidence.require_list("retrieval_context")

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
