"""Continue a trace in another process: read and write the W3C ``traceparent`` header."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from types import TracebackType
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import span_id_text, trace_id_text
from agenttrace.tracing.context import Entered, current
from agenttrace.tracing.record import OBSERVED, OFF, SCOPE, Record, Recorder, Scope, key_of

HEADER = "traceparent"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST = 256


def inject(headers: MutableMapping[str, str]) -> MutableMapping[str, str]:
    """Add ``traceparent`` for the running call, or for the remote caller whose trace goes on here.

    Without either, adds nothing. Returns the same mapping.
    """
    record = current.get()
    if record is OFF:
        headers.pop(HEADER, None)
    elif record is not None:
        scope: Scope = record[SCOPE]
        span_key = scope.remote_parent if record[OBSERVED] is None else key_of(record)
        if span_key is not None:
            headers[HEADER] = f"00-{trace_id_text(scope.trace_key)}-{span_id_text(span_key)}-01"
    return headers


def read_traceparent(headers: Mapping[str, Any]) -> tuple[int, int, bool] | None:
    """The trace key, the parent span's key, and True if sampled; None if absent, malformed or too long.

    No other header is read, so a caller cannot change where traces go.
    """
    for name, value in headers.items():
        if isinstance(name, str) and name.lower() == HEADER:
            if not isinstance(value, str) or len(value) > _LONGEST:
                return None
            match = _FORM.fullmatch(value.strip().lower())
            if match is None or match[1] == "ff" or (match[1] == "00" and match[5]):
                return None
            trace_key, span_key = int(match[2], 16), int(match[3], 16)
            if not trace_key or not span_key:
                return None
            return trace_key, span_key, bool(int(match[4], 16) & 1)
    return None


class Continued:
    """Goes on with a caller's trace inside a block. Without a valid header it changes nothing."""

    def __init__(self, recorder: Recorder, headers: Mapping[str, Any]) -> None:
        if not hasattr(headers, "items"):
            raise ConfigError(f"headers are a mapping of names to values, got {type(headers).__name__}")
        self._recorder = recorder
        self._caller = read_traceparent(headers)
        self._entered: Entered | None = None

    def __enter__(self) -> None:
        if self._caller is None:
            return
        trace_key, parent, sampled = self._caller
        head: Record = OFF
        pipeline = self._recorder.resolve() if sampled else None
        if pipeline is not None:
            pipeline.ensure_worker()
            head = Scope(pipeline, self._recorder.project, trace_key=trace_key, remote_parent=parent).head()
        self._entered = Entered(head)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered is not None:
            self._entered.leave()
