"""Replaces methods of another library's classes by ours, until it is undone."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from agenttrace.core.errors import ConfigError

Around = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Given a method, returns what stands in its place."""


class Patch:
    """The method `name` of a class, replaced by what `around` makes of it.

    Raises:
        ConfigError: the class has no such method: this version of the library is not known.
    """

    def __init__(self, owner: type, name: str, around: Around) -> None:
        original = owner.__dict__.get(name)
        if not callable(original):
            raise ConfigError(
                f"{owner.__module__}.{owner.__qualname__} has no {name}: this version of the library is not "
                "known; call tracer.inject(headers) and tracer.extract(headers) yourself"
            )
        replaced = around(original)
        self._is_active = True

        @functools.wraps(original)
        def method(*args: Any, **kwargs: Any) -> Any:
            return (replaced if self._is_active else original)(*args, **kwargs)

        self._owner, self._name, self._original, self._method = owner, name, original, method
        setattr(owner, name, method)

    def undo(self) -> None:
        """Put the method back; if others have replaced ours since, it only does nothing more."""
        self._is_active = False
        if self._owner.__dict__.get(self._name) is self._method:
            setattr(self._owner, self._name, self._original)


def undo_all(patches: Iterable[Patch]) -> None:
    """Undo each of several patches."""
    for patch in patches:
        patch.undo()
