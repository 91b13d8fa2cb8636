"""What running code can read from its span (`LiveSpan`) or its trace (`LiveTrace`), or add to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.identity import monotonic_ns, span_id_text, trace_id_text
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.marks import cause_of
from agenttrace.core.reading_types import type_name
from agenttrace.core.score import Score
from agenttrace.core.snapshot import snapshot
from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction import without_secrets
from agenttrace.tracing.context import current
from agenttrace.tracing.freeze import thaw
from agenttrace.tracing.record import EXTRA, OBSERVED, SCOPE, START, Record, Scope, key_of, parent_key_of
from agenttrace.tracing.steps import freeze_one

_warnings = SaidOnce(without_secrets)

MAX_NOTES = 1_000
"""Logs, scores or attributes that one span keeps. Further ones are counted in an attribute."""


class LiveSpan:
    """The span of the running call, for that call's own code: ids to read, attributes to add.

    Nothing here raises because of a recorded value. A span that is not recorded accepts everything and keeps
    nothing.
    """

    __slots__ = ("_record",)

    def __init__(self, record: Record | None) -> None:
        self._record = record

    @property
    def recorded(self) -> bool:
        """True if what is added here is kept."""
        return self._record is not None

    @property
    def name(self) -> str:
        """The span's name; empty when not recorded."""
        if self._record is None:
            return ""
        new_name = (self._record[EXTRA] or {}).get("name")
        return str(new_name or self._record[OBSERVED].name)

    @property
    def span_type(self) -> str:
        """The span's type; empty when not recorded."""
        return "" if self._record is None else str(self._record[OBSERVED].span_type)

    @property
    def span_id(self) -> str:
        """16 hex digits; zeros when not recorded."""
        return span_id_text(0 if self._record is None else key_of(self._record))

    @property
    def parent_id(self) -> str | None:
        """16 hex digits, or None for a root."""
        key = None if self._record is None else parent_key_of(self._record)
        return None if key is None else span_id_text(key)

    @property
    def trace_id(self) -> str:
        """32 hex digits; zeros when not recorded."""
        return trace_id_text(0 if self._record is None else self._record[SCOPE].trace_key)

    def set_attribute(self, name: str, value: Any) -> None:
        """Add an attribute."""
        attributes, name = self._notes().setdefault("attributes", {}), as_text(name)
        if len(attributes) < MAX_NOTES or name in attributes:
            attributes[name] = self._freeze(value)
        else:
            self._leave_out()

    def set_name(self, name: str) -> None:
        """Give the span another name."""
        self._notes()["name"] = as_text(name)

    @property
    def output(self) -> Any:
        """The output as set here; None if it was not set."""
        return self._set_value("output")

    @output.setter
    def output(self, value: Any) -> None:
        self._notes()["output"] = self._freeze(value)

    @property
    def input(self) -> Any:
        """The input as set here; None if it was not set."""
        return self._set_value("input")

    @input.setter
    def input(self, value: Any) -> None:
        self._notes()["input"] = self._freeze(value)

    def set_usage(self, usage: Mapping[str, Any]) -> None:
        """Add ``input_tokens``, ``output_tokens``, ``total_tokens``, ``cost`` (US dollars) and the like: a
        mapping, or the dataclass or pydantic model of a client library."""
        notes = self._notes()
        copy = plain_mapping(usage)
        if copy is not None:
            notes["usage"] = {**notes.get("usage", {}), **copy}

    def log(self, message: str, *, label: str = "log", score: float | None = None) -> None:
        """Add a log entry with a label; `score` is feedback as a number."""
        logs = self._notes().setdefault("logs", [])
        if len(logs) < MAX_NOTES:
            after = 0 if self._record is None else monotonic_ns() - self._record[START]
            entry = {"message": message, "label": label, "score": score, "after_ns": after}
            logs.append(snapshot(entry)[0])
        else:
            self._leave_out()

    def add_score(self, score: Score) -> None:
        """Add a score, which is stored with the span."""
        value: Any = score
        if not _is_a(value, Score):
            kind = type_name(type(value))
            self.refuse(f"a score was left out: wanted a Score, as Score.of(name, value) makes, got {kind}")
            return
        scores = self._notes().setdefault("scores", [])
        if len(scores) < MAX_NOTES:
            scores.append(score)
        else:
            self._leave_out()

    def refuse(self, text: str, error: BaseException | None = None) -> None:
        """Log once what is wrong with a note, and count it as left out. It must not end the call."""
        _warnings.warn(text, text, error)
        self._leave_out()

    def _leave_out(self) -> None:
        """Count a note for which there is no room, so that the span does not look complete."""
        attributes = self._notes().setdefault("attributes", {})
        attributes[semconv.NOTES_LEFT_OUT] = attributes.get(semconv.NOTES_LEFT_OUT, 0) + 1

    def _notes(self) -> dict[str, Any]:
        record = self._record
        if record is None:
            return {}
        if record[EXTRA] is None:
            record[EXTRA] = {}
        notes: dict[str, Any] = record[EXTRA]
        return notes

    def _set_value(self, name: str) -> Any:
        record = self._record
        return None if record is None else thaw((record[EXTRA] or {}).get(name), record[SCOPE].limits)

    def _freeze(self, value: Any) -> Any:
        if self._record is None:
            return None
        scope: Scope = self._record[SCOPE]
        return freeze_one(scope, value)


