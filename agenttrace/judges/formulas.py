"""From verdicts to a value: the arithmetic of the pipeline scorers, the items that verdicts are about.

Verdicts are ``"yes"``, ``"no"`` or ``"idk"``. Every function says what no verdict at all is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from agenttrace.judges.verdict import ReasonedVerdict


def share_not_denied(verdicts: Sequence[str]) -> float:
    """(verdicts other than "no") / n; none: 1."""
    return (len(verdicts) - verdicts.count("no")) / len(verdicts) if verdicts else 1.0


def share_denied(verdicts: Sequence[str]) -> float:
    """ "no" / n; none: 0."""
    return verdicts.count("no") / len(verdicts) if verdicts else 0.0


def share_affirmed(verdicts: Sequence[str], *, none: float) -> float:
    """ "yes" / n; `none` where there is no verdict."""
    return verdicts.count("yes") / len(verdicts) if verdicts else none


def average_precision(verdicts: Sequence[str]) -> float:
    """Mean over the ranks k of relevant nodes of (relevant among the first k) / k; none relevant: 0."""
    ranks = [rank for rank, verdict in enumerate(verdicts, 1) if verdict == "yes"]
    return fmean(found / rank for found, rank in enumerate(ranks, 1)) if ranks else 0.0


def coverage(answers: Sequence[tuple[str, str]]) -> float:
    """Of the questions that the source answers with yes, the share that the summary does, too; none: 1."""
    asked = [summary for source, summary in answers if source == "yes"]
    return asked.count("yes") / len(asked) if asked else 1.0


def mean(values: Sequence[float], *, none: float) -> float:
    """The mean; `none` where there is no value."""
    return fmean(values) if values else none


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
