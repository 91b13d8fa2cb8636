"""Secrets in what a stream yields piece by piece: found in the pieces joined, as a reader sees them."""

from __future__ import annotations

import re
import sys
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import Any

from agenttrace.core.marks import REDACTED, bytes_of, spelled
from agenttrace.redaction.events import are_events, event_of, may_have_events, parted_at_events
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.taken_out import places_taken_out, united, without_places

_MOST_ITEMS, _OVERLAP = 20_000, 200
"""How many items are looked at together, and of these how many once more with those after them."""
_LONGEST_LINES = 1_000_000
_SHORTEST_LEFT = 8
"""Letters of a secret's end that tell that something of it is left."""

_BYTES, _EVENT = "$bytes", "$event"
_Place = tuple[str | int, ...]
_Span = tuple[int, int]
_Clean = Callable[[str], str]


def without_split(items: list[Any], clean: _Clean) -> list[Any]:
    """The items of a stream without secrets that are split over several of them: the same list, if none.

    Texts that stand in the same place of each item (the items themselves, the text in each chunk, also of
    server-sent events, ``data: …``, and of lines of JSON, also as bytes) are one text. Where a secret is
    found in it, ``[redacted]`` stands in each of them for its part of it. Where the text had to be written
    anew, the first has all that is left of it, the others nothing. Of bytes nothing is left.
    """
    for begin in range(0, max(len(items), 1), _MOST_ITEMS):
        part = items[begin : begin + _MOST_ITEMS + _OVERLAP]
        clean_part = _without_split(part, clean)
        if clean_part is not part:
            items = [*items[:begin], *clean_part, *items[begin + len(part) :]]
    return items


def without_split_events(text: str, clean: _Clean) -> tuple[str, int]:
    """A text of several server-sent events without secrets that are split over them, and how many texts of
    theirs held some."""
    parts = parted_at_events(text)
    changed = _without_split(parts, clean, of_text=True)
    return (text, 0) if changed is parts else ("".join(changed), 1)


def _without_split(items: list[Any], clean: _Clean, *, of_text: bool = False) -> list[Any]:
    pieces: dict[_Place, list[tuple[int, str]]] = {}
    are_whole = of_text or are_events([text for item in items if (text := _text_of(item)) is not None])
    for number, item in enumerate(items):
        for place, text in _texts_in(item, (), is_chunk=not are_whole):
            pieces.setdefault(place, []).append((number, text))
    if of_text:
        pieces.pop((), None)  # what is no event stands in the text itself
    for place, numbered in pieces.items():
        if len(numbered) < 2:
            continue
        texts = [text for _, text in numbered]
        cleaned = _cleaned(texts, clean)
        if cleaned is texts:
            continue
        items = [*items]
        for (number, text), new in zip(numbered, cleaned, strict=True):
            if new != text:
                items[number] = _with(items[number], place, new)
    return items


def _cleaned(texts: list[str], clean: _Clean) -> list[str]:
    """Texts without the secrets in them, and in them joined: the same list where nothing was found."""
    whole = texts[-1]
    if texts[0] and all(later.startswith(one) for one, later in pairwise(texts)):  # the text until then
        places, are_all = places_taken_out(whole, clean(whole))
        if are_all:
            grown = [_beginning(whole, len(text), places) for text in texts]
            return texts if grown == texts else grown
    joined = "".join(texts)
    cleaned = _clean_joined(joined, clean)
    return texts if cleaned is joined else _parted(texts, joined, cleaned, clean)


def _clean_joined(joined: str, clean: _Clean) -> str:
    """What chunks of a network say, of which none need end with an event, without secrets."""
    if len(joined) <= _LONGEST_LINES and (may_have_events(joined) or '}\n{"' in joined):
        parts = parted_at_events(joined, also_lines=True)
        changed = _without_split(parts, clean, of_text=True)
        if changed is not parts:
            return clean("".join(changed))
    return clean(joined)


def _beginning(whole: str, size: int, places: list[_Span]) -> str:
    """The first letters of a text without secrets, of which one may be there in part."""
    return without_places(whole[:size], [(begin, min(end, size)) for begin, end in places if begin < size])


def _parted(texts: list[str], joined: str, cleaned: str, clean: _Clean) -> list[str]:
    starts = [0, *accumulate(map(len, texts))]
    alone: list[_Span] = []
    for start, text in zip(starts, texts, strict=False):
        places, are_all = places_taken_out(text, clean(text))
        alone += [(start + begin, start + end) for begin, end in places if are_all]
    alone = united(alone)
    together, are_all = places_taken_out(joined, cleaned)
    if not are_all:  # it was written anew: what is found in one piece may be torn in it
        is_left = any(joined[max(begin, end - _SHORTEST_LEFT) : end] in cleaned for begin, end in alone)
        return [REDACTED if is_left else cleaned, *[""] * (len(texts) - 1)]
    split = [
        (begin, _end_of_split(texts, starts, begin, end, alone))
        for begin, end in together
        if not _is_within((begin, end), alone)
    ]
    return list(_pieces(joined, starts, united([*alone, *split])))


