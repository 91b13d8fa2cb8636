"""What is said of a whole trace (session, customer, tags) in the W3C header ``baggage`` of a request.

Only the members of the table below are read and written. Those of others stay in a header as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote, unquote

from agenttrace.core import semconv
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.core.jsonable import to_json

BAGGAGE = "baggage"
MEMBERS = (semconv.SESSION_ID, semconv.CUSTOMER_ID, semconv.TAGS)
"""The members, named as the attributes of a trace that they become: texts, and the tags as a list in JSON."""

MOST_BYTES, MOST_MEMBERS = 8192, 180
"""Of one header, after https://www.w3.org/TR/baggage/#limits; what is longer is neither read nor written."""

_PLAIN = "!#$&'()*+-./:<=>?@[]^_`{|}~"
"""Characters of a value that need no percent sign, after the same document (RFC 7230 for the rest)."""


def read_baggage(values: Iterable[str]) -> dict[str, Any]:
    """What headers say of the trace, by attribute; empty without it.

    The first of several members with one name counts. A member that cannot be read is left out.
    """
    attributes: dict[str, Any] = {}
    for member in _members(",".join(values)):
        name, equals, value = member.partition("=")
        name = name.strip()
        if equals and name in MEMBERS and name not in attributes:
            text = unquote(value.partition(";")[0].strip(), errors="replace")
            meaning = _tags(text) if name == semconv.TAGS else text
            if meaning:
                attributes[name] = meaning
    return attributes


def add_baggage(headers: MutableMapping[str, str], attributes: Mapping[str, Any]) -> None:
    """Say in a request's headers what is known of the trace.

    Members of others that stand there already stay in front, ours are made anew. If that would be more than a
    header may hold, nothing is added.
    """
    known = [name for name in MEMBERS if attributes.get(name)]
    if not known:
        return
    place, others = _others(headers)
    own = [f"{name}={quote(_text(attributes[name]), safe=_PLAIN, errors='replace')}" for name in known]
    if len(others) + len(own) <= MOST_MEMBERS and len(value := ",".join([*others, *own])) <= MOST_BYTES:
        headers[place] = value


def remove_baggage(headers: MutableMapping[str, str]) -> None:
    """Take our members out of a request's headers."""
    place, others = _others(headers)
    if place in headers:
        if others:
            headers[place] = ",".join(others)
        else:
            del headers[place]


def _others(headers: Mapping[str, str]) -> tuple[str, list[str]]:
    """Under which name the header stands there, or would, and its members that are not ours."""
    place = next((name for name in headers if isinstance(name, str) and name.lower() == BAGGAGE), BAGGAGE)
    value = headers.get(place)
    if not isinstance(value, str):
        return place, []
    return place, [
        member.strip()
        for member in value.split(",")
        if member.strip() and member.partition("=")[0].strip() not in MEMBERS
    ]


def _members(text: str) -> list[str]:
    if len(text) > MOST_BYTES:
        return []
    members = text.split(",")
    return members if len(members) <= MOST_MEMBERS else []


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return to_json(list(value))


def _tags(text: str) -> list[str]:
    try:
        tags = strict_json(text)
    except InvalidJSON:
        return []
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
