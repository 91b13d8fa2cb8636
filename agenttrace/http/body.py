"""A response's body, read within a bound on what it unpacks to."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

_ANY_ZLIB_HEADER = 47  # zlib's wbits: gzip or zlib, told by the header


class BodyError(Exception):
    """The body cannot be used; its text says why."""


async def read_body(response: httpx.Response, limit: int) -> bytes:
    """Read at most `limit` decompressed bytes, a chunk at a time.

    Reads the raw stream: httpx would unpack each chunk whole, and several encodings on top of each other, so
    that 64 KB become 64 MB, or 64 GB. One layer of gzip or deflate is unpacked here, never past the limit.

    Raises:
        BodyError: longer than `limit`, another encoding, or a broken one.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise BodyError("sent an encoding that was not asked for")
    inflater = zlib.decompressobj(_ANY_ZLIB_HEADER) if encoding not in ("", "identity") else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        if inflater is not None:
            try:
                chunk = inflater.decompress(chunk, limit + 1 - len(body))
            except zlib.error:
                raise BodyError("sent a broken compressed body") from None
        body += chunk[: limit + 1 - len(body)]
        if len(body) > limit:
            raise BodyError(f"the reply is longer than {limit:,} bytes")
    if inflater is not None and not inflater.eof:
        raise BodyError("sent a compressed body that is cut off")
    return bytes(body)
