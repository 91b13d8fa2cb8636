"""Expectations read from the same plain data are read once.

The key is the data's own bytes, so that a list that was changed since is read anew, and ``True``, ``1`` and
``1.0`` are three things. Data that holds anything but plain values has no key.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from typing import Any, Generic, TypeVar

T = TypeVar("T")

MOST_BYTES = 16_384
"""Larger data is not kept: reading it again costs little beside comparing it."""

_NO_REFERENCES = 2  # later versions of the format write equal data in different ways


class Memo(Generic[T]):
    """The values of the last `most` keys. Safe to use from several threads: a lost entry is made again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, T] = OrderedDict()

    def key(self, raw: Any) -> bytes | None:
        """The bytes of plain data, or None for anything else."""
        try:
            key = marshal.dumps(raw, _NO_REFERENCES)
        except (ValueError, TypeError):
            return None
        return key if len(key) <= MOST_BYTES else None

    def get(self, key: bytes | None) -> T | None:
        """What is kept under a key."""
        return None if key is None else self._kept.get(key)

    def keep(self, key: bytes | None, value: T) -> None:
        """Keep a value, and drop the oldest ones."""
        if key is None:
            return
        self._kept[key] = value
        while len(self._kept) > self._most:
            try:
                self._kept.popitem(last=False)
            except KeyError:  # another thread was faster
                return
