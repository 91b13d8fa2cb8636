"""Secrets in a text that is JSON, or a Python literal, as data: tables, pairs, entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agenttrace.core.json_reader import InvalidJSON, json_or_literal, lenient_json
from agenttrace.core.jsonable import json_like, jsonable
from agenttrace.core.marks import REDACTED
from agenttrace.redaction.names import NAME_SIGNS
from agenttrace.redaction.naming import Names
from agenttrace.redaction.texts import end_before_cut, has_any

_VALUE = re.compile(r"""(["'])(?P<name>[A-Za-z][^"'\\\n]{1,63})\1\s*[,\]})]""")
"""A text that is no key: after a name that is a key, its value is found in the text as it stands."""
_JSON_WEB_KEY = re.compile(r"""["']kty["']\s*:""")
_BEGINNINGS, _ENDS = frozenset("{[( \t\r\n"), frozenset("}]) \t\r\n")
DATA_ENDS = ("}", "]", ")")
_PLACES = ("[", "(", "val", "content")
"""What data has in which a name is a value: a list, or an entry with its value beside it."""


def may_be_data(texts: Iterable[str], names: Names, signs: tuple[str, ...]) -> bool:
    """Returns True if a text may be data in which the name of a secret is a value, as in the head of a table.

    `signs` are those of the user's names.
    """
    several = "\n".join([text for text in texts if text[:1] in _BEGINNINGS and text[-1:] in _ENDS])
    lowered = several.lower()
    if "kty" in lowered and _JSON_WEB_KEY.search(several) is not None:
        return True
    if not has_any(_PLACES, lowered):
        return False
    return (has_any(NAME_SIGNS, lowered) or has_any(signs, lowered)) and any(
        names.is_secret(match["name"].strip()) for match in _VALUE.finditer(several)
    )


def without_secrets_of_data(text: str, inside: Callable[[Any], Any]) -> tuple[str, int]:
    """The text of the data without its secrets, and how many times it was changed: 0 or 1.

    It is written anew as it was, where that is one of the usual ways. Of data that is nested too deeply to be
    looked into, nothing is left; of data that was cut, what stands before its last whole item.
    """
    end = end_before_cut(text)
    if end == len(text):
        return _without_secrets(text, inside)
    for whole, closing, left_out in _closed(text[:end]):
        clean, count = _without_secrets(whole, inside)
        if count:
            for sign in closing[::-1]:
                clean = clean.rstrip().removesuffix(sign)
            return f"{clean}{left_out}{text[end:]}", 1
    return text, 0


def _without_secrets(text: str, inside: Callable[[Any], Any]) -> tuple[str, int]:
    try:
        data, is_json = lenient_json(text), True
    except InvalidJSON:
        data, is_json = json_or_literal(text.strip()), False
        if type(data) is str:
            return text, 0
        data = jsonable(data)
    try:
        clean = inside(data)
        return (text, 0) if clean == data else (json_like(clean, text) if is_json else repr(clean), 1)
    except RecursionError:
        return REDACTED, 1


_TOKEN = re.compile(r"""(["'])(?:(?!\1)[^\\]|\\.)*+(?:\1|\\?\Z)|[\[\](){},]""", re.DOTALL)
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def _closed(text: str) -> Iterator[tuple[str, str, str]]:
    """Data that was cut, with the signs that close it; these signs; and what is written for what is left out.

    First all of it, then what stands before its last comma.
    """
    nesting, end, closing, quote = "", 0, "", ""
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if token[1]:
            is_open = token.end() == len(text) and (len(sign) == 1 or sign[-1] != token[1])
            quote = token[1] if is_open else ""
        elif sign in _CLOSING:
            nesting = _CLOSING[sign] + nesting
        elif sign == ",":
            end, closing = token.start(), nesting
        else:
            nesting = nesting[1:]
    whole = text.removesuffix("\\") if quote else text.rstrip(", \t\r\n")
    yield whole + quote + nesting, quote + nesting, ""
    yield text[:end] + closing, closing, f",{REDACTED}"
