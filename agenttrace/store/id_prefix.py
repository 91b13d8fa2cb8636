"""Ids given by their first digits."""

from __future__ import annotations

from agenttrace.core.errors import StoreError

LEAST_PREFIX = 4
_HEX = frozenset("0123456789abcdef")


def id_prefix(text: str) -> str | None:
    """The hex digits of an id or of its beginning, or None for what no id begins with.

    Raises:
        StoreError: fewer than four digits.
    """
    digits = text.strip().lower()
    if len(digits) > 32 or not set(digits) <= _HEX:
        return None
    if len(digits) < LEAST_PREFIX:
        raise StoreError(f"give at least {LEAST_PREFIX} digits of an id, got {text!r}")
    return digits


def only_match(prefix: str, matches: list[str]) -> str | None:
    """The one id that begins with a prefix, or None.

    Raises:
        StoreError: several do.
    """
    if len(matches) > 1 and prefix not in matches:
        shown = ", ".join(match[: len(prefix) + 4] + "…" for match in matches[:3])
        raise StoreError(f"{prefix!r} begins several ids ({shown}); give more digits")
    return (prefix if prefix in matches else matches[0]) if matches else None