def add_to(
    span: LiveSpan,
    output: Any,
    usage: Mapping[str, Any] | None,
    model: str | None,
    attributes: Mapping[str, Any] | None,
) -> None:
    """Add to a span. What is None stays as it is."""
    if output is not None:
        span.output = output
    if usage is not None:
        span.set_usage(usage)
    if model is not None:
        span.set_attribute(semconv.REQUEST_MODEL, model)
    if attributes is None:
        return
    try:
        for name, value in attributes.items():
            span.set_attribute(name, value)
    except BaseException as error:  # choke-point: no mapping, or one of the user's that breaks, or exits
        if thrown_in(error):
            raise
        span.refuse(f"attributes are a mapping of names to values, got {type_name(type(attributes))}", error)


def add_score(span: LiveSpan, name: str, value: float, threshold: float, reason: str) -> None:
    """Add a score of a value that the user's code worked out; one that can be none is left out."""
    try:
        score = Score.of(as_text(name), value, threshold, reason=reason)
    except BaseException as error:  # choke-point: no number from 0 to 1, or one whose class raises
        if thrown_in(error):
            raise
        span.refuse("a score was left out", error)
    else:
        span.add_score(score)


def as_text(name: Any) -> str:
    """A name as text, without running code of the user's."""
    return name if type(name) is str else str(snapshot(name)[0])


def _is_a(value: Any, kind: type) -> bool:
    """As `isinstance`, which asks an object for its class: that may be code of the user's that raises."""
    try:
        return isinstance(value, kind)
    except BaseException as error:  # choke-point
        if thrown_in(error):
            raise
        return False


def plain_mapping(value: Any) -> dict[str, Any] | None:
    """The snapshot of a mapping, dataclass or model; None for anything else. Never raises."""
    if type(value) is not dict and not _is_a(value, dict) and _is_a(value, Mapping):
        try:
            value = dict(value)
        except BaseException as error:  # choke-point: a mapping of the user's that breaks, or exits
            if thrown_in(error):
                raise
            return None
    copy = snapshot(value)[0]
    return copy if isinstance(copy, dict) and cause_of(copy) != "not opened" else None


def by_name(value: Any) -> dict[Any, Any]:
    """The values of a mapping by their names; any other value under ``input``. Never raises."""
    if type(value) is not dict and not _is_a(value, Mapping):
        return {"input": value}
    try:
        return dict(value)
    except BaseException as error:  # choke-point: a mapping of the user's that breaks, or exits
        if thrown_in(error):
            raise
        return {"input": value}


MAX_TAGS = 1_000
"""Tags that one trace keeps."""


class LiveTrace:
    """The trace that is being recorded here. What is added to it is stored with its root span."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope

    @property
    def trace_id(self) -> str:
        """32 hex digits; zeros when nothing is recorded."""
        return trace_id_text(0 if self._scope is None else self._scope.trace_key)

    def set_tags(self, tags: Iterable[str]) -> None:
        """Add tags."""
        if _is_a(tags, str) or not _is_a(tags, Iterable):
            _warnings.warn(
                "tags", f"tags were left out: they are a list of strings, got {type_name(type(tags))}"
            )
            return
        trace_tags = self._attributes().setdefault(semconv.TAGS, [])
        try:
            for tag in islice(tags, MAX_TAGS):
                if as_text(tag) not in trace_tags and len(trace_tags) < MAX_TAGS:
                    trace_tags.append(as_text(tag))
        except BaseException as error:  # choke-point: as in `plain_mapping`; the tags until there are kept
            if thrown_in(error):
                raise

    def set_customer_id(self, customer_id: str) -> None:
        """Set the customer for whom the agent runs."""
        self._attributes()[semconv.CUSTOMER_ID] = as_text(customer_id)

    def set_session_id(self, session_id: str) -> None:
        """Set the conversation to which the trace belongs."""
        self._attributes()[semconv.SESSION_ID] = as_text(session_id)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Add values of any kind, by name."""
        value: Any = metadata
        if not _is_a(value, Mapping):
            kind = type_name(type(value))
            _warnings.warn(
                "metadata", f"metadata was left out: it is a mapping of names to values, got {kind}"
            )
            return
        self._attributes().setdefault(semconv.METADATA, {}).update(plain_mapping(metadata) or {})

    def begin_turn(self, number: int | None) -> int:
        """Count one more turn, or go on from the number given; returns the turn's number, from 1."""
        attributes = self._attributes()
        attributes[semconv.TURNS] = number or attributes.get(semconv.TURNS, 0) + 1
        return int(attributes[semconv.TURNS])

    def _attributes(self) -> dict[str, Any]:
        scope = self._scope
        if scope is None:
            return {}
        if scope.attributes is None:
            scope.attributes = {}
        return scope.attributes


def running_trace() -> LiveTrace | None:
    """The trace that is being recorded here, or None."""
    record = current.get()
    if record is None or record[SCOPE] is None:
        return None
    return LiveTrace(record[SCOPE])
