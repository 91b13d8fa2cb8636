"""Reads requests of OTLP in protobuf's wire format: of traces or of logs, told apart by their fields.

Only what is needed of the format, so that no library is: numbers of fields are those of OTLP's ``.proto``
files. Unknown fields are skipped; whatever does not add up is an error that says where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from struct import unpack_from
from typing import Any

from agenttrace.core.jsonable import clean
from agenttrace.core.marks import bytes_data
from agenttrace.otlp_in.arrival import (
    DEEPEST,
    LATEST,
    Arrival,
    ArrivedLog,
    ArrivedSpan,
    Event,
    TelemetryError,
)

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_SHORT = 64
"""Bytes of an attribute that is remembered."""
_Field = tuple[int, int, int, int]
"""Number, wire type, and for a value of some length where it begins and ends; else the value, twice."""


def read_protobuf(data: bytes, arrival: Arrival) -> None:
    """Add what a request holds to the arrival.

    Raises:
        TelemetryError: it is cut, or is no request of OTLP.
    """
    for number, wire, start, end in _fields(data, 0, len(data)):
        if number != 1 or wire != _LENGTH:
            raise TelemetryError(
                f"got bytes that are no request of OTLP (protobuf field {number} of type {wire} at the top)"
            )
        _read_resource(data, start, end, arrival)


def _fields(data: bytes, pos: int, end: int) -> Iterator[_Field]:
    while pos < end:
        tag = data[pos]
        if tag < 0x80:
            pos += 1
        else:
            tag, pos = _varint(data, pos, end)
        wire = tag & 7
        if wire == _LENGTH:
            size = data[pos] if pos < end else 0x80
            if size < 0x80:
                pos += 1
            else:
                size, pos = _varint(data, pos, end)
            if pos + size > end:
                raise _cut(f"{size} bytes announced, {end - pos} there", pos)
            yield tag >> 3, wire, pos, pos + size
            pos += size
        elif wire == _VARINT:
            value, pos = _varint(data, pos, end)
            yield tag >> 3, wire, value, value
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
            if pos + size > end:
                raise _cut("a number ends too early", pos)
            value = int.from_bytes(data[pos : pos + size], "little")
            yield tag >> 3, wire, value, pos
            pos += size
        else:
            raise TelemetryError(f"got bytes that are no protobuf: wire type {wire} at byte {pos}")


def _varint(data: bytes, pos: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while pos < end and shift < 70:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, pos
        shift += 7
    raise _cut("a number ends too early", pos)


def _cut(problem: str, pos: int) -> TelemetryError:
    return TelemetryError(f"got protobuf that is cut or damaged at byte {pos}: {problem}")


def _read_resource(data: bytes, start: int, end: int, arrival: Arrival) -> None:
    resource: Mapping[str, Any] = {}
    scopes: list[tuple[int, int]] = []
    for number, wire, at, until in _fields(data, start, end):
        if wire == _LENGTH and number == 1:
            resource = _attributes_in(data, at, until, 1)
        elif wire == _LENGTH and number in (2, 1000):  # 1000: instrumentation libraries, before scopes
            scopes.append((at, until))
    for at, until in scopes:
        _read_scope(data, at, until, resource, arrival)


def _read_scope(data: bytes, start: int, end: int, resource: Mapping[str, Any], arrival: Arrival) -> None:
    scope = ""
    records: list[tuple[int, int]] = []
    for number, wire, at, until in _fields(data, start, end):
        if wire == _LENGTH and number == 1:
            texts = (_text(data, a, u) for n, w, a, u in _fields(data, at, until) if n == 1 and w == _LENGTH)
            scope = next(texts, "")
        elif wire == _LENGTH and number == 2:
            records.append((at, until))
    for at, until in records:
        arrival.check_room()
        try:
            read = _read_span if _is_span(data, at, until) else _read_log
            read(data, at, until, scope, resource, arrival)
        except TelemetryError as error:
            arrival.note(f"the record at byte {at}: {error}")


def _is_span(data: bytes, start: int, end: int) -> bool:
    """Whether the first fields are a span's: its ids are bytes, where a log record has numbers."""
    for number, wire, _, _ in _fields(data, start, end):
        if number <= 2:
            return wire == _LENGTH
        if number == 9:
            return False
    return True


