"""How wide a failure's text is where it reaches a terminal by way of a program that captures the output."""

from __future__ import annotations

_width: int | None = None


def set_failure_width(columns: int | None) -> None:
    """Say how wide the terminal is on which failures are printed; None: there is none, or nobody knows."""
    global _width
    _width = columns


def failure_width(indent: int = 0) -> int | None:
    """The columns for a failure's text, of which `indent` are taken; None where nobody said."""
    return None if _width is None else max(_width, 60) - indent
