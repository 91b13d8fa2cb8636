"""Moments that are written as numbers since 1970, in whatever unit."""

from __future__ import annotations

import re
from typing import Any

from agenttrace.core.numbers import is_number

_UNITS = ((1e11, 1_000_000_000), (1e14, 1_000_000), (1e17, 1_000), (9.2e18, 1))
"""Numbers below which each unit is meant, and its nanoseconds: these are years from 1973 to 5138."""
_DIGITS = re.compile(r"[0-9]{9,19}(?:\.[0-9]{1,9})?", re.ASCII)
"""Of a time as text; fewer are a date of ISO, such as ``20260102``."""


def epoch_ns(value: Any) -> int | None:
    """Nanoseconds of a number, also as text, of seconds, milli-, micro- or nanoseconds; None for all else."""
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = float(value) if "." in value else int(value)
    if not is_number(value):
        return None
    unit = next((unit for below, unit in _UNITS if 0 < value < below), None)
    return None if unit is None else int(value * unit)
