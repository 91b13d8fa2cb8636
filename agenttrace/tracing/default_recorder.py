"""The recorder that is used where no tracer was named."""

from __future__ import annotations

from collections.abc import Callable

from agenttrace.tracing.record import Recorder

_chosen: list[Recorder] = []
_make: list[Callable[[], Recorder]] = []


def offer_recorder(recorder: Recorder) -> None:
    """Make this the default if there is none yet: the first tracer of a process is its default."""
    if not _chosen:
        _chosen.append(recorder)


def withdraw_recorder(recorder: Recorder) -> None:
    """Stop being the default: the tracer was shut down. The next one made takes its place."""
    if recorder in _chosen:
        _chosen.remove(recorder)


def set_default_factory(make: Callable[[], Recorder]) -> None:
    """Say how a default is made when one is needed first. Called by the wiring, above this room."""
    _make[:] = [make]


def default_recorder() -> Recorder:
    """The first tracer's recorder; without a tracer, one that makes the default tracer at the first root."""
    return _chosen[0] if _chosen else _MADE_ON_DEMAND


def _resolve_late() -> object:
    if not _chosen and _make:
        offer_recorder(_make[0]())
    return _chosen[0].resolve() if _chosen else None


_MADE_ON_DEMAND = Recorder("default", _resolve_late)  # type: ignore[arg-type] # a pipeline, or None
