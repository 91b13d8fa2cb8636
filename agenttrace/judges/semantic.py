"""Whether a value means what a text says: the judge behind ``semantic(…)`` in expectations."""

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
    """An asker for ``semantic(text)``: awaited with the text and a value, it says whether they mean the same.

    One call for each pair; "idk" is not a yes. The model is resolved at once, so a misspelt name fails here.

    Raises:
        ConfigError: as `resolve_model`. The asker itself raises `JudgeError` where the judge gives no
            readable answer.
    """
    chat = resolve_model(model)

    async def means(text: str, value: Any) -> bool:
        blocks = {"expected": text[:MAX_FIELD], "actual": as_text(value)[:MAX_FIELD]}
        reply = await Judge(chat).ask("semantic", blocks, _MeaningReply)
        return reply.verdict == "yes"

    return means
