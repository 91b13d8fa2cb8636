"""Secrets of a call's arguments that a text repeats: ``ValueError: bad password hunter2``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from operator import is_
from typing import Any, Protocol

from agenttrace.core import semconv
from agenttrace.core.digests import secret_digest
from agenttrace.core.jsonable import to_json
from agenttrace.core.marks import REDACTED, Redacted, bytes_of, spelled
from agenttrace.redaction.naming import Names
from agenttrace.redaction.pairs import keys_beside, may_be_entry, may_be_named, places_of_named
from agenttrace.redaction.taken_out import places_taken_out
from agenttrace.redaction.values import is_made_up, is_opaque

IDS = (semconv.SESSION_ID, semconv.CUSTOMER_ID)
"""Attributes by which traces are found: no secrets, also where a tool is given one as its `session`."""
_SHORTEST = 4
"""Shorter values are not looked for: they stand in any text by chance."""
_SHORTEST_WITHIN = 8
"""Shorter ones are taken out only where they stand as a word."""
_SHORTEST_ELSEWHERE = 6
"""Letters of a secret that is looked for where it was not passed."""
_LONGEST_AGAIN, _MOST_AGAIN = 200, 20
_MOST_PARTS = 10_000
_DEEPEST = 50
_CUT = "…[+"


class Rules(Names, Protocol):
    """What a redaction says of names, and what it takes out of a text."""

    def without_counting(self, text: str) -> str:
        """The text without secrets."""
        ...


def secret_texts(values: Iterable[tuple[str, Any]], names: Rules) -> set[str]:
    """The texts and numbers under secret names in named JSON-safe values, at any depth, and what is secret
    within their texts: of ``Bearer …`` what stands after it."""
    texts: set[str] = set()
    waiting: list[tuple[str, Any, bool]] = [(name, value, False) for name, value in values]
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        name, value, is_secret = waiting.pop()
        is_secret = is_secret or (value is not None and names.is_secret(name) and names.hides(name, value))
        content = bytes_of(value) if type(value) is dict and "$bytes" in value else None
        if content is not None:
            value = spelled(content)
        if type(value) is dict:
            beside = keys_beside(value, names) if may_be_entry(value) else ()
            waiting += [(key, item, is_secret or key in beside) for key, item in value.items()]
        elif type(value) is list:
            places = places_of_named(value, names) if may_be_named(value) else {}
            for place, item in enumerate(value):
                begin = places.get(place)
                waiting.append(("", item[begin:] if begin else item, is_secret or begin is not None))
        elif is_secret and type(value) in (str, int, float):
            texts.add(str(value))
            after_scheme = str(value).rpartition(" ")[2]  # of ``Bearer …``
            if len(after_scheme) >= _SHORTEST_WITHIN and is_opaque(after_scheme):
                texts.add(after_scheme)
        elif type(value) is str and len(value) >= _SHORTEST_WITHIN:
            parts = _taken_out(value, names.without_counting(value))
            texts.update(text for text in parts if is_opaque(text))
    return {text for text in texts if len(text) >= _SHORTEST}


def _taken_out(text: str, cleaned: str) -> list[str]:
    """What stood in a text where there is ``[redacted]`` now; nothing where more was changed."""
    parts: list[str] = []
    for begin, end in places_taken_out(text, cleaned)[0]:
        part = text[begin:end]
        parts += (part, part.rpartition(" ")[2])  # of ``Bearer …`` also what the scheme stands before
    return parts


def taken_out_of(value: Any, cleaned: Any) -> set[str]:
    """The texts and numbers of a JSON-safe value that are taken out of it in its redacted form."""
    texts: set[str] = set()
    waiting: list[tuple[Any, Any]] = [(value, cleaned)]
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        old, new = waiting.pop()
        if old is new:
            continue
        if type(old) is dict and "$bytes" in old:
            content = bytes_of(old)
            old = old if content is None else spelled(content)
            new = REDACTED if new != old and type(old) is str else new
        if isinstance(old, str):
            if isinstance(new, str):
                texts.update(_taken_out(old, new))
        elif isinstance(old, (dict, list)):
            parts = list(old.values()) if isinstance(old, dict) else old
            if isinstance(new, (dict, list)) and len(new) == len(old):
                waiting += zip(parts, new.values() if isinstance(new, dict) else new, strict=True)
            elif isinstance(new, str):  # all of it is hidden
                waiting += ((part, REDACTED) for part in parts)
        elif isinstance(new, str) and type(old) in (int, float):
            texts.add(str(old))
    return {text for text in texts if len(text) >= _SHORTEST}


def sought_elsewhere(secrets: Iterable[str]) -> set[str]:
    """Those of some secrets that are taken out of texts of calls, and results, that did not get them."""
    return {secret for secret in secrets if len(secret) >= _SHORTEST_ELSEWHERE and is_made_up(secret)}


def beginnings_in(text: str, secrets: Iterable[str]) -> set[str]:
    """The secrets that a text of JSON may have, all of one or its beginning before a cut."""
    return {
        secret
        for secret in secrets
        if any(to_json(form[:_SHORTEST])[1:-1] in text for form in {secret, *_spellings(secret)})
    }


def without_again(text: str, cleaned: str) -> str:
    """What is left of a text without its secrets, where it repeats one: ``'…' is too short`` and, below,
    ``On instance['password']: '…'``."""
    parts = {part for part in _taken_out(text, cleaned) if _SHORTEST_WITHIN <= len(part) <= _LONGEST_AGAIN}
    for part in sorted(parts, key=len, reverse=True)[:_MOST_AGAIN]:
        if part in cleaned and is_opaque(part):
            cleaned = cleaned.replace(part, REDACTED)
    return cleaned


def without_repeated(text: str, secrets: Iterable[str]) -> str:
    """A text with each of the secrets taken out, as it is, as in JSON or a `repr`, and cut off."""
    for secret in sorted(secrets, key=len, reverse=True):
        for form in {secret, *_spellings(secret)}:
            if form not in text:
                continue
            if len(form) >= _SHORTEST_WITHIN:
                text = text.replace(form, REDACTED)
            else:
                text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", REDACTED, text)
        text = _without_beginning(text, secret)
    return text


def _spellings(secret: str) -> tuple[str, str]:
    """A secret as it stands in a `repr`, and in JSON."""
    return repr(secret)[1:-1], to_json(secret)[1:-1]


def attributes_without(attributes: Mapping[str, Any], secrets: Iterable[str]) -> dict[str, Any]:
    """A span's attributes without the secrets in their texts, but for the ids by which traces are found."""
    ids = {key: attributes[key] for key in IDS if key in attributes}
    return {**without_repeated_in(dict(attributes), secrets), **ids}


