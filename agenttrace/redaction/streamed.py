"""Secrets in what a stream yields piece by piece: found in the pieces joined, as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.jsonable import to_json
from agenttrace.core.marks import REDACTED, bytes_of

_MOST_ITEMS, _OVERLAP = 20_000, 200
"""How many items are looked at together, and of these how many once more with those after them."""

_BYTES, _JSON = "$bytes", "$json"
_BEFORE_JSON = re.compile(r"""(?:(?:(?:event|id|retry):[^\n]{0,200}\r?\n)*data:[ ]?(?=[{\[])|(?=\{"))""")
"""What stands before the JSON of a server-sent event, and nothing before that of a line of JSON."""
_Place = tuple[str | int, ...]


def without_split(items: list[Any], clean: Callable[[str], str]) -> list[Any]:
    """The items of a stream without secrets that are split over several of them: the same list, if none.

    Texts that stand in the same place of each item (the items themselves, the text in each chunk, also of
    server-sent events, ``data: {…}``, and of lines of JSON) are one text. Where a secret is found in it, the
    first of them has all that is left of it, the others nothing. Of bytes nothing is left.
    """
    for begin in range(0, max(len(items), 1), _MOST_ITEMS):
        part = items[begin : begin + _MOST_ITEMS + _OVERLAP]
        clean_part = _without_split(part, clean)
        if clean_part is not part:
            items = [*items[:begin], *clean_part, *items[begin + len(part) :]]
    return items


def _without_split(items: list[Any], clean: Callable[[str], str]) -> list[Any]:
    pieces: dict[_Place, list[tuple[int, str]]] = {}
    for number, item in enumerate(items):
        for place, text in _texts_in(item, ()):
            pieces.setdefault(place, []).append((number, text))
    for place, texts in pieces.items():
        if len(texts) < 2:
            continue
        joined = "".join(text for _, text in texts)
        cleaned = clean(joined)
        if cleaned is joined:
            continue
        (first, _), *rest = texts
        items = [*items]
        items[first] = _with(items[first], place, cleaned)
        for number, _ in rest:
            items[number] = _with(items[number], place, "")
    return items


def may_be_key_in_lines(items: list[Any]) -> bool:
    """Returns True for a list in which a private key may begin in one item and end in another."""
    return len(items) > 1 and any(
        "-----BEGIN " in text and "-----END " not in text
        for item in items[:-1]
        for _, text in _texts_in(item, ())
    )


def _texts_in(value: Any, place: _Place) -> Iterator[tuple[_Place, str]]:
    if isinstance(value, str):
        event = _event(value)
        if event is None:
            yield place, str(value)
        else:
            yield from _texts_in(event.data, (*place, _JSON))
    elif type(value) is dict and "$bytes" in value:
        content = bytes_of(value)
        if content is not None:
            yield (*place, _BYTES), content.decode("latin-1")
    elif type(value) is dict and not any(key[:1] == "$" for key in value):
        for key, item in value.items():
            yield from _texts_in(item, (*place, key))
    elif type(value) is list:
        for number, item in enumerate(value):
            yield from _texts_in(item, (*place, number))


def _with(value: Any, place: _Place, text: str) -> Any:
    """A copy of an item with another text in a place."""
    if not place:
        return text
    step, *rest = place
    if step == _BYTES:
        return {**value, _BYTES: REDACTED}
    if step == _JSON and (event := _event(value)) is not None:
        return f"{event.before}{to_json(_with(event.data, tuple(rest), text))}{event.after}"
    copy = value.copy()
    copy[step] = _with(copy[step], tuple(rest), text)
    return copy


class _Event(NamedTuple):
    """A text that is a mapping or list in JSON, with what stands before it, and the end of the line."""

    before: str
    data: Any
    after: str


def _event(text: str) -> _Event | None:
    """One server-sent event, or one line of JSON; None for any other text."""
    before = _BEFORE_JSON.match(text)
    if before is None:
        return None
    stripped = text.rstrip()
    try:
        data = lenient_json(stripped[before.end() :])
    except InvalidJSON:
        return None
    return _Event(before[0], data, text[len(stripped) :]) if type(data) in (dict, list) else None
