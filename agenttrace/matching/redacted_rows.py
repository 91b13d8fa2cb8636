"""Rows of a diff without secrets: values are redacted before they are cut, so that names and calls stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from operator import is_
from typing import Any, Protocol

from agenttrace.core.jsonable import jsonable
from agenttrace.core.tool_call import ANY, ExpectedToolCall
from agenttrace.expectations.matcher import Matcher, Unordered
from agenttrace.expectations.values import Difference
from agenttrace.matching.rows import Row
from agenttrace.matching.value_texts import Written, text_of, texts_within, with_texts
from agenttrace.redaction.naming import Names, hides_all
from agenttrace.redaction.paths import path_without_secrets, secret_part, value_at_path

_OF_FLAGS = re.compile(r"(?:[a-z_]+\(|\b(?:true|false|null|True|False|None)\b|[\s,(){}\[\]])*")
"""The text of a matcher of flags: anything else in it may be a secret."""
BOTH_REDACTED = "they differ in what is redacted"


class Redacts(Names, Protocol):
    """A redaction, as far as rows need it."""

    def key(self, key: str) -> str:
        """A name without secrets in its own text."""
        ...

    def text(self, name: str, text: str) -> str:
        """A text without secrets."""
        ...

    def inside(self, value: Any) -> Any:
        """A value without secrets."""
        ...

    def fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Several named values without secrets."""
        ...


def redacted_row(row: Row, redaction: Redacts) -> Row:
    """The row without secrets in what is shown of it; the same object where there is none."""
    changes: dict[str, Any] = {}
    for side in ("expected", "actual"):
        call = getattr(row, side)
        if call is not None and (clean := _call(call, redaction)) is not call:
            changes[side] = clean
    differences = tuple(_difference(one, redaction) for one in row.differences)
    if not all(map(is_, differences, row.differences)):
        changes["differences"] = differences
    if row.note and (note := redaction.text("diff", row.note)) != row.note:
        changes["note"] = note
    return replace(row, **changes) if changes else row


def _call(call: Any, redaction: Redacts) -> Any:
    """An expected or an actual call; of the latter no output is shown."""
    changes: dict[str, Any] = {}
    if (name := redaction.key(call.name)) != call.name:
        changes["name"] = name
    if (arguments := _arguments(call.arguments, redaction)) is not call.arguments:
        changes["arguments"] = arguments
    if isinstance(call, ExpectedToolCall) and (output := _value(call.output, redaction)) is not call.output:
        changes["output"] = output
    return replace(call, **changes) if changes else call


def _arguments(arguments: Any, redaction: Redacts) -> Any:
    if not isinstance(arguments, Mapping):
        return arguments
    plain = {str(key): _plain(item, redaction, str(key)) for key, item in arguments.items()}
    clean = redaction.fields(plain)
    if clean == plain:
        return arguments
    if len(clean) != len(plain):
        return clean
    pairs = zip(arguments.values(), plain.values(), clean.items(), strict=True)
    return {key: _as_before(item, old, new) for item, old, (key, new) in pairs}


def _value(value: Any, redaction: Redacts, path: str = "") -> Any:
    plain = _plain(value, redaction, secret_part(path, redaction.is_secret))
    return _as_before(value, plain, value_at_path(path, plain, redaction.inside))


def _difference(one: Difference, redaction: Redacts) -> Difference:
    expected, got = (_value(value, redaction, one.path) for value in (one.expected, one.got))
    note = redaction.text("diff", one.note) if one.note else ""
    path = path_without_secrets(one.path, redaction.key)
    if expected is one.expected and got is one.got and note == one.note and path == one.path:
        return one
    if one.kind == "differs" and text_of(expected) == text_of(got):
        note = note or BOTH_REDACTED
    return replace(one, path=path, expected=expected, got=got, note=note)


def _plain(value: Any, redaction: Redacts, name: str = "") -> Any:
    """A value as data, a matcher as the texts in it; as one text where its name is a secret's."""
    if _is_written(value):
        text = text_of(value)
        if name and redaction.is_secret(name):
            return [] if _is_harmless(name, text, redaction) else text
        return texts_within(text)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, redaction, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, redaction) for item in value]
    return jsonable(value)


def _is_harmless(name: str, text: str, redaction: Redacts) -> bool:
    """Whether a matcher holds nothing that this secret name hides: ``reset_password=one_of(false)``."""
    texts = texts_within(text)
    return (
        _OF_FLAGS.fullmatch(with_texts(text, [None] * len(texts))) is not None
        and not hides_all(name, redaction)
        and not any(redaction.hides(name, one) for one in texts)
        and redaction.inside(texts) == texts
    )


def _is_written(value: Any) -> bool:
    """Whether a value is shown by its repr."""
    return value is ANY or isinstance(value, Matcher | Unordered) or callable(value)


def _as_before(value: Any, plain: Any, clean: Any) -> Any:
    """The value itself where nothing of it was redacted, also of its parts."""
    if clean is plain or clean == plain:
        return value
    if isinstance(value, Mapping) and type(clean) is dict and len(clean) == len(plain):
        pairs = zip(value.values(), plain.values(), clean.items(), strict=True)
        return {key: _as_before(item, old, new) for item, old, (key, new) in pairs}
    if isinstance(value, list | tuple) and type(clean) is list and len(clean) == len(plain):
        return [_as_before(*each) for each in zip(value, plain, clean, strict=True)]
    if _is_written(value) and type(clean) is list and len(clean) == len(plain):
        return Written(with_texts(text_of(value), clean))
    return clean
