"""A recording wrapper for what is callable without being a plain function: a transparent proxy."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import wrapt


class ObservedCallable(wrapt.FunctionWrapper):  # type: ignore[type-arg] # generic in new versions only
    """A callable object, builtin or partial whose calls are recorded; everything else about it is its own.

    Pickles and copies as the observed object does, so that it survives process pools.
    """

    def __init__(self, wrapped: Any, recording: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(wrapped, lambda _wrapped, _instance, args, kwargs: recording(*args, **kwargs))
        self._self_options = options

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _reobserve, (self.__wrapped__, self._self_options)

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)

    def __copy__(self) -> Any:
        return _reobserve(copy(self.__wrapped__), self._self_options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return _reobserve(deepcopy(self.__wrapped__, memo), self._self_options)


def _reobserve(wrapped: Any, options: dict[str, Any]) -> Any:
    """Observe a copy for the recorder that was made first in this process: a recorder cannot be copied."""
    from agenttrace.tracing.decorator import observe_with
    from agenttrace.tracing.recorders import default_recorder

    return observe_with(default_recorder(), wrapped, **options)
