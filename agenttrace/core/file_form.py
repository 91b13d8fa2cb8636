"""Any value as JSON data that a file can hold, so that reading gives an equal value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agenttrace.core.errors import AgentTraceError, DatasetError, with_article
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import Redacted, bytes_data, cause_within, without_digests
from agenttrace.core.tagged import TAGS, escaped, float_data, int_data, opened
from agenttrace.core.tool_call import ANY

MAX_DEPTH = 64
"""Levels of lists and mappings in one value."""

_WRITTEN_AS_THEY_ARE = frozenset({type(None), bool, str, Redacted})

Fallback = Callable[[Any, str], Any]
"""Takes a value that is not JSON data, and its place; returns what to write for it."""


def lossy(value: Any, place: str) -> Any:
    """Write a value as recorded calls do: bounded, objects as ``{"$type": …}``."""
    del place
    return jsonable(value)


def strict(value: Any, place: str) -> Any:
    """Write dates, enums, dataclasses and the like by their JSON form, and refuse what has none.

    Raises:
        DatasetError: reading the file would not give the value back.
    """
    data = jsonable(value)
    key = (
        next((key for key in value if not isinstance(key, str)), None) if isinstance(value, Mapping) else None
    )
    if key is not None:
        kind = with_article(type(key).__qualname__)
        raise DatasetError(f"{kind} cannot be a key in a file; write it as text", field=place)
    if isinstance(value, list | tuple | Mapping):
        raise DatasetError(f"nested more than {MAX_DEPTH} levels deep (or inside itself)", field=place)
    if cause_within(data) is not None:
        raise DatasetError(
            f"{with_article(type(value).__qualname__)} cannot be written to a file; "
            "give its fields as JSON values, or leave it out",
            field=place,
        )
    return data


def to_file_form(
    value: Any,
    fallback: Fallback,
    place: str = "",
    depth: int = 0,
    tags: frozenset[str] = TAGS,
    within: frozenset[int] = frozenset(),
) -> Any:
    """Return the value as JSON data, without bounds on breadth and size.

    Objects with a ``to_data()`` (matchers, expectations) are written through it, `ANY` as
    ``{"$any": true}``, what JSON has no word for as a tagged mapping (`core.tagged`), tuples as lists. A
    mapping that looks like a tagged one gets one more ``$`` before its key. A mark is written without its
    digest. Everything else goes through `fallback`, and so does what lies deeper than `MAX_DEPTH`, or stands
    in itself: `within` are the containers round it, by their `id`.
    """
    if value is ANY:
        return {"$any": True}
    if type(value) in _WRITTEN_AS_THEY_ARE:
        return without_digests(value)
    if type(value) is int:
        return int_data(value, value.bit_length())
    if type(value) is float:
        return float_data(value)
    if type(value) is bytes:
        return bytes_data(value, len(value))
    if depth > MAX_DEPTH or id(value) in within:
        return fallback(value, place)
    within |= {id(value)}
    to_data = getattr(type(value), "to_data", None)
    if to_data is not None:
        try:
            data = to_data(value)
        except AgentTraceError as error:  # a matcher made of a function has no file form
            if fallback is strict:
                raise DatasetError(str(error), field=place) from error
            return fallback(value, place)
        return to_file_form(data, fallback, place, depth + 1, frozenset(), within)  # whose ``$`` are its own
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        items = {
            str(key): to_file_form(item, fallback, f"{place}.{key}", depth + 1, tags, within)
            for key, item in value.items()
        }
        return escaped(without_digests(items) if "$bytes" in items else items, tags)
    if isinstance(value, list | tuple):
        return [
            to_file_form(item, fallback, f"{place}[{n}]", depth + 1, tags, within)
            for n, item in enumerate(value)
        ]
    return fallback(value, place)


def from_file_form(value: Any, place: str = "", depth: int = 0) -> Any:
    """Return a copy of JSON data with tagged mappings turned back into the values that they stand for.

    Raises:
        DatasetError: nested more than `MAX_DEPTH` levels deep.
    """
    if depth > MAX_DEPTH and isinstance(value, dict | list):
        raise DatasetError(f"nested more than {MAX_DEPTH} levels deep", field=place)
    if isinstance(value, dict):
        data = opened(value, TAGS)
        if not isinstance(data, dict):
            return data
        return {key: from_file_form(item, f"{place}.{key}", depth + 1) for key, item in data.items()}
    if isinstance(value, list):
        return [from_file_form(item, f"{place}[{n}]", depth + 1) for n, item in enumerate(value)]
    return value
