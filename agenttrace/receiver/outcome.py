"""What became of a request, and the bytes that say so: OTLP's answers, in protobuf or in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agenttrace.core.jsonable import to_json

PROTOBUF, JSON = "application/x-protobuf", "application/json"
Signal = Literal["spans", "log_records"]

_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 408: 4, 413: 8, 415: 3, 429: 8, 500: 13, 503: 14}
"""The codes of google.rpc that stand for statuses of HTTP."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended.

    `status` is HTTP's. With 200, `rejected` records could not be read, and `message` says why the first of
    them could not. Otherwise `message` is what was wrong, and `retry_after` the seconds after which the same
    request may be sent again; None where it would be refused again.
    """

    status: int = 200
    message: str = ""
    rejected: int = 0
    retry_after: int | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that go with it."""
        more = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        if self.status == 401:
            more["www-authenticate"] = "Bearer"
        if self.status == 405:
            more["allow"] = "POST"
        return more


def body_of(outcome: Outcome, content_type: str, signal: Signal) -> bytes:
    """The body of the answer: an export response, or a google.rpc.Status, as the request was written."""
    if outcome.status == 200:
        if not outcome.rejected and not outcome.message:
            return b"{}" if content_type == JSON else b""
        if content_type == JSON:
            name = "rejectedSpans" if signal == "spans" else "rejectedLogRecords"
            partial = {name: str(outcome.rejected), "errorMessage": outcome.message}
            return to_json({"partialSuccess": partial}).encode()
        return _text_field(1, _number_field(1, outcome.rejected) + _text_field(2, outcome.message.encode()))
    code = _CODES.get(outcome.status, 2)
    if content_type == JSON:
        return to_json({"code": code, "message": outcome.message}).encode()
    return _number_field(1, code) + _text_field(2, outcome.message.encode())


def _number_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value) if value else b""


def _text_field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value if value else b""


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
