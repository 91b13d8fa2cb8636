"""Continue a trace in another process: read and write the W3C headers ``traceparent`` and ``baggage``."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, MutableMapping
from types import TracebackType
from typing import Any, Protocol

from agenttrace.core.identity import span_id_text, trace_id_text
from agenttrace.core.interruptions import pass_on_interruption, thrown_in
from agenttrace.tracing.baggage import BAGGAGE, MEMBERS, MOST_BYTES, add_baggage, read_baggage
from agenttrace.tracing.context import Entered, captured_scopes, current
from agenttrace.tracing.record import OBSERVED, OFF, SCOPE, Record, Recorder, Scope, key_of

HEADER = "traceparent"
_NAMES = {name: header for header in (HEADER, BAGGAGE) for name in (header, f"http_{header}")}
"""The headers' names, and their keys in a WSGI environ, in lower case."""
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST = 256


class HasItems(Protocol):
    """Headers that are no `Mapping` because a name may occur in them several times."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        """The names with their values."""
        ...


Headers = Mapping[Any, Any] | HasItems | Iterable[tuple[Any, Any] | list[Any]]
"""The headers of a request or a message, in the form in which a server or a queue hands them over."""

Caller = tuple[int, int, bool]
"""The trace key, the parent span's key, and True if sampled."""


def inject(headers: MutableMapping[str, str], *, baggage: bool = True) -> MutableMapping[str, str]:
    """Add ``traceparent`` for the running call, or for the remote caller whose trace goes on here.

    With `baggage`, the header of that name says the trace's session, customer and tags, redacted, as far as
    they are set. Without a call or a caller, adds nothing. Returns the same mapping. Headers that cannot be
    changed stay as they are; that is counted, and logged once.
    """
    record = current.get()
    try:
        _add(headers, record, baggage=baggage)
    except Exception as error:  # choke-point: headers of the user's own making, None, a view
        if thrown_in(error):
            raise
        if record is not None and record[SCOPE] is not None:
            record[SCOPE].pipeline.recording_failed(error)
    return headers


def _add(headers: MutableMapping[str, str], record: Record | None, *, baggage: bool) -> None:
    if record is OFF:
        headers.pop(HEADER, None)
    elif record is not None:
        scope: Scope = record[SCOPE]
        outside = scope.remote_parent or scope.outside_parent
        span_key = outside if record[OBSERVED] is None else key_of(record)
        if span_key is not None:
            headers[HEADER] = f"00-{trace_id_text(scope.trace_key)}-{span_id_text(span_key)}-01"
            if baggage and scope.attributes:
                attributes = {name: scope.attributes[name] for name in MEMBERS if name in scope.attributes}
                add_baggage(headers, scope.pipeline.redaction.fields(attributes))


def read_traceparent(headers: Headers | None) -> Caller | None:
    """What ``traceparent`` says; None without it.

    Headers are a mapping, anything else with `items`, or pairs; None stands for none. Names and values are
    texts or bytes, in any case, a WSGI environ's ``HTTP_TRACEPARENT`` included; a value may stand in a list.
    No other header is read, so a caller cannot change where traces go.

    Raises:
        ValueError: it is malformed or too long, stands there twice with different values, or these are no
            headers. What the headers' own code raises is passed on.
    """
    return _caller(_values(headers)[HEADER])


def _caller(headers: list[Any]) -> Caller | None:
    values = {_text(value, _LONGEST).lower() for value in headers}
    if not values:
        return None
    match = _FORM.fullmatch(values.pop())
    if values:
        raise ValueError(f"several {HEADER} headers that differ")
    if match is None or match[1] == "ff" or (match[1] == "00" and match[5]):
        raise ValueError(f"a malformed {HEADER} header")
    trace_key, span_key = int(match[2], 16), int(match[3], 16)
    if not trace_key or not span_key:
        raise ValueError(f"a {HEADER} header without an id")
    return trace_key, span_key, bool(int(match[4], 16) & 1)


def _values(headers: Any) -> dict[str, list[Any]]:
    """The values of the headers that are read here, by the header's name."""
    values: dict[str, list[Any]] = {HEADER: [], BAGGAGE: []}
    if headers is None:
        return values
    if isinstance(headers, str | bytes):
        raise ValueError("headers are a mapping or pairs, not one text")
    for name, value in headers.items() if hasattr(headers, "items") else headers:
        if isinstance(name, bytes):
            name = name.decode("latin-1")
        if not isinstance(name, str) or value is None or (header := _NAMES.get(name.lower())) is None:
            continue
        if isinstance(value, list | tuple):
            values[header].extend(value)
        else:
            values[header].append(value)
    return values


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str | bytes | bytearray | memoryview) or len(value) > longest:
        raise ValueError("a header that is no text, or too long")
    text = value if isinstance(value, str) else bytes(value).decode("ascii")
    return text.strip()


class Continued:
    """Goes on with a caller's trace inside a block. Without a header that can be read it changes nothing.

    Where the caller's trace is one that is being captured in this process, what is recorded in the block
    belongs to the capture. A header that cannot be read is counted: ``tracer.stats()["unreadable_headers"]``.
    The block may be entered again once it has been left: it is the same trace.
    """

    def __init__(self, recorder: Recorder, headers: Headers | None, *, baggage: bool = True) -> None:
        self._recorder = recorder
        self._caller: Caller | None = None
        self._attributes: dict[str, Any] = {}
        self._head: Record | None = None
        self._entered: Entered | None = None
        try:
            values = _values(headers)
            self._caller = _caller(values[HEADER])
            if baggage and self._caller is not None and values[BAGGAGE]:
                self._attributes = read_baggage([_text(value, MOST_BYTES) for value in values[BAGGAGE]])
        except BaseException as error:  # choke-point: what a caller sends must not break the service
            pass_on_interruption(error)
            pipeline = recorder.resolve()
            if pipeline is not None:
                pipeline.unreadable_headers.add()

    @property
    def has_caller(self) -> bool:
        """Returns True if the headers name a trace."""
        return self._caller is not None

    def __enter__(self) -> None:
        if self._caller is not None:
            if self._head is None:
                self._head = self._make_head(*self._caller)
            self._entered = Entered(self._head)

    def _make_head(self, trace_key: int, parent: int, sampled: bool) -> Record:
        if not sampled:
            return OFF
        captured = captured_scopes.get(trace_key)
        if captured is not None:
            return _part_of(captured, parent).head()
        pipeline = self._recorder.resolve()
        if pipeline is None:
            return OFF
        pipeline.ensure_worker()
        scope = Scope(pipeline, self._recorder.project, trace_key=trace_key, remote_parent=parent)
        scope.attributes = self._attributes or None
        return scope.head()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered is not None:
            self._entered.leave()


def _part_of(captured: Scope, parent: int) -> Scope:
    """The scope of a capture with other roots: they stand under a span of which only the id is known."""
    if captured.attributes is None:
        captured.attributes = {}  # one for both: what is said of the trace behind the header is said of it
    part = copy.copy(captured)
    part.remote_parent = parent
    return part
