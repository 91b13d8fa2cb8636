"""What the judge was shown and what it replied, bounded, as a score keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agenttrace.core.errors import JudgeError
from agenttrace.judges.judge import Asked, Judge

ROOM = 32 * 1024
"""Characters of all texts that one score keeps; the longest are cut first."""

MOST_TEXTS = 200
"""Texts that one score keeps, of a judge that is asked about hundreds of documents."""

_WORD = 200


def evidence_of(judges: Sequence[Judge], outcomes: Sequence[Any]) -> dict[str, Any]:
    """What each vote was asked, shown and answered.

    ``blocks`` are the texts under judgement, by name. ``votes`` has for each vote its ``value`` and
    ``reason``, or its ``problem``, and its ``questions``: the ``prompt``, the names of the ``blocks`` that
    stood in it, ``other`` texts of its own (such as the claims that an earlier answer found), the raw
    ``replies``. Texts are cut where all of them have more than `ROOM` characters: their heads stay.
    """
    blocks: dict[str, str] = {}
    for judge in judges:
        for question in judge.asked:
            for name, text in question.blocks.items():
                if len(blocks) < MOST_TEXTS:
                    blocks.setdefault(name, text)
    votes = [
        {**_outcome(outcome), "questions": [_question(asked, blocks) for asked in judge.asked]}
        for judge, outcome in zip(judges, outcomes, strict=True)
    ]
    limit = fair_limit(map(len, _texts({"blocks": blocks, "votes": votes})), ROOM)
    bounded: dict[str, Any] = _cut({"blocks": blocks, "votes": votes}, limit)
    return bounded


def _question(asked: Asked, blocks: dict[str, str]) -> dict[str, Any]:
    other = {name: text for name, text in asked.blocks.items() if blocks.get(name) != text}
    names = [name for name in asked.blocks if name not in other]
    question = {"prompt": asked.prompt, "blocks": names, "replies": list(asked.replies)}
    return {**question, "other": dict(list(other.items())[:MOST_TEXTS])} if other else question


def _outcome(outcome: Any) -> dict[str, Any]:
    if isinstance(outcome, JudgeError):
        return {"problem": str(outcome)}
    return {"value": outcome.value, "reason": outcome.reason}


def fair_limit(lengths: Iterable[int], room: int) -> int:
    """The length to which the longest are cut so that all together have room: the shorter stay whole."""
    waiting = sorted(lengths)
    for place, length in enumerate(waiting):
        share = room // (len(waiting) - place)
        if length > share:
            return share
        room -= length
    return room + (waiting[-1] if waiting else 0)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return _head(value, limit)
    if isinstance(value, dict):
        return {name: _cut(item, limit) for name, item in value.items()}
    return [_cut(item, limit) for item in value] if isinstance(value, list) else value


def _head(text: str, limit: int) -> str:
    """The head of a text, up to white space: half a secret would not be known for one."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    words = max(head.rfind(" ", -_WORD), head.rfind("\n", -_WORD))
    head = head[: max(words, 0)] if words >= 0 else ""
    return f"{head}…[+{len(text) - len(head)} chars]"
