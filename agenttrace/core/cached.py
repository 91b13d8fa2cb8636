"""`cached_property` without the lock that Python 3.11 takes round each first look."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - the name that it stands in for
        """Two threads that look first at the same time each work the value out; one of them is kept."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The value; this property itself where the class is asked."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
