"""What a threshold may be."""

from __future__ import annotations

from agenttrace.core.errors import ScorerError


def checked_threshold(threshold: float, scorer: str) -> float:
    """The least value that passes: a number from 0 to 1.

    Raises:
        ScorerError: anything else.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise ScorerError(f"{scorer}: threshold is a number from 0 to 1, got {threshold!r}")
    return threshold
