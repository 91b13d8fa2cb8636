"""Whether a score holds what a store can keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agenttrace.core.score import Score


def _is_number(value: Any) -> bool:
    """Finite, no bool, no Decimal, an int of 64 bits at most."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -(2**63) < value < 2**63


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


_TEXT = (_is_text, "a text")
_NUMBER = (_is_number, "a finite int or float")
_MAPPING = (_is_mapping, "a mapping")
_NEEDED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": _TEXT,
    "threshold": _NUMBER,
    "reason": _TEXT,
    "details": _MAPPING,
    "metadata": _MAPPING,
}
_OPTIONAL: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "diff": _TEXT,
    "error": _TEXT,
    "model": _TEXT,
    "cost": _NUMBER,
    "usage": _MAPPING,
}


def unfit_field(score: Score) -> tuple[str, Any, str] | None:
    """The first field that no store could keep, what it holds, what was wanted; None where all are fit.

    `value` and `outcome` are looked at elsewhere; `duration` is the engine's own.
    """
    for fields, optional in ((_NEEDED, False), (_OPTIONAL, True)):
        for name, (fits, wanted) in fields.items():
            held = getattr(score, name)
            if not (optional and held is None) and not fits(held):
                return name, held, wanted
    return None
