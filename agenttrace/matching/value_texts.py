"""Values as texts on one line: data as JSON, matchers as their repr."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterable, Mapping
from typing import Any

from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import REDACTED, text_without_digests, without_digests
from agenttrace.core.tagged import int_data
from agenttrace.core.text import shorten
from agenttrace.core.tool_call import ANY
from agenttrace.expectations.matcher import Matcher, Unordered

MAX_VALUE_LENGTH = 60
"""Characters of one value in a difference."""

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'" r'|"(?:[^"\\]|\\.)*"')
_WRITTEN = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_write = json.JSONEncoder(ensure_ascii=False).encode


class Written(str):
    """A text that stands in a value's place as it is, without quotes."""

    __slots__ = ()


def value_text(value: Any, most: int = MAX_VALUE_LENGTH) -> str:
    """A value on one line: data as JSON, a matcher as its repr."""
    return cut_value(text_of(value), most)


def text_of(value: Any) -> str:
    """A value on one line, however long."""
    kind = type(value)
    if kind is str:
        return _write(without_digests(value))
    if kind is Written:
        return str(value)
    if kind is float or kind is bool or value is None:
        return _write(value)
    if kind is int:
        return _write(int_data(value))
    if value is ANY:
        return repr(value)
    if isinstance(value, Matcher):
        try:
            return text_without_digests(_QUOTED.sub(_requote, repr(value)))
        except ValueError:  # Python refuses to print the longest integers
            return text_of(value.to_data())
    if isinstance(value, Unordered):
        return "{" + ", ".join(map(text_of, value.members)) + "}"
    if isinstance(value, Mapping):
        value = without_digests(dict(value)) if "$bytes" in value else value
        return "{" + ", ".join(f"{_write(str(k))}: {text_of(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if callable(value):
        return getattr(value, "__name__", repr(value))
    return _write(jsonable(value))


def _requote(match: re.Match[str]) -> str:
    """Put a quoted text inside a matcher's repr into the double quotes that values have."""
    try:
        return _write(literal_eval(match[0]))
    except (ValueError, SyntaxError):  # not a Python string, for example in a user's name
        return match[0]


def texts_within(text: str) -> list[str]:
    """The texts that stand in double quotes in a matcher's text."""
    return [json.loads(match) for match in _WRITTEN.findall(text)]


def with_texts(text: str, texts: Iterable[Any]) -> str:
    """A matcher's text with others in the place of `texts_within`."""
    others = iter(texts)
    return _WRITTEN.sub(lambda _: text_of(next(others)), text)


def cut_value(text: str, most: int) -> str:
    """A value's text in about `most` characters. A mark of what is redacted is not cut: half of one would
    look like a secret where the text is redacted again."""
    if len(text) <= most or REDACTED not in text:
        return shorten(text, most)
    if text[0] in "{[":
        return f"{text[0]}…{text[-1]}"
    end = text.rfind(REDACTED, 0, most + len(REDACTED)) + len(REDACTED)
    if end < len(REDACTED):
        return shorten(text, most)
    rest = text[end:]
    return text[:end] + (rest if len(rest) <= 1 else "…")
