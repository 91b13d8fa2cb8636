"""Moments in the zone of this machine, as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def local_time(nanoseconds: int) -> datetime | None:
    """A moment since 1970 in the zone of this machine; None for one that no calendar has."""
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return None


def clock_text(nanoseconds: int) -> str:
    """A moment to the second."""
    at = local_time(nanoseconds)
    return "at an impossible time" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"
