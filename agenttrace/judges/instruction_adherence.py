"""Whether the output follows the instructions in the input."""

from __future__ import annotations

from statistics import fmean
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agenttrace.judges.evidence import Evidence
from agenttrace.judges.judge import Judge, numbered
from agenttrace.judges.judge_scorer import Finding, JudgeScorer
from agenttrace.judges.verdict import MAX_ITEMS, Reply, wrong_number


def _step(value: float) -> float:
    if value not in (0.0, 0.5, 1.0):
        raise ValueError("must be 0, 0.5 or 1")
    return value


class _Adherence(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    reason: str
    score: Annotated[float, AfterValidator(_step)] = Field(description="0, 0.5 or 1")


class _AdherenceReply(Reply):
    scores: list[_Adherence] = Field(max_length=MAX_ITEMS)


class InstructionAdherenceScorer(JudgeScorer):
    """How well the output follows the instructions in the input.

    The mean over the instructions of 0 (ignored), 0.5 (followed in part) or 1 (followed); an input without
    instructions is 1. Two calls a vote, one where there are no instructions.
    """

    name = "Instruction Adherence"
    needs = ("input", "actual_output")

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for the input's instructions, then for a score of each."""
        instructions = await judge.items("instructions", evidence.blocks("input"))
        if not instructions:
            return Finding(1.0, "The input gives no instructions.", {"instructions": []})

        def one_each(reply: _AdherenceReply) -> str | None:
            return wrong_number(len(reply.scores), len(instructions), "scores")

        blocks = {**evidence.blocks("actual_output"), "items": numbered(instructions)}
        reply = await judge.ask("instruction_adherence", blocks, _AdherenceReply, check=one_each)
        scores = [entry.score for entry in reply.scores]
        details: list[dict[str, Any]] = [
            {"instruction": instruction, "score": entry.score, "reason": entry.reason}
            for instruction, entry in zip(instructions, reply.scores, strict=True)
        ]
        reason = (
            f"Of {len(scores)} instructions {scores.count(1.0)} are followed, {scores.count(0.5)} in part, "
            f"{scores.count(0.0)} not: {sum(scores):g} / {len(scores)}."
        )
        return Finding(fmean(scores), reason, {"instructions": details})
