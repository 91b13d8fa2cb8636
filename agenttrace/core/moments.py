"""`moment_of`: the moment that an ISO text names, the same for each way to write it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?(?::?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)


def moment_of(text: str) -> tuple[str, str] | None:
    """The date and time, in UTC where the text has an offset, then the fraction of a second with ``Z`` for an
    offset. None where the text is no date with a time.

    ``2025-06-01 12:00`` equals ``2025-06-01T12:00:00.0``; ``…T12:00Z`` equals ``…T14:00+02:00``, and no text
    without an offset.
    """
    if text[4:5] != "-" or text[13:14] != ":":  # most texts
        return None
    parts = _MOMENT.fullmatch(text)
    if parts is None:
        return None
    day, time, fraction, offset = parts.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}{(offset or '').upper()}")
        if offset:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):  # no such day, or the very first or last one
        return None
    return moment.isoformat(), f".{(fraction or '').rstrip('0')}{'Z' if offset else ''}"
