"""One value as the text of a CSV cell.

A cell is a text as it stands, but for four things: an empty cell is None; a cell that begins with ``{``,
``[`` or ``"`` is JSON, and so is what follows ``json:`` (``json:42`` is the number, ``42`` the text); an
apostrophe before a character that spreadsheets take for a formula (or before another apostrophe) is taken
off.
"""

from __future__ import annotations

from typing import Any

from agenttrace.datasets.json_format import json_text
from agenttrace.datasets.json_text import strict_json

_JSON_STARTS = ("{", "[", '"')
_JSON_MARK = "json:"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_GUARDED = ("'", *_FORMULA_STARTS)


def cell(value: Any) -> str:
    """Write a JSON value so that `cell_value` reads the same, and no spreadsheet runs it."""
    if value is None:
        return ""
    if isinstance(value, str) and not _needs_json(value):
        return f"'{value}" if _needs_guard(value) else value
    text = json_text(value)
    return text if text.startswith(_JSON_STARTS) else _JSON_MARK + text


def cell_value(text: str) -> Any:
    """Read a cell.

    Raises:
        JSONRefused: it begins as JSON and is none.
    """
    if not text:
        return None
    if text.startswith(_JSON_MARK):
        return strict_json(text.removeprefix(_JSON_MARK))
    if text.startswith(_JSON_STARTS):
        return strict_json(text)
    return text[1:] if text[0] == "'" and text[1:].startswith(_GUARDED) else text


def _needs_guard(text: str) -> bool:
    return text.startswith(_FORMULA_STARTS) or (text[0] == "'" and text[1:].startswith(_GUARDED))


def _needs_json(text: str) -> bool:
    if not text or text.startswith((*_JSON_STARTS, _JSON_MARK)) or "\0" in text:
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
