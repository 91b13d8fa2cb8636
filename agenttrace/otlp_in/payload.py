"""Takes a payload in whatever way it is handed over: mapping, bytes, path; packed or not; one or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from agenttrace.core.gzipped import GzipError, gunzipped
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.text import short_repr
from agenttrace.otlp_in.arrival import MOST_BYTES, Arrival, TelemetryError
from agenttrace.otlp_in.json_form import read_json
from agenttrace.otlp_in.protobuf import read_protobuf

Payload = Mapping[str, Any] | bytes | str | PathLike[str] | Sequence[Any]
"""Requests of OTLP: one as JSON data, as bytes of JSON, of JSON lines or of protobuf, packed with gzip or
not; the path of a file of such bytes; a list of any of these."""

_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"


def read_payload(payload: Payload) -> Arrival:
    """What a payload holds.

    Raises:
        TelemetryError: it cannot be read; for a file, the error names it.
        OSError: there is no such file, or it cannot be opened.
    """
    arrival = Arrival()
    _read(payload, arrival, 0)
    return arrival


def _read(payload: Any, arrival: Arrival, depth: int) -> None:
    if isinstance(payload, bytes | bytearray | memoryview):
        _read_bytes(bytes(payload), arrival)
    elif isinstance(payload, Mapping):
        read_json(payload, arrival)
    elif isinstance(payload, str | PathLike):
        _read_file(Path(fspath(payload)), arrival)
    elif isinstance(payload, list | tuple) and depth < 2:
        for part in payload:
            _read(part, arrival, depth + 1)
    else:
        raise TelemetryError(
            f"got {short_repr(payload)}, wanted a request of OTLP: a mapping, bytes, a path, a list of them"
        )


def _read_file(path: Path, arrival: Arrival) -> None:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except ValueError as error:  # a path that no system has: a zero byte in it
        raise TelemetryError(f"got {short_repr(str(path))}, wanted a path: {error}") from None
    except OSError:
        if str(path).lstrip()[:1] in ("{", "["):
            text = short_repr(str(path))
            raise TelemetryError(f"got the text {text}, wanted its bytes: payload.encode()") from None
        raise
    known = len(arrival.problems)
    try:
        _read_bytes(data, arrival)
    except TelemetryError as error:
        raise TelemetryError(str(error), path=path) from error
    arrival.problems[known:] = [f"{path}: {problem}" for problem in arrival.problems[known:]]


def _read_bytes(data: bytes, arrival: Arrival) -> None:
    if data.startswith(_GZIP):
        data = _unpacked(data)
    if len(data) > MOST_BYTES:
        raise TelemetryError(f"got more than {MOST_BYTES:,} bytes, send them in several payloads")
    if not data:
        raise TelemetryError("got no bytes, wanted a request of OTLP")
    data = data.removeprefix(_MARK)
    # A request in protobuf begins with a line feed, and may have a brace for its length.
    if data[:1] == b"\n" and _is_protobuf(data, arrival):
        return
    if data.lstrip(_SPACE)[:1] in (b"{", b"[") or _has_documents(data):
        _read_text(data, arrival)
    else:
        read_protobuf(data, arrival)


def _is_protobuf(data: bytes, arrival: Arrival) -> bool:
    attempt = Arrival()
    try:
        read_protobuf(data, attempt)
    except TelemetryError:
        return False
    if attempt.unread and not attempt.spans and not attempt.logs:
        return False
    arrival.spans += attempt.spans
    arrival.logs += attempt.logs
    arrival.problems += attempt.problems
    arrival.unread += attempt.unread
    return True


def _read_text(data: bytes, arrival: Arrival) -> None:
    """One JSON document, or a document on each line."""
    try:
        document = lenient_json(data)
    except InvalidJSON as whole:
        lines = data.split(b"\n")
        if not any(map(_is_document, lines)):
            raise TelemetryError(f"got text that is no JSON: {whole}") from None
        _read_lines(lines, arrival)
        return
    read_json(document, arrival)


def _has_documents(data: bytes) -> bool:
    """Whether there are documents on lines below others that are none: a log's first line may be cut.

    Damaged protobuf may have them in its texts: it begins with a line feed, and has zero bytes.
    """
    return not (data[:1] == b"\n" and b"\0" in data) and any(map(_is_document, data.split(b"\n")))


def _is_document(line: bytes) -> bool:
    """Whether a line is a document of its own: one that is laid out over lines is indented."""
    if line[:1] not in (b"{", b"["):
        return False
    try:
        return bool(lenient_json(line))
    except InvalidJSON:
        return False


def _read_lines(lines: Sequence[bytes], arrival: Arrival) -> None:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            document = lenient_json(line)
        except InvalidJSON as error:
            arrival.note(f"line {number} is no JSON: {error}")
            continue
        try:
            read_json(document, arrival)
        except TelemetryError as error:
            arrival.note(f"line {number}: {error}")


def _unpacked(data: bytes) -> bytes:
    """The content of gzip's bytes, which may hold several members."""
    try:
        whole = gunzipped(data, MOST_BYTES)
    except GzipError as error:
        raise TelemetryError(f"got gzip that is {error}") from None
    if len(whole) > MOST_BYTES:
        raise TelemetryError(f"got gzip of more than {MOST_BYTES:,} bytes")
    return whole
