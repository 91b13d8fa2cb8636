"""`States`: named states of a capture, each read when the capture begins and when it ends.

A state is a function, or a value that is copied. One that is registered where nothing is being recorded
belongs to the tracer, and every capture reads it; one that an agent registers while it is captured belongs to
that capture alone. Outside of captures nothing is read. What goes wrong with a state is noted in its reading.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from types import CoroutineType, GeneratorType
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError, error_text
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.jsonable import clean_text
from agenttrace.core.marks import TYPE, cause_of
from agenttrace.core.state import START, STATE
from agenttrace.tracing.context import current
from agenttrace.tracing.freeze import Frozen, freeze, thaw
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.record import END, OBSERVED, OFF, PARENT, SCOPE, Record, Recorder, Scope
from agenttrace.tracing.steps import emit

MOST_NOTED = 1_000
"""Places that changed of which a reading has the paths; of more it has none."""

ASYNC_SECONDS = 60.0
"""Seconds that an async function may take in a capture of plain code."""

_LATE = "reading it took too long"


@contextmanager
def _unrecorded() -> Iterator[None]:
    token = current.set(OFF)
    try:
        yield
    finally:
        current.reset(token)


def unrecorded_context() -> Context:
    """A copy of this context in which nothing is recorded: tools that a function calls to read a state are no
    calls of the agent's."""
    with _unrecorded():
        return copy_context()


class StateSource:
    """A named state: the function that returns it, or the value itself."""

    def __init__(self, name: str, snapshot: Any) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise ConfigError(f"a state's name is a text without dots, got {name!r:.100}")
        self.name = clean_text(name)
        self.snapshot = snapshot
        self._lock = threading.Lock()
        self._readers: set[_Watched] = set()

    def read(self) -> Any:
        """The state now, or what is to be awaited for it; what it calls is not recorded."""
        with _unrecorded():
            return self.snapshot() if callable(self.snapshot) else self.snapshot

    def begin(self, reader: _Watched) -> None:
        """Note who reads this state; of several at once, none knows whose a change is."""
        with self._lock:
            self._readers.add(reader)
            if len(self._readers) > 1:
                for each in self._readers:
                    each.shared = True

    def end(self, reader: _Watched) -> None:
        """The reader is done."""
        with self._lock:
            self._readers.discard(reader)


class _Watched:
    """A state in one capture: its copies at the start and at the end."""

    def __init__(self, source: StateSource, scope: Scope) -> None:
        self.source = source
        self.scope = scope
        self.copies: list[Any] = []
        self.problem = ""
        self.shared = False
        self.of_run = False

    def take(self, value: Any) -> None:
        """Keep a copy of what was read."""
        if self.problem:
            return
        copy = freeze(value, self.scope.limits)
        plain = thaw(copy, self.scope.limits)
        cause = cause_of(plain)
        if cause in ("not opened", "not recorded"):
            name = plain.get(TYPE, "") if isinstance(plain, dict) else ""
            name = type(value).__qualname__ if name in ("", "unreadable") else name
            self.fail(f"it is a {name}, which cannot be copied; return lists, mappings and scalars")
        else:
            self.copies.append(copy)

    def fail(self, problem: str) -> None:
        """Note the first thing that went wrong."""
        when = "at the end" if self.copies else "at the start"
        self.problem = self.problem or f"{when}, {problem}"

    def failed(self, error: BaseException) -> None:
        """Note what the function raised."""
        self.fail(f"its function raised {error_text(error)}"[:2_000])


Ended = Callable[[Any, BaseException | None, bool], None]
"""Takes the value that was read, the error that was raised, or that reading took too long."""


class States:
    """The states of one capture. `read` reads them all; who can wait better makes the `calls` itself."""

    def __init__(self, scope: Scope, sources: Iterable[StateSource]) -> None:
        self._scope = scope
        self._watched: dict[str, _Watched] = {}
        for source in sources:
            self._begin(source)

    def add(self, source: StateSource) -> None:
        """Read one more, from now on, in place of the tracer's of its name; said again, the start stays."""
        former = self._watched.get(source.name)
        if former is not None:
            former.source.end(former)
            if former.of_run:
                former.source = source
                source.begin(former)
                return
        watched = self._begin(source)
        watched.of_run = True
        value = self._value(watched)
        if _is_awaitable(value):
            _drop(value)
            watched.fail(
                "its function is async; say tracer.state before the capture begins, or give a plain function"
            )
        elif value is not _NOTHING:
            watched.take(value)

    def _begin(self, source: StateSource) -> _Watched:
        watched = self._watched[source.name] = _Watched(source, self._scope)
        source.begin(watched)
        return watched

    @property
    def any(self) -> bool:
        """Whether there is any."""
        return bool(self._watched)

    def read(self) -> None:
        """Read every state here. A function that hangs holds up its caller; an async one, for a minute."""
        for watched in self._due():
            value = self._value(watched)
            if _is_awaitable(value):
                value = _waited(value, watched)
            if value is not _NOTHING:
                watched.take(value)

    async def read_async(self) -> None:
        """The same on the running event loop."""
        for watched in self._due():
            value = self._value(watched)
            try:
                with _unrecorded():
                    value = await value if _is_awaitable(value) else value
            except (Exception, SystemExit) as error:  # choke-point: the user's function
                watched.failed(error)
                continue
            if value is not _NOTHING:
                watched.take(value)

    def calls(self) -> Iterator[tuple[Callable[[], Any], Ended]]:
        """For each state the call that reads it, and what is told how that ended."""
        for watched in self._due():
            source = watched.source
            function = source.snapshot if callable(source.snapshot) else source.read

            def ended(
                value: Any, error: BaseException | None, late: bool, watched: _Watched = watched
            ) -> None:
                if late:
                    watched.fail(_LATE)
                elif error is not None:
                    watched.failed(error)
                else:
                    watched.take(value)

            yield function, ended

    def give_up(self, why: str) -> None:
        """No end is read, as the agent goes on."""
        for watched in self._due():
            watched.fail(why)

    def _due(self) -> list[_Watched]:
        return [watched for watched in self._watched.values() if not watched.problem]

    def _value(self, watched: _Watched) -> Any:
        try:
            return watched.source.read()
        except (Exception, SystemExit) as error:  # choke-point: the user's function; the agent goes on
            if thrown_in(error):
                raise
            watched.failed(error)
            return _NOTHING

    def write(self, roots: Iterable[Record]) -> None:
        """Record each state as a span below the first root, in its place in time: its end."""
        root = next(iter(roots), None)
        for watched in self._watched.values():
            watched.source.end(watched)
            if not watched.problem and len(watched.copies) < 2:
                watched.fail("it was not read")
            emit(_record(watched, self._scope, root), _time_of(root))


