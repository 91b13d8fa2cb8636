"""Whether a snapshot of plain data that is about as large as it may be leaves nothing out."""

from __future__ import annotations

from gc import get_referents
from itertools import chain
from typing import Any

from agenttrace.core.limits import Limits
from agenttrace.core.snapshot import EXACT_INT, first_snapshot

_CONTAINERS = frozenset({dict, list, tuple})
_VALUE_SIZE, _KEY_SIZE = 8, 2
_VAST = 1 << 62


def is_kept_whole(value: Any, json: bytes, limits: Limits) -> bool:
    """Whether a snapshot of plain data that is about as large as it may be leaves nothing out."""
    if len(json) > limits.value:
        return False
    return _most_counted(value) <= limits.value or bool(first_snapshot(value, limits=limits)[0] == value)


def _most_counted(value: Any) -> int:
    """What a snapshot counts for plain data at most: the letters of its texts, eight for each value, two for
    each key. It is told in a tenth of the time of one."""
    size, level = 2 * _VALUE_SIZE, [value]
    while level:
        below = get_referents(*level)
        if max([abs(part) for part in below if type(part) is int], default=0) >= EXACT_INT:
            return _VAST  # their digits are counted
        size += _VALUE_SIZE * len(below) + sum([len(part) for part in below if type(part) is str])
        keys = chain.from_iterable([part for part in level if type(part) is dict])
        size += sum([len(key) + _KEY_SIZE for key in keys])
        level = [part for part in below if type(part) in _CONTAINERS]
    return size
