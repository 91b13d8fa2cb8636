"""What stands in brackets: where it ends, and whether it is data, or code."""

from __future__ import annotations

import re
from typing import Any

from agenttrace.core.json_reader import InvalidJSON, lenient_json_at
from agenttrace.redaction.naming import Names

_TO_QUOTE = {quote: re.compile(rf"(?:[^{quote}\\]|\\[\s\S])*") for quote in "\"'"}
_IN_BRACKETS = re.compile(r"""["'{}\[\]()]""")
_SCHEMA = re.compile(
    r"""\{\s*(?:\\{0,20}["'](?:description|title|default|minLength|maxLength|format|name|in)\\{0,20}["']\s*:"""
    r"""\s*(?:\\{0,20}["'][^"'{}]{0,500}["']|[\w.]+)\s*,\s*){0,6}"""
    r"""\\{0,20}["'](?:type|\$ref|anyOf|oneOf|allOf|enum|const)\\{0,20}["']\s*:|\{\s*\}"""
)
_ITEM = re.compile(r"""(?P<quote>["'])((?:(?!(?P=quote))[^\n]){1,200})(?P=quote)""")
_WINDOW = 400
"""Characters from an opening bracket on that are looked at."""


def is_secret_data(text: str, begin: int, name: str, names: Names) -> bool:
    """Returns True if a secret's name hides what stands in brackets after it: no schema, code, scopes."""
    if not names.hides(name, {"": ""}) or text[begin + 1 : begin + 2] in ("]", ")", ""):
        return False
    limit = min(begin + _WINDOW, len(text))
    stop = end_of_brackets(text, begin, limit)
    is_list = text[begin] == "[" and stop < limit
    if text[begin] == "{" and text[stop - 1] == "}" and not names.hides(name, mapping_at(text, begin)):
        return False
    items = [one[2] for one in _ITEM.finditer(text, begin, stop)] if is_list else []
    if items and not names.hides(name, items):
        return False
    return _SCHEMA.match(text, begin) is None and not is_code(text, begin, stop)


def mapping_at(text: str, begin: int) -> dict[str, Any]:
    """The mapping of JSON that begins at a place; where there is none, one that a secret's name hides."""
    try:
        data = lenient_json_at(text, begin)[0]
    except InvalidJSON:
        return {"": ""}
    return data if isinstance(data, dict) else {"": ""}


def end_of_brackets(text: str, begin: int, stop: int) -> int:
    """Where the bracket at a place is closed; `stop` where it is not before that."""
    depth, place = 0, begin
    while True:
        match = _IN_BRACKETS.search(text, place, stop)
        if match is None:
            return stop
        place = match.end()
        if match[0] in "{[(":
            depth += 1
        elif match[0] in "}])":
            depth -= 1
            if not depth:
                return place
        elif text[match.start() - 1] != "\\":
            closing = _TO_QUOTE[match[0]].match(text, place, stop)
            place = stop if closing is None else min(closing.end() + 1, stop)


_IN_CODE = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*+(?:"|\Z)|'(?:[^'\\\n]|\\.)*+(?:'|\Z))|(?<![\w\\])(?P<name>[A-Za-z_]\w+)(?![\w(.])"""
)
_IN_DATA = frozenset(
    {"true", "false", "null", "None", "True", "False", "NaN", "nan", "inf", "Infinity", "undefined"}
)


def is_code(text: str, begin: int, end: int) -> bool:
    """Returns True if what stands in brackets has names of variables, which data has not."""
    cut = text.find("…[+", begin, end)
    end = end if cut < 0 else cut
    return any(
        one["name"] is not None and one["name"] not in _IN_DATA for one in _IN_CODE.finditer(text, begin, end)
    )
