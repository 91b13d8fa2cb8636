"""Tasks of Celery go on with the trace of the call that published them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.propagation.hosts import Outgoing
from agenttrace.tracing.baggage import BAGGAGE
from agenttrace.tracing.default_recorder import recorder_of
from agenttrace.tracing.remote import HEADER, Continued

_PLACE = "_agenttrace_continued"


def instrument_celery(outgoing: Outgoing, tracer: Any, baggage: bool) -> Callable[[], None]:
    """Publishers add headers to a task's message, and workers, of any pool, run it within that trace.

    A task that is tried again, and those that it starts, belong to the same trace. Eager tasks run in the
    call that starts them anyway.
    """
    signals = import_module("celery.signals")

    def on_publish(headers: Any = None, **_: Any) -> None:
        if isinstance(headers, dict):
            outgoing.add_to(headers, None)

    def on_start(task: Any = None, **_: Any) -> None:
        try:
            continued = Continued(recorder_of(tracer), _headers_of(task.request), baggage=baggage)
            if continued.has_caller:
                continued.__enter__()
                setattr(task.request, _PLACE, continued)
        except Exception as error:  # choke-point: a task runs with or without a trace
            pass_on_interruption(error)

    def on_end(task: Any = None, **_: Any) -> None:
        try:
            continued = getattr(task.request, _PLACE, None)
            if continued is not None:
                continued.__exit__(None, None, None)
        except Exception as error:  # choke-point: as above
            pass_on_interruption(error)

    connected = (
        (signals.before_task_publish, on_publish),
        (signals.task_prerun, on_start),
        (signals.task_postrun, on_end),
    )
    for signal, receiver in connected:
        signal.connect(receiver, weak=False)

    def undo() -> None:
        for signal, receiver in connected:
            signal.disconnect(receiver)

    return undo


def _headers_of(request: Any) -> dict[str, Any]:
    """The headers of a task's message: attributes of its request, or apart, by Celery's version."""
    apart = getattr(request, "headers", None)
    apart = apart if isinstance(apart, dict) else {}
    return {name: getattr(request, name, None) or apart.get(name) for name in (HEADER, BAGGAGE)}
