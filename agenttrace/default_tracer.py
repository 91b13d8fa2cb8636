"""The tracer of scripts that make none of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

from agenttrace.tracer import Tracer
from agenttrace.tracing.decorator import observe_with
from agenttrace.tracing.record import Recorder
from agenttrace.tracing.recorders import default_recorder, when_none_is_offered

F = TypeVar("F")

_made: list[Tracer] = []
_making = threading.Lock()


def default_tracer() -> Tracer:
    """The tracer that `observe` uses when no other was made: project ``"default"``, the default store."""
    with _making:
        if not _made:
            _made.append(Tracer("default"))
        return _made[0]


def _default_recorder() -> Recorder:
    return default_tracer()._recorder


when_none_is_offered(_default_recorder)


@overload
def observe(function: F) -> F: ...
@overload
def observe(
    function: None = None,
    *,
    span_type: str = "function",
    name: str | None = None,
    capture_input: bool = True,
    capture_output: bool = True,
    metadata: Mapping[str, Any] | None = None,
    tags: Iterable[str] = (),
) -> Callable[[F], F]: ...
def observe(function: Any = None, **options: Any) -> Any:
    """Record every call, as `Tracer.observe` does, for the first tracer of the process.

    Where there is none when the first trace starts, the default tracer is made then.
    """
    recorder = default_recorder()
    if function is None:
        return lambda given: observe_with(recorder, given, **options)
    return observe_with(recorder, function, **options)
