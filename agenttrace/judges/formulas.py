"""The arithmetic of judge scorers: from a list of verdicts to a value.

Verdicts are ``"yes"``, ``"no"`` or ``"idk"``. Every function says which value an empty list has.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from agenttrace.core.text import short_line
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
    """Return the mean over relevant ranks k of (relevant among the first k) / k; none relevant: 0."""
    ranks = [rank for rank, verdict in enumerate(verdicts, 1) if verdict == "yes"]
    return fmean(count / rank for count, rank in enumerate(ranks, 1)) if ranks else 0.0


def coverage(answers: Sequence[tuple[str, str]]) -> float:
    """Of the questions that the source affirms, return the share that the summary does; none: 0."""
    of_summary = [summary for source, summary in answers if source == "yes"]
    return of_summary.count("yes") / len(of_summary) if of_summary else 0.0


_SHOWN = 3
_WIDTH = 160


def facts(items: Sequence[str], verdicts: Sequence[ReasonedVerdict]) -> list[dict[str, Any]]:
    """Return item, verdict and reason of each item, for a score's details."""
    return [
        {"item": item, "verdict": verdict.verdict, "reason": verdict.reason}
        for item, verdict in zip(items, verdicts, strict=True)
    ]


def words_of(verdicts: Sequence[ReasonedVerdict]) -> list[str]:
    """Return the verdicts without their reasons."""
    return [verdict.verdict for verdict in verdicts]


def culprits(items: Sequence[str], verdicts: Sequence[ReasonedVerdict], *words: str, lead: str = ": ") -> str:
    """Return the end of a reason: the first items with one of the verdicts `words`; ``"."`` if there are
    none. `lead` stands before them: after a count of the others it says that these are not among them.
    """
    texts = [
        f"“{short_line(item, _WIDTH)}”"
        + (f" ({short_line(verdict.reason, _WIDTH)})" if verdict.reason.strip() else "")
        for item, verdict in zip(items, verdicts, strict=True)
        if verdict.verdict in words
    ]
    if not texts:
        return "."
    more = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{lead}{'; '.join(texts[:_SHOWN])}{more}."
