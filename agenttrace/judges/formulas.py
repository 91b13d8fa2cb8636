"""From verdicts to a value: the arithmetic of the pipeline scorers, and nothing else.

Verdicts are ``"yes"``, ``"no"`` or ``"idk"``. Every function says what no verdict at all is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean


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
