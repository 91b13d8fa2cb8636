"""Durations and sizes as people write them: ``"30d"``, ``"1h"``, ``"90s"``, ``"5GB"``."""

from __future__ import annotations

import re
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_number

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
BYTES = {"KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]B)", re.IGNORECASE)


def seconds_of(duration: Any, option: str) -> float:
    """The seconds of a text such as ``"90s"``, ``"15m"``, ``"1h"``, ``"30d"``, ``"2w"``, or of a number.

    Raises:
        ConfigError: it is nothing of the kind, or no positive duration.
    """
    match = _DURATION.fullmatch(duration.strip()) if isinstance(duration, str) else None
    seconds = float(match[1]) * SECONDS[match[2]] if match else duration
    if not is_number(seconds) or not 0 < seconds < float("inf"):
        raise ConfigError(f"{option} is a duration such as '90s', '15m', '1h' or '30d', got {duration!r}")
    return float(seconds)


def bytes_of_size(size: str) -> int | None:
    """The bytes of a text such as ``"500MB"`` or ``"5GB"``; None for another text."""
    match = _SIZE.fullmatch(size.strip())
    return int(float(match[1]) * BYTES[match[2].upper()]) if match else None
