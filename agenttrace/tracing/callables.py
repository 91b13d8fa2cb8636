"""A recording wrapper for callables that are no plain functions: a transparent proxy."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from types import MethodType
from typing import Any

import wrapt

from agenttrace.tracing.observed_function import ObserveOptions

ObserveAgain = tuple[Callable[[Any, ObserveOptions], Any], ObserveOptions]
"""How a copy is observed: a function that pickles by name, and the options to give it."""


class ObservedCallable(wrapt.CallableObjectProxy):  # type: ignore[type-arg,unused-ignore] # generic in new versions only
    """A callable object, builtin or partial whose calls are recorded; everything else about it is its own.

    Pickles and copies as the observed object does, so that it survives process pools. Attributes that begin
    with ``_self_`` are the proxy's, all others the object's.
    """

    __agenttrace_observed__: Any = None  # declared here, so that setting it does not reach the object

    def __init__(self, wrapped: Any, recording: Callable[..., Any], observe_again: ObserveAgain) -> None:
        super().__init__(wrapped)
        self._self_recording = recording
        self._self_observe_again = observe_again

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the object, recorded."""
        return self._self_recording(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind if the object itself would: an observed method stays a method."""
        bind = getattr(type(self.__wrapped__), "__get__", None)
        if instance is None or bind is None or bind(self.__wrapped__, instance, owner) is self.__wrapped__:
            return self
        return MethodType(self, instance)

    def __reduce_ex__(self, protocol: Any) -> Any:
        observe, options = self._self_observe_again
        # The callback at the end of calls belongs to this process.
        return observe, (self.__wrapped__, options._replace(on_end=None))

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)

    def __copy__(self) -> Any:
        observe, options = self._self_observe_again
        return observe(copy(self.__wrapped__), options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        observe, options = self._self_observe_again
        return observe(deepcopy(self.__wrapped__, memo), options)