def without_repeated_in(value: Any, secrets: Iterable[str], deepest: int = _DEEPEST) -> Any:
    """A JSON-safe value without the secrets in its texts; the same object where there is none.

    A secret that is a word, a date or an address, or short, may stand there by chance: it stays.
    """
    made_up = set(filter(is_made_up, secrets))
    return _without_any(value, made_up, deepest) if made_up else value


def _without_any(value: Any, secrets: set[str], depth: int) -> Any:
    if isinstance(value, str):
        text = without_repeated(value, secrets)
        if text == value:
            return value
        return Redacted(text, value.digest if type(value) is Redacted else secret_digest(value))
    if depth <= 0 or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, list):
        items = [_without_any(item, secrets, depth - 1) for item in value]
        return value if all(map(is_, items, value)) else items
    if "$int" in value:  # of a number there is no text
        return value
    entries: dict[Any, Any] = {}
    for key, item in value.items():
        name = without_repeated(key, secrets)
        while name in entries:
            name += "'"
        entries[name] = _without_any(item, secrets, depth - 1)
    is_same = entries.keys() == value.keys() and all(map(is_, entries.values(), value.values()))
    return value if is_same else entries


def _without_beginning(text: str, secret: str) -> str:
    """A text that was cut within the secret, without the part before the cut."""
    before, mark, rest = text.rpartition(_CUT)
    if mark:
        for length in range(min(len(secret) - 1, len(before)), _SHORTEST - 1, -1):
            if before.endswith(secret[:length]):
                return before[:-length] + REDACTED + mark + rest
    return text
