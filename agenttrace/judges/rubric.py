"""One place on a rubric of five, as a value."""

from __future__ import annotations

from collections.abc import Mapping

from agenttrace.judges.judge import Judge
from agenttrace.judges.scorer import Finding


async def rate(
    judge: Judge, prompt: str, blocks: Mapping[str, str], words: Mapping[str, str] | None = None
) -> Finding:
    """Ask for a rating of 1 to 5; the value is (rating − 1) / 4, so that the middle is 0.5."""
    reply = await judge.rating(prompt, blocks, words)
    return Finding(
        (reply.rating - 1) / 4,
        f"Rated {reply.rating} of 1 to 5, ({reply.rating} − 1) / 4: {reply.reason}",
        {"rating": reply.rating, "judge_reason": reply.reason},
    )
