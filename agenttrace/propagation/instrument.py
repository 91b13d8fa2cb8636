"""`instrument`: one call, and the clients, queues and MCP sessions of this process carry traces along."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.propagation.celery_tasks import instrument_celery
from agenttrace.propagation.hosts import Outgoing
from agenttrace.propagation.http_clients import instrument_aiohttp, instrument_httpx, instrument_requests
from agenttrace.propagation.mcp_calls import instrument_mcp
from agenttrace.tracing.default_recorder import recorder_of

Undo = Callable[[], None]

_LIBRARIES: dict[str, Callable[[Outgoing, Any, bool], Undo]] = {
    "httpx": lambda outgoing, *_: instrument_httpx("httpx", outgoing),
    "httpx2": lambda outgoing, *_: instrument_httpx("httpx2", outgoing),
    "requests": lambda outgoing, *_: instrument_requests(outgoing),
    "aiohttp": lambda outgoing, *_: instrument_aiohttp(outgoing),
    "celery": instrument_celery,
    "mcp": instrument_mcp,
}

_active: dict[str, Undo] = {}
_lock = threading.Lock()


class Instrumented:
    """What `instrument` did. ``undo()``, or the end of a ``with`` block, takes it back.

    Attributes:
        libraries: The names of the libraries that carry traces along now.
    """

    def __init__(self, undos: dict[str, Undo]) -> None:
        self.libraries = tuple(undos)
        self._undos = undos

    def undo(self) -> None:
        """Leave the libraries as they were, but for those that were instrumented anew since."""
        with _lock:
            for library, undo in self._undos.items():
                if _active.get(library) is undo:
                    del _active[library]
                    undo()

    def __enter__(self) -> Instrumented:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"<Instrumented {', '.join(self.libraries) or 'nothing'}>"


def instrument(
    *libraries: str, hosts: Iterable[str] | None = None, baggage: bool = True, tracer: Any = None
) -> Instrumented:
    """Let the requests, tasks and MCP calls that leave this process, and arrive in it, carry the trace along.

    Call it once, where the process starts, in each process of the chain. Servers take the middleware besides:
    `ASGIMiddleware` or `WSGIMiddleware`. A second call for a library replaces the first.

    Args:
        libraries: Of ``httpx``, ``httpx2``, ``requests``, ``aiohttp``, ``celery`` and ``mcp``. None named:
            all of them that are installed, which imports them.
        hosts: Patterns of the hosts to which the HTTP clients send headers, such as ``["*.shop.example"]``.
            None: ``traceparent`` to all, ``baggage`` to those of private networks only.
        baggage: Whether session, customer and tags go along, and are taken from what arrives.
        tracer: The `Tracer` with which tasks and MCP servers record; None: that of `observe` without one.

    Returns:
        What was done, to look at, and to undo.

    Raises:
        ConfigError: a library is not known or not installed, or of a version that is not known; a bad host.
    """
    outgoing = Outgoing(hosts, baggage)
    recorder_of(tracer)
    for library in libraries:
        if library not in _LIBRARIES:
            raise ConfigError(f"instrument knows {', '.join(_LIBRARIES)}, got {library!r}")
        if find_spec(library) is None:
            raise ConfigError(f"{library} is not installed: pip install {library}")
    wanted = libraries or tuple(library for library in _LIBRARIES if find_spec(library) is not None)
    undos: dict[str, Undo] = {}
    with _lock:
        for library in dict.fromkeys(wanted):
            if library in _active:
                _active.pop(library)()
            _active[library] = undos[library] = _LIBRARIES[library](outgoing, tracer, baggage)
    return Instrumented(undos)