_OTHER = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*=|[a-z_.-]{2,40}[ ]?[:=](?!=)|\w{2,20}://")
"""How a piece begins that is a line of its own, not the rest of a value."""
_LONGEST_REST = 100
"""Letters of words behind a piece that ends with a secret, which are taken for more of it."""


def _end_of_split(texts: list[str], starts: list[int], begin: int, end: int, alone: list[_Span]) -> int:
    """Where a secret ends that was found in joined pieces from `begin` to `end`.

    Lines and rows without a blank, one to a piece, read like one long value: where the first piece has a
    secret up to its end, what follows is the rest of it only while it looks so.
    """
    first = bisect(starts, begin) - 1
    last = starts[first + 1]
    if not _is_within((begin, last), alone) or texts[first][begin - starts[first] :].startswith("-----BEGIN"):
        return end
    rest = last
    for number in range(first + 1, len(texts)):
        if rest >= end or _OTHER.match(texts[number]):
            break
        if rest - last > _LONGEST_REST and not looks_random(texts[number]):
            break
        rest = starts[number + 1]
    return min(rest, end)


def _is_within(place: _Span, places: list[_Span]) -> bool:
    """Returns True if one of several places, which are in their order, has all of another in it."""
    before = bisect(places, (place[0], sys.maxsize)) - 1
    return before >= 0 and place[1] <= places[before][1]


def _pieces(joined: str, starts: list[int], places: list[_Span]) -> Iterator[str]:
    """The pieces of a text, each without what of these places is in it."""
    at = 0
    for start, end in pairwise(starts):
        inside: list[_Span] = []
        while at < len(places) and places[at][0] < end:
            begin, last = places[at]
            inside.append((max(begin, start) - start, min(last, end) - start))
            if last > end:
                break
            at += 1
        yield without_places(joined[start:end], inside) if start < end else ""


def may_be_key_in_lines(items: list[Any]) -> bool:
    """Returns True for a list in which a private key may begin in one item and end in another."""
    return (
        len(items) > 1
        and _may_hold_key(items[:-1])
        and any(
            "-----BEGIN " in text and "-----END " not in text
            for item in items[:-1]
            for _, text in _texts_in(item, ())
        )
    )


def _may_hold_key(items: list[Any]) -> bool:
    """Returns False for what has no beginning of a key, or one deeper than a piece of a stream has its text.

    For little: each list within lists is asked.
    """
    level = items
    for _ in range(_DEEPEST_PIECE):
        if any(type(item) is str and "-----BEGIN " in item for item in level):
            return True
        if any(type(item) is dict and "$bytes" in item for item in level):
            return True
        level = [
            part
            for item in level
            if type(item) is list or type(item) is dict
            for part in (item.values() if type(item) is dict else item)
        ]
        if not level:
            return False
    return False


_DEEPEST_PIECE = 10
"""Levels of containers within a piece of a stream down to its text, such as ``choices[0].delta.content``."""


def _texts_in(value: Any, place: _Place, *, is_chunk: bool = False) -> Iterator[tuple[_Place, str]]:
    if isinstance(value, str):
        event = None if is_chunk else event_of(value)
        if event is None:
            yield place, str(value)
        else:
            yield from _texts_in(event.data, (*place, _EVENT))
    elif type(value) is dict and "$bytes" in value:
        content = bytes_of(value)
        if content is not None:
            yield from _texts_in(spelled(content), (*place, _BYTES), is_chunk=is_chunk)
    elif type(value) is dict and not any(key[:1] == "$" for key in value):
        for key, item in value.items():
            yield from _texts_in(item, (*place, key))
    elif type(value) is list:
        for number, item in enumerate(value):
            yield from _texts_in(item, (*place, number))


def _text_of(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    content = bytes_of(item) if type(item) is dict and "$bytes" in item else None
    return None if content is None else spelled(content)


def _with(value: Any, place: _Place, text: str) -> Any:
    """A copy of an item with another text in a place."""
    if not place:
        return text
    step, *rest = place
    if step == _BYTES:
        return {**value, _BYTES: REDACTED}
    if step == _EVENT and (event := event_of(value)) is not None:
        return event.with_data(_with(event.data, tuple(rest), text))
    copy = value.copy()
    copy[step] = _with(copy[step], tuple(rest), text)
    return copy
