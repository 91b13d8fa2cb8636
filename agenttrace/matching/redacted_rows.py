"""Rows of a diff without secrets: values are redacted before they are cut, so that names and calls stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import is_
from typing import Any, Protocol

from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import REDACTED
from agenttrace.core.tool_call import ANY, ExpectedToolCall
from agenttrace.expectations.matcher import Matcher, Unordered
from agenttrace.expectations.values import Difference
from agenttrace.matching.rows import Row
from agenttrace.matching.value_texts import Written, text_of, texts_within, with_texts
from agenttrace.redaction.paths import path_without_secrets
from agenttrace.redaction.shown import is_secret_path

BOTH_REDACTED = "they differ in what is redacted"


class Redacts(Protocol):
    """A redaction, as far as rows need it."""

    def is_secret(self, name: str) -> bool:
        """Whether a name is that of a secret."""
        ...

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


def _value(value: Any, redaction: Redacts) -> Any:
    plain = _plain(value, redaction)
    return _as_before(value, plain, redaction.inside(plain))


def _difference(one: Difference, redaction: Redacts) -> Difference:
    if is_secret_path(one.path, redaction.is_secret):
        expected = one.expected if isinstance(one.expected, str) and one.expected == REDACTED else REDACTED
        got = one.got if isinstance(one.got, str) and one.got == REDACTED else REDACTED
    else:
        expected, got = _value(one.expected, redaction), _value(one.got, redaction)
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
        return text_of(value) if name and redaction.is_secret(name) else texts_within(text_of(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item, redaction, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, redaction) for item in value]
    return jsonable(value)


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