def _read_span(
    data: bytes, start: int, end: int, scope: str, resource: Mapping[str, Any], arrival: Arrival
) -> None:
    trace = span = parent = b""
    name = ""
    times = [0, 0]
    attributes: dict[str, Any] = {}
    events: list[Event] = []
    status, message = 0, ""
    for number, wire, at, until in _fields(data, start, end):
        if wire == _LENGTH:
            if number == 9:
                _add_of_span(data, at, until, attributes)
            elif number == 1:
                trace = data[at:until]
            elif number == 2:
                span = data[at:until]
            elif number == 4:
                parent = data[at:until]
            elif number == 5:
                name = _text(data, at, until)
            elif number == 11:
                events.append(_event(data, at, until))
            elif number == 15:
                status, message = _status(data, at, until)
        elif wire == _FIXED64 and number in (7, 8):
            times[number - 7] = min(at, LATEST)
    problem = bad_ids(trace, span, parent)
    if problem:
        arrival.note(f"span {name!r}: {problem}")
        return
    arrival.spans.append(
        ArrivedSpan(
            int.from_bytes(trace, "big"),
            int.from_bytes(span, "big"),
            int.from_bytes(parent, "big") or None,
            name,
            times[0],
            times[1],
            attributes,
            events,
            status,
            message,
            scope,
            resource,
        )
    )


def bad_ids(trace: bytes, span: bytes, parent: bytes) -> str:
    """What is wrong with the ids of a span; empty where nothing is."""
    for what, key, size in (("trace id", trace, 16), ("span id", span, 8)):
        if len(key) != size:
            return f"got a {what} of {len(key)} bytes, wanted {size}"
        if not any(key):
            return f"got a {what} of zeros"
    return "" if len(parent) in (0, 8) else f"got a parent's span id of {len(parent)} bytes, wanted 8"


def bad_ids_of_log(trace: bytes, span: bytes) -> str:
    """What is wrong with the ids of a log record, which may have none; empty where nothing is."""
    for what, key, size in (("trace id", trace, 16), ("span id", span, 8)):
        if len(key) not in (0, size):
            return f"got a {what} of {len(key)} bytes, wanted {size}"
    return ""


def _read_log(
    data: bytes, start: int, end: int, scope: str, resource: Mapping[str, Any], arrival: Arrival
) -> None:
    trace = span = b""
    name, time = "", 0
    body: Any = None
    attributes: dict[str, Any] = {}
    for number, wire, at, until in _fields(data, start, end):
        if wire == _LENGTH:
            if number == 6:
                _add_attribute(data, at, until, attributes, 0)
            elif number == 5:
                body = _value(data, at, until, 0)
            elif number == 9:
                trace = data[at:until]
            elif number == 10:
                span = data[at:until]
            elif number == 12:
                name = _text(data, at, until)
        elif wire == _FIXED64 and number in (1, 11) and not time:
            time = min(at, LATEST)
    problem = bad_ids_of_log(trace, span)
    if problem:
        arrival.note(f"log record {name!r}: {problem}")
        return
    event = Event(name, time, attributes, body)
    arrival.logs.append(
        ArrivedLog(
            int.from_bytes(trace, "big") or None,
            int.from_bytes(span, "big") or None,
            event,
            scope,
            resource,
        )
    )


def _event(data: bytes, start: int, end: int) -> Event:
    name, time = "", 0
    attributes: dict[str, Any] = {}
    for number, wire, at, until in _fields(data, start, end):
        if number == 1 and wire == _FIXED64:
            time = min(at, LATEST)
        elif number == 2 and wire == _LENGTH:
            name = _text(data, at, until)
        elif number == 3 and wire == _LENGTH:
            _add_attribute(data, at, until, attributes, 0)
    return Event(name, time, attributes)


