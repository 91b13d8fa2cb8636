"""Unpacks the body of a request, and never more of it than is allowed."""

from __future__ import annotations

import zlib

from agenttrace.core.gzipped import GzipError, gunzipped

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
            content = _inflated(body, zlib.MAX_WBITS, most)
        except zlib.error:
            content = _inflated_bare(body, most)
    if len(content) > most:
        raise TooLong(f"got more than {most:,} bytes, unpacked")
    return content


def _members(body: bytes, most: int) -> bytes:
    try:
        return gunzipped(body, most)
    except GzipError as error:
        raise ValueError(f"got a body that is {error}") from None


def _inflated_bare(body: bytes, most: int) -> bytes:
    try:
        return _inflated(body, -zlib.MAX_WBITS, most)
    except zlib.error as error:
        raise ValueError(f"got a body that is damaged: {error}") from None


def _inflated(body: bytes, wbits: int, most: int) -> bytes:
    """What a stream holds, of it at most `most` bytes and one."""
    stream = zlib.decompressobj(wbits)
    content = stream.decompress(body, most + 1)
    if len(content) <= most and not stream.eof:
        raise ValueError("got a body that is cut")
    return content
