"""Secrets in a text that is JSON, or a Python literal, or has some in it, as data: tables, pairs, entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from agenttrace.core.json_reader import InvalidJSON, lenient_json_at, python_literal
from agenttrace.core.jsonable import json_like, jsonable
from agenttrace.core.marks import REDACTED
from agenttrace.redaction.commands import may_have_command
from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.names import NAME_SIGNS
from agenttrace.redaction.naming import Names
from agenttrace.redaction.texts import end_before_cut, has_any

_VALUE = re.compile(r"""(["'])(?P<name>[A-Za-z#./\[][^"'\\\n]{1,63})\1\s*[,\]})]""")
"""A text that is no key: after a name that is a key, its value is found in the text as it stands."""
_JSON_WEB_KEY = re.compile(r"""["']kty["']\s*:""")
_BRACKETS = ("{", "[", "(")
DATA_ENDS = ("}", "]", ")")
_PLACES = ("[", "(", "val", "content", "elector", "lement", "locator", "xpath", "placeholder", "field")
"""What data has in which a name is a value: a list, or an entry with its value beside it."""
_BEGIN = re.compile(r"""(?<![\w"'\])])[\[{(](?=\s*["'\[{(\w-])""")
_MOST_READ = 4
"""How many times as many characters as a text has are read in it, where what looks like data is none."""
Inside = Callable[[Any], Any]
"""Returns data without secrets: data that is equal, if there are none."""


def may_be_data(texts: Iterable[str], names: Names, signs: tuple[str, ...]) -> bool:
    """Returns True if a text may have data in which a secret's name is a value, as in the head of a table.

    `signs` are those of the user's names.
    """
    several = "\n".join([text for text in texts if has_any(_BRACKETS, text)])
    lowered = several.lower()
    if "kty" in lowered and _JSON_WEB_KEY.search(several) is not None:
        return True
    if "netloc" in lowered and "@" in lowered:
        return True
    if not has_any(_PLACES, lowered):
        return False
    if ('"-' in lowered or "'-" in lowered) and may_have_command(lowered):
        return True
    if "param" in lowered and "values" in lowered and has_any(NAME_SIGNS, lowered):
        return True
    return (has_any(NAME_SIGNS, lowered) or has_any(signs, lowered)) and any(
        names.is_secret(name) or name_of_field(name, names) is not None
        for name in {match["name"].strip() for match in _VALUE.finditer(several)}
    )


def without_secrets_of_data(text: str, inside: Inside) -> tuple[str, int]:
    """The text without secrets of the data in it, and in how many places it was changed.

    Data is written anew as it was, where that is one of the usual ways. Of data that is nested too deeply to
    be looked into, nothing is left; of data that was cut, what stands before its last whole item.
    """
    pieces: list[str] = []
    done = 0
    end = end_before_cut(text)
    for data in _data_in(text, end):
        clean = data.without(inside)
        if clean is not None:
            pieces += (text[done : data.begin], clean)
            done = data.end
    if end < len(text) and (begin := _BEGIN.search(text, 0, end)) is not None and not pieces:
        for whole, closing, left_out in _closed(text[begin.start() : end]):
            clean = next((one.without(inside) for one in _data_in(whole, len(whole)) if one.begin == 0), None)
            if clean is not None:
                for sign in closing[::-1]:
                    clean = clean.rstrip().removesuffix(sign)
                return f"{text[: begin.start()]}{clean}{left_out}{text[end:]}", 1
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


class _Data(NamedTuple):
    """Data in a text: where it stands, what it is, its text; the calls in it, where it is no JSON."""

    begin: int
    end: int
    value: Any
    text: str
    calls: list[str] | None

    def without(self, inside: Inside) -> str | None:
        """The text of the data without secrets; None where it has none."""
        try:
            clean = inside(self.value)
            if clean == self.value:
                return None
            if self.calls is None:
                return json_like(clean, self.text)
            text = repr(clean)
        except RecursionError:
            return REDACTED
        for number, call in enumerate(self.calls):
            text = text.replace(f"'{_CALL_NAME}{number}_'", call)
        return text


def _data_in(text: str, end: int) -> Iterator[_Data]:
    place, left = 0, _MOST_READ * end
    while left > 0 and (begin := _BEGIN.search(text, place, end)) is not None:
        start = begin.start()
        data, reached = _json_at(text, start, end)
        if data is None:
            left -= reached - start
            data, reached = _literal_at(text, start, end)
        left -= reached - start
        if data is not None:
            yield data
        place = start + 1 if data is None else data.end


def _json_at(text: str, begin: int, end: int) -> tuple[_Data | None, int]:
    """The JSON that begins at a place, and how far the text was read."""
    if text[begin] == "(":
        return None, begin
    try:
        value, stop = lenient_json_at(text, begin)
    except InvalidJSON as error:
        return None, begin if error.pos is None else error.pos
    return (_Data(begin, stop, value, text[begin:stop], None) if stop <= end else None), stop


_CALL_NAME = "__call_of_"
_TEXT_OR_CALL = re.compile(
    r"""(?P<text>'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
    r"""|(?<![\w.])[A-Za-z_][\w.]{0,80}\((?:[^()"']|'[^'\n]{0,200}'|"[^"\n]{0,200}"){0,200}\)"""
)
"""A call in a literal, ``datetime.datetime(2026, 1, 1)``, as what a database returns is printed."""


def _literal_at(text: str, begin: int, end: int) -> tuple[_Data | None, int]:
    """The Python literal that begins at a place, also with calls in it, and how far the text was read."""
    stop = _end_of_brackets(text, begin, end)
    if stop < 0:
        return None, end
    calls: list[str] = []

    def replace(match: re.Match[str]) -> str:
        if match["text"]:
            return match[0]
        calls.append(match[0])
        return f"'{_CALL_NAME}{len(calls) - 1}_'"

    literal = text[begin:stop]
    try:
        plain = (
            _TEXT_OR_CALL.sub(replace, literal)
            if "(" in literal[1:] and _CALL_NAME not in literal
            else literal
        )
        value = jsonable(python_literal(plain))
    except InvalidJSON:
        return None, stop
    return _Data(begin, stop, value, literal, calls), stop


_TOKEN = re.compile(r"""(["'])(?:(?!\1)[^\\]|\\.)*+(?:\1|\\?\Z)|[\[\](){},]""", re.DOTALL)
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def _end_of_brackets(text: str, begin: int, end: int) -> int:
    """Where the bracket at a place is closed; -1 where it is not."""
    depth = 0
    for token in _TOKEN.finditer(text, begin, end):
        if token[0] in _CLOSING:
            depth += 1
        elif token[0] in DATA_ENDS:
            depth -= 1
            if not depth:
                return token.end()
    return -1


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