def _status(data: bytes, start: int, end: int) -> tuple[int, str]:
    code, message = 0, ""
    for number, wire, at, until in _fields(data, start, end):
        if number == 3 and wire == _VARINT:
            code = at
        elif number == 2 and wire == _LENGTH:
            message = _text(data, at, until)
    return code, message


def _attributes_in(data: bytes, start: int, end: int, wanted: int) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for number, wire, at, until in _fields(data, start, end):
        if number == wanted and wire == _LENGTH:
            _add_attribute(data, at, until, attributes, 0)
    return attributes


def _add_of_span(data: bytes, start: int, end: int, attributes: dict[str, Any]) -> None:
    pair = _repeated(data[start:end]) if end - start <= _SHORT else None
    if pair is None:
        _add_attribute(data, start, end, attributes, 0)
    else:
        attributes[pair[0]] = pair[1]


@lru_cache(maxsize=4_096)
def _repeated(data: bytes) -> tuple[str, Any] | None:
    """A short attribute, as most spans have the same ones: looked up in a tenth of the time of reading it.

    None for one that holds others, or none, or cannot be read.
    """
    attributes: dict[str, Any] = {}
    try:
        _add_attribute(data, 0, len(data), attributes, 0)
    except (TelemetryError, IndexError):
        return None
    pair = next(iter(attributes.items()), None)
    return pair if pair is not None and type(pair[1]) in (str, int, bool, float) else None


def _add_attribute(data: bytes, start: int, end: int, attributes: dict[str, Any], depth: int) -> None:
    # Nearly all are a short key and a text: read in place, in a fifth of the time of the general way.
    key_end = start + 2 + data[start + 1] if end - start > 4 else end
    if key_end + 4 <= end and data[start] == 0x0A and data[start + 1] < 0x80 and data[key_end] == 0x12:
        pos, size = key_end + 2, data[key_end + 1]
        if size >= 0x80:
            size, pos = _varint(data, key_end + 1, end)
        if pos + size == end and data[pos] == 0x0A:
            text, length = pos + 2, data[pos + 1]
            if length >= 0x80:
                length, text = _varint(data, pos + 1, end)
            if text + length == end:
                attributes[_text(data, start + 2, key_end)] = _text(data, text, end)
                return
    key, value = "", None
    for number, wire, at, until in _fields(data, start, end):
        if wire == _LENGTH and number == 1:
            key = _text(data, at, until)
        elif wire == _LENGTH and number == 2:
            value = _value(data, at, until, depth)
    if key:
        attributes[key] = value


def _value(data: bytes, start: int, end: int, depth: int) -> Any:
    if depth > DEEPEST:
        raise TelemetryError(f"got an attribute that is nested more than {DEEPEST} levels deep")
    value: Any = None
    for number, wire, at, until in _fields(data, start, end):
        if number == 1 and wire == _LENGTH:
            value = _text(data, at, until)
        elif number == 2 and wire == _VARINT:
            value = bool(at)
        elif number == 3 and wire == _VARINT:
            value = at - (1 << 64) if at >= 1 << 63 else at
        elif number == 4 and wire == _FIXED64:
            value = clean(unpack_from("<d", data, until)[0])
        elif number == 5 and wire == _LENGTH:
            items = [one for one in _fields(data, at, until) if one[0] == 1 and one[1] == _LENGTH]
            value = [_value(data, first, last, depth + 1) for _, _, first, last in items]
        elif number == 6 and wire == _LENGTH:
            value = {}
            for n, w, first, last in _fields(data, at, until):
                if n == 1 and w == _LENGTH:
                    _add_attribute(data, first, last, value, depth + 1)
        elif number == 7 and wire == _LENGTH:
            value = bytes_data(data[at:until], until - at)
    return value


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")
