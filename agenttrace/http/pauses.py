"""How long to wait before an endpoint is asked again."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime


def pause_before(attempt: int, *, first: float, longest: float, asked: float | None = None) -> float:
    """Seconds before attempt number `attempt` (from 1) is repeated.

    From `first`, doubling, with jitter, on top of what the endpoint asked for; never more than `longest`.
    """
    backoff = min(longest, first * 2.0 ** min(attempt - 1, 30))
    backoff *= random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing
    return min(longest, (asked or 0.0) + backoff)


def retry_after_seconds(text: str | None) -> float | None:
    """A `Retry-After` header as seconds from now; None where it is absent, negative or not understood."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None