_NOTHING = object()


def _time_of(root: Record | None) -> int:
    return monotonic_ns() if root is None else int(root[END])


def _record(watched: _Watched, scope: Scope, root: Record | None) -> Record:
    observed = ObservedFunction(
        name=watched.source.name, span_type=STATE, recorder=_no_recorder, names=(START,)
    )
    attributes: dict[str, Any] = {}
    if watched.problem:
        attributes[semconv.STATE_PROBLEM] = watched.problem
    if watched.shared:
        attributes[semconv.STATE_SHARED] = True
    start, end = [*watched.copies, None, None][:2]
    if not watched.problem:
        attributes.update(_noted_changes(start, end, scope))
    parent = scope.head() if root is None else root
    extra = {"attributes": attributes} if attributes else None
    return [parent, scope, observed, scope.next(), _time_of(root), (start,), 0, end, None, extra]


def _noted_changes(start: Any, end: Any, scope: Scope) -> dict[str, Any]:
    """The places that changed, compared while secrets still stand in them."""
    from agenttrace.expectations.state_changes import Changes  # on use: few captures have states

    try:
        changes = Changes(thaw(start, scope.limits), thaw(end, scope.limits))
    except Exception as error:  # choke-point: without the notes, scorers compare what was recorded
        if thrown_in(error):
            raise
        scope.pipeline.recording_failed(error)
        return {}
    changed = [list(change.path) for change in changes if change.kind != "unknown"]
    unknown = [list(change.path) for change in changes if change.kind == "unknown"]
    if len(changed) + len(unknown) > MOST_NOTED:
        return {}
    notes = {semconv.STATE_CHANGED: changed, semconv.STATE_UNKNOWN: unknown}
    return {name: Frozen(paths, 0) for name, paths in notes.items()}


_no_recorder = Recorder("", lambda: None)


def _waited(value: Awaitable[Any], watched: _Watched) -> Any:
    """What an async function returns, on the kept loop of this thread; `_NOTHING` where it does not."""
    import asyncio  # on use: recording alone needs neither

    from agenttrace.process.loop_thread import loop_keeper

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        _drop(value)
        watched.fail(
            "its function is async, and an event loop runs here; write `async with tracer.capture()`"
        )
        return _NOTHING
    ended = threading.Event()
    result: list[Any] = []

    async def read() -> None:
        try:
            result.append(await value)
        except (Exception, SystemExit) as error:  # choke-point: the user's function
            watched.failed(error)

    loop = loop_keeper().loop()
    started = loop.start(read, unrecorded_context(), lambda _: ended.set())
    if not ended.wait(ASYNC_SECONDS):
        loop.cancel(started)
        watched.fail(_LATE)
    return result[0] if result else _NOTHING


def _is_awaitable(value: Any) -> bool:
    """`inspect.isawaitable` by the type alone: a stand-in for another object may raise where it is asked."""
    kind = type(value)
    return issubclass(kind, Awaitable) or (kind is GeneratorType and inspect.isawaitable(value))


def _drop(value: Any) -> None:
    if type(value) is CoroutineType:
        value.close()


captured_states: dict[int, States] = {}
"""The states of the captures that are open in this process, by the keys of their traces."""


def register_state(sources: dict[str, StateSource], name: str, snapshot: Any) -> None:
    """Register a state: with the capture that runs here, else with the tracer that has these `sources`.

    In a call that is recorded outside of a capture it does nothing.

    Raises:
        ConfigError: the name is no text, or has a dot.
    """
    source = StateSource(name, snapshot)
    record = current.get()
    if record is None:
        sources[source.name] = source
        return
    scope = record[SCOPE]
    states = None if scope is None else captured_states.get(scope.trace_key)
    if states is not None:
        states.add(source)


def is_root(record: Record) -> bool:
    """Whether a record of a capture stands below no other."""
    return record[PARENT][OBSERVED] is None
