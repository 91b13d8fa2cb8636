"""`Limits`: how much of a value is kept when it is recorded."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields

from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_whole

DEEPEST = 100
"""Levels that can be walked, stored and compared with the stack that a thread has left."""

_MB = 1024 * 1024
_ANY_SIZE = 1 << 62


@dataclass(frozen=True, slots=True)
class Limits:
    """How much recording keeps; of what is larger, a beginning with a mark that says how much is left out.

    The defaults are those of production. Inside `capture`, and so in tests, `CAPTURED` holds: there the size
    of a value is all that bounds it.

    Raises:
        ConfigError: a limit that is no whole number from 1 to `sys.maxsize`, or a depth of more than 100.
    """

    value: int = 128 * 1024
    """Characters of text of one argument or result, plus about 8 for each other item."""

    span: int = 512 * 1024
    """The same for all arguments of one call together, and for the items that a generator yields."""

    trace: int = 64 * _MB
    """Bytes of values that one capture keeps, whatever their number."""

    items: int = 1_000
    """Items of one list, set or mapping, or of an axis of an array."""

    depth: int = 20
    """Levels of containers inside each other."""

    bytes: int = 1_024
    """The first bytes of a binary value."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not is_whole(value, 1):
                raise ConfigError(f"Limits: {field.name} is a whole number from 1, got {value!r}")
            if value > sys.maxsize:
                raise ConfigError(
                    f"Limits: {field.name} is at most sys.maxsize, {sys.maxsize}, got {value!r}"
                )
        if self.depth > DEEPEST:
            raise ConfigError(f"Limits: depth is a whole number from 1 to {DEEPEST}, got {self.depth!r}")


LONGEST_WHOLE = 1024 * 1024
"""Characters or bytes up to which what will be cut reaches the worker whole, which makes a digest of it."""

RECORDED = Limits()
"""What is kept in production."""

CAPTURED = Limits(value=16 * _MB, span=64 * _MB, items=_ANY_SIZE, depth=DEEPEST, bytes=16 * _MB)
"""What is kept inside a capture."""

WHOLE = Limits(
    value=256 * _MB, span=_ANY_SIZE, trace=_ANY_SIZE, items=_ANY_SIZE, depth=DEEPEST, bytes=_ANY_SIZE
)
"""What is kept of data that is given, not recorded: all but what lies too deep, or would never end."""


def checked_limits(name: str, limits: Limits) -> Limits:
    """The limits. Raises ConfigError for anything else, naming the option."""
    if not isinstance(limits, Limits):
        raise ConfigError(f"{name} is Limits(…), got {limits!r}")
    return limits
