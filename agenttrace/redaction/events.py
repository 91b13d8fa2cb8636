"""Server-sent events and lines of JSON, of which several say one text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.jsonable import to_json

_BEFORE = re.compile(r"(?:(?:event|id|retry):[^\n]{0,200}\n)*data:[ ]?")
"""What stands before the data of a server-sent event."""
_DONE = "[DONE]"
"""What OpenAI's streams end with."""
_EVENTS = re.compile(r"(?<=\n)(?=(?:data|event|id|retry):)")
_BESIDE = re.compile(r"\s*+(?:(?:data:[ ]?\[DONE\]|(?:event|id|retry|):[^\n]*+)\s*+)*")
"""What a stream of events has beside those that have data."""
_EVENTS_AND_LINES = re.compile(r'(?<=\n)(?=(?:data|event|id|retry):|\{")')


class Event(NamedTuple):
    """A text that is one event, with what stands before its data, and the end of the line.

    Its data is a mapping, a list or a text in JSON, or a text of one line that is none.
    """

    before: str
    data: Any
    after: str
    is_json: bool

    def with_data(self, data: Any) -> str:
        """The text of an event with other data."""
        return f"{self.before}{to_json(data) if self.is_json else data}{self.after}"


def event_of(text: str) -> Event | None:
    """The one server-sent event, or the one line of JSON, that a text is; None for any other text."""
    before = _BEFORE.match(text)
    if before is None and text[:2] != '{"':
        return None
    begin = 0 if before is None else before.end()
    stripped = text.rstrip("\r\n") if before is not None else text.rstrip()
    data: Any = stripped[begin:]
    if data[:1] in ("{", "[", '"'):
        try:
            read = lenient_json(data)
        except InvalidJSON:
            read = None
        if type(read) in (dict, list, str):
            return Event(text[:begin], read, text[len(stripped) :], is_json=True)
        return None
    is_text = before is not None and text[-1:] == "\n" and data != _DONE and "\n" not in data
    return Event(text[:begin], data, text[len(stripped) :], is_json=False) if is_text else None


def are_events(texts: list[str]) -> bool:
    """Returns True if each of several texts is an event, or what stands between events."""
    return all(event_of(text) is not None or _BESIDE.fullmatch(text) for text in texts)


def may_have_events(text: str) -> bool:
    """Returns True if a text may be several server-sent events."""
    return "\ndata:" in text


def parted_at_events(text: str, *, also_lines: bool = False) -> list[str]:
    """The parts of a text, each with one event at the most; with `also_lines`, of JSON, too."""
    return (_EVENTS_AND_LINES if also_lines else _EVENTS).split(text)
