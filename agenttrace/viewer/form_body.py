"""The body of a form that a reader sends: of one kind, of a bounded length, in UTF-8, each field once."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from agenttrace.viewer.guard import Refusal

LONGEST_BODY = 65_536
_KIND = "application/x-www-form-urlencoded"
_MOST_FIELDS = 32


async def read_form(request: Request) -> Mapping[str, str] | Refusal:
    """Return the fields of a form, or why they are not read; no more than `LONGEST_BODY` bytes are."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _KIND or "content-encoding" in request.headers:
        return Refusal(415, f"A form is sent as {_KIND}, and not compressed.")
    length = request.headers.get("content-length", "0")
    too_long = Refusal(413, f"A form has at most {LONGEST_BODY // 1024} KB.")
    if not length.isdecimal() or len(length) > 9 or int(length) > LONGEST_BODY:
        return too_long
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LONGEST_BODY:
                return too_long
    except ClientDisconnect:
        return Refusal(400, "The form was cut off.")
    return fields_of(bytes(body))


def fields_of(body: bytes) -> Mapping[str, str] | Refusal:
    """The fields that a form's body has, or why they cannot be read."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:  # UnicodeDecodeError among them
        return Refusal(400, f"A form has at most {_MOST_FIELDS} fields, in UTF-8.")
    fields = dict(pairs)
    if len(fields) < len(pairs):
        return Refusal(400, "A form has each field once.")
    return fields
