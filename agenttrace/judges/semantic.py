"""The judge behind ``semantic(…)`` in expectations: whether a value means the same as a text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agenttrace.core.protocols import ChatModel
from agenttrace.judges.evidence import MAX_FIELD, as_text
from agenttrace.judges.judge import Judge
from agenttrace.judges.models.resolve import resolve_model
from agenttrace.judges.verdict import Reply, Verdict


class _MeaningReply(Reply):
    reason: str
    verdict: Verdict


def semantic_judge(model: str | ChatModel) -> Callable[[str, Any], Awaitable[bool]]:
    """Return the function that decides ``semantic(text)``: awaited, it is True if a value means the text.

    One call for each pair; "idk" is not a yes. The model is resolved at once, so a misspelt name fails here.

    Raises:
        ConfigError: as `resolve_model`. The returned function raises `JudgeError` where the judge gives no
            readable answer.
    """
    chat = resolve_model(model)

    async def means(text: str, value: Any) -> bool:
        blocks = {"expected": text[:MAX_FIELD], "actual": as_text(value)[:MAX_FIELD]}
        reply = await Judge(chat).ask("semantic", blocks, _MeaningReply)
        return reply.verdict == "yes"

    return means
