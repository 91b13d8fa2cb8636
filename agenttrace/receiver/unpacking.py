"""Unpacks the body of a request, and never more of it than is allowed."""

from __future__ import annotations

import zlib

ENCODINGS = ("identity", "gzip", "deflate")


class TooLong(ValueError):
    """A body is longer than allowed once it is unpacked."""


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """The content of a body of one of `ENCODINGS`, of at most `most` bytes.

    gzip may have several members; deflate is zlib's form, or the bare one that some clients send.

    Raises:
        TooLong: it is longer than that; no more than `most` bytes and one were unpacked.
        ValueError: it is damaged or cut.
    """
    if encoding == "identity":
        content = body
    elif encoding == "gzip":
        content = _members(body, most)
    else:
        try:
            content, _ = _inflated(body, zlib.MAX_WBITS, most)
        except zlib.error:
            content, _ = _inflated_safely(body, -zlib.MAX_WBITS, most)
    if len(content) > most:
        raise TooLong(f"got more than {most:,} bytes, unpacked")
    return content


def _members(body: bytes, most: int) -> bytes:
    parts: list[bytes] = []
    room = most + 1
    while True:
        part, body = _inflated_safely(body, zlib.MAX_WBITS | 16, room - 1)
        parts.append(part)
        room -= len(part)
        if not body.strip(b"\0") or room <= 0:
            return b"".join(parts)


def _inflated_safely(body: bytes, wbits: int, most: int) -> tuple[bytes, bytes]:
    try:
        return _inflated(body, wbits, most)
    except zlib.error as error:
        raise ValueError(f"got a body that is damaged: {error}") from None


def _inflated(body: bytes, wbits: int, most: int) -> tuple[bytes, bytes]:
    """What a stream holds, of it at most `most` bytes and one; the bytes that follow it."""
    stream = zlib.decompressobj(wbits)
    content = stream.decompress(body, most + 1)
    if len(content) <= most and not stream.eof:
        raise ValueError("got a body that is cut")
    return content, stream.unused_data
