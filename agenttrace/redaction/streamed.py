"""Secrets in what a stream yields piece by piece: found in the pieces joined, as a reader sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.jsonable import to_json
from agenttrace.core.marks import REDACTED, bytes_of

_MOST_PIECES = 20_000
_LONGEST = 1_000_000
"""Characters that are looked at together."""

_BYTES, _EVENT = "$bytes", "data:"
_Place = tuple[str | int, ...]


def without_split(items: list[Any], clean: Callable[[str], str]) -> list[Any]:
    """The items of a stream without secrets that are split over several of them: the same list, if none.

    Texts that stand in the same place of each item (the items themselves, the text in each chunk, also in
    lines ``data: {…}`` of server-sent events) are one text. Where a secret is found in it, the first of them
    has all that is left of it, the others nothing. Of bytes nothing is left.
    """
    pieces: dict[_Place, list[tuple[int, str]]] = {}
    count = size = 0
    for number, item in enumerate(items):
        for place, text in _texts_in(item, ()):
            pieces.setdefault(place, []).append((number, text))
            count, size = count + 1, size + len(text)
        if count > _MOST_PIECES or size > _LONGEST:
            break
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
            yield from _texts_in(event, (*place, _EVENT))
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
    if step == _EVENT:
        event = to_json(_with(_event(value), tuple(rest), text))
        return f"{_EVENT} {event}{value[len(value.rstrip()) :]}"
    copy = value.copy()
    copy[step] = _with(copy[step], tuple(rest), text)
    return copy


def _event(text: str) -> Any:
    """The mapping or list of a line of server-sent events; None for any other text."""
    if not text.startswith((_EVENT + " {", _EVENT + "{", _EVENT + " [")):
        return None
    try:
        event = lenient_json(text[len(_EVENT) :].strip())
    except InvalidJSON:
        return None
    return event if type(event) in (dict, list) else None
