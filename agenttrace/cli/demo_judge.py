"""The judge of the planted demo: a scripted model that compares each claim with the context, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from agenttrace.judges import FakeChatModel
from agenttrace.judges.models.fake import FakeRequest

_NUMBERED = re.compile(r"^\s*(?:\d+[.:)]|-)\s*")
_VOTES = 3


def scripted_judge() -> FakeChatModel:
    """A model that lists sentences as claims and denies those that the context does not have.

    Every third time that it is asked about the same claims it is not so sure: votes of a judge differ.
    """
    asked: Counter[str] = Counter()

    def reply(request: FakeRequest) -> Mapping[str, Any]:
        if "items" in request.fields:
            return {"items": _sentences(request.blocks["actual_output"])}
        claims, context = request.blocks["items"], request.blocks["retrieval_context"]
        asked[claims] += 1
        is_unsure = asked[claims] % _VOTES == 0
        lines = [_NUMBERED.sub("", line) for line in claims.splitlines() if line.strip()]
        return {"verdicts": [_verdict(line.strip().strip('",'), context, is_unsure) for line in lines]}

    return FakeChatModel(reply, name="scripted-judge", input_tokens=640, output_tokens=90, cost=0.0004)


def _sentences(text: str) -> list[str]:
    return [f"{part.strip().rstrip('.')}." for part in text.split(". ") if part.strip()]


def _verdict(claim: str, context: str, is_unsure: bool) -> dict[str, str]:
    if claim in context:
        return {"reason": f'the context says: "{claim}"', "verdict": "yes"}
    start = " ".join(claim.split()[:2])
    passage = next((one for one in _sentences(context) if one.startswith(start)), "nothing of the kind")
    if is_unsure:
        return {"reason": f'the context says "{passage}", which may be out of date', "verdict": "idk"}
    return {"reason": f'the context says "{passage}", the claim another number', "verdict": "no"}
