"""Unpacks gzip, of one member or many, and never more of it than is wanted."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO

_PIECE = 8192


class GzipError(ValueError):
    """The bytes are no whole gzip: its text goes on a sentence that ends with *that is*."""


class _Pieces(BytesIO):
    """Is read a little at a time: what follows a member is copied for the next one, and there may be many."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(_PIECE if size is None or size < 0 else min(size, _PIECE))


def gunzipped(data: bytes, most: int) -> bytes:
    """What the members of gzip hold together, of it at most `most` bytes and one more.

    Raises:
        GzipError: it is cut or damaged; what stands behind `most` bytes is not looked at.
    """
    try:
        with gzip.GzipFile(fileobj=_Pieces(data)) as file:
            return file.read(most + 1)
    except EOFError:
        raise GzipError("cut") from None
    except (OSError, zlib.error) as error:
        raise GzipError(f"damaged: {error}") from None
