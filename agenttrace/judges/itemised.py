"""Verdicts beside the items that they are about, as the facts of a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenttrace.judges.verdict import ReasonedVerdict

_SHOWN = 3
_WIDTH = 160


def facts(items: Sequence[str], verdicts: Sequence[ReasonedVerdict]) -> list[dict[str, Any]]:
    """Item, verdict and reason, one mapping each, for a score's details."""
    return [
        {"item": item, "verdict": verdict.verdict, "reason": verdict.reason}
        for item, verdict in zip(items, verdicts, strict=True)
    ]


def words_of(verdicts: Sequence[ReasonedVerdict]) -> list[str]:
    """The bare verdicts."""
    return [verdict.verdict for verdict in verdicts]


def culprits(items: Sequence[str], verdicts: Sequence[ReasonedVerdict], *blamed: str) -> str:
    """The first few items with one of these verdicts and why, as the end of a reason; ``"."`` if none has."""
    found = [
        f"“{_cut(item)}” ({_cut(verdict.reason)})" if verdict.reason.strip() else f"“{_cut(item)}”"
        for item, verdict in zip(items, verdicts, strict=True)
        if verdict.verdict in blamed
    ]
    if not found:
        return "."
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f": {'; '.join(found[:_SHOWN])}{more}."


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
