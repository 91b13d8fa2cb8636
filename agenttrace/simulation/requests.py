"""Requests to models, in a form in which a replayed one equals the recorded one.

An answer that is made again from a record is not the provider's text letter by letter: the JSON of arguments
is spaced otherwise, empty fields are there or not, items have no ids. Agents send what they were answered
back with the next request, so these are compared without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.json_reader import json_object_in
from agenttrace.core.jsonable import jsonable

_DROPPED = ("reasoning", "thinking", "redacted_thinking")
"""Items that only the provider can write."""


def comparable(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request without what a replay cannot give back the same."""
    data: dict[str, Any] = _plain(jsonable(dict(request)))
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        has_type = isinstance(value.get("type"), str)
        items = {}
        for key, item in value.items():
            if has_type and "call_id" in value and key in ("id", "status"):
                continue
            if value.get("type") == "message" and key in ("id", "status"):
                continue
            plain = _plain(item)
            if key == "arguments" and isinstance(plain, str):
                read = json_object_in(plain)
                plain = plain if read is None else read
            if plain not in (None, "", [], {}):
                items[key] = plain
        return items
    if isinstance(value, list):
        parts = [item for item in value if not (isinstance(item, Mapping) and item.get("type") in _DROPPED)]
        return [_plain(item) for item in parts]
    return value
