"""The recorder of calls that were decorated without a tracer: that of the first tracer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.tracing.record import Recorder

_default: list[Recorder] = []
_factory: list[Callable[[], Recorder]] = []


def offer_recorder(recorder: Recorder) -> None:
    """Make this the default if there is none yet: the first tracer of a process is its default."""
    if not _default:
        _default.append(recorder)


def withdraw_recorder(recorder: Recorder) -> None:
    """Stop being the default, as the tracer is shut down. The next tracer made takes its place."""
    if recorder in _default:
        _default.remove(recorder)


def set_default_factory(make: Callable[[], Recorder]) -> None:
    """Set the function that makes the default when one is first needed. `defaults` calls this."""
    _factory[:] = [make]


def default_recorder() -> Recorder:
    """The first tracer's recorder. Without a tracer, one that makes the default tracer at the first call."""
    return _default[0] if _default else _ON_DEMAND


def recorder_of(tracer: Any) -> Recorder:
    """The recorder of a tracer; the default one for None.

    Raises:
        ConfigError: it is no tracer.
    """
    recorder = default_recorder() if tracer is None else getattr(tracer, "recorder", None)
    if isinstance(recorder, Recorder):
        return recorder
    raise ConfigError(
        f"tracer is a Tracer, got {type(tracer).__name__}; make one with Tracer(project_name=…), "
        "or leave it out"
    )


def _resolve_late() -> object:
    if not _default and _factory:
        offer_recorder(_factory[0]())
    return _default[0].resolve() if _default else None


_ON_DEMAND = Recorder("default", _resolve_late)  # type: ignore[arg-type] # a pipeline, or None
