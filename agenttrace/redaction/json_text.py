"""Secrets in a text that is JSON, or a Python literal, or has some in it, as data: tables, pairs, entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agenttrace.core.json_reader import InvalidJSON, lenient_json, lenient_json_at, python_literal
from agenttrace.core.jsonable import json_like, jsonable, readable_json
from agenttrace.core.marks import REDACTED
from agenttrace.redaction.commands import may_have_command
from agenttrace.redaction.entry_keys import VALUES
from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.name_before import unescaped
from agenttrace.redaction.naming import Names
from agenttrace.redaction.texts import end_before_cut, has_any, has_sign

_VALUE = re.compile(
    r"""(["'])(?P<name>(?:[^\W\d_]|[#./\[]|\\u[0-9a-fA-F]{4})(?:[^"'\\\n]|\\u[0-9a-fA-F]{4}){1,63})\1\s*[,\]})]"""
)
"""A text that is no key: after a name that is a key, its value is found in the text as it stands."""
_JSON_WEB_KEY = re.compile(r"""["']kty["']\s*:""")
DATA_ENDS = ("}", "]", ")")
_SIGNS = (
    "[",
    "(",
    "val",
    "content",
    "elector",
    "lement",
    "locator",
    "xpath",
    "placeholder",
    "field",
    "label",
    "target",
    "command",
    "question",
)
"""What data has in which a name is a value: a list, or an entry with its value beside it."""
_PLACES = (
    *_SIGNS,
    *(
        f"{quote}{key.lower()}{quote}"
        for key in VALUES
        if not has_any(_SIGNS, key.lower())
        for quote in ('"', "'")
    ),
)
"""The same with the other keys under which an entry has its value, such as ``"old"``."""
_STATEMENTS = ("insert ", "update ", "select ", "delete ", "alter ", "create ", "mutation")
_OF_KINDS = ("securestring", "/secrets/", "grant_type", "concealed", "sensitive", "lease_id")
"""What entries of a certain kind have, of Kubernetes, AWS, Google, Azure, 1Password, Terraform and Vault."""
_OF_TOOLS = (
    *("tool_call", "tool_use", "toolresult", "call_id"),
    *("functioncall", "function_call", "functionresponse", "function_response"),
)
"""What messages with the result of a tool have, by whose call it is a secret."""
_BEGIN = re.compile(r"""(?<![\w"'\])])[\[{(](?=\s*["'\[{(\w-])""")
_MOST_READ = 4
"""How many times as many characters as a text has are read in it, where what looks like data is none."""
_MOST_OPENINGS = 8
"""Places that are tried where data may begin that was cut."""
Inside = Callable[[Any], Any]
"""Returns data without secrets: data that is equal, if there are none."""


def may_be_data(texts: Iterable[str], names: Names, signs: tuple[str, ...]) -> bool:
    """Returns True if a text may have data in which a secret's name is a value, as in the head of a table.

    `signs` are those of the user's names.
    """
    several = "\n".join([text for text in texts if "{" in text or "[" in text or "(" in text])
    lowered = several.lower()
    if "kty" in lowered and _JSON_WEB_KEY.search(several) is not None:
        return True
    if "netloc" in lowered and "@" in lowered:
        return True
    if has_any(_OF_KINDS, lowered) or ("kind" in lowered and "secret" in lowered):
        return True
    if ("key1" in lowered and "key2" in lowered) or "keyname" in lowered:  # of an account of Azure
        return True
    if (has_any(_STATEMENTS, lowered) or has_any(_OF_TOOLS, lowered)) and has_sign(lowered, signs):
        return True
    if not has_any(_PLACES, lowered):
        return False
    if ('"-' in lowered or "'-" in lowered) and may_have_command(lowered):
        return True
    return has_sign(lowered, signs) and any(
        names.is_secret(name) or name_of_field(name, names) is not None
        for name in {unescaped(match["name"]).strip() for match in _VALUE.finditer(several)}
    )


def without_secrets_of_data(text: str, inside: Inside) -> tuple[str, int]:
    """The text without secrets of the data in it, and in how many places it was changed.

    Data is written anew as it was, where that is one of the usual ways. Of data that is nested too deeply to
    be looked into, nothing is left; of data that was cut, what stands before its last whole item.
    """
    end = end_before_cut(text)
    ends: dict[int, int] = {}
    changes: list[tuple[int, int, str]] = []
    for data in _data_in(text, end):
        ends[data.begin] = data.end
        clean = data.without(inside)
        if clean is not None:
            changes.append((data.begin, data.end, clean))
    if end < len(text) and (last := _without_in_cut(text, end, ends, inside)) is not None:
        changes = [change for change in changes if change[0] < last[0]]
        changes.append((last[0], end, last[1]))
    pieces: list[str] = []
    done = 0
    for begin, stop, clean in changes:
        pieces += (text[done:begin], clean)
        done = stop
    return ("".join((*pieces, text[done:])), len(changes)) if changes else (text, 0)


def _without_in_cut(text: str, end: int, ends: Mapping[int, int], inside: Inside) -> tuple[int, str] | None:
    """Where data begins that is cut at `end`, and its text without secrets; None where there are none.

    `ends` are those of the data that is whole, by where it begins.
    """
    place = 0
    for _ in range(_MOST_OPENINGS + len(ends)):
        opening = _BEGIN.search(text, place, end)
        if opening is None:
            return None
        begin = opening.start()
        place = ends.get(begin, begin + 1)
        for whole, closing, left_out in _closed(text[begin:end]) if begin not in ends else ():
            clean = next((one.without(inside) for one in _data_in(whole, len(whole)) if one.begin == 0), None)
            if clean is not None:
                for sign in closing[::-1]:
                    clean = clean.rstrip().removesuffix(sign)
                return begin, f"{clean}{left_out}"
    return None


class _Data(NamedTuple):
    """Data in a text: where it stands, what it is, its text, and whether that is JSON, or Python's literal.

    A call in a literal, ``datetime.datetime(2026, 1, 1)``, is None.
    """

    begin: int
    end: int
    value: Any
    text: str
    is_json: bool

    def without(self, inside: Inside) -> str | None:
        """The text of the data without secrets; None where it has none."""
        try:
            clean = inside(self.value)
            if clean == self.value:
                return None
            text = self._in_places(clean) or self._by_value(clean, inside)
            if text is not None:
                return text
            if self.is_json:
                return json_like(clean, self.text)
            return repr(clean)
        except RecursionError:
            return REDACTED

    def _in_places(self, clean: Any) -> str | None:
        """The text of the data with nothing changed but what `clean` has otherwise; None where that is not
        told by the order of texts and numbers."""
        leaves = list(_leaves(self.value, clean))
        written = [one for one in _LEAF.finditer(self.text) if one["other"] is None]
        if len(leaves) != len(written) or any(
            _differs(old, self._read(one)) for (old, _), one in zip(leaves, written, strict=True)
        ):
            return None
        pieces: list[str] = []
        done = 0
        for (old, new), one in zip(leaves, written, strict=True):
            if old is not new and old != new:
                pieces += (self.text[done : one.start()], _written(new, one[0][0]))
                done = one.end()
        text = "".join((*pieces, self.text[done:]))
        again = self._again(text)
        return text if again is not None and again.value == clean else None

    def _by_value(self, clean: Any, inside: Inside) -> str | None:
        """The same by the values themselves, of data whose order is another one: of a set."""
        changes = {(type(old), old): new for old, new in _leaves(self.value, clean) if old != new}

        def replace(match: re.Match[str]) -> str:
            old = None if match["other"] else self._read(match)
            new = changes.get((type(old), old))
            return match[0] if new is None else _written(new, match[0][0])

        text = _LEAF.sub(replace, self.text)
        again = self._again(text)
        return text if changes and again is not None and inside(again.value) == again.value else None

    def _read(self, leaf: re.Match[str]) -> Any:
        try:
            return lenient_json(leaf[0]) if self.is_json else python_literal(leaf[0])
        except InvalidJSON:
            return None

    def _again(self, text: str) -> _Data | None:
        return (_json_at if self.is_json else _literal_at)(text, 0, len(text))[0]


_TEXT = r"""'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+\""""
_CALL = r"""(?<![\w.])[A-Za-z_][\w.]{0,80}\((?:[^()"']|'[^'\n]{0,200}'|"[^"\n]{0,200}"){0,200}\)"""
_LEAF = re.compile(rf"""(?P<other>{_CALL}|(?:{_TEXT})\s*:)|{_TEXT}|(?<![\w.])-?\d[\d.eE+-]*(?![\w.])""")
"""A text that is no key, a number; and a call, or a key, which are left as they are."""


def _leaves(old: Any, new: Any) -> Iterator[tuple[Any, Any]]:
    """The texts and numbers of data in their order, each with what it is in `new`."""
    if type(old) is dict:
        for key, item in old.items():
            yield from _leaves(item, new[key] if type(new) is dict and key in new else new)
    elif type(old) is list:
        for place, item in enumerate(old):
            yield from _leaves(item, new[place] if type(new) is list and place < len(new) else new)
    elif type(old) in (str, int, float):
        yield old, new


def _differs(old: Any, read: Any) -> bool:
    return type(old) is not type(read) or old != read


def _written(value: Any, quote: str) -> str:
    """A text in quotes, as JSON or Python writes it."""
    if quote == "'":
        return repr(str(value))
    return readable_json(str(value))


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
    return (_Data(begin, stop, value, text[begin:stop], True) if stop <= end else None), stop


_TEXT_OR_CALL = re.compile(rf"""(?P<text>{_TEXT})|(?P<call>{_CALL})""")


def _literal_at(text: str, begin: int, end: int) -> tuple[_Data | None, int]:
    """The Python literal that begins at a place, also with calls in it, and how far the text was read."""
    stop = _end_of_brackets(text, begin, end)
    if stop < 0:
        return None, end
    literal = text[begin:stop]
    plain = _TEXT_OR_CALL.sub(lambda one: one["text"] or "None", literal) if "(" in literal[1:] else literal
    try:
        value = jsonable(python_literal(plain))
    except InvalidJSON:
        return None, stop
    return _Data(begin, stop, value, literal, False), stop


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
